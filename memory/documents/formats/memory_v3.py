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
from typing import Any, Final

from accounts.messages import Message, message
from memory.documents.candidates import Candidate, CandidateLink, FileFault, FileFormat, Reading
from memory.taxonomy import LinkKind, MemoryType
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
TYPES: Final = {one.value for one in MemoryType}


class _Refused(Exception):
    """The file is no database of that kind; the sentence says why."""

    def __init__(self, detail: Message | str) -> None:
        super().__init__(str(detail))
        self.detail = detail


def is_database(*, data: bytes) -> bool:
    """Say whether a file is SQLite's."""
    return data.startswith(MAGIC)


def read(*, name: str, data: bytes) -> Reading:
    """Read the memories of a memory-v3 database."""
    try:
        rows, is_cut = _rows(data)
    except _Refused as error:
        return Reading.unreadable(name=name, detail=error.detail)
    except (sqlite3.Error, UnicodeDecodeError, OverflowError):
        return Reading.unreadable(name=name, detail="The database is damaged or not memory-v3's.")
    found, faults = [], []
    source = _source(rows)
    for row in rows:
        one = _candidate(name, source, row)
        if isinstance(one, FileFault):
            faults.append(one)
        elif one is not None:
            found.append(one)
    notices = tuple(_notices(data, rows, is_cut))
    return Reading.of_file(
        name=name,
        format=FileFormat.MEMORY_V3,
        candidates=tuple(found),
        faults=tuple(faults),
        notices=notices,
    )


def _rows(data: bytes) -> tuple[list[dict[str, Any]], bool]:
    with closing(sqlite3.connect(":memory:")) as database:
        database.deserialize(_without_wal(data))
        _fence(database)
        known = {
            row[0]
            for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        }
        if "memories" not in known:
            raise _Refused(
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
        raise _Refused(message("The table “memories” has computed columns."))
    held = {str(name) for _, name, *_ in told}
    if not held >= NEEDED:
        raise _Refused(message("The table “memories” has no column id or content."))
    return tuple(name for name in COLUMNS if name in held)


def _without_wal(data: bytes) -> bytes:
    is_wal = data[WAL_AT : WAL_AT + 2] == WAL
    return data[:WAL_AT] + b"\x01\x01" + data[WAL_AT + 2 :] if is_wal else data


def _fence(database: sqlite3.Connection) -> None:
    database.execute("PRAGMA trusted_schema = OFF")
    database.execute("PRAGMA query_only = ON")
    database.execute("PRAGMA cell_size_check = ON")
    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 1_000_000)
    database.set_authorizer(_authorize)
    looks = iter(range(MOST_LOOKS))
    database.set_progress_handler(lambda: 0 if next(looks, None) is not None else 1, STEPS)


def _authorize(action: int, name: object, *_: object) -> int:
    is_asking = action == sqlite3.SQLITE_PRAGMA and name == COLUMNS_TOLD
    return sqlite3.SQLITE_OK if is_asking or action in ALLOWED else sqlite3.SQLITE_DENY


def _source(rows: list[dict[str, Any]]) -> str:
    """Return what tells this database from others: its oldest row. Numbers begin at 1 in each."""
    numbered = [row for row in rows if isinstance(row["id"], int)]
    if not numbered:
        return "memory-v3"
    oldest = min(numbered, key=lambda row: int(row["id"]))
    told = repr((oldest["id"], oldest["content"], oldest.get("created_at")))
    digest = hashlib.sha256(told.encode(errors="surrogatepass")).hexdigest()
    return f"memory-v3:{digest[:12]}"


def _candidate(name: str, source: str, row: dict[str, Any]) -> Candidate | FileFault | None:
    content, number = row["content"], row["id"]
    line = _line(number)
    if row.get("archived"):
        return None
    if not isinstance(content, str) or not content.strip() or not isinstance(number, int):
        return FileFault(file=name, line=line, detail="The row has no text or no number.")
    type_, confidence = row.get("content_type"), row.get("confidence")
    is_share = isinstance(confidence, float) and 0 <= confidence <= 1
    return Candidate(
        content=content,
        file=name,
        line=line,
        type=type_ if isinstance(type_, str) and type_ in TYPES else None,
        external_id=f"{source}:{number}",
        tags=tuple(one for one in _json_list(row.get("tags")) if isinstance(one, str))[:64],
        confidence=confidence if is_share else None,
        event_at=_time(row.get("created_at")),
        source_uri=_text(row.get("source_file"), 500),
        source_line=_line(row.get("source_line")),
        source_hash=_text(row.get("source_hash"), 64),
        keys=(f"{source}:{number}",),
        links=tuple(
            CandidateLink(kind=LinkKind.SEE_ALSO.value, target=f"{source}:{other}")
            for other in _json_list(row.get("linked_memories"))
            if isinstance(other, int)
        ),
    )


def _notices(data: bytes, rows: list[dict[str, Any]], is_cut: bool) -> list[Message | str]:
    told: list[Message | str] = []
    archived = sum(1 for row in rows if row.get("archived"))
    if archived:
        told.append(message("{count} archived memories were left out.", count=archived))
    if data[WAL_AT : WAL_AT + 2] == WAL:
        told.append(message("What memory-v3 had not yet written from its log is not in this file."))
    if is_cut:
        told.append(message("Only the first {most} memories were read.", most=len(rows)))
    return told


def _json_list(value: Any) -> list[Any]:
    try:
        found = json.loads(value) if isinstance(value, str) else []
    except (ValueError, RecursionError):
        return []
    return found if isinstance(found, list) else []


def _text(value: Any, longest: int) -> str:
    return value if isinstance(value, str) and len(value) <= longest else ""


def _line(value: Any) -> int | None:
    return value if isinstance(value, int) and 0 <= value < 2**31 else None


def _time(value: Any) -> datetime | None:
    try:
        found = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    found = found if found.tzinfo else found.replace(tzinfo=UTC)
    return found if texts.is_storable_time(time=found) else None
