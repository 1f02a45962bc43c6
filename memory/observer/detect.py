"""All signals of a session, worth most first.

A slow call alone means nothing: it counts only when another signal rests on the same step or the
one beside it. What is worth less than 0.4 is dropped; what people rejected of a signal counts.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from memory.observer import signal_table
from memory.observer.detections import SIGHTINGS_MOST, Sighting
from memory.observer.signal_table import SignalKind
from memory.observer.signals import (
    backtrack,
    co_access,
    config_touched,
    context_spike,
    error_retry,
    external_reference,
    file_access,
    glob_ignored,
    import_chase,
    order_of_tests,
    parallel_conflict,
    read_abandon,
    repeated_grep,
    self_correction,
    step_overrun,
    time_anomaly,
    tool_sequence,
)
from memory.sessions.scratchpad import Scratchpad

FINDERS: Final[Mapping[SignalKind, Callable[..., tuple[Sighting, ...]]]] = {
    SignalKind.FILE_ACCESS: file_access.find,
    SignalKind.CO_ACCESS: co_access.find,
    SignalKind.ERROR_RETRY: error_retry.find,
    SignalKind.BACKTRACK: backtrack.find,
    SignalKind.READ_ABANDON: read_abandon.find,
    SignalKind.REPEATED_GREP: repeated_grep.find,
    SignalKind.TOOL_SEQUENCE: tool_sequence.find,
    SignalKind.TIME_ANOMALY: time_anomaly.find,
    SignalKind.SELF_CORRECTION: self_correction.find,
    SignalKind.EXTERNAL_REFERENCE: external_reference.find,
    SignalKind.GLOB_IGNORED: glob_ignored.find,
    SignalKind.IMPORT_CHASE: import_chase.find,
    SignalKind.TEST_ORDER: order_of_tests.find,
    SignalKind.CONFIG_TOUCHED: config_touched.find,
    SignalKind.STEP_OVERRUN: step_overrun.find,
    SignalKind.PARALLEL_CONFLICT: parallel_conflict.find,
    SignalKind.CONTEXT_SPIKE: context_spike.find,
}
Known = Mapping[SignalKind, tuple[Sighting, ...]]
STEPS_BESIDE: Final = 1  # from a slow call to another signal, ours


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdicts:
    """What people said of what a signal became: how many they looked at and how many they kept
    out."""

    judged: int
    rejected: int


def find_all(
    *,
    scratchpad: Scratchpad,
    verdicts: Mapping[SignalKind, Verdicts],
    known: Known = MappingProxyType({}),
) -> tuple[Sighting, ...]:
    """Find every signal that is worth it, most valuable first; `known` was found in it already."""
    values = {kind: _value(kind, verdicts.get(kind)) for kind in FINDERS}
    found = [
        sighting
        for kind, find in FINDERS.items()
        if signal_table.is_worth_it(value=values[kind])
        for sighting in _found(kind, find, scratchpad, known)
    ]
    beside = _steps_beside(found)
    kept = [sighting for sighting in found if _stands(sighting, beside)]
    return tuple(sorted(kept, key=lambda one: (-values[one.kind], -one.times, one.key)))


def _found(
    kind: SignalKind,
    find: Callable[..., tuple[Sighting, ...]],
    scratchpad: Scratchpad,
    known: Known,
) -> tuple[Sighting, ...]:
    """Return what a session shows of a signal; sums may count more of it than is offered."""
    found = known[kind] if kind in known else find(scratchpad=scratchpad)
    return found[:SIGHTINGS_MOST]


def _value(kind: SignalKind, said: Verdicts | None) -> float:
    if said is None:
        return signal_table.value(kind=kind)
    return signal_table.value(kind=kind, rejected=said.rejected, judged=said.judged)


def _steps_beside(found: list[Sighting]) -> frozenset[int]:
    """Return the steps that a signal other than a slow call rests on, and those beside them."""
    steps = {
        each.step
        for sighting in found
        if sighting.kind is not SignalKind.TIME_ANOMALY
        for each in sighting.evidence
    }
    apart = range(-STEPS_BESIDE, STEPS_BESIDE + 1)
    return frozenset(step + far for step in steps for far in apart)


def _stands(sighting: Sighting, beside: frozenset[int]) -> bool:
    """Say whether a sighting counts: a slow call does beside another signal."""
    is_slow_call = sighting.kind is SignalKind.TIME_ANOMALY
    return not is_slow_call or any(each.step in beside for each in sighting.evidence)
