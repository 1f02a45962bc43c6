"""What came after outside content is tainted, whatever it says.

Filters of content do not stop an injection that was stored; where a text came from does. The gate
looks at nothing but the order of events: what rests on any event after outside content
came into view is tainted. Only a person lifts that.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from memory.records.confidence import TAINTED_FACTOR
from memory.records.factors import checked_share
from memory.sessions.scratchpad import Scratchpad


class TrustTier(IntEnum):
    """How far what a memory comes from is trusted, most first."""

    HUMAN_VERIFIED = 1
    HUMAN = 2
    AGENT = 3
    AGENT_AFTER_EXTERNAL = 4
    IMPORTED = 5


LEAST_TRUSTED: Final = TrustTier.IMPORTED


@dataclass(frozen=True, slots=True, kw_only=True)
class Gated:
    """What the gate says: the confidence left, the tier, and why it is tainted (empty: it is not).

    What is left orders candidates; stored is the base, of which every reading leaves as much again.
    What is tainted needs review and stays in quarantine: its author sees it, nobody is given it,
    and nothing is made of it.
    """

    confidence: float
    tier: TrustTier
    reason: str

    @property
    def is_tainted(self) -> bool:
        """Whether outside content had a part in it."""
        return bool(self.reason)


def taint_of(*, last_sequence: int, scratchpad: Scratchpad) -> str:
    """Return why what rests on events up to `last_sequence` is tainted; empty when it is not."""
    taint = scratchpad.taint
    return "" if taint is None or last_sequence <= taint.sequence else taint.reason


def gated(*, confidence: float, reason: str) -> Gated:
    """Return what a taint, or none, leaves of a confidence; raise ValueError outside of 0..1."""
    checked_share(name="confidence", value=confidence)
    if not reason:
        return Gated(confidence=confidence, tier=TrustTier.AGENT, reason="")
    return Gated(
        confidence=confidence * TAINTED_FACTOR,
        tier=TrustTier.AGENT_AFTER_EXTERNAL,
        reason=reason,
    )


def lowest(*, tiers: tuple[TrustTier, ...]) -> TrustTier:
    """Return the tier of what is made of several: the lowest parent wins, and none is no trust."""
    return max(tiers, default=LEAST_TRUSTED)


def may_be_source(*, tier: TrustTier, needs_review: bool) -> bool:
    """Say whether a synthesis may rest on a memory: nothing tainted, nothing that waits."""
    return tier <= TrustTier.AGENT and not needs_review
