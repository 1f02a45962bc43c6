"""What a file holds: candidates for memories, faults with their place, and what people should know.

Pure values between the readers of formats and the import that sends candidates through the door. A
reader never raises for a bad row: it is a fault with its line, and the rest goes on. A whole file
that cannot be read is one fault and no candidate.

A record of our own exports is one JSON object: every field of the memory, with its versions, its
links and its topics. Every column of a memory is decided in `FIELDS`; a test fails for one that is
not.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from accounts.messages import Message
from memory.taxonomy import MemoryType
from memory.text import text as texts

MOST_CANDIDATES: Final = 20_000  # of one upload; default, not measured
LONGEST_NAME: Final = 400  # characters of a file's name that are kept
TYPES: Final = frozenset(one.value for one in MemoryType)


class Unreadable(Exception):
    """A file or a row of which nothing is taken: why, and on which line of the file."""

    def __init__(self, detail: Message | str, line: int | None = None) -> None:
        super().__init__(str(detail))
        self.detail, self.line = detail, line


class FileFormat(StrEnum):
    """What a file was found to be."""

    MARKDOWN = "markdown"
    OBSIDIAN = "obsidian"
    BASIC_MEMORY = "basic-memory"
    JSON = "json"
    JSON_LINES = "jsonl"
    MEM0 = "mem0"
    MEMORY_V3 = "memory-v3"
    OWN_JSON = "cairn-json"
    OWN_LINES = "cairn-ndjson"
    OWN_MARKDOWN = "cairn-markdown"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentCandidate:
    """One statement of a file, as the door takes it.

    `keys` are names by which others link to it, `links` its own as (kind, key); `record` is the
    whole line of our own export, for those who restore one.
    """

    content: str
    file: str = ""
    line: int | None = None
    type: str | None = None
    external_id: str = ""
    tags: tuple[str, ...] = ()
    related_files: tuple[str, ...] = ()
    related_modules: tuple[str, ...] = ()
    attributes: Mapping[str, Any] = field(default_factory=dict)
    confidence: float | None = None
    pinned: bool = False
    event_at: datetime | None = None
    source_uri: str = ""
    source_hash: str = ""
    source_line: int | None = None
    commit_sha: str = ""
    thread: str = ""
    session: str = ""
    position: int | None = None
    keys: tuple[str, ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    record: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFault:
    """A row or a file that could not be read: where, and why."""

    file: str
    line: int | None
    detail: Message | str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRead:
    """One file: what it was found to be, how much was in it, and what people should know of it."""

    name: str
    format: FileFormat
    candidates: int
    notices: tuple[Message | str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentReading:
    """All that was read of an upload."""

    files: tuple[FileRead, ...]
    candidates: tuple[DocumentCandidate, ...]
    faults: tuple[FileFault, ...]

    @classmethod
    def of_file(
        cls,
        *,
        name: str,
        format: FileFormat,
        candidates: tuple[DocumentCandidate, ...] = (),
        faults: tuple[FileFault, ...] = (),
        notices: tuple[Message | str, ...] = (),
    ) -> "DocumentReading":
        """Return the reading of one file."""
        file = FileRead(name=name, format=format, candidates=len(candidates), notices=notices)
        return cls(files=(file,), candidates=candidates, faults=faults)

    @classmethod
    def of_rows(
        cls,
        *,
        name: str,
        format: FileFormat,
        rows: Iterable[tuple[int | None, Any]],
        read: Callable[[int | None, Any], DocumentCandidate],
        notices: tuple[Message | str, ...] = (),
    ) -> "DocumentReading":
        """Return the reading of a file's rows by their lines; an unreadable one is a fault."""
        found: list[DocumentCandidate] = []
        faults: list[FileFault] = []
        for line, row in rows:
            try:
                found.append(read(line, row))
            except Unreadable as error:
                faults.append(FileFault(file=name, line=line, detail=error.detail))
            if max(len(found), len(faults)) > MOST_CANDIDATES:
                break  # one more than is taken, so that it is reported
        return cls.of_file(
            name=name,
            format=format,
            candidates=tuple(found),
            faults=tuple(faults),
            notices=notices,
        )


FORMAT: Final = "cairn-export"
HEADER: Final[Mapping[str, Any]] = {"format": FORMAT, "version": 1}
VERSIONS, LINKS, TOPICS = "versions", "links", "topics"  # beside the fields of a record
BESIDE: Final = (VERSIONS, LINKS, TOPICS)


class FieldRule(StrEnum):
    """What becomes of a field when it is exported and restored."""

    KEPT = "kept"  # written, and back as it was
    MAPPED = "mapped"  # written, and back as what stands for it in the new place
    DERIVED = "derived"  # written for readers, made anew from the rest
    LEFT = "left"  # not written; the reason stands beside it


_TABLES: Final = texts.read_tables(file=Path(__file__).with_name("tables") / "fields.toml")
FIELDS: Final[Mapping[str, tuple[FieldRule, str]]] = {
    **dict.fromkeys(_TABLES["kept"].split(), (FieldRule.KEPT, "")),
    **{
        name: (FieldRule(rule), why)
        for rule, rows in _TABLES["others"].items()
        for name, why in rows.items()
    },
}
LATER: Final[Mapping[str, Any]] = {  # than some files
    "thread": "", "session": "", "position": None, "given_count": 0, "last_given_at": None,
    "stated_at": None,
}  # fmt: skip
TIMES: Final = (
    "last_confirmed_at", "verified_at", "event_at", "created_at", "updated_at", "stated_at",
    "valid_from", "valid_until", "stale_at", "last_accessed_at", "last_given_at",
)  # fmt: skip


def completed(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record with what older files do not have."""
    return {**LATER, **given}


def read_time(*, text: Any) -> datetime | None:
    """Return a timestamp as it was written, None for none. Raises ValueError.

    One that no row can hold is refused as well.
    """
    if text is None or text == "":
        return None
    found = datetime.fromisoformat(str(text))
    if found.tzinfo is None:
        raise ValueError(f"{str(text)[:40]!r} names no time zone")
    if not texts.is_storable_time(time=found):
        raise ValueError(f"{str(text)[:40]!r} is of no year that is kept")
    return found


def time_of(value: Any) -> datetime | None:
    """Return the timestamp of a foreign value, None where it is none."""
    try:
        return read_time(text=value)
    except ValueError:
        return None


def text_of(value: Any, longest: int) -> str:
    """Return a text of a foreign value that is no longer than this, else none."""
    return value if isinstance(value, str) and len(value) <= longest else ""


def texts_of(value: Any) -> tuple[str, ...]:
    """Return the texts of a foreign list, empty for what is none."""
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list) else ()


def choice_of(value: Any, known: frozenset[str]) -> str | None:
    """Return a foreign value that is one of these, None for any other."""
    return value if isinstance(value, str) and value in known else None


def line_of(value: Any) -> int | None:
    """Return the line number of a foreign value, None where it is none."""
    is_line = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31
    return value if is_line else None


def share_of(value: Any) -> float | None:
    """Return the share 0..1 of a foreign value, None where it is none."""
    is_figure = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_figure and 0 <= value <= 1 else None


def texts_in(*, value: Any) -> Iterator[str]:
    """Yield every text of a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from texts_in(value=inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts_in(value=inner)
