"""Where a changed memory goes back to: down to what others wrote or found right."""

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest

from memory.review.queries.rollback_plan import LeftReason, VersionChange, find_end

START = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
THEY, OTHER = uuid4(), uuid4()


def change(number: int, by: UUID = THEY) -> VersionChange:
    """A change an hour after the one before; of those rolled back where they made it."""
    return number, by, at(number), by == THEY


def at(hours: float) -> datetime:
    return START + timedelta(hours=hours)


@pytest.mark.parametrize(
    ("makers", "judged", "end"),
    [
        ((), None, LeftReason.CHANGED),
        ((THEY, THEY), None, 1),
        ((THEY, OTHER), None, LeftReason.CHANGED),
        ((OTHER, THEY, THEY), None, 2),
        ((THEY, THEY), 0.5, 1),
        ((THEY, THEY), 1.5, 2),
        ((THEY, THEY), 2.5, LeftReason.KEPT),
        ((OTHER, THEY, THEY), 1.5, 2),
        ((OTHER, THEY, THEY), 2.5, 3),
    ],
)
def test_goes_back_down_to_what_others_wrote_or_found_right(
    makers: tuple[UUID, ...], judged: float | None, end: int | LeftReason
) -> None:
    changes = tuple(change(number, by) for number, by in enumerate(makers, start=1))
    judgments = () if judged is None else ((OTHER, at(judged)),)

    assert find_end(changes=changes[::-1], judgments=judgments) == end


def test_who_made_a_change_does_not_find_it_right() -> None:
    own = (THEY, at(5))

    assert find_end(changes=(change(1), change(2)), judgments=(own,)) == 1
