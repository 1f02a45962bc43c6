"""What sessions have shown together, updated after each of them without a model.

`of_session` takes from a scratchpad what the tables count; each `after` adds it to one row. A
session is counted once by its caller, in the transaction that marks it as counted: adding is O(what
the session showed), and no row looks at any other.

The weight of an edge is the share of sessions with either file that had both (Jaccard 1912), so two
files that are in every session do not look tied more than they are.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from memory.observer import detections
from memory.observer.detect import Known
from memory.observer.detections import Sighting
from memory.observer.signal_table import SignalKind
from memory.observer.signals import co_access, error_retry
from memory.sessions import file_paths
from memory.sessions.events import Outcome
from memory.sessions.scratchpad import Deed, FileUse, Scratchpad, each_file, step_key
from memory.sessions.tools import Act

EDGES_MOST: Final = 400  # of one session, those met most often; ours
HOWS_MOST: Final = 5  # ways in which an error was resolved, ours
DIRECTION_LEAST: Final = 0.75  # share of sessions that begin with the same file, ours


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

    `forward` counts sessions that touched `first` first, `seconds` is the mean between them over
    the `timed` meetings, those of which clocks tell.
    """

    first: str
    second: str
    sessions: int = 0
    meetings: int = 0
    forward: int = 0
    timed: int = 0
    seconds: float = 0.0
    by_task: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorRow:
    """One error over sessions, and how it was resolved, the most frequent way first."""

    fingerprint: str
    message: str = ""
    what: str = ""
    sessions: int = 0
    occurrences: int = 0
    resolved: int = 0
    hows: Mapping[str, int] = field(default_factory=dict)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFacts:
    """What one session adds to the tables."""

    files: tuple[FileRow, ...]
    edges: tuple[EdgeRow, ...]
    errors: tuple[ErrorRow, ...]
    modules: tuple[ModuleRow, ...]
    pairs: tuple[PairRow, ...] = ()


def found(*, scratchpad: Scratchpad) -> Known:
    """Find the signals that the tables count."""
    return {
        SignalKind.CO_ACCESS: co_access.find(scratchpad=scratchpad, most=EDGES_MOST),
        SignalKind.ERROR_RETRY: error_retry.find(scratchpad=scratchpad),
    }


def of_session(*, scratchpad: Scratchpad, found: Known, task_type: str) -> SessionFacts:
    """Take from a session what the tables count; each row stands for one session.

    What was done after outside content is not counted, and such a session is no sample of a plan:
    syntheses are made of these sums and nothing tainted is their source.
    """
    pairs = _clean(scratchpad, found[SignalKind.CO_ACCESS])
    retried = _clean(scratchpad, found[SignalKind.ERROR_RETRY])
    edges = tuple(_edge(pair, task_type) for pair in pairs)
    return SessionFacts(
        files=_files(scratchpad),
        edges=edges,
        errors=tuple(_error(one) for one in retried),
        modules=_modules(scratchpad),
        pairs=_pairs(edges),
    )


def file_after(*, row: FileRow, add: FileRow) -> FileRow:
    """Add a session, or another row, to a file."""
    return replace(
        row,
        sessions=row.sessions + add.sessions,
        reads=row.reads + add.reads,
        edits=row.edits + add.edits,
        tokens=row.tokens + add.tokens,
        sized=row.sized + add.sized,
    )


def edge_after(*, row: EdgeRow, add: EdgeRow) -> EdgeRow:
    """Add a session, or another row, to an edge; the mean is that of all timed meetings."""
    timed = row.timed + add.timed
    seconds = row.seconds * row.timed + add.seconds * add.timed
    return replace(
        row,
        sessions=row.sessions + add.sessions,
        meetings=row.meetings + add.meetings,
        forward=row.forward + add.forward,
        timed=timed,
        seconds=seconds / timed if timed else 0.0,
        by_task=_together(row.by_task, add.by_task),
    )


def error_after(*, row: ErrorRow, add: ErrorRow) -> ErrorRow:
    """Add a session, or another row, to an error; its last message stands for all."""
    hows = _together(row.hows, add.hows)
    most = sorted(hows, key=lambda how: (-hows[how], how))[:HOWS_MOST]
    return replace(
        row,
        message=add.message or row.message,
        what=add.what or row.what,
        sessions=row.sessions + add.sessions,
        occurrences=row.occurrences + add.occurrences,
        resolved=row.resolved + add.resolved,
        hows={how: hows[how] for how in most},
    )


def module_after(*, row: ModuleRow, add: ModuleRow) -> ModuleRow:
    """Add a session, or another row, to a module."""
    return replace(
        row,
        sessions=row.sessions + add.sessions,
        planned=row.planned + add.planned,
        actual=row.actual + add.actual,
        samples=row.samples + add.samples,
        tokens=row.tokens + add.tokens,
        costed=row.costed + add.costed,
    )


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


def ratio(*, module: ModuleRow) -> float | None:
    """Compute actual / planned steps over all samples; None without a plan."""
    return module.actual / module.planned if module.planned else None


def mean_tokens(*, module: ModuleRow) -> int | None:
    """Return the tokens that a session spends on reading a module; None when unknown."""
    return round(module.tokens / module.costed) if module.costed else None


def file_tokens(*, row: FileRow) -> int | None:
    """Return what reading a file takes, the mean over sessions rounded up; None when unknown."""
    return math.ceil(row.tokens / row.sized) if row.sized else None


def _clean(scratchpad: Scratchpad, found: tuple[Sighting, ...]) -> tuple[Sighting, ...]:
    taint = scratchpad.taint
    return tuple(one for one in found if taint is None or one.last_sequence <= taint.sequence)


def _files(scratchpad: Scratchpad) -> tuple[FileRow, ...]:
    return tuple(
        FileRow(
            path=path,
            sessions=1,
            reads=use.reads,
            edits=use.edits,
            tokens=use.tokens,
            sized=int(use.tokens > 0),
        )
        for path, use in sorted(_clean_uses(scratchpad).items())
        if path and not file_paths.is_outside(path=path)
    )


def _clean_uses(scratchpad: Scratchpad) -> Mapping[str, FileUse]:
    """Return how files were used before outside content came into view.

    Of one that was used before and after, the calls before count; what reading it takes is unknown.
    """
    taint = scratchpad.taint
    if taint is None:
        return scratchpad.files
    uses = {
        path: use for path, use in scratchpad.files.items() if use.last_sequence <= taint.sequence
    }
    for deed in each_file(deeds=scratchpad.deeds.values()):
        use = scratchpad.files.get(deed.target) if deed.act in {Act.READ, Act.EDIT} else None
        if use is not None and deed.sequence <= taint.sequence < use.last_sequence:
            known = uses.get(deed.target) or replace(use, reads=0, edits=0, tokens=0)
            is_edit = deed.act is Act.EDIT
            uses[deed.target] = replace(
                known, reads=known.reads + (not is_edit), edits=known.edits + is_edit
            )
    return uses


def _edge(pair: Sighting, task_type: str) -> EdgeRow:
    begins, follows = pair.files
    told = dict(pair.details)
    return EdgeRow(
        first=min(begins, follows),
        second=max(begins, follows),
        sessions=1,
        meetings=pair.times,
        forward=int(begins < follows),
        timed=int(told["timed"]),
        seconds=float(told["seconds"] or 0),
        by_task={task_type: 1} if task_type else {},
    )


def _pairs(edges: tuple[EdgeRow, ...]) -> tuple[PairRow, ...]:
    """Return the pairs of modules that some edges tie, each once however many do."""
    tied = sorted({modules_of(edge=edge) for edge in edges})
    return tuple(
        PairRow(first=first, second=second, sessions=1) for first, second in tied if first != second
    )


def _error(one: Sighting) -> ErrorRow:
    named = dict(one.details)
    is_resolved = named["resolved"] == "yes"
    return ErrorRow(
        fingerprint=one.key,
        message=named["message"],
        what=named["what"],
        sessions=1,
        occurrences=one.times,
        resolved=int(is_resolved),
        hows={named["how"]: 1} if is_resolved else {},
    )


def _modules(scratchpad: Scratchpad) -> tuple[ModuleRow, ...]:
    """Return the modules that a session touched, as many as its files lie in.

    Plan and steps count for the main one if it ended well.
    """
    tokens = _tokens(scratchpad)
    touched = {file_paths.module(path=row.path) for row in _files(scratchpad)}
    main = detections.main_module(scratchpad=scratchpad)
    planned = scratchpad.setting.planned_steps
    actual = scratchpad.steps_done or scratchpad.current_step
    is_clean = scratchpad.taint is None
    is_sample = min(planned, actual) > 0 and is_clean and scratchpad.outcome is Outcome.SUCCESS
    return tuple(
        ModuleRow(
            module=module,
            sessions=1,
            planned=planned if is_sample and module == main else 0,
            actual=actual if is_sample and module == main else 0,
            samples=int(is_sample and module == main),
            tokens=tokens.get(module, 0),
            costed=int(tokens.get(module, 0) > 0),
        )
        for module in sorted({*touched, *tokens})
    )


def _tokens(scratchpad: Scratchpad) -> dict[str, int]:
    """Return the tokens of the steps that touched modules; a step's go to its last touch."""
    last: dict[str, Deed] = {}
    for deed in detections.touches(scratchpad=scratchpad):
        if scratchpad.taint is not None and deed.sequence > scratchpad.taint.sequence:
            continue
        last[step_key(agent=deed.agent, step=deed.step)] = deed
    tokens: dict[str, int] = {}
    for step, deed in last.items():
        module = file_paths.module(path=deed.target)
        cost = scratchpad.steps[step].tokens if step in scratchpad.steps else 0
        tokens[module] = tokens.get(module, 0) + cost
    return tokens


def _together(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    names = sorted({*one, *other})
    return {name: one.get(name, 0) + other.get(name, 0) for name in names}
