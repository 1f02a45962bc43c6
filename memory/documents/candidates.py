"""What a file holds: candidates for memories, faults with their place, and what is to be told.

Pure values between the readers of formats and the import that sends candidates through the door. A
reader never raises for a bad row: it is a fault with its line, and the rest goes on. A whole file
that cannot be read is one fault and no candidate.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from accounts.messages import Message

MOST_CANDIDATES: Final = 20_000  # of one upload, ours
LONGEST_NAME: Final = 400  # characters of a file's name that are kept


class Format(StrEnum):
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
    ARCHIVE = "zip"
    UNKNOWN = "unknown"


OWN_FORMATS: Final = frozenset({Format.OWN_JSON, Format.OWN_LINES, Format.OWN_MARKDOWN})


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A relation to another candidate, which is named by one of its keys."""

    kind: str
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One statement of a file, as the door takes it; `keys` are names by which others link to it.

    `record` is the whole line of an export of ours, for those who bring one back as it was.
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
    keys: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    record: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A row or a file that could not be read: where, and why."""

    file: str
    line: int | None
    detail: Message | str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRead:
    """One file: what it was found to be, how much was in it, and what people should know of it."""

    name: str
    format: Format
    candidates: int
    notices: tuple[Message | str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """All that was read of an upload."""

    files: tuple[FileRead, ...]
    candidates: tuple[Candidate, ...]
    faults: tuple[Fault, ...]


def together(*, readings: tuple[Reading, ...]) -> Reading:
    """Join the readings of several files, in their order."""
    return Reading(
        files=tuple(file for one in readings for file in one.files),
        candidates=tuple(found for one in readings for found in one.candidates),
        faults=tuple(fault for one in readings for fault in one.faults),
    )


def of_file(
    *,
    name: str,
    format: Format,
    candidates: tuple[Candidate, ...] = (),
    faults: tuple[Fault, ...] = (),
    notices: tuple[Message | str, ...] = (),
) -> Reading:
    """Return the reading of one file."""
    file = FileRead(name=name, format=format, candidates=len(candidates), notices=notices)
    return Reading(files=(file,), candidates=candidates, faults=faults)


def unreadable(*, name: str, detail: Message | str, line: int | None = None) -> Reading:
    """Return the reading of a file of which nothing is taken."""
    fault = Fault(file=name, line=line, detail=detail)
    return of_file(name=name, format=Format.UNKNOWN, faults=(fault,))
