"""All signals of a session, worth most first, and which of its agents saw them.

A slow call alone means nothing: it counts only when another signal rests on the same step or the
one beside it. What is worth less than 0.4 is dropped; what people rejected of a signal counts.

Agents that worked side by side are looked at one by one, and what they saw is joined: two sightings
are the same when signal and key are, or when their words are alike. What two agents saw needs one
session only: they are witnesses of each other. What only all of them together show is nobody's own.
How many steps were planned and taken, and what a step cost beside all others, is the session's: two
agents that share it are no two witnesses of it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from memory.observer import detections, edit_signals, effort_signals, navigation_signals
from memory.observer.detections import EVIDENCE_MOST, SIGHTINGS_MOST, Sighting, SignalKind
from memory.records import assertions
from memory.sessions import counters, file_paths
from memory.sessions.counters import EdgeRow, ErrorRow, FileRow, ModuleRow, PairRow, Row
from memory.sessions.events import Outcome
from memory.sessions.scratchpad import (
    Deed,
    FileUse,
    Scratchpad,
    each_file,
    files_of,
    step_key,
    taint_of,
)
from memory.sessions.tools import Act

FINDERS: Final[Mapping[SignalKind, Callable[..., Iterator[Sighting]]]] = {
    SignalKind.FILE_ACCESS: edit_signals.find_file_access,
    SignalKind.CO_ACCESS: edit_signals.find_co_access,
    SignalKind.ERROR_RETRY: effort_signals.find_error_retry,
    SignalKind.BACKTRACK: edit_signals.find_backtrack,
    SignalKind.READ_ABANDON: navigation_signals.find_read_abandon,
    SignalKind.REPEATED_GREP: navigation_signals.find_repeated_grep,
    SignalKind.TOOL_SEQUENCE: effort_signals.find_tool_sequence,
    SignalKind.TIME_ANOMALY: effort_signals.find_time_anomaly,
    SignalKind.SELF_CORRECTION: effort_signals.find_self_correction,
    SignalKind.EXTERNAL_REFERENCE: navigation_signals.find_external_reference,
    SignalKind.GLOB_IGNORED: navigation_signals.find_glob_ignored,
    SignalKind.IMPORT_CHASE: navigation_signals.find_import_chase,
    SignalKind.TEST_ORDER: effort_signals.find_test_order,
    SignalKind.CONFIG_TOUCHED: edit_signals.find_config_touched,
    SignalKind.STEP_OVERRUN: effort_signals.find_step_overrun,
    SignalKind.PARALLEL_CONFLICT: edit_signals.find_parallel_conflict,
    SignalKind.CONTEXT_SPIKE: effort_signals.find_context_spike,
}
OF_ALL: Final = frozenset({SignalKind.STEP_OVERRUN, SignalKind.CONTEXT_SPIKE})
STEPS_BESIDE: Final = 1  # from a slow call to another signal; default, not measured
ALIKE_ABOVE: Final = 0.85  # Jaccard of words

Seen = tuple[Scratchpad, tuple[Sighting, ...]]  # what one agent did, and what that shows


def find(*, kind: SignalKind, scratchpad: Scratchpad) -> tuple[Sighting, ...]:
    """Return where a signal is seen: the sightings shown most often, at most twenty."""
    return _strongest(FINDERS[kind](scratchpad=scratchpad))


def _strongest(found: Iterable[Sighting]) -> tuple[Sighting, ...]:
    return tuple(sorted(found, key=lambda one: (-one.times, one.key))[:SIGHTINGS_MOST])


def find_all(
    *,
    scratchpad: Scratchpad,
    rejected: Mapping[SignalKind, float],
    without: frozenset[SignalKind] = frozenset(),
) -> tuple[Sighting, ...]:
    """Find every signal that is worth it, most valuable first.

    `rejected` are the shares that people rejected of what became of a signal, where known.
    """
    values = {
        kind: detections.value(kind=kind, rejected=rejected.get(kind))
        for kind in FINDERS
        if kind not in without
    }
    found = [
        one
        for kind, worth in values.items()
        if worth >= detections.LEAST_VALUE
        for one in find(kind=kind, scratchpad=scratchpad)
    ]
    steps = _steps_of_others(found)
    kept = (
        one
        for one in found
        if one.kind is not SignalKind.TIME_ANOMALY
        or any(each.step in steps for each in one.evidence)
    )
    return tuple(sorted(kept, key=lambda one: (-values[one.kind], -one.times, one.key)))


def _steps_of_others(found: list[Sighting]) -> set[int]:
    """Return the steps at or beside those that show more than that time was lost."""
    return {
        each.step + far
        for sighting in found
        if sighting.kind is not SignalKind.TIME_ANOMALY
        for each in sighting.evidence
        for far in range(-STEPS_BESIDE, STEPS_BESIDE + 1)
    }


def witnessed(
    *, scratchpad: Scratchpad, rejected: Mapping[SignalKind, float]
) -> tuple[Sighting, ...]:
    """Find what a session showed, with who of its agents saw it."""
    found = find_all(scratchpad=scratchpad, rejected=rejected)
    names = sorted({deed.agent for deed in scratchpad.deeds.values()})
    if len(names) < detections.WITNESSES_LEAST:
        return join(seen={"": (scratchpad, found)})
    seen: dict[str, Seen] = {}
    for name in names:
        deeds = {place: deed for place, deed in scratchpad.deeds.items() if deed.agent == name}
        remarks = tuple(one for one in scratchpad.remarks if one.agent == name)
        files = files_of(deeds=deeds.values())
        own = replace(scratchpad, deeds=deeds, remarks=remarks, files=files)
        seen[name] = own, find_all(scratchpad=own, rejected=rejected, without=OF_ALL)
    joined = join(seen=seen)
    witnesses = {(one.kind, one.key) for one in joined}
    beside = tuple(one for one in found if (one.kind, one.key) not in witnesses)
    return (*joined, *join(seen={"": (scratchpad, beside)}))


def join(*, seen: Mapping[str, Seen]) -> tuple[Sighting, ...]:
    """Join what agents saw, by their names, with the files at which they collided."""
    joined: list[Sighting] = []
    agents = tuple(sorted(seen))
    for agent in agents:
        scratchpad, found = seen[agent]
        for sighting in sorted(found, key=lambda each: (each.kind, each.key)):
            reason = taint_of(last_sequence=sighting.last_sequence, scratchpad=scratchpad)
            one = replace(sighting, agents=(agent,), reason=reason)
            place = next((at for at, known in enumerate(joined) if _is_same(known, one)), None)
            if place is None:
                joined.append(one)
                continue
            known = joined[place]
            joined[place] = replace(
                known,
                evidence=(*known.evidence, *one.evidence)[-EVIDENCE_MOST:],
                times=known.times + one.times,
                agents=tuple(sorted({*known.agents, agent})),
                reason=known.reason or reason,
            )
    scratchpads = tuple(seen[agent][0] for agent in agents)
    reason = next((one.taint.reason for one in scratchpads if one.taint is not None), "")
    collisions = _strongest(edit_signals.between(scratchpads=scratchpads))
    return (*joined, *(replace(one, agents=agents, reason=reason) for one in collisions))


def _is_same(known: Sighting, one: Sighting) -> bool:
    if known.kind is not one.kind:
        return False
    alike = assertions.jaccard(left=_words(known), right=_words(one))
    return known.key == one.key or alike > ALIKE_ABOVE


def _words(sighting: Sighting) -> frozenset[str]:
    """Return what a sighting says in words; its key when it says nothing more."""
    told = " ".join((*sighting.files, *sighting.details.values()))
    return assertions.words(text=told or sighting.key)


# What one session adds to the tables over sessions: each row stands for one session, and
# `memory.sessions.counters` adds rows up.


def rows_of_session(*, scratchpad: Scratchpad, task_type: str) -> tuple[Row, ...]:
    """Take from a session what the tables count; each row stands for one session.

    What was done after outside content is not counted, and such a session is no sample of a plan:
    syntheses are made of these sums and nothing tainted is their source.
    """
    taint = scratchpad.taint
    pairs, errors = (
        [one for one in found if taint is None or one.last_sequence <= taint.sequence]
        for found in (
            edit_signals.find_co_access(scratchpad=scratchpad),
            find(kind=SignalKind.ERROR_RETRY, scratchpad=scratchpad),
        )
    )
    edges = [_edge(one, task_type) for one in pairs]
    tied = sorted({counters.modules_of(edge=edge) for edge in edges})
    files = tuple(
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
    return (
        *files,
        *edges,
        *(_error(one) for one in errors),
        *_modules(scratchpad, files),
        *(PairRow(first=one, second=other, sessions=1) for one, other in tied if one != other),
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
    return ErrorRow(
        fingerprint=one.key,
        message=named["message"],
        what=named["what"],
        sessions=1,
        occurrences=one.times,
        resolved=int(bool(named["how"])),
        hows={named["how"]: 1} if named["how"] else {},
    )


def _modules(scratchpad: Scratchpad, files: tuple[FileRow, ...]) -> Iterator[ModuleRow]:
    """Yield the modules that a session touched, as many as its files lie in.

    Plan and steps count for the main one if it ended well; the tokens of a step for its last touch.
    """
    last: dict[str, Deed] = {}
    for deed in detections.touches(scratchpad=scratchpad):
        if scratchpad.taint is None or deed.sequence <= scratchpad.taint.sequence:
            last[step_key(agent=deed.agent, step=deed.step)] = deed
    tokens = {file_paths.module(path=row.path): 0 for row in files}
    for step, deed in last.items():
        module = file_paths.module(path=deed.target)
        cost = scratchpad.steps[step].tokens if step in scratchpad.steps else 0
        tokens[module] = tokens.get(module, 0) + cost
    main = detections.main_module(scratchpad=scratchpad)
    planned = scratchpad.setting.planned_steps
    actual = scratchpad.steps_done or scratchpad.current_step
    is_clean = scratchpad.taint is None
    is_sample = min(planned, actual) > 0 and is_clean and scratchpad.outcome is Outcome.SUCCESS
    for module, spent in sorted(tokens.items()):
        sampled = int(is_sample and module == main)
        yield ModuleRow(
            module=module,
            sessions=1,
            planned=planned * sampled,
            actual=actual * sampled,
            samples=sampled,
            tokens=spent,
            costed=int(spent > 0),
        )
