"""Secrets to be sent into every text field, and the look whether one of them was kept anywhere."""

from collections.abc import Iterator
from typing import Any, Final, get_args, get_origin

from django.db import connection
from psycopg import sql
from pydantic import BaseModel

from accounts import tenancy, token_format
from accounts.token_format import TokenKind
from tests.support import dump

SHORT: Final = "AKIA" + "Q7RZ1VB9KX3TN5WM"  # the shortest form that needs no words around it
LONG: Final = "ghp_" + "q7Rz1Vb9Kx3Tn5Wm8Yp2Lc4Hd6Gf0JsEaB3d"
OURS: Final = token_format.mint(kind=TokenKind.SERVICE, entropy=bytes(range(40, 64))).text
PASSWORD: Final = "Tractor!4711vio"
SENT: Final = (SHORT, LONG, OURS, f"password={PASSWORD}")
HEARTS: Final = tuple(one.lower() for one in (SHORT, LONG[4:], OURS[8:], PASSWORD))
SENTENCE: Final = "The nightly job of the shop reads its input with {} and never asks again."
TABLES: Final = """
SELECT table_schema, table_name FROM information_schema.tables
 WHERE table_type = 'BASE TABLE' AND table_schema IN ('public', current_schema())
 ORDER BY table_schema, table_name
"""


def fields_of(shape: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield every place of a body that holds text of the sender's own, with its type."""
    if isinstance(shape, type) and issubclass(shape, BaseModel):
        for name, field in shape.model_fields.items():
            yield from fields_of(field.annotation, (*path, field.alias or name))
    elif get_origin(shape) is tuple:
        yield from fields_of(get_args(shape)[0], (*path, "0"))
    elif shape is str or get_origin(shape) is dict:
        yield path, shape
    elif get_origin(shape) is not None:  # of Annotated and of unions with None the first counts
        yield from fields_of(get_args(shape)[0], path)


def planted(*, example: Any, path: tuple[str, ...], shape: Any, secret: str) -> Any:
    """Return a body with a secret in one place; a free object holds it as name and as value."""
    if not path:
        if get_origin(shape) is dict:
            return {"note": [secret], secret: "implement"}
        return secret
    here, *inner = path
    if here == "0":
        first = example[0] if isinstance(example, list | tuple) and example else {}
        return [planted(example=first, path=tuple(inner), shape=shape, secret=secret)]
    given = dict(example) if isinstance(example, dict) else {}
    value = SENTENCE.format(secret) if here == "content" and not inner else secret
    return {
        **given,
        here: planted(example=given.get(here), path=tuple(inner), shape=shape, secret=value),
    }


def held_in(text: str) -> bool:
    """Say whether a text repeats what was sent."""
    lowered = text.lower()
    return any(heart in lowered for heart in HEARTS)


def kept() -> list[str]:
    """Return the tables, and what else is stored, that hold what was sent. In an organization."""
    elsewhere = [text[:60] for text in dump.everything() if held_in(text)]
    with tenancy.unit(), connection.cursor() as cursor:
        cursor.execute(TABLES)
        tables = cursor.fetchall()
        return elsewhere + [".".join(table) for table in tables if _holds(cursor, table)]


def _holds(cursor: Any, table: tuple[str, str]) -> bool:
    if not _is_readable(cursor, table):
        return False
    query = sql.SQL("SELECT count(*) FROM {} AS kept WHERE lower(kept::text) LIKE ANY(%s)")
    cursor.execute(query.format(sql.Identifier(*table)), [[f"%{heart}%" for heart in HEARTS]])
    return bool(cursor.fetchone()[0])


def _is_readable(cursor: Any, table: tuple[str, str]) -> bool:
    name = ".".join(f'"{part}"' for part in table)
    cursor.execute("SELECT has_table_privilege(%s, 'SELECT')", [name])
    return bool(cursor.fetchone()[0])
