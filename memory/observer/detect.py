"""All signals of a session, worth most first, and which of its agents saw them.

A slow call alone means nothing: it counts only when another signal rests on the same step or the
one beside it. What is worth less than 0.4 is dropped; what people rejected of a signal counts.

Agents that worked side by side are looked at one by one, and what they saw is joined: two sightings
are the same when signal and key are, or when their words are alike. What two agents saw needs one
session only: they are witnesses of each other. What only all of them together show is nobody's own.
How many steps were planned and taken, and what a step cost beside all others, is the session's: two
agents that share it are no two witnesses of it.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from memory.observer import detections, effort_signals, error_fixes, file_signals
from memory.observer.detections import EVIDENCE_MOST, SIGHTINGS_MOST, Sighting, SignalKind
from memory.records import assertions
from memory.sessions import counters, file_paths
from memory.sessions.counters import EdgeRow, ErrorRow, FileRow, ModuleRow, PairRow, Row
from memory.sessions.events import Outcome
from memory.sessions.scratchpad import Scratchpad, each_file, files_of, taint_of, touched
from memory.sessions.tools import Act

FINDERS: Final[Mapping[SignalKind, Callable[..., Iterator[Sighting]]]] = {
    SignalKind.FILE_ACCESS: file_signals.find_file_access,
    SignalKind.CO_ACCESS: file_signals.find_co_access,
    SignalKind.ERROR_RETRY: error_fixes.find_error_fixes,
    SignalKind.BACKTRACK: file_signals.find_backtrack,
    SignalKind.REPEATED_GREP: file_signals.find_repeated_grep,
    SignalKind.TIME_ANOMALY: effort_signals.find_time_anomaly,
    SignalKind.SELF_CORRECTION: effort_signals.find_self_correction,
    SignalKind.EXTERNAL_REFERENCE: file_signals.find_external_reference,
    SignalKind.STEP_OVERRUN: effort_signals.find_step_overrun,
    SignalKind.PARALLEL_CONFLICT: file_signals.find_parallel_conflict,
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
        own = _part_of(scratchpad, name)
        seen[name] = own, find_all(scratchpad=own, rejected=rejected, without=OF_ALL)
    joined = join(seen=seen)
    witnesses = {(one.kind, one.key) for one in joined}
    beside = tuple(one for one in found if (one.kind, one.key) not in witnesses)
    return (*joined, *join(seen={"": (scratchpad, beside)}))


def _part_of(scratchpad: Scratchpad, agent: str) -> Scratchpad:
    """Return what one agent of a session did."""
    deeds = {place: deed for place, deed in scratchpad.deeds.items() if deed.agent == agent}
    return replace(
        scratchpad,
        deeds=deeds,
        remarks=tuple(one for one in scratchpad.remarks if one.agent == agent),
        files=files_of(deeds=deeds.values()),
    )


def join(*, seen: Mapping[str, Seen]) -> tuple[Sighting, ...]:
    """Join what agents saw, by their names, with the files at which they collided."""
    joined: list[Sighting] = []
    agents = tuple(sorted(seen))
    for agent in agents:
        scratchpad, found = seen[agent]
        for sighting in sorted(found, key=lambda each: (each.kind, each.key)):
            reason = taint_of(last_sequence=sighting.last_sequence, scratchpad=scratchpad)
            _add(joined, replace(sighting, agents=(agent,), reason=reason))
    scratchpads = tuple(seen[agent][0] for agent in agents)
    reason = next(filter(None, (one.taint_reason for one in scratchpads)), "")
    collisions = _strongest(file_signals.between(scratchpads=scratchpads))
    return (*joined, *(replace(one, agents=agents, reason=reason) for one in collisions))


def _add(joined: list[Sighting], one: Sighting) -> None:
    """Add a sighting to those of other agents, to the same one if there is any."""
    for place, known in enumerate(joined):
        if known.kind is one.kind and (
            known.key == one.key
            or assertions.jaccard(left=_words(known), right=_words(one)) > ALIKE_ABOVE
        ):
            joined[place] = replace(
                known,
                evidence=(*known.evidence, *one.evidence)[-EVIDENCE_MOST:],
                times=known.times + one.times,
                agents=tuple(sorted({*known.agents, *one.agents})),
                reason=known.reason or one.reason,
            )
            return
    joined.append(one)


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

    def is_clean(sighting: Sighting) -> bool:
        return not taint_of(last_sequence=sighting.last_sequence, scratchpad=scratchpad)

    pairs = filter(is_clean, file_signals.find_co_access(scratchpad=scratchpad))
    errors = filter(is_clean, find(kind=SignalKind.ERROR_RETRY, scratchpad=scratchpad))
    edges = [
        EdgeRow(
            first=min(one.files),
            second=max(one.files),
            sessions=1,
            meetings=one.times,
            forward=int(one.files[0] < one.files[1]),
            timed=int(one.details["timed"]),
            apart_ms=int(one.details["apart_ms"]),
            by_task={task_type: 1} if task_type else {},
        )
        for one in pairs
    ]
    tied = sorted({counters.modules_of(edge=edge) for edge in edges})
    files = tuple(_files(scratchpad))
    return (
        *files,
        *edges,
        *(
            ErrorRow(
                fingerprint=one.key,
                message=one.details["message"],
                what=one.details["what"],
                sessions=1,
                occurrences=one.times,
                resolved=int(bool(one.details["how"])),
                hows={one.details["how"]: 1} if one.details["how"] else {},
            )
            for one in errors
        ),
        *_modules(scratchpad, files),
        *(PairRow(first=one, second=other, sessions=1) for one, other in tied if one != other),
    )


def _files(scratchpad: Scratchpad) -> Iterator[FileRow]:
    """Yield how files of the repository were used before outside content came into view.

    Of one that was used before and after, the calls before count; what reading it takes is unknown.
    """
    uses, taint = scratchpad.files, scratchpad.taint
    if taint is not None:
        last = taint.sequence
        uses = {path: use for path, use in uses.items() if use.last_sequence <= last}
        for deed in each_file(deeds=scratchpad.deeds.values()):
            use = scratchpad.files.get(deed.target) if deed.act in {Act.READ, Act.EDIT} else None
            if use is not None and deed.sequence <= last < use.last_sequence:
                uses[deed.target] = touched(known=uses.get(deed.target), deed=deed)
    for path, use in sorted(uses.items()):
        if detections.is_own(path=path):
            yield FileRow(
                path=path,
                sessions=1,
                reads=use.reads,
                edits=use.edits,
                tokens=use.tokens,
                sized=int(use.tokens > 0),
            )


def _modules(scratchpad: Scratchpad, files: tuple[FileRow, ...]) -> Iterator[ModuleRow]:
    """Yield the modules that a session touched, as many as its files lie in.

    Plan and steps count for the main one if it ended well; the tokens of a step for its last touch.
    """
    touches = detections.touches(scratchpad=scratchpad)
    last = {
        (deed.agent, deed.step): deed
        for deed in touches
        if not taint_of(last_sequence=deed.sequence, scratchpad=scratchpad)
    }
    tokens = Counter({file_paths.module(path=row.path): 0 for row in files})
    for deed in last.values():
        tokens[file_paths.module(path=deed.target)] += scratchpad.cost_of(deed=deed)
    main = detections.main_module(scratchpad=scratchpad)
    planned, actual = scratchpad.setting.planned_steps, scratchpad.steps_taken
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
