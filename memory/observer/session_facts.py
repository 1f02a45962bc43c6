"""What one session adds to the tables over sessions, taken without a model.

Each row stands for one session; how rows add up is `memory.sessions.counters`. Adding is O(what the
session showed), and no row looks at any other.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from memory.observer import detections
from memory.observer.detect import Known
from memory.observer.detections import Sighting, SignalKind
from memory.observer.signals import edits, failures
from memory.sessions import counters, file_paths
from memory.sessions.counters import EdgeRow, ErrorRow, FileRow, ModuleRow, PairRow, Row
from memory.sessions.events import Outcome
from memory.sessions.scratchpad import Deed, FileUse, Scratchpad, each_file, step_key
from memory.sessions.tools import Act

EDGES_MOST: Final = 400  # of one session, those met most often; default, not measured


def find_counted(*, scratchpad: Scratchpad) -> Known:
    """Find the signals that the tables count."""
    return {
        SignalKind.CO_ACCESS: edits.find_co_access(scratchpad=scratchpad, most=EDGES_MOST),
        SignalKind.ERROR_RETRY: failures.find_error_retry(scratchpad=scratchpad),
    }


def rows_of_session(*, scratchpad: Scratchpad, found: Known, task_type: str) -> tuple[Row, ...]:
    """Take from a session what the tables count; each row stands for one session.

    What was done after outside content is not counted, and such a session is no sample of a plan:
    syntheses are made of these sums and nothing tainted is their source.
    """
    taint = scratchpad.taint
    clean = [
        one
        for sightings in found.values()
        for one in sightings
        if taint is None or one.last_sequence <= taint.sequence
    ]
    edges = [_edge(one, task_type) for one in clean if one.kind is SignalKind.CO_ACCESS]
    tied = sorted({counters.modules_of(edge=edge) for edge in edges})
    files = _files(scratchpad)
    return (
        *files,
        *edges,
        *(_error(one) for one in clean if one.kind is SignalKind.ERROR_RETRY),
        *_modules(scratchpad, files),
        *(PairRow(first=one, second=other, sessions=1) for one, other in tied if one != other),
    )


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
    return EdgeRow(
        first=min(begins, follows),
        second=max(begins, follows),
        sessions=1,
        meetings=pair.times,
        forward=int(begins < follows),
        timed=int(pair.details["timed"]),
        apart_ms=int(pair.details["apart_ms"]),
        by_task={task_type: 1} if task_type else {},
    )


def _error(one: Sighting) -> ErrorRow:
    named = one.details
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


def _modules(scratchpad: Scratchpad, files: tuple[FileRow, ...]) -> tuple[ModuleRow, ...]:
    """Return the modules that a session touched, as many as its files lie in.

    Plan and steps count for the main one if it ended well.
    """
    tokens = _tokens(scratchpad)
    touched = {file_paths.module(path=row.path) for row in files}
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
