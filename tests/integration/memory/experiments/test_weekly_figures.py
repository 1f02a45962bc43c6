"""What went wrong week by week: counted once, for whoever may see the sessions."""

from datetime import timedelta
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from memory.experiments.actions.weekly_figures import measure_weeks
from memory.experiments.queries import WeekFigures, report
from memory.observer.actions.prior_sessions import forget_counted
from memory.records.models import MemoryLink
from memory.sessions.models import Session, Stream, Turn
from tests.integration.memory.experiments.conftest import Shop
from tests.support import memories

WEEK = timedelta(weeks=1)


def weeks(shop: Shop, caller: Caller | None = None) -> tuple[WeekFigures, ...]:
    """Measure, and return what a caller is told, of the newest week first."""
    measure_weeks(now=shop.now)
    found = report(caller=caller or shop.owner, project=shop.slug, days=30, now=shop.now)
    return found.weeks


def met(sessions: list[Session], *errors: str) -> None:
    """Let sessions have met errors."""
    body = {"observed_error": {one: {"sessions": 1} for one in errors}}
    with tenancy.unit():
        Turn.counted.bulk_create(
            Turn(session=one, stream=Stream.COUNTED, sequence=0, role="", text="", body=body,
                 at=one.opened_at)
            for one in sessions
        )  # fmt: skip


def disagree(shop: Shop) -> tuple[UUID, UUID]:
    """Remember two memories that contradict each other; return their ids."""
    one = shop.remember(memories.REDIS).id
    other = shop.remember(memories.CARTS).id
    with tenancy.unit():
        MemoryLink.objects.create(source_id=one, target_id=other, kind="contradicts")
    return one, other


def test_each_week_counts_what_went_wrong_in_it(shop: Shop) -> None:
    before = shop.run([{}], ago=2 * WEEK)
    later = shop.run([{"dead_ends": 1}, {"dead_ends": 0}, {}], ago=WEEK)
    unmeasured = shop.run([None], ago=WEEK)
    shop.run([{"dead_ends": 1}], ago=timedelta(0))  # its week is not over
    met([*before, later[0]], "timeout at 30 s")
    met([later[1]], "no such table")
    met(unmeasured, "timeout at 30 s")
    one, other = disagree(shop)
    shop.log(later[:2], one)
    shop.log(later[:1], other)
    shop.log(later[1:2], other, withheld=True)

    for _ in range(2):  # again is the same
        newer, older = weeks(shop)

        monday = shop.now.date() - WEEK - timedelta(days=shop.now.weekday())
        assert newer == WeekFigures(
            week=monday, sessions=3, given=2, disagreeing=1, failed=2, repeated=1, reentered=1
        )
        assert older == WeekFigures(
            week=monday - WEEK,
            sessions=1, given=0, disagreeing=0, failed=1, repeated=0, reentered=0,
        )  # fmt: skip


def test_an_error_of_another_place_is_not_met_again(shop: Shop) -> None:
    met(shop.run([{}], ago=2 * WEEK, owners=(shop.member.user_id,)), "timeout at 30 s")
    met(shop.run([{}], ago=WEEK), "timeout at 30 s")

    assert [(one.failed, one.repeated) for one in weeks(shop)] == [(1, 0)]
    assert [(one.failed, one.repeated) for one in weeks(shop, shop.member)] == [(1, 0)]


def test_figures_older_than_a_year_are_forgotten(shop: Shop) -> None:
    shop.run([{}], ago=WEEK)
    assert len(weeks(shop)) == 1

    forgotten = forget_counted(now=shop.now + timedelta(days=400))

    assert forgotten == 1


def test_nothing_is_measured_where_nothing_ended(shop: Shop) -> None:
    shop.run([None], ago=WEEK)

    assert weeks(shop) == ()
