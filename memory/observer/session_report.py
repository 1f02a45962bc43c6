"""What a session showed, in bounded JSON that a person can look through.

Which signals were seen and on what each rests, and of each that became nothing, why.
"""

from collections import Counter
from dataclasses import asdict
from enum import StrEnum
from typing import Any, Final

from memory.observer import detections, promotion
from memory.observer.detections import Sighting, SignalEvidence
from memory.observer.promotion import ObservedCandidate, SeenBefore
from memory.sessions.scratchpad import Scratchpad

SEEN_MOST: Final = 60  # signals that are told one by one, the most valuable; default, not measured
EVIDENCE_MOST: Final = 5  # events of each; default, not measured
COUNTED: Final = ("applied", "unknown", "missing", "late", "orphans", "dropped")


class Why(StrEnum):
    """Why a signal became nothing."""

    GATE_SHUT = "gate_shut"
    STRENGTHENS = "only_strengthens"
    TOO_FEW = "too_few_sessions"
    OTHER_TYPES = "not_of_this_session_type"


def of_scratchpad(*, scratchpad: Scratchpad) -> dict[str, Any]:
    """Return what is known of the session as a whole."""
    return {
        "counts": {name: getattr(scratchpad, name) for name in COUNTED},
        "steps": scratchpad.steps_taken,
        "tools": len(scratchpad.deeds),
        "outcome": scratchpad.outcome.value if scratchpad.outcome else "",
        "tainted_by": scratchpad.taint_reason,
        "task": scratchpad.task,
    }


def of_signals(
    *,
    seen: tuple[Sighting, ...],
    before: SeenBefore,
    proposed: tuple[ObservedCandidate, ...],
    is_open: bool,
) -> dict[str, Any]:
    """Return the signals by kind, the first of them one by one, and why others became nothing."""
    offered = {candidate.key for candidate in proposed}
    told = tuple(_signal_row(one, before, offered, is_open=is_open) for one in seen)
    return {
        "signals": dict(Counter(one["kind"] for one in told)),
        "seen": list(told[:SEEN_MOST]),
        "dropped": dict(Counter(one["why"] for one in told if one["why"])),
    }


def evidence(*, rests: tuple[SignalEvidence, ...]) -> list[dict[str, Any]]:
    """Return the last events that something rests on."""
    return [asdict(one) for one in rests[-EVIDENCE_MOST:]]


def _signal_row(
    one: Sighting, before: SeenBefore, offered: set[str], *, is_open: bool
) -> dict[str, Any]:
    becomes = promotion.of_sighting(sighting=one)
    sessions = before.get((one.kind, one.key), 0) + 1
    needed = detections.sessions_needed(kind=one.kind, agents=len(one.agents))
    if f"{one.kind.value}:{one.key}" in offered:
        why = ""
    elif not is_open:
        why = Why.GATE_SHUT.value
    elif becomes is None:
        why = Why.STRENGTHENS.value
    else:
        why = (Why.TOO_FEW if sessions < needed else Why.OTHER_TYPES).value
    return {
        "kind": one.kind.value,
        "key": one.key,
        "says": "" if becomes is None else becomes[1],
        "files": list(one.files),
        "times": one.times,
        "sessions": sessions,
        "tainted_by": one.reason,
        "why": why,
        "evidence": evidence(rests=one.evidence),
    }


def of_promoted(*, candidate: ObservedCandidate, memory_id: str, outcome: str) -> dict[str, Any]:
    """Return what became of a candidate, and on what it rests."""
    return {
        "key": candidate.key,
        "type": candidate.type.value,
        "memory_id": memory_id,
        "outcome": outcome,
        "confidence": round(candidate.confidence, 4),
        "sessions": candidate.sessions,
        "tier": "agent_after_external" if candidate.reason else "agent",
        "tainted_by": candidate.reason,
        "evidence": evidence(rests=candidate.evidence),
    }
