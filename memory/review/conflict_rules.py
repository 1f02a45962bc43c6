"""Who may settle a conflict, and how: one rule for pages, REST and agents.

Stewards settle; others withdraw what they wrote themselves. Who wrote one of the two only
withdraws it: nobody approves what they proposed against somebody else's. Nothing that others see
leaves for what fewer see. A conflict with a personal memory is its author's alone, nobody else
learns of it, so the author may say that both hold: nothing leaves by that.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class ConflictVerdict(StrEnum):
    """How a conflict ends."""

    KEEP_OLDER = "keep_older"
    KEEP_NEWER = "keep_newer"
    BOTH = "both"
    EDIT = "edit"


class Bar(StrEnum):
    """Why somebody may not do something with a conflict."""

    VIEWER = "viewer"
    AGENT = "agent"
    OVER = "over"
    OPEN = "open"
    OWN = "own"
    STEWARD = "steward"
    PERSONAL = "personal"


LEAVING: Final[dict[ConflictVerdict, tuple[int, ...]]] = {  # 0 is the older one, 1 the newer one
    ConflictVerdict.KEEP_OLDER: (1,),
    ConflictVerdict.KEEP_NEWER: (0,),
    ConflictVerdict.BOTH: (),
    ConflictVerdict.EDIT: (0, 1),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Decider:
    """Who asks: `decides` is a person, or a credential that may decide for one."""

    may_write: bool
    decides: bool
    is_steward: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ConflictPair:
    """The two memories as a right to settle sees them, the older one first.

    `wrote`: the one who asks wrote it. `personal`: nobody but its author sees it.
    """

    wrote: tuple[bool, bool]
    personal: tuple[bool, bool]
    is_same_audience: bool
    is_open: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ConflictRights:
    """What somebody may do with a conflict: by verdict why not, None where they may."""

    verdicts: tuple[tuple[ConflictVerdict, Bar | None], ...]
    reopen: Bar | None

    def allowed(self) -> tuple[ConflictVerdict, ...]:
        """Return the verdicts that they may give."""
        return tuple(verdict for verdict, why in self.verdicts if why is None)


def rights(*, decider: Decider, pair: ConflictPair, settled_it: bool | None) -> ConflictRights:
    """Return what somebody may do; `settled_it`: they settled it, None while nobody has."""
    return ConflictRights(
        verdicts=tuple(
            (verdict, bar(decider=decider, pair=pair, verdict=verdict))
            for verdict in ConflictVerdict
        ),
        reopen=bar_to_reopen(decider=decider, settled_it=settled_it),
    )


def bar(*, decider: Decider, pair: ConflictPair, verdict: ConflictVerdict) -> Bar | None:
    """Return why somebody may not give a verdict, None where they may."""
    hindrances = (
        (Bar.VIEWER, not decider.may_write),
        (Bar.AGENT, not decider.decides),
        (Bar.OVER, not pair.is_open),
        (Bar.OWN, any(pair.wrote) and not _is_theirs(pair, verdict)),
        (Bar.STEWARD, not (any(pair.wrote) or decider.is_steward)),
        (Bar.PERSONAL, not _keeps_reach(pair, verdict)),
    )
    return next((why for why, holds in hindrances if holds), None)


def bar_to_reopen(*, decider: Decider, settled_it: bool | None) -> Bar | None:
    """Return why somebody may not take a settlement back, None where they may."""
    hindrances = (
        (Bar.VIEWER, not decider.may_write),
        (Bar.AGENT, not decider.decides),
        (Bar.OPEN, settled_it is None),
        (Bar.STEWARD, not (settled_it or decider.is_steward)),
    )
    return next((why for why, holds in hindrances if holds), None)


def _is_theirs(pair: ConflictPair, verdict: ConflictVerdict) -> bool:
    """Say whether who wrote one of the two decides by that about nobody else's."""
    if verdict is ConflictVerdict.BOTH:
        sides = zip(pair.wrote, pair.personal, strict=True)
        return all(pair.wrote) or any(mine and alone for mine, alone in sides)
    return all(pair.wrote[side] for side in LEAVING[verdict])


def _keeps_reach(pair: ConflictPair, verdict: ConflictVerdict) -> bool:
    """Say whether nothing shared leaves for what fewer people see."""
    if pair.is_same_audience or verdict is ConflictVerdict.BOTH:
        return True
    return verdict is not ConflictVerdict.EDIT and not pair.personal[1 - LEAVING[verdict][0]]
