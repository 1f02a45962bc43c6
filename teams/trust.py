"""How far a person trusts the memory of a project: four levels and how they are earned.

Levels are kept per person and project, and never told to others. The first three are earned by what
the person confirmed and corrected in person, one at a time, and stay; the fourth is only ever
chosen, by an owner. Stepping down is offered and never forced: a person takes any level below what
they have reached whenever they like, and then it stays there. What is tainted or doubtful waits at
every level.
"""

import math
from dataclasses import dataclass, fields, replace
from datetime import datetime
from enum import IntEnum, StrEnum
from typing import Final

from accounts.caller import Role

HUNDREDTHS = 2  # digits of the table
STEP_BACK_WRONG = 3  # wrong memories in one session


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


@dataclass(frozen=True, slots=True)
class LevelRow:
    """One level: the sessions it begins at (None: by choice), the confidence it injects from."""

    level: TrustLevel
    from_session: int | None
    injects_from_confidence: float
    asking: Asking


LEVELS: tuple[LevelRow, ...] = (
    LevelRow(TrustLevel.CAUTIOUS, 1, 0.80, Asking.EACH),
    LevelRow(TrustLevel.STANDARD, 4, 0.65, Asking.ALL_AT_ONCE),
    LevelRow(TrustLevel.CONFIDENT, 16, 0.55, Asking.NEEDING_REVIEW),
    LevelRow(TrustLevel.AUTONOMOUS, None, 0.45, Asking.NOTHING),
)

TO_STANDARD_SESSIONS = 3  # sessions at level 1
TO_STANDARD_CONFIRMED = 0.50  # share of memories confirmed, at least
TO_CONFIDENT_SESSIONS = 10  # sessions at level 2
TO_CONFIDENT_CORRECTED = 0.05  # share of memories corrected, below


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What happened since the present level was taken."""

    sessions: int  # ended since
    total: int  # ended in all
    shown: int  # memories that they proposed; some are not decided about
    confirmed: int  # by the person
    corrected: int  # by the person


NOTHING: Final = Evidence(sessions=0, total=0, shown=0, confirmed=0, corrected=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where a person stands in a project."""

    level: TrustLevel
    reached: TrustLevel  # earned
    since: datetime | None  # None: from the first session on
    is_chosen: bool  # by the person: it does not rise by itself
    gone: Evidence = NOTHING  # of sessions since then that were deleted


START: Final = Standing(
    level=TrustLevel.CAUTIOUS, reached=TrustLevel.CAUTIOUS, since=None, is_chosen=False
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NextLevel:
    """The level that is earned next, and what is missing for it."""

    level: TrustLevel
    sessions_to_go: int
    confirmations_to_go: int
    corrected_share: float | None  # of what was decided, None while nothing was
    is_earned: bool


_ROWS = {row.level: row for row in LEVELS}


def level_row(*, level: TrustLevel) -> LevelRow:
    """Return the row of a level."""
    return _ROWS[level]


def is_sure(*, confidence: float, least: float) -> bool:
    """Say whether an effective confidence is enough, in hundredths as the levels are.

    What has the usual confidence is so at the first level too, and not below it a second later.
    """
    return round(confidence, HUNDREDTHS) >= least


def waits(*, level: TrustLevel, is_doubtful: bool) -> bool:
    """Say whether a new memory waits for the person: what is doubtful does at every level."""
    asking = level_row(level=level).asking
    return is_doubtful or asking in {Asking.EACH, Asking.ALL_AT_ONCE}


def in_force(*, standing: Standing, role: Role) -> TrustLevel:
    """Return the level that holds now: without an owner behind it autonomy is what was reached."""
    is_kept = standing.level is not TrustLevel.AUTONOMOUS or role is Role.OWNER
    return standing.level if is_kept else standing.reached


def may_choose(*, standing: Standing, level: TrustLevel, role: Role) -> bool:
    """Say whether a person may set a level: what they reached and below, as an owner the last."""
    if level is TrustLevel.AUTONOMOUS:
        return role is Role.OWNER
    return level <= standing.reached


def chosen(*, standing: Standing, level: TrustLevel, now: datetime) -> Standing:
    """Return the standing after a person has set a level; at what they reached it rises again."""
    gone = replace(NOTHING, total=standing.gone.total)
    is_chosen = level is not standing.reached
    return replace(standing, level=level, since=now, is_chosen=is_chosen, gone=gone)


def risen(*, standing: Standing, evidence: Evidence, now: datetime) -> Standing:
    """Return the standing after the evidence was weighed: at most one level up, never down."""
    following = next_level(level=standing.level, evidence=evidence)
    if standing.is_chosen or following is None or not following.is_earned:
        return standing
    return chosen(
        standing=replace(standing, reached=following.level), level=following.level, now=now
    )


def add_evidence(*, left: Evidence, right: Evidence) -> Evidence:
    """Return the evidence of sessions of both."""
    counts = (one.name for one in fields(Evidence))
    return Evidence(**{name: getattr(left, name) + getattr(right, name) for name in counts})


def next_level(*, level: TrustLevel, evidence: Evidence) -> NextLevel | None:
    """Weigh the evidence for the next level; None from level 3 on, since level 4 is a choice.

    Level 3 begins with the 16th session, after at least ten at level 2. Without a memory decided
    nothing is confirmed or proved uncorrected, so nothing is earned. Raises ValueError for counts
    that are negative or exceed what was shown.
    """
    _check(evidence)
    decided = evidence.confirmed + evidence.corrected
    share = evidence.corrected / decided if decided else None
    if level is TrustLevel.CAUTIOUS:
        sessions = TO_STANDARD_SESSIONS - evidence.sessions
        needed = max(1, math.ceil(evidence.shown * TO_STANDARD_CONFIRMED))
        confirmations = max(0, needed - evidence.confirmed)
    elif level is TrustLevel.STANDARD:
        before = (level_row(level=TrustLevel.CONFIDENT).from_session or 1) - 1
        sessions = max(TO_CONFIDENT_SESSIONS - evidence.sessions, before - evidence.total)
        is_good = share is not None and share < TO_CONFIDENT_CORRECTED
        needed = math.floor(evidence.corrected / TO_CONFIDENT_CORRECTED) + 1
        confirmations = 0 if is_good else max(1, needed - decided)
    else:
        return None
    return NextLevel(
        level=TrustLevel(level + 1),
        sessions_to_go=max(0, sessions),
        confirmations_to_go=confirmations,
        corrected_share=share,
        is_earned=sessions <= 0 and not confirmations,
    )


def should_offer_step_back(*, level: TrustLevel, wrong_in_session: int) -> bool:
    """Say whether so many wrong memories in one session call for a lower level."""
    return level > TrustLevel.CAUTIOUS and wrong_in_session >= STEP_BACK_WRONG


def _check(evidence: Evidence) -> None:
    if evidence.sessions < 0 or evidence.shown < 0 or evidence.total < evidence.sessions:
        raise ValueError(f"counts must be 0 or more, and fewer than in all: {evidence}")
    for name, part in (("confirmed", evidence.confirmed), ("corrected", evidence.corrected)):
        if not 0 <= part <= evidence.shown:
            raise ValueError(f"{name} must be within 0..{evidence.shown}, not {part}")
