"""The SQLite file of memory-v3: its table `memories`, read as data and never trusted.

The bytes are opened in the process's memory, so nothing on a disk can be read or written by them.
Only SELECT on columns that are stored is let through, functions are not, and a query that runs too
long is ended. A database in WAL mode says so in two bytes of its head, which are set back: what had
not been written from its log yet is not in the file, and that is told.
"""

import hashlib
import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

from accounts.messages import message
from memory.documents import file_formats
from memory.taxonomy import LinkKind
from memory.text import text as texts

MAGIC: Final = b"SQLite format 3\x00"
WAL: Final = b"\x02\x02"  # bytes 18 and 19 of the head (sqlite.org/fileformat, 1.3.3)
WAL_AT: Final = 18
MOST_ROWS: Final = 20_000
MOST_BYTES: Final = 64 * 1_048_576  # of all texts together
STEPS: Final = 10_000  # virtual machine steps between looks
MOST_LOOKS: Final = 20_000  # 200 million steps; 20,000 rows take a hundredth of that
ALLOWED: Final = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ})
COLUMNS_TOLD: Final = "table_xinfo"  # the one pragma that is let through
NEEDED: Final = frozenset({"id", "content"})
COLUMNS: Final = (
    "id", "content", "content_type", "source_file", "source_line", "author", "confidence",
    "protected", "tags", "created_at", "archived", "linked_memories", "source_hash",
)  # fmt: skip


def read(*, name: str, data: bytes) -> file_formats.DocumentReading:
    """Read the memories of a memory-v3 database. Raises Unreadable."""
    is_wal = data[WAL_AT : WAL_AT + 2] == WAL
    try:
        rows, is_cut = _rows(data[:WAL_AT] + b"\x01\x01" + data[WAL_AT + 2 :] if is_wal else data)
    except (sqlite3.Error, UnicodeDecodeError, OverflowError) as error:
        raise file_formats.Unreadable(
            message("The database is damaged or not memory-v3's.")
        ) from error
    current = [row for row in rows if not row.get("archived")]
    left_out = len(rows) - len(current)
    log = message("What memory-v3 had not yet written from its log is not in this file.")
    notices = (
        (left_out, message("{count} archived memories were left out.", count=left_out)),
        (is_wal, log),
        (is_cut, message("Only the first {most} memories were read.", most=len(rows))),
    )
    return file_formats.DocumentReading.of_rows(
        name=name,
        format=file_formats.FileFormat.MEMORY_V3,
        rows=((file_formats.line_of(row["id"]), row) for row in current),
        read=partial(_candidate, name, _source(rows)),
        notices=tuple(notice for holds, notice in notices if holds),
    )


def _rows(data: bytes) -> tuple[list[dict[str, Any]], bool]:
    """Return the rows of the table, and whether there were more than are read."""
    with closing(sqlite3.connect(":memory:")) as database:
        database.deserialize(data)
        _fence(database)
        known = {
            row[0]
            for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        }
        if "memories" not in known:
            raise file_formats.Unreadable(
                message("The database has no table “memories”; only memory-v3's is read.")
            )
        names = _columns(database)
        chosen = ", ".join(f'"{name}"' for name in names)
        query = f'SELECT {chosen} FROM "memories" LIMIT ?'  # noqa: S608  names of `COLUMNS` alone
        cursor = database.execute(query, (MOST_ROWS + 1,))
        rows: list[dict[str, Any]] = []
        left = MOST_BYTES
        for row in cursor:
            left -= sum(len(value) for value in row if isinstance(value, str | bytes))
            if left < 0 or len(rows) == MOST_ROWS:
                return rows, True
            rows.append(dict(zip(names, row, strict=True)))
    return rows, False


def _columns(database: sqlite3.Connection) -> tuple[str, ...]:
    """Return which known columns the table holds; one that is computed is none of memory-v3's.

    What is computed may be of any size in a file that is small.
    """
    told = database.execute(f'PRAGMA {COLUMNS_TOLD}("memories")').fetchall()
    if any(hidden for *_, hidden in told):
        raise file_formats.Unreadable(message("The table “memories” has computed columns."))
    held = {str(name) for _, name, *_ in told}
    if not held >= NEEDED:
        raise file_formats.Unreadable(message("The table “memories” has no column id or content."))
    return tuple(name for name in COLUMNS if name in held)


def _fence(database: sqlite3.Connection) -> None:
    """Let nothing through but reading, and end what runs too long."""

    def authorize(action: int, name: object, *_: object) -> int:
        is_asking = action == sqlite3.SQLITE_PRAGMA and name == COLUMNS_TOLD
        return sqlite3.SQLITE_OK if is_asking or action in ALLOWED else sqlite3.SQLITE_DENY

    database.execute("PRAGMA trusted_schema = OFF")
    database.execute("PRAGMA query_only = ON")
    database.execute("PRAGMA cell_size_check = ON")
    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 1_000_000)
    database.set_authorizer(authorize)
    looks = iter(range(MOST_LOOKS))
    database.set_progress_handler(lambda: 0 if next(looks, None) is not None else 1, STEPS)


def _source(rows: list[dict[str, Any]]) -> str:
    """Return what tells this database from others: its oldest row. Numbers begin at 1 in each."""
    numbered = [row for row in rows if isinstance(row["id"], int)]
    if not numbered:
        return "memory-v3"
    oldest = min(numbered, key=lambda row: int(row["id"]))
    told = repr((oldest["id"], oldest["content"], oldest.get("created_at")))
    digest = hashlib.sha256(told.encode(errors="surrogatepass")).hexdigest()
    return f"memory-v3:{digest[:12]}"


def _candidate(
    name: str, source: str, line: int | None, row: dict[str, Any]
) -> file_formats.DocumentCandidate:
    content, number = row["content"], row["id"]
    if not (isinstance(content, str) and content.strip() and isinstance(number, int)):
        raise file_formats.Unreadable("The row has no text or no number.")
    confidence = row.get("confidence")
    return file_formats.DocumentCandidate(
        content=content,
        file=name,
        line=line,
        type=file_formats.choice_of(row.get("content_type"), file_formats.TYPES),
        external_id=f"{source}:{number}",
        tags=file_formats.texts_of(_json_list(row.get("tags")))[:64],
        confidence=file_formats.share_of(confidence) if isinstance(confidence, float) else None,
        event_at=_time(row.get("created_at")),
        source_uri=file_formats.text_of(row.get("source_file"), 500),
        source_line=file_formats.line_of(row.get("source_line")),
        source_hash=file_formats.text_of(row.get("source_hash"), 64),
        keys=(f"{source}:{number}",),
        links=tuple(
            (LinkKind.SEE_ALSO.value, f"{source}:{other}")
            for other in _json_list(row.get("linked_memories"))
            if isinstance(other, int)
        ),
    )


def _json_list(value: Any) -> list[Any]:
    try:
        found = json.loads(value) if isinstance(value, str) else []
    except (ValueError, RecursionError):
        return []
    return found if isinstance(found, list) else []


def _time(value: Any) -> datetime | None:
    """Return the time of a row, UTC where it names no offset."""
    try:
        found = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    found = found if found.tzinfo else found.replace(tzinfo=UTC)
    return found if texts.is_storable_time(time=found) else None
