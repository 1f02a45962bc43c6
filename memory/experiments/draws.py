"""Who takes part in an experiment and on which side: keyed hashes, the same for ever.

A session is in the control group, the passive one or the full one of its project; a memory may be
withheld from some of the sessions that would be given it. Both follow from a hash under
a key of the installation, so nobody outside can foresee or choose a side, and nothing has to be
drawn. What was once decided of a session is stored by the caller, because shares may change.
"""

import hashlib
import hmac
from dataclasses import dataclass
from typing import Final

from memory.experiments.points import Group

BASIS_POINTS: Final = 10_000  # places of a draw: shares are exact to a hundredth of a percent
PERCENT: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """How many of 100 sessions are in the two smaller groups; the others are in full."""

    control: float = 5.0
    passive: float = 10.0


USUAL: Final = Shares()


def group(*, key: bytes, session: str, project: str, shares: Shares = USUAL) -> Group:
    """Return the group of a session: control, passive, full as 5 : 10 : 85 of many."""
    place = _place(key, "group", session, project)
    if place < shares.control * BASIS_POINTS / PERCENT:
        return Group.CONTROL
    is_passive = place < (shares.control + shares.passive) * BASIS_POINTS / PERCENT
    return Group.PASSIVE if is_passive else Group.FULL


def is_withheld(*, key: bytes, memory: str, session: str, percent: float) -> bool:
    """Say whether a session belongs to the share from which a memory is withheld."""
    return _place(key, "withheld", memory, session) < percent * BASIS_POINTS / PERCENT


def _place(key: bytes, *parts: str) -> int:
    """Return the first eight bytes of HMAC-SHA-256 of the parts, modulo 10,000."""
    digest = hmac.new(key, "\0".join(parts).encode(), hashlib.sha256).digest()
    return int.from_bytes(digest[:8], "big") % BASIS_POINTS
