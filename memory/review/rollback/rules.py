"""Rolling back what a writer, a session, a time or an ancestor produced: what becomes of it (4.3).

What was produced is archived, what was changed goes back to the text it had, and what was replaced
stands again. Nobody's work but that of who is rolled back is undone: what somebody else has kept,
rewritten or moved since is left as it is, and said with the reason. What was changed once more
after that goes back to what they had kept or written, and no further.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

MOST: Final = 1_000  # memories that one call takes back, ours
AT_ONCE: Final = 200  # above it a job does it, so many a transaction; ours
MOST_REWRITTEN: Final = AT_ONCE  # of them that say again what they said; one request undoes all
LONGEST_CHAIN: Final = 20  # of memories that one after the other took each other's place, ours
DEEPEST: Final = 20  # steps from an ancestor, ours
MOST_DERIVED: Final = 5_000  # memories that are looked at below an ancestor, ours
JOB: Final = "memory.roll_back"  # what does more than a request does
ASKED_AT: Final = "asked_at"  # where it carries its moment, which all its verdicts have
REWRITTEN: Final = "rewritten"  # where a verdict keeps the version that went, by its number
SAID_AGAIN: Final = "said_again"  # where it keeps the version whose text stands since, likewise


class Fate(StrEnum):
    """What becomes of a memory."""

    ARCHIVED = "archived"
    REWRITTEN = "rewritten"
    LEFT = "left"


class Left(StrEnum):
    """Why a memory stays as it is."""

    CHANGED = "changed"  # somebody else has rewritten it since
    KEPT = "kept"  # somebody else has decided since that it is right
    MOVED = "moved"  # others see it now than those who saw the text before
    SAME = "same"  # it is again, or still, as it was before
    TWIN = "twin"  # another memory says by then what it said


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A change of a memory that stands, by the number of the version before it.

    `is_theirs`: it is of those that are rolled back.
    """

    number: int
    made_by: UUID | None
    made_at: datetime
    is_theirs: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgment:
    """That somebody found a memory right, as it was then."""

    by: UUID
    at: datetime


def goes_back_to(*, changes: Iterable[Change], judgments: Iterable[Judgment]) -> int | Left:
    """Return the version that a memory goes back to, or why it stays as it is.

    The last changes go, down to one that somebody else made, or found right since.
    """
    found, judged = Left.CHANGED, tuple(judgments)
    first: int | None = None
    for change in sorted(changes, key=lambda one: one.number, reverse=True):
        if not change.is_theirs:
            break
        if any(one.at >= change.made_at and one.by != change.made_by for one in judged):
            found = Left.KEPT
            break
        first = change.number
    return found if first is None else first
