"""Sums that grow over time: exact, added in one statement, none lost however many add at once."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db.models import Q

from accounts import tenancy
from accounts.models import Organization
from memory.extraction.queries import month
from memory.sessions import counter_rows
from memory.sessions.counters import Count
from memory.sessions.models import Statistic
from tests.support.racing import race_inside

HERE = UUID(int=1)
PRICE = Decimal("0.000000123456789")


def added(now: datetime, *counts: Count) -> int:
    """Add in a unit."""
    with tenancy.unit():
        return counter_rows.add(counts=counts, now=now)


def stored(audience: UUID = HERE, project_id: UUID | None = HERE) -> list[Statistic]:
    """Return what stands for an audience."""
    with tenancy.unit():
        found = counter_rows.read(kind="file", visible=Q(audience=audience), project_id=project_id)
    return list(found)


def exact(sums: Statistic) -> dict[str, Decimal]:
    """Return the counts as numbers; money is written as text."""
    assert isinstance(sums.counts["cost"], str)
    return {name: Decimal(value) for name, value in sums.counts.items()}


def one(key: str = "a.py", *, counts: Any = None, **fields: Any) -> Count:
    """Return an addition to one file's sums."""
    place = {"kind": "file", "audience": HERE, "project_id": HERE, **fields}
    return Count(key=key, counts=counts or {"n": 1}, **place)


@pytest.mark.usefixtures("in_organization")
def test_sums_add_up_and_new_names_join(now: datetime) -> None:
    added(now, one(counts={"reads": 2, "cost": PRICE}), one("b.py", counts={"reads": 1}))
    touched = added(
        now, one(counts={"reads": 1}), one(counts={"reads": 2, "edits": 1, "cost": PRICE})
    )

    first, second = stored()

    assert (touched, added(now)) == (1, 0)
    assert exact(first) == {"reads": 5, "edits": 1, "cost": PRICE * 2}
    assert (second.key, second.counts) == ("b.py", {"reads": 1})


@pytest.mark.usefixtures("in_organization")
def test_the_newest_notes_stand_beside_the_counts_and_a_long_key_is_cut(now: datetime) -> None:
    for notes in ({"x": [1]}, {"y": "2"}):
        added(now, one("é" * 500, project_id=None, notes=notes))

    (found,) = stored(project_id=None)
    assert (found.key, found.counts) == ("é" * 400, {"n": 2, "notes": {"y": "2"}})


@pytest.mark.usefixtures("in_organization")
def test_places_kinds_and_days_stand_apart(now: datetime) -> None:
    other = UUID(int=2)
    days = [now.date(), now.date() + timedelta(days=1), None]
    for day in days:
        added(now, one("k", day=day))
    added(now, one("k", audience=other, counts={"n": 7}), one("k", counts={"n": 9}, kind="other"))

    assert [(sums.day, sums.counts["n"]) for sums in stored()] == [(day, 1) for day in days]
    assert [sums.counts for sums in stored(audience=other)] == [{"n": 7}]


@pytest.mark.django_db(transaction=True)
def test_no_addition_is_lost_among_threads(
    transactional_db: None, organization: Organization, now: datetime
) -> None:
    keys = [f"file{number}.py" for number in range(5)]

    def add_in_some_order(number: int) -> int:
        order = keys if number % 2 else keys[::-1]
        return added(now, *(one(key, counts={"n": 1, "cost": PRICE}) for key in order))

    touched = race_inside(organization, add_in_some_order, times=60)

    found = race_inside(organization, lambda _: stored(), times=1)[0]
    assert sum(touched) == 300
    assert [exact(sums) for sums in found] == [{"n": 60, "cost": PRICE * 60}] * 5


@pytest.mark.usefixtures("in_organization")
def test_a_month_is_summed_exactly_and_by_project(now: datetime) -> None:
    project, last = uuid4(), now.date().replace(day=30)
    counts = {"calls": 1, "input_tokens": 5, "output_tokens": 2, "cost": PRICE}
    places = (
        (now.date(), project), (last, project), (last, None), (last + timedelta(days=1), project),
    )  # fmt: skip
    fields = {"kind": "model_use", "counts": counts}
    added(now, *(one("m", day=day, project_id=place, **fields) for day, place in places))

    with tenancy.unit():
        whole = month(day=now.date(), everywhere=True)
        mine = month(day=now.date(), project_id=project)

    assert (whole.calls, whole.tokens, whole.cost) == (3, 21, PRICE * 3)
    assert (mine.calls, mine.fallbacks, mine.cost) == (2, 0, PRICE * 2)
