"""What sessions have shown together, as sums under kinds and keys, and back.

The rows of `memory.observer.statistics` are kept as counts that only ever grow by adding, so two
sessions that end at once lose nothing of either. A mean is kept as its total; words (a path, the
message of an error) stand beside the counts as notes, of which the newest stands.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from memory.observer.statistics import (
    EdgeRow,
    ErrorRow,
    FileRow,
    ModuleRow,
    PairRow,
    SessionFacts,
)
from memory.statistics.quorum import Witnessed

KEY_MOST: Final = 400  # characters, as of a statistic's key
_DIGEST: Final = 16  # characters
_TASK: Final = "task:"
_HOW: Final = "how:"

Counts = Mapping[str, Any]
Notes = Mapping[str, Any]
Added = Mapping[str, Mapping[str, Mapping[str, int]]]  # by kind, key and name, as JSON keeps it


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
class Count:
    """What one session, or one synthesis, adds to a sum."""

    kind: Kind
    key: str
    counts: Mapping[str, int]
    notes: Notes = field(default_factory=dict)


def of_facts(*, facts: SessionFacts) -> tuple[Count, ...]:
    """Return what a session adds to the sums."""
    return (
        *(_file(row) for row in facts.files),
        *(_edge(row) for row in facts.edges),
        *(_error(row) for row in facts.errors),
        *(_module(row) for row in facts.modules),
        *(_pair(row) for row in facts.pairs),
    )


def added(*, counts: Iterable[Count]) -> dict[str, dict[str, dict[str, int]]]:
    """Return what sums hold of a session that has added these."""
    found: dict[str, dict[str, dict[str, int]]] = {}
    for one in counts:
        sums = found.setdefault(one.kind.value, {}).setdefault(one.key, {})
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
    changed = (
        Count(
            kind=kind,
            key=key,
            counts=_difference(_held(before, kind, key), _held(after, kind, key)),
            notes=notes.get((kind, key), {}),
        )
        for kind in Kind
        for key in sorted({*before.get(kind, {}), *after.get(kind, {})})
    )
    return tuple(one for one in changed if one.counts)


def of_signals(*, seen: Iterable[Witnessed]) -> tuple[Count, ...]:
    """Return that a session showed these signals; what is tainted counts for none."""
    keys = {
        signal_key(kind=one.sighting.kind.value, key=one.sighting.key)
        for one in seen
        if not one.reason
    }
    return tuple(Count(kind=Kind.SIGNAL, key=key, counts={"sessions": 1}) for key in sorted(keys))


def signal_key(*, kind: str, key: str) -> str:
    """Return the key under which sessions with a signal are counted."""
    return _key(f"{kind}:{key}")


def log_key(*, threshold: int, module: str) -> str:
    """Return the key under which a synthesis is logged."""
    return _key(f"{threshold}:{module}")


def file_key(*, path: str) -> str:
    """Return the key under which a file is counted."""
    return _key(path)


def module_key(*, module: str) -> str:
    """Return the key under which a module is counted."""
    return _key(module)


def file_row(*, counts: Counts, notes: Notes) -> FileRow:
    """Read a file's sums."""
    names = ("sessions", "reads", "edits", "tokens", "sized")
    return FileRow(path=_text(notes, "path"), **_whole(counts, *names))


def edge_row(*, counts: Counts, notes: Notes) -> EdgeRow:
    """Read an edge's sums."""
    timed = int(counts.get("timed", 0))
    return EdgeRow(
        first=_text(notes, "first"),
        second=_text(notes, "second"),
        seconds=int(counts.get("apart_ms", 0)) / 1_000 / timed if timed else 0.0,
        by_task=_named(counts, _TASK),
        **_whole(counts, "sessions", "meetings", "forward", "timed"),
    )


def error_row(*, key: str, counts: Counts, notes: Notes) -> ErrorRow:
    """Read an error's sums, the most frequent way in which it was resolved first."""
    hows = _named(counts, _HOW)
    return ErrorRow(
        fingerprint=key,
        message=_text(notes, "message"),
        what=_text(notes, "what"),
        hows=dict(sorted(hows.items(), key=lambda item: (-item[1], item[0]))),
        **_whole(counts, "sessions", "occurrences", "resolved"),
    )


def module_row(*, counts: Counts, notes: Notes) -> ModuleRow:
    """Read a module's sums."""
    names = ("sessions", "planned", "actual", "samples", "tokens", "costed")
    return ModuleRow(module=_text(notes, "module"), **_whole(counts, *names))


def pair_row(*, counts: Counts, notes: Notes) -> PairRow:
    """Read the sums of two modules."""
    first, second = _text(notes, "first"), _text(notes, "second")
    return PairRow(first=first, second=second, **_whole(counts, "sessions"))


def _file(row: FileRow) -> Count:
    counts = {
        "sessions": row.sessions,
        "reads": row.reads,
        "edits": row.edits,
        "tokens": row.tokens,
        "sized": row.sized,
    }
    return Count(kind=Kind.FILE, key=_key(row.path), counts=counts, notes={"path": row.path})


def _edge(row: EdgeRow) -> Count:
    counts = {
        "sessions": row.sessions,
        "meetings": row.meetings,
        "forward": row.forward,
        "timed": row.timed,
        "apart_ms": round(row.seconds * row.timed * 1_000),
        **{f"{_TASK}{name}": count for name, count in row.by_task.items()},
    }
    notes = {"first": row.first, "second": row.second}
    return Count(kind=Kind.EDGE, key=_key(f"{row.first}\t{row.second}"), counts=counts, notes=notes)


def _error(row: ErrorRow) -> Count:
    counts = {
        "sessions": row.sessions,
        "occurrences": row.occurrences,
        "resolved": row.resolved,
        **{f"{_HOW}{name}": count for name, count in row.hows.items()},
    }
    notes = {"message": row.message, "what": row.what}
    return Count(kind=Kind.ERROR, key=_key(row.fingerprint), counts=counts, notes=notes)


def _module(row: ModuleRow) -> Count:
    counts = {
        "sessions": row.sessions,
        "planned": row.planned,
        "actual": row.actual,
        "samples": row.samples,
        "tokens": row.tokens,
        "costed": row.costed,
    }
    return Count(
        kind=Kind.MODULE,
        key=module_key(module=row.module),
        counts=counts,
        notes={"module": row.module},
    )


def _pair(row: PairRow) -> Count:
    return Count(
        kind=Kind.PAIR,
        key=_key(f"{row.first}\t{row.second}"),
        counts={"sessions": row.sessions},
        notes={"first": row.first, "second": row.second},
    )


def _held(sums: Added, kind: Kind, key: str) -> Mapping[str, int]:
    return sums.get(kind, {}).get(key, {})


def _difference(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, int]:
    names = sorted({*before, *after})
    steps = {name: after.get(name, 0) - before.get(name, 0) for name in names}
    return {name: step for name, step in steps.items() if step}


def _key(text: str) -> str:
    """Return a text as a key: itself, or its beginning with a digest of all of it."""
    if len(text) <= KEY_MOST:
        return text
    digest = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=_DIGEST // 2).hexdigest()
    return f"{text[: KEY_MOST - _DIGEST - 1]} {digest}"


def _whole(counts: Counts, *names: str) -> dict[str, int]:
    return {name: int(counts.get(name, 0)) for name in names}


def _named(counts: Counts, prefix: str) -> dict[str, int]:
    found = {name: int(count) for name, count in counts.items() if name.startswith(prefix)}
    return {name[len(prefix) :]: count for name, count in found.items()}


def _text(notes: Notes, name: str) -> str:
    return str(notes.get(name, ""))
