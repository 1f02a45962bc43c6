"""What a file holds: candidates for memories, faults with their place, and what people should know.

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

MOST_CANDIDATES: Final = 20_000  # of one upload; default, not measured
LONGEST_NAME: Final = 400  # characters of a file's name that are kept


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
    ARCHIVE = "zip"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateLink:
    """A relation to another candidate, which is named by one of its keys."""

    kind: str
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentCandidate:
    """One statement of a file, as the door takes it; `keys` are names by which others link to it.

    `record` is the whole line of our own export, for those who restore one.
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
    links: tuple[CandidateLink, ...] = ()
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
    def unreadable(
        cls, *, name: str, detail: Message | str, line: int | None = None
    ) -> "DocumentReading":
        """Return the reading of a file of which nothing is taken."""
        fault = FileFault(file=name, line=line, detail=detail)
        return cls.of_file(name=name, format=FileFormat.UNKNOWN, faults=(fault,))
