"""Memories that only many sessions together justify.

Two of the three syntheses are decisions here: which are due, and what the statistics alone say when
no model phrases it. The first, adding a session to the tables, is `memory.observer.statistics`.
Each is done once: its key is in the log before anybody is told of its memories. All of it waits for
review.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from memory.observer import statistics
from memory.observer.signals import error_retry
from memory.observer.statistics import EdgeRow, ErrorRow, FileRow, ModuleRow, PairRow
from memory.sessions import file_paths
from memory.taxonomy import MemoryType

THRESHOLDS: Final = (5, 10, 20, 50, 100)  # sessions of a module
DRAFTS_MOST: Final = 5  # a synthesis
ALWAYS_ABOVE: Final = 0.8  # share of sessions
OFTEN_ABOVE: Final = 0.5  # share of sessions
PREFETCH_SESSIONS: Final = 3
FILES_MOST: Final = 12  # of a prefetch pattern
STRONG_WEIGHT: Final = 0.5  # of an edge, ours
STRONG_SESSIONS: Final = 3  # of an edge
ERROR_SESSIONS: Final = 2
CALIBRATION_SAMPLES: Final = 3
CALIBRATION_OFF: Final = 0.2  # from 1, below which a plan was good enough; ours
PAIR_SESSIONS: Final = 5  # of two modules, ours
PAIRS_MOST: Final = 10  # of one week, ours
CONFIDENCE: Final = 0.6  # before a person has looked, ours


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """What a synthesis is known by in the log; a weekly one names both modules and threshold 0."""

    project: str
    module: str
    threshold: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """One memory that the statistics justify, for review."""

    type: MemoryType
    content: str
    files: tuple[str, ...]
    attributes: Mapping[str, object] = field(default_factory=dict)
    confidence: float = CONFIDENCE


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What is known of one module: its row, its files, edges inside of it, errors met in it."""

    module: ModuleRow
    files: tuple[FileRow, ...]
    edges: tuple[EdgeRow, ...]
    errors: tuple[ErrorRow, ...]


def due(*, project: str, module: ModuleRow, done: frozenset[Key]) -> Key | None:
    """Return the highest threshold that a module has reached and nobody synthesized; else None.

    A module that reached several at once is synthesized once, for the highest: it holds the others.
    """
    reached = [threshold for threshold in THRESHOLDS if threshold <= module.sessions]
    highest = reached[-1] if reached else 0
    key = Key(project=project, module=module.module, threshold=highest)
    return key if highest and key not in done else None


def of_module(*, summary: Summary) -> tuple[Draft, ...]:
    """Return what the statistics of a module justify, at most five, the strongest kinds first."""
    drafts = (
        *_prefetch(summary),
        *_couplings(summary),
        *_errors(summary.errors),
        *_calibration(summary.module),
    )
    return drafts[:DRAFTS_MOST]


def weekly(
    *,
    project: str,
    edges: Iterable[EdgeRow],
    pairs: Iterable[PairRow],
    known: frozenset[tuple[str, str]],
    done: frozenset[Key],
) -> tuple[tuple[Key, Draft], ...]:
    """Return pairs of modules that change together and that no causal dependency names yet.

    `pairs` count the sessions of two modules through whichever files, where any counted them;
    `known` holds the pairs that one names, in alphabetical order.
    """
    sessions = {(one.first, one.second): one.sessions for one in pairs}
    by_pair: dict[tuple[str, str], list[EdgeRow]] = {}
    for edge in edges:
        pair = statistics.modules_of(edge=edge)
        if pair[0] != pair[1] and pair not in known:
            by_pair.setdefault(pair, []).append(edge)
    often = {pair: max(sessions.get(pair, 0), _most(met)) for pair, met in by_pair.items()}
    found = (
        (Key(project=project, module="|".join(pair), threshold=0), _pair(pair, often[pair], met))
        for pair, met in sorted(by_pair.items(), key=lambda item: (-often[item[0]], item[0]))
        if often[pair] >= PAIR_SESSIONS
    )
    return tuple(each for each in found if each[0] not in done)[:PAIRS_MOST]


def usual_way(*, error: ErrorRow) -> str:
    """Return what helped against an error most often; empty where nothing did."""
    return min(error.hows, key=lambda how: (-error.hows[how], how), default="")


def is_of(*, module: str, error: ErrorRow, paths: frozenset[str]) -> bool:
    """Say whether an error belongs to a module: it names a file of it, or a change there helped."""
    if any(path in error.message for path in paths):
        return True
    helped = (path for how in error.hows for path in error_retry.changed(how=how))
    return any(file_paths.module(path=path) == module for path in helped)


def shares(*, module: ModuleRow, files: Iterable[FileRow], above: float) -> tuple[str, ...]:
    """Return the files read in more than a share of a module's sessions, most read first."""
    if module.sessions < PREFETCH_SESSIONS:
        return ()
    often = (row for row in files if row.reads and row.sessions / module.sessions > above)
    ordered = sorted(often, key=lambda row: (-row.sessions, row.path))
    return tuple(row.path for row in ordered)[:FILES_MOST]


def _prefetch(summary: Summary) -> tuple[Draft, ...]:
    module = summary.module
    always = shares(module=module, files=summary.files, above=ALWAYS_ABOVE)
    often = shares(module=module, files=summary.files, above=OFTEN_ABOVE)
    if not always:
        return ()
    attributes = {
        "always_read": always,
        "often_read": tuple(path for path in often if path not in always),
        "trigger_module": module.module or "project",
        "sessions": module.sessions,
    }
    content = f"Work on {_name(module)} reads {', '.join(always)} in nearly every session."
    draft = Draft(
        type=MemoryType.PREFETCH_PATTERN, content=content, files=always, attributes=attributes
    )
    return (draft,)


def _couplings(summary: Summary) -> tuple[Draft, ...]:
    rows = {row.path: row for row in summary.files}
    strong = [edge for edge in summary.edges if _is_strong(edge, rows)]
    ordered = sorted(strong, key=lambda edge: (-edge.sessions, edge.first, edge.second))
    return tuple(_coupling(edge) for edge in ordered[:2])


def _is_strong(edge: EdgeRow, rows: Mapping[str, FileRow]) -> bool:
    first, second = rows.get(edge.first), rows.get(edge.second)
    if first is None or second is None or edge.sessions < STRONG_SESSIONS:
        return False
    return statistics.weight(edge=edge, first=first, second=second) >= STRONG_WEIGHT


def _coupling(edge: EdgeRow) -> Draft:
    directed = statistics.direction(edge=edge)
    first, second = directed or (edge.first, edge.second)
    said = (
        f"A change of {first} comes with a change of {second}"
        if directed
        else f"{first} and {second} change together"
    )
    return Draft(
        type=MemoryType.CAUSAL_DEPENDENCY,
        content=f"{said} ({edge.sessions} sessions).",
        files=(first, second),
    )


def _errors(errors: Iterable[ErrorRow]) -> tuple[Draft, ...]:
    again = [row for row in errors if row.sessions >= ERROR_SESSIONS and row.hows]
    ordered = sorted(again, key=lambda row: (-row.sessions, row.fingerprint))
    return tuple(
        Draft(
            type=MemoryType.ERROR_PATTERN,
            content=f"“{row.message}” comes up again and again ({row.sessions} sessions); "
            f"it went through {usual_way(error=row)}.",
            files=error_retry.changed(how=usual_way(error=row)),
        )
        for row in ordered[:2]
    )


def _calibration(module: ModuleRow) -> tuple[Draft, ...]:
    ratio = statistics.ratio(module=module)
    is_off = ratio is not None and abs(ratio - 1) >= CALIBRATION_OFF
    if ratio is None or module.samples < CALIBRATION_SAMPLES or not is_off:
        return ()
    attributes = {
        "module": module.module or "project",
        "planned": module.planned,
        "actual": module.actual,
        "ratio": round(ratio, 2),
        "samples": module.samples,
    }
    content = f"Work on {_name(module)} takes {ratio:.1f} times the steps planned."
    draft = Draft(
        type=MemoryType.TASK_CALIBRATION, content=content, files=(), attributes=attributes
    )
    return (draft,)


def _name(module: ModuleRow) -> str:
    return module.module or "the project"


def _most(met: list[EdgeRow]) -> int:
    return max(edge.sessions for edge in met)


def _pair(pair: tuple[str, str], sessions: int, met: list[EdgeRow]) -> Draft:
    strongest = max(met, key=lambda edge: (edge.sessions, edge.first, edge.second))
    one, other = (module or "the top folder" for module in pair)
    return Draft(
        type=MemoryType.CAUSAL_DEPENDENCY,
        content=f"Work on {one} and on {other} goes together ({sessions} sessions): "
        f"{strongest.first} and {strongest.second}.",
        files=(strongest.first, strongest.second),
    )
