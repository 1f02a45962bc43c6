"""How far a person trusts the memory of a project: four levels and how they are earned (spec 7.4).

Levels are kept per person and project. The first three are earned by sessions and shares; the
fourth is only ever chosen. Nothing rises by itself: the evidence is shown and the rise is offered.
"""

from dataclasses import dataclass
from enum import IntEnum, StrEnum

STEP_BACK_WRONG = 3  # wrong memories in one session, spec 7.4


class TrustLevel(IntEnum):
    """How far memory is trusted, most careful first."""

    CAUTIOUS = 1
    STANDARD = 2
    CONFIDENT = 3
    AUTONOMOUS = 4


class Asking(StrEnum):
    """What the person is asked about new memories."""

    EACH = "each"
    ALL_AT_ONCE = "all_at_once"
    NEEDING_REVIEW = "needing_review"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelRow:
    """One level: the sessions it begins at (None: by choice), the confidence it injects from."""

    level: TrustLevel
    from_session: int | None
    injects_from_confidence: float
    asking: Asking


LEVELS: tuple[LevelRow, ...] = (  # spec 7.4
    LevelRow(
        level=TrustLevel.CAUTIOUS,
        from_session=1,
        injects_from_confidence=0.80,
        asking=Asking.EACH,
    ),
    LevelRow(
        level=TrustLevel.STANDARD,
        from_session=4,
        injects_from_confidence=0.65,
        asking=Asking.ALL_AT_ONCE,
    ),
    LevelRow(
        level=TrustLevel.CONFIDENT,
        from_session=16,
        injects_from_confidence=0.55,
        asking=Asking.NEEDING_REVIEW,
    ),
    LevelRow(
        level=TrustLevel.AUTONOMOUS,
        from_session=None,
        injects_from_confidence=0.45,
        asking=Asking.NOTHING,
    ),
)

TO_STANDARD_SESSIONS = 3  # sessions at level 1, spec 7.4
TO_STANDARD_CONFIRMED = 0.50  # share of memories confirmed, at least, spec 7.4
TO_CONFIDENT_SESSIONS = 10  # sessions at level 2, spec 7.4
TO_CONFIDENT_CORRECTED = 0.05  # share of memories corrected, below, spec 7.4


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What happened at the present level: sessions, and memories shown, confirmed, corrected."""

    sessions: int
    shown: int
    confirmed: int
    corrected: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NextLevel:
    """The level that comes next, whether it is earned, and what is there and missing."""

    level: TrustLevel
    is_earned: bool
    says: str


_ROWS = {row.level: row for row in LEVELS}


def level_row(*, level: TrustLevel) -> LevelRow:
    """Return the row of a level."""
    return _ROWS[level]


def injects(*, level: TrustLevel, confidence: float) -> bool:
    """Say whether a memory of this effective confidence is injected at a level."""
    return confidence >= level_row(level=level).injects_from_confidence


def next_level(*, level: TrustLevel, evidence: Evidence) -> NextLevel | None:
    """Weigh the evidence for the next level; None from level 3 on, since level 4 is a choice.

    Without a memory shown nothing is confirmed or proved uncorrected, so nothing is earned.
    Raises ValueError for counts that are negative or exceed what was shown.
    """
    _check(evidence)
    if level is TrustLevel.CAUTIOUS:
        return _to_standard(evidence)
    return _to_confident(evidence) if level is TrustLevel.STANDARD else None


def should_offer_step_back(*, level: TrustLevel, wrong_in_session: int) -> bool:
    """Say whether so many wrong memories in one session call for a lower level."""
    return level > TrustLevel.CAUTIOUS and wrong_in_session >= STEP_BACK_WRONG


def _to_standard(evidence: Evidence) -> NextLevel:
    share = evidence.confirmed / evidence.shown if evidence.shown else 0.0
    return NextLevel(
        level=TrustLevel.STANDARD,
        is_earned=evidence.sessions >= TO_STANDARD_SESSIONS and share >= TO_STANDARD_CONFIRMED,
        says=f"{evidence.sessions} of {TO_STANDARD_SESSIONS} sessions, "
        f"{share:.0%} confirmed of at least {TO_STANDARD_CONFIRMED:.0%}",
    )


def _to_confident(evidence: Evidence) -> NextLevel:
    share = evidence.corrected / evidence.shown if evidence.shown else 1.0
    return NextLevel(
        level=TrustLevel.CONFIDENT,
        is_earned=evidence.sessions >= TO_CONFIDENT_SESSIONS and share < TO_CONFIDENT_CORRECTED,
        says=f"{evidence.sessions} of {TO_CONFIDENT_SESSIONS} sessions, "
        + (f"{share:.0%} corrected" if evidence.shown else "nothing shown yet")
        + f", below {TO_CONFIDENT_CORRECTED:.0%} needed",
    )


def _check(evidence: Evidence) -> None:
    if evidence.sessions < 0 or evidence.shown < 0:
        raise ValueError(f"counts must be 0 or more: {evidence}")
    for name, part in (("confirmed", evidence.confirmed), ("corrected", evidence.corrected)):
        if not 0 <= part <= evidence.shown:
            raise ValueError(f"{name} must be within 0..{evidence.shown}, not {part}")
