"""All signals of a session, worth most first, and which of its agents saw them.

A slow call alone means nothing: it counts only when another signal rests on the same step or the
one beside it. What is worth less than 0.4 is dropped; what people rejected of a signal counts.

Agents that worked side by side are looked at one by one, and what they saw is joined: two sightings
are the same when signal and key are, or when their words are alike. What two agents saw needs one
session only: they are witnesses of each other. What only all of them together show is nobody's own.
How many steps were planned and taken, and what a step cost beside all others, is the session's: two
agents that share it are no two witnesses of it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from memory.observer import detections
from memory.observer.detections import (
    EVIDENCE_MOST,
    LEAST_VALUE,
    SIGHTINGS_MOST,
    Sighting,
    SignalKind,
)
from memory.observer.signals import collaboration, edits, effort, failures, navigation
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

FINDERS: Final[Mapping[SignalKind, Callable[..., tuple[Sighting, ...]]]] = {
    SignalKind.FILE_ACCESS: edits.find_file_access,
    SignalKind.CO_ACCESS: edits.find_co_access,
    SignalKind.ERROR_RETRY: failures.find_error_retry,
    SignalKind.BACKTRACK: edits.find_backtrack,
    SignalKind.READ_ABANDON: navigation.find_read_abandon,
    SignalKind.REPEATED_GREP: navigation.find_repeated_grep,
    SignalKind.TOOL_SEQUENCE: effort.find_tool_sequence,
    SignalKind.TIME_ANOMALY: effort.find_time_anomaly,
    SignalKind.SELF_CORRECTION: failures.find_self_correction,
    SignalKind.EXTERNAL_REFERENCE: navigation.find_external_reference,
    SignalKind.GLOB_IGNORED: navigation.find_glob_ignored,
    SignalKind.IMPORT_CHASE: navigation.find_import_chase,
    SignalKind.TEST_ORDER: failures.find_test_order,
    SignalKind.CONFIG_TOUCHED: edits.find_config_touched,
    SignalKind.STEP_OVERRUN: effort.find_step_overrun,
    SignalKind.PARALLEL_CONFLICT: collaboration.find_parallel_conflict,
    SignalKind.CONTEXT_SPIKE: effort.find_context_spike,
}
Known = Mapping[SignalKind, tuple[Sighting, ...]]
OF_ALL: Final[Known] = {SignalKind.STEP_OVERRUN: (), SignalKind.CONTEXT_SPIKE: ()}
STEPS_BESIDE: Final = 1  # from a slow call to another signal; default, not measured
ALIKE_ABOVE: Final = 0.85  # Jaccard of words


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdicts:
    """What people said of what a signal became: how many they looked at, how many they rejected."""

    judged: int
    rejected: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Witnessed:
    """A sighting, the agents that had it, and why it is tainted if one of them was (else empty)."""

    sighting: Sighting
    agents: tuple[str, ...]
    reason: str


Seen = tuple[Scratchpad, tuple[Sighting, ...]]  # what one agent did, and what that shows


def find_all(
    *,
    scratchpad: Scratchpad,
    verdicts: Mapping[SignalKind, Verdicts],
    known: Known = MappingProxyType({}),
) -> tuple[Sighting, ...]:
    """Find every signal that is worth it, most valuable first; `known` was found in it already."""
    values: dict[SignalKind, float] = {}
    found: list[Sighting] = []
    for kind, find in FINDERS.items():
        told = verdicts.get(kind, Verdicts(judged=0, rejected=0))
        values[kind] = detections.value(kind=kind, rejected=told.rejected, judged=told.judged)
        if values[kind] >= LEAST_VALUE:
            seen = known[kind] if kind in known else find(scratchpad=scratchpad)
            found.extend(seen[:SIGHTINGS_MOST])  # sums may count more of it than is offered
    steps = {
        each.step + far
        for sighting in found
        if sighting.kind is not SignalKind.TIME_ANOMALY
        for each in sighting.evidence
        for far in range(-STEPS_BESIDE, STEPS_BESIDE + 1)
    }
    kept = (
        one
        for one in found
        if one.kind is not SignalKind.TIME_ANOMALY
        or any(each.step in steps for each in one.evidence)
    )
    return tuple(sorted(kept, key=lambda one: (-values[one.kind], -one.times, one.key)))


def witnessed(
    *,
    scratchpad: Scratchpad,
    verdicts: Mapping[SignalKind, Verdicts],
    known: Known = MappingProxyType({}),
) -> tuple[Witnessed, ...]:
    """Find what a session showed, and who of its agents saw it; `known` was found already."""
    found = find_all(scratchpad=scratchpad, verdicts=verdicts, known=known)
    names = sorted({deed.agent for deed in scratchpad.deeds.values()})
    if len(names) < detections.WITNESSES_LEAST:
        return alone(scratchpad=scratchpad, found=found)
    seen: dict[str, Seen] = {}
    for name in names:
        deeds = {place: deed for place, deed in scratchpad.deeds.items() if deed.agent == name}
        remarks = tuple(one for one in scratchpad.remarks if one.agent == name)
        files = files_of(deeds=deeds.values())
        own = replace(scratchpad, deeds=deeds, remarks=remarks, files=files)
        seen[name] = own, find_all(scratchpad=own, verdicts=verdicts, known=OF_ALL)
    joined = join(seen=seen)
    witnesses = {(one.sighting.kind, one.sighting.key) for one in joined}
    beside = tuple(one for one in found if (one.kind, one.key) not in witnesses)
    return (*joined, *alone(scratchpad=scratchpad, found=beside))


def alone(*, scratchpad: Scratchpad, found: tuple[Sighting, ...]) -> tuple[Witnessed, ...]:
    """Return the sightings of a session without parallel agents."""
    return join(seen={"": (scratchpad, found)})


def join(*, seen: Mapping[str, Seen]) -> tuple[Witnessed, ...]:
    """Join what agents saw, by their names, with the files at which they collided."""
    joined: list[Witnessed] = []
    ordered = sorted(seen.items(), key=lambda each: each[0])
    for agent, (scratchpad, found) in ordered:
        for sighting in sorted(found, key=lambda each: (each.kind, each.key)):
            reason = taint_of(last_sequence=sighting.last_sequence, scratchpad=scratchpad)
            one = Witnessed(sighting=sighting, agents=(agent,), reason=reason)
            place = _place(joined, sighting)
            if place is None:
                joined.append(one)
            else:
                joined[place] = _join_two(joined[place], one)
    scratchpads = tuple(scratchpad for _, (scratchpad, _) in ordered)
    reason = next((one.taint.reason for one in scratchpads if one.taint is not None), "")
    agents = tuple(agent for agent, _ in ordered)
    collisions = collaboration.between(scratchpads=scratchpads)
    return (*joined, *(Witnessed(sighting=one, agents=agents, reason=reason) for one in collisions))


def _place(joined: list[Witnessed], sighting: Sighting) -> int | None:
    """Return where the same is known already."""
    words = _words(sighting)
    for place, known in enumerate(joined):
        if known.sighting.kind is not sighting.kind:
            continue
        is_same = known.sighting.key == sighting.key
        if is_same or assertions.jaccard(left=_words(known.sighting), right=words) > ALIKE_ABOVE:
            return place
    return None


def _words(sighting: Sighting) -> frozenset[str]:
    """Return what a sighting says in words; its key when it says nothing more."""
    told = " ".join((*sighting.files, *sighting.details.values()))
    return assertions.words(text=told or sighting.key)


def _join_two(known: Witnessed, more: Witnessed) -> Witnessed:
    """Join two: the evidence of both, and the taint of either."""
    both = (*known.sighting.evidence, *more.sighting.evidence)[-EVIDENCE_MOST:]
    times = known.sighting.times + more.sighting.times
    return Witnessed(
        sighting=replace(known.sighting, evidence=both, times=times),
        agents=tuple(sorted({*known.agents, *more.agents})),
        reason=known.reason or more.reason,
    )


# What one session adds to the tables over sessions: each row stands for one session, and
# `memory.sessions.counters` adds rows up.
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
