"""What sessions have shown together, as sums under kinds and keys.

Each table is a row type here and is stored as counts that only ever grow by adding, so two sessions
that end at once lose nothing of either: whole numbers of a row are its counts, texts are notes
beside them of which the newest stands, and a mapping is a count for each of its names. A mean is
kept as its total.

A session is counted as a whole and once. What it has added is known, and at a later end only what
goes beyond that is added (`beyond`).

The weight of an edge is the share of sessions with either file that had both (Jaccard 1912), so two
files that are in every session do not look tied more than they are.
"""

import hashlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import date
from decimal import Decimal
from enum import StrEnum
from typing import Any, Final, Protocol, TypeVar
from uuid import UUID

from memory.sessions import file_paths

KEY_MOST: Final = 400  # characters, the column's
NOTES: Final = "notes"  # among the counts, what else is known of a thing
_DIGEST: Final = 16  # characters
_PREFIXES: Final = {"by_task": "task:", "hows": "how:"}  # of the counts that a mapping becomes

ALWAYS_ABOVE: Final = 0.8  # share of a module's sessions that read a file
OFTEN_ABOVE: Final = 0.5  # share of a module's sessions that read a file
PREFETCH_SESSIONS: Final = 3  # of a module at least
PREFETCH_FILES_MOST: Final = 12
DIRECTION_LEAST: Final = 0.75  # share of sessions that begin with the same file; not measured

Number = int | Decimal
Added = Mapping[str, Mapping[str, Mapping[str, Number]]]  # by kind, key and name, as JSON keeps it


class Kind(StrEnum):
    """What is counted."""

    FILE = "observed_file"
    EDGE = "observed_edge"
    ERROR = "observed_error"
    MODULE = "observed_module"
    SIGNAL = "observed_signal"
    SYNTHESIS = "synthesis"
    REENTRY = "observed_reentry"
    PAIR = "observed_module_pair"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRow:
    """One file over sessions; `tokens` is what reading it took in the `sized` that know it."""

    path: str
    sessions: int = 0
    reads: int = 0
    edits: int = 0
    tokens: int = 0
    sized: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeRow:
    """Two files that were touched together; `first` < `second`.

    `forward` counts sessions that touched `first` first, `apart_ms` adds up the milliseconds
    between them over the `timed` meetings, those of which clocks tell.
    """

    first: str
    second: str
    sessions: int = 0
    meetings: int = 0
    forward: int = 0
    timed: int = 0
    apart_ms: int = 0
    by_task: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorRow:
    """One error over sessions, and how often it was resolved in which way."""

    fingerprint: str
    message: str = ""
    what: str = ""
    sessions: int = 0
    occurrences: int = 0
    resolved: int = 0
    hows: Mapping[str, int] = field(default_factory=dict)

    @property
    def usual_way(self) -> str:
        """What helped against it most often; empty where nothing did."""
        return min(self.hows, key=lambda how: (-self.hows[how], how), default="")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleRow:
    """One module over sessions: planned and actual steps, what reading it cost."""

    module: str
    sessions: int = 0
    planned: int = 0
    actual: int = 0
    samples: int = 0
    tokens: int = 0
    costed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRow:
    """Two modules of which files were touched together; `first` < `second`."""

    first: str
    second: str
    sessions: int = 0


Row = FileRow | EdgeRow | ErrorRow | ModuleRow | PairRow
OfRow = TypeVar("OfRow", FileRow, EdgeRow, ErrorRow, ModuleRow, PairRow)
KIND_OF: Final[Mapping[type[Row], Kind]] = {
    FileRow: Kind.FILE,
    EdgeRow: Kind.EDGE,
    ErrorRow: Kind.ERROR,
    ModuleRow: Kind.MODULE,
    PairRow: Kind.PAIR,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """What is added to one sum: whose it is, of which day if it is kept by day, and how much.

    `notes` is what else is known of the thing; it takes the place of what was noted before, and no
    count is called so. `audience` is None until the place is known (`prior_sessions.add`).
    """

    kind: str
    key: str
    counts: Mapping[str, Number]
    notes: Mapping[str, Any] = field(default_factory=dict)
    audience: UUID | None = None
    project_id: UUID | None = None
    day: date | None = None


class Stored(Protocol):
    """A sum as it is read; under `notes` its counts have the texts."""

    @property
    def key(self) -> str: ...
    @property
    def counts(self) -> Mapping[str, Any]: ...


def key_of(*, text: str) -> str:
    """Return a text as a key: itself, or its beginning with a digest of all of it."""
    if len(text) <= KEY_MOST:
        return text
    digest = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=_DIGEST // 2).hexdigest()
    return f"{text[: KEY_MOST - _DIGEST - 1]} {digest}"


def count_of(row: Row, /) -> Count:
    """Return what a row adds to the sums; it is known by its texts, an error by its fingerprint."""
    counts: dict[str, int] = {}
    notes: dict[str, str] = {}
    for one in fields(row):
        value = getattr(row, one.name)
        if isinstance(value, str):
            notes[one.name] = value
        elif isinstance(value, int):
            counts[one.name] = value
        else:
            counts.update(
                {f"{_PREFIXES[one.name]}{name}": number for name, number in value.items()}
            )
    fingerprint = notes.pop("fingerprint", None)
    key = "\t".join(notes.values()) if fingerprint is None else fingerprint
    return Count(kind=KIND_OF[type(row)], key=key_of(text=key), counts=counts, notes=notes)


def rows_of(*, type: type[OfRow], sums: Iterable[Stored]) -> tuple[OfRow, ...]:
    """Read sums as rows of their table."""
    found: list[OfRow] = []
    for stored in sums:
        values: dict[str, Any] = {}
        for one in fields(type):
            prefix = _PREFIXES.get(one.name)
            if prefix is not None:
                values[one.name] = {
                    name.removeprefix(prefix): int(number)
                    for name, number in stored.counts.items()
                    if name.startswith(prefix)
                }
            elif one.type in (str, "str"):
                values[one.name] = str(stored.counts.get(NOTES, {}).get(one.name, ""))
            else:
                values[one.name] = int(stored.counts.get(one.name, 0))
        if type is ErrorRow:
            values["fingerprint"] = stored.key
        found.append(type(**values))
    return tuple(found)


def added_row(*, row: OfRow, add: OfRow) -> OfRow:
    """Add a session, or another row, to a row; the newer words stand."""
    changes: dict[str, Any] = {}
    for one in fields(row):
        before: Any = getattr(row, one.name)
        after: Any = getattr(add, one.name)
        if isinstance(before, str):
            changes[one.name] = after or before
        elif isinstance(before, int):
            changes[one.name] = before + after
        else:
            names = sorted({*before, *after})
            changes[one.name] = {name: before.get(name, 0) + after.get(name, 0) for name in names}
    return replace(row, **changes)


def added(*, counts: Iterable[Count]) -> Added:
    """Return what sums hold of a session that has added these."""
    found: dict[str, dict[str, dict[str, Number]]] = {}
    for one in counts:
        sums = found.setdefault(str(one.kind), {}).setdefault(one.key, {})
        for name, number in one.counts.items():
            sums[name] = sums.get(name, 0) + number
    return found


def beyond(*, counts: Iterable[Count], before: Added) -> tuple[Count, ...]:
    """Return what brings sums that hold `before` of a session to hold these counts of it.

    Numbers may be negative; what stays as it is is not among them.
    """
    every = tuple(counts)
    notes = {(one.kind, one.key): one.notes for one in every if one.notes}
    after = added(counts=every)
    changed: list[Count] = []
    for kind in Kind:
        held, wanted = before.get(kind, {}), after.get(kind, {})
        for key in sorted({*held, *wanted}):
            old, new = held.get(key, {}), wanted.get(key, {})
            steps = {name: new.get(name, 0) - old.get(name, 0) for name in sorted({*old, *new})}
            steps = {name: step for name, step in steps.items() if step}
            if steps:
                noted = notes.get((kind, key), {})
                changed.append(Count(kind=kind, key=key, counts=steps, notes=noted))
    return tuple(changed)


def modules_of(*, edge: EdgeRow) -> tuple[str, str]:
    """Return the modules of two files, in alphabetical order."""
    first, second = file_paths.module(path=edge.first), file_paths.module(path=edge.second)
    return min(first, second), max(first, second)


def weight(*, edge: EdgeRow, first: FileRow, second: FileRow) -> float:
    """Compute W = both / (first + second - both) in sessions, 0..1."""
    either = first.sessions + second.sessions - edge.sessions
    return min(edge.sessions / either, 1.0) if either > 0 else 0.0


def direction(*, edge: EdgeRow) -> tuple[str, str] | None:
    """Return which file comes first in three of four sessions; None when neither does."""
    share = edge.forward / edge.sessions if edge.sessions else 0.5
    if share >= DIRECTION_LEAST:
        return edge.first, edge.second
    return (edge.second, edge.first) if share <= 1 - DIRECTION_LEAST else None


def file_tokens(*, row: FileRow) -> int | None:
    """Return what reading a file takes, the mean over sessions rounded up; None when unknown."""
    return math.ceil(row.tokens / row.sized) if row.sized else None


def shares(*, module: ModuleRow, files: Iterable[FileRow], above: float) -> tuple[str, ...]:
    """Return the files read in more than a share of a module's sessions, most read first."""
    if module.sessions < PREFETCH_SESSIONS:
        return ()
    often = (row for row in files if row.reads and row.sessions / module.sessions > above)
    ordered = sorted(often, key=lambda row: (-row.sessions, row.path))
    return tuple(row.path for row in ordered)[:PREFETCH_FILES_MOST]
