"""What a thief of the disks reads: every row of every table of every schema, every key of Redis."""

import base64
import binascii
import os
import re
from collections.abc import Iterator
from urllib.parse import urlsplit, urlunsplit

import psycopg
import redis
from django.db import connection
from psycopg import sql

from accounts import tenancy

TABLES = """
SELECT table_schema, table_name FROM information_schema.tables
 WHERE table_type = 'BASE TABLE' AND table_schema NOT IN ('pg_catalog', 'information_schema')
 ORDER BY table_schema, table_name
"""
TABLES_HERE = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ORDER BY 1"
WORD = re.compile(r"[^\s\"'`,;<>()\[\]{}\\]{6,600}")
PART = re.compile(r"[0-9A-Za-z_-]{6,600}")
READERS = {
    b"string": lambda store, key: [store.get(key)],
    b"hash": lambda store, key: [part for pair in store.hgetall(key).items() for part in pair],
    b"list": lambda store, key: store.lrange(key, 0, -1),
    b"set": lambda store, key: list(store.smembers(key)),
    b"zset": lambda store, key: store.zrange(key, 0, -1),
}


def everything() -> tuple[str, ...]:
    """Return all values of the database and of Redis as texts."""
    return (*_rows(), *_keys())


def tables_with(*, word: str) -> set[str]:
    """Return in which tables of the entered organization a word stands, bytes read as text too."""
    found: set[str] = set()
    with tenancy.unit(), connection.cursor() as cursor:
        cursor.execute(TABLES_HERE)
        for (table,) in cursor.fetchall():
            statement = f"SELECT 1 FROM {table} AS t WHERE t::text ILIKE ANY (%s) LIMIT 1"
            cursor.execute(statement, [[f"%{word}%", f"%{word.encode().hex()}%"]])
            found |= {table} if cursor.fetchone() else set()
    return found


def candidates(*, texts: tuple[str, ...]) -> frozenset[str]:
    """Return every string in the texts that could be a credential, also unpacked and decoded."""
    found: set[str] = set()
    for text in texts:
        for word in WORD.findall(text):
            found |= {word, *PART.findall(word), *_decoded(word)}
    return frozenset(found)


def _rows() -> Iterator[str]:
    owner = urlsplit(os.environ.get("DATABASE_OWNER_URL") or os.environ["DATABASE_URL"])
    name = connection.settings_dict["NAME"]
    with psycopg.connect(urlunsplit(owner._replace(path=f"/{name}"))) as dump:
        for table in dump.execute(TABLES).fetchall():
            query = sql.SQL("SELECT * FROM {}").format(sql.Identifier(*table))
            for row in dump.execute(query).fetchall():
                yield from (_text(value) for value in row if value is not None)


def _keys() -> Iterator[str]:
    with redis.from_url(os.environ["REDIS_URL"]) as store:
        for key in store.keys("*"):
            yield _text(key)
            yield from (_text(value) for value in READERS[store.type(key)](store, key))


def _text(value: object) -> str:
    if isinstance(value, bytes | memoryview):
        return bytes(value).decode("utf-8", "backslashreplace")
    return value if isinstance(value, str) else repr(value)


def _decoded(word: str) -> Iterator[str]:
    for decode in (base64.urlsafe_b64decode, binascii.unhexlify):
        try:
            yield decode(word + "=" * (-len(word) % 4)).decode("ascii")
        except (binascii.Error, ValueError):
            continue
