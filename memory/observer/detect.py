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
from memory.sessions.scratchpad import Scratchpad, files_of, taint_of

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
