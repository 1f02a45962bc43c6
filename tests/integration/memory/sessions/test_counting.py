"""Sums hold whole sessions, are exact, and lose nothing when many add at once."""

from datetime import datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any, Final
from uuid import UUID, uuid4

import pytest
from django.db.models import Q

from accounts import tenancy
from accounts.models import Organization
from memory.erasure.actions.delete_session import Fate, delete_session
from memory.extraction.queries import month
from memory.observer.actions.finalize import finalize
from memory.records.models import Memory
from memory.sessions import counter_rows
from memory.sessions.actions.lifecycle import forget
from memory.sessions.counters import Count, Kind
from memory.sessions.models import Statistic
from tests.support.agent_runs import STREAM, Run, Shop, in_order
from tests.support.racing import race_inside

KINDS: Final = tuple(kind.value for kind in Kind)
FILE: Final = "src/shop/cart.py"


def sums() -> dict[tuple[str, str, str], dict[str, Any]]:
    """Return all that stands in the sums; what errors said goes with whoever said it last."""
    with tenancy.unit():
        rows = list(Statistic.objects.filter(kind__in=KINDS))
    return {
        (row.kind, str(row.audience), row.key): {
            name: value
            for name, value in row.counts.items()
            if (row.kind, name) != (Kind.ERROR, "notes")
        }
        for row in rows
    }


def in_parts(shop: Shop, *cuts: int, **new: Any) -> Run:
    """Run the stream in a session that ends after each of these events, and at last."""
    run = shop.opened(cwd="/home/ana/shop", **new)
    for first, last in pairwise((0, *sorted(set(cuts)), len(STREAM))):
        run.does(*STREAM[first:last])
        run.finalized()
        assert finalize(session_id=run.id, now=run.now) == {}
    return run


def delete(run: Run) -> None:
    """Delete a session for good, and keep what was taken from it."""
    delete_session(caller=run.caller, session_id=run.id, memories=Fate.KEEP, now=run.now)


@pytest.mark.parametrize(("cuts", "shared"), [((6, 10), False), ((1, 5, len(STREAM) - 1), True)])
def test_pieces_make_the_same_sums(shop: Shop, cuts: tuple[int, ...], shared: bool) -> None:
    by = shop.program if shared else shop.agent
    before = sums()
    whole = shop.ran(by=by, shared=shared)
    once = sums()
    delete(whole)
    between = sums()

    parts = in_parts(shop, *cuts, by=by, shared=shared)
    in_pieces, seen = sums(), {one["sessions"] for one in parts.observed["seen"]}
    delete(parts)

    assert once != before
    assert seen == {1}  # its first half is no other session
    assert (between, in_pieces, sums()) == (before, once, before)


def test_what_another_session_has_added_stays_when_one_is_deleted(shop: Shop) -> None:
    shop.ran()
    before = sums()
    again = in_parts(shop.at(hours=1), 6, 10)
    both = sums()[Kind.FILE, str(shop.agent.user_id), FILE]

    delete(again)

    assert both["sessions"] == 2
    assert sums() == before


def test_a_session_whose_events_are_forgotten_keeps_what_it_added(shop: Shop) -> None:
    run = in_parts(shop)
    once = sums()
    run.now = shop.at(days=400).now
    forget(now=run.now)
    assert 1 not in run.streams()
    run.does({"sequence": 90, "kind": "tool_call", "name": "Read", "args": {"file_path": FILE}})
    run.finalized()
    after = sums()

    delete(run)

    assert (after, sums()) == (once, {})


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


def test_pages_that_several_sessions_needed_are_offered_and_wait_for_review(shop: Shop) -> None:
    url, path = "https://docs.example/api", "shop/rates.py"
    events = in_order(
        {"kind": "tool_call", "name": "WebFetch", "arguments": {"url": url}, "call": "1"},
        {"kind": "tool_result", "name": "WebFetch", "call": "1", "text": "…"},
        {"kind": "tool_call", "name": "Edit", "arguments": {"path": path}, "call": "2"},
        {"kind": "tool_result", "name": "Edit", "call": "2", "text": "ok"},
        {"kind": "session_end", "outcome": "success"},
    )

    for number in range(3):
        shop.at(days=number).ran(*events, external_id=f"run-{number}")

    with tenancy.unit():
        (row,) = Memory.objects.filter(content__contains=url)
    assert (row.needs_review, row.taint_reason) == (True, "web: docs.example")
