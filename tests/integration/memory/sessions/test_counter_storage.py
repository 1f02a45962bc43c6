"""Sums that grow over time: exact, added in one statement, none lost however many add at once."""

from datetime import date, datetime, timedelta
from decimal import Decimal
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.db.models import Q

from accounts import tenancy
from accounts.models import Organization
from memory.extraction.queries import month, month_of_project
from memory.sessions import counter_rows
from memory.sessions.counter_rows import Addition
from memory.sessions.models import Statistic
from tests.support.racing import race_inside

HERE = UUID(int=1)
PRICE = Decimal("0.000000123456789")


def added(now: datetime, *additions: Addition, kind: str = "file") -> int:
    """Add in a unit."""
    with tenancy.unit():
        return counter_rows.add(kind=kind, additions=additions, now=now)


def told(
    audience: UUID = HERE, kind: str = "file", project_id: UUID | None = HERE
) -> list[Statistic]:
    """Return what stands for an audience."""
    with tenancy.unit():
        found = counter_rows.read(kind=kind, visible=Q(audience=audience), project_id=project_id)
    return list(found)


def exact(sums: Statistic) -> dict[str, Decimal]:
    """Return the counts as numbers; money is written as text."""
    assert isinstance(sums.counts["cost"], str)
    return {name: Decimal(value) for name, value in sums.counts.items()}


def one(key: str = "a.py", **counts: int | Decimal) -> Addition:
    """Return an addition to one file's sums."""
    return Addition(audience=HERE, project_id=HERE, key=key, counts=counts)


@pytest.mark.usefixtures("in_organization")
def test_sums_add_up_and_new_names_join(now: datetime) -> None:
    added(now, one(reads=2, cost=PRICE), one("b.py", reads=1))
    added(now, one(reads=3, edits=1, cost=PRICE))

    first, second = told()

    assert exact(first) == {"reads": 5, "edits": 1, "cost": PRICE * 2}
    assert (second.key, second.counts) == ("b.py", {"reads": 1})


@pytest.mark.usefixtures("in_organization")
def test_additions_to_one_row_in_one_call_are_put_together(now: datetime) -> None:
    touched = added(now, one(reads=2), one(reads=3), one(reads=4, cost=PRICE))

    assert touched == 1
    assert told()[0].counts == {"reads": 9, "cost": f"{PRICE:f}"}


@pytest.mark.usefixtures("in_organization")
def test_nothing_to_add_touches_nothing(now: datetime) -> None:
    assert added(now) == 0


@pytest.mark.usefixtures("in_organization")
def test_the_newest_notes_stand_and_are_told_apart_from_counts(now: datetime) -> None:
    added(now, Addition(audience=HERE, project_id=None, key="e", counts={"n": 1}, notes={"x": [1]}))
    added(now, Addition(audience=HERE, project_id=None, key="e", counts={"n": 1}, notes={"y": "2"}))

    found = told(project_id=None)[0]

    assert (found.counts, found.notes) == ({"n": 2}, {"y": "2"})


@pytest.mark.usefixtures("in_organization")
def test_places_kinds_and_days_stand_apart(now: datetime) -> None:
    other = UUID(int=2)
    days = [now.date(), now.date() + timedelta(days=1), None]
    for day in days:
        added(now, Addition(audience=HERE, project_id=HERE, key="k", counts={"n": 1}, day=day))
    added(now, Addition(audience=other, project_id=HERE, key="k", counts={"n": 7}))
    added(now, one("k", n=9), kind="other")

    assert [(sums.day, sums.counts["n"]) for sums in told()] == [(day, 1) for day in days]
    assert [sums.counts for sums in told(audience=other)] == [{"n": 7}]


@pytest.mark.usefixtures("in_organization")
def test_a_long_key_is_cut_and_a_wrong_name_is_refused(now: datetime) -> None:
    added(now, one("é" * 500, n=1))

    with pytest.raises(ValueError, match="longer than a kind"):
        added(now, one(n=1), kind="k" * 25)
    with pytest.raises(ValueError, match="no name of a count"):
        added(now, one(notes=1))
    assert told()[0].key == "é" * 400


@pytest.mark.usefixtures("tables_of_its_own", "in_organization")
def test_a_list_of_a_kind_reads_its_index() -> None:
    with tenancy.unit(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(
            "EXPLAIN SELECT * FROM memory_statistic WHERE kind = 'file' AND project_id = %s"
            " AND day >= '2026-11-01'",
            [HERE],
        )
        plan = "\n".join(row[0] for row in cursor.fetchall())

    assert "memory_statistic_kind" in plan


@pytest.mark.django_db(transaction=True)
def test_no_addition_is_lost_among_threads(
    transactional_db: None, organization: Organization, now: datetime
) -> None:
    keys = [f"file{number}.py" for number in range(5)]

    def add_in_some_order(number: int) -> int:
        order = keys if number % 2 else keys[::-1]
        return added(now, *(one(key, n=1, cost=PRICE) for key in order))

    touched = race_inside(organization, add_in_some_order, times=120)

    def read(_: int) -> list[Statistic]:
        return told()

    found = race_inside(organization, read, times=1)[0]
    assert sum(touched) == 600
    assert [exact(sums) for sums in found] == [{"n": 120, "cost": PRICE * 120}] * 5


def used(day: date, project_id: UUID | None) -> Addition:
    """Return what a model cost on a day."""
    counts: dict[str, int | Decimal] = {
        "calls": 1, "input_tokens": 5, "output_tokens": 2, "cost": PRICE,
    }  # fmt: skip
    return Addition(audience=HERE, project_id=project_id, day=day, key="m", counts=counts)


@pytest.mark.usefixtures("in_organization")
def test_a_month_is_summed_exactly_and_by_project(now: datetime) -> None:
    project, last = uuid4(), now.date().replace(day=30)
    next_month = last + timedelta(days=1)
    places = ((now.date(), project), (last, project), (last, None), (next_month, project))
    added(now, *(used(day, place) for day, place in places), kind="model_use")

    with tenancy.unit():
        whole = month(day=now.date())
        mine = month_of_project(project_id=project, day=now.date())

    assert (whole.calls, whole.tokens, whole.cost) == (3, 21, PRICE * 3)
    assert (mine.calls, mine.fallbacks, mine.cost) == (2, 0, PRICE * 2)
