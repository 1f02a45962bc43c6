"""Named queries: `-- name: x` blocks of the .sql files beside this module; and a lock of paths."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any
from uuid import UUID

from django.db import connection

from accounts import tenancy

BLOCK = re.compile(r"^-- name: (\w+)\n(.*?)(?=^-- name: |\Z)", re.MULTILINE | re.DOTALL)


@cache
def statements(file: str) -> dict[str, str]:
    """Return the statements of a file by name, without comments."""
    text = (Path(__file__).parent / file).read_text(encoding="utf-8")
    return {name: _without_comments(body) for name, body in BLOCK.findall(text)}


def rows(name: str, *, file: str, **parameters: Any) -> list[tuple[Any, ...]]:
    """Run a named query and return its rows."""
    return _fetched(_statement(file, name), parameters)


def filled(
    name: str,
    *,
    parts: Mapping[str, str],
    file: str,
    **parameters: Any,
) -> list[tuple[Any, ...]]:
    """Run a named query whose {parts} are pieces of SQL of ours, and return its rows."""
    statement = _statement(file, name)
    for part, text in parts.items():
        statement = statement.replace(f"{{{part}}}", text)
    return _fetched(statement, parameters)


def text(name: str, *, file: str) -> str:
    """Return a named query's text, as a part of another."""
    return statements(file)[name]


def execute(name: str, *, file: str, **parameters: Any) -> int:
    """Run a named statement and return how many rows it touched."""
    with connection.cursor() as cursor:
        cursor.execute(_statement(file, name), parameters)
        return int(cursor.rowcount)


def _fetched(statement: str, parameters: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return list(cursor.fetchall())


def _statement(file: str, name: str) -> str:
    return statements(file)[name].replace("{schema}", tenancy.current().schema_name)


def _without_comments(body: str) -> str:
    return "\n".join(line for line in body.splitlines() if not line.startswith("--")).strip()


def hold_path(*, audience: UUID, project_id: UUID | None, path: str) -> None:
    """Wait for whoever writes at this path of a place; others wait until the unit ends. In a unit.

    A row that is not there cannot be locked; two who write the first one would.
    """
    name = f"{audience} {project_id} {path}"
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [name])
