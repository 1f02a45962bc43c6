"""What memory changed: sums of sessions in SQL, whom they are told, and what is claimed."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from django.db import connection

from accounts import tenancy
from accounts.caller import Caller, TokenScope
from accounts.errors import NotFound
from memory import sql_queries
from memory.experiments.figures import Figure
from memory.experiments.points import Group
from memory.experiments.queries import (
    FILE,
    LEAST_PEOPLE,
    ExperimentReport,
    MemoryEffect,
    memory_effects,
    report,
)
from memory.experiments.uplift import LEAST_SESSIONS
from teams import visibility
from teams.models import Project
from tests.integration.memory.experiments.conftest import Shop
from tests.support import memories

DAYS = 30


def read(shop: Shop, caller: Caller | None = None) -> ExperimentReport:
    """Return the report."""
    return report(caller=caller or shop.owner, project=shop.slug, days=DAYS, now=shop.now)


def effects(shop: Shop, caller: Caller | None = None) -> tuple[MemoryEffect, ...]:
    """Return what memories are worth."""
    return memory_effects(caller=caller or shop.owner, project=shop.slug, days=DAYS, now=shop.now)


def rereads(measures: Any) -> Any:
    """Return what is said of rereads."""
    return next(one for one in measures if one.figure is Figure.REREADS)


def test_sums_of_the_database_are_those_of_the_sessions(shop: Shop) -> None:
    drawn = np.random.default_rng(11)
    full, control = drawn.poisson(3, 60).tolist(), drawn.poisson(6, 25).tolist()
    shop.run([{"rereads": one, "qa": 1, "tokens": 800} for one in full])
    shop.run([{"rereads": one, "qa": 0, "tokens": 1_000} for one in control], "control")
    shop.run([{"rereads": 1}] * 3, "none")
    shop.run([{"rereads": 1}] * 3, "")
    shop.run([{"rereads": 1}] * 3, ago=timedelta(days=DAYS + 1))

    found = read(shop)

    said = rereads(found.compared[Group.FULL])
    assert found.sessions == {Group.CONTROL: 25, Group.PASSIVE: 0, Group.FULL: 60}
    assert (said.given.count, said.without.count) == (60, 25)
    assert said.given.mean == pytest.approx(np.mean(full))
    assert said.given.variance == pytest.approx(np.var(full, ddof=1))
    assert said.without.variance == pytest.approx(np.var(control, ddof=1))
    assert said.difference.value == pytest.approx(np.mean(full) - np.mean(control))
    assert said.verdict == "better"
    assert found.saved is not None
    assert (found.saved.sessions, found.saved.tokens) == (60, pytest.approx(12_000))


def test_a_figure_that_few_sessions_tell_is_not_claimed(shop: Shop) -> None:
    shop.run([{"rereads": 9}] * (LEAST_SESSIONS - 1) + [{}] * 10, "control")
    shop.run([{"rereads": 1}] * 50)

    said = rereads(read(shop).compared[Group.FULL])

    assert (said.without.count, said.difference) == (LEAST_SESSIONS - 1, None)
    assert said.verdict == "too_few"


def test_who_does_not_manage_is_told_of_sessions_that_they_see(shop: Shop) -> None:
    for owner in (shop.me, UUID(int=1), UUID(int=2), UUID(int=3)):
        shop.run([{"rereads": 1}] * 8, owners=(owner,))
    shop.run([{"rereads": 1}] * 2, owners=(shop.member.user_id,))
    agent = memories.as_agent(shop.owner, scopes=frozenset({TokenScope.READ}))

    told = [read(shop, one) for one in (shop.member, shop.owner, agent)]

    assert [one.sessions[Group.FULL] for one in told] == [2, 34, 8]
    assert [one.is_whole for one in told] == [False, True, False]


@pytest.mark.parametrize(("people", "each"), [(3, 6), (2, 30)])
def test_what_few_sessions_or_few_people_came_to_is_not_told_of_personal_ones(
    shop: Shop, people: int, each: int
) -> None:
    memory = shop.remember()
    others = tuple(UUID(int=one + 1) for one in range(people))
    for withheld in (True, False):
        rows = shop.run([{"rereads": 9}] * each * people, owners=others)
        shop.log(rows, memory.id, withheld=withheld)
    shop.log(shop.run([{"rereads": 1}]), memory.id, withheld=True)

    found, (proof,) = read(shop), effects(shop)

    all_of_them = people * each * 2
    is_many = all_of_them >= LEAST_SESSIONS and people >= LEAST_PEOPLE
    assert found.sessions[Group.FULL] == (all_of_them + 1 if is_many else 1)
    assert found.is_whole == is_many
    assert (proof.given, proof.withheld) == (0, 1)


def test_a_figure_that_one_person_told_is_not_told_although_their_sessions_count(
    shop: Shop,
) -> None:
    for owner in (1, 2, 3):
        figures = {"tools": 4} | ({"rereads": 9} if owner == 1 else {})
        shop.run([figures] * 25, owners=(UUID(int=owner),))

    found = read(shop)

    assert (found.sessions[Group.FULL], found.is_whole) == (75, False)
    assert rereads(found.compared[Group.FULL]).given.count == 0


def test_a_project_of_others_is_as_if_it_were_not_there(shop: Shop) -> None:
    with tenancy.unit():
        Project.objects.filter(slug=shop.slug).update(open_to_all=False)

    for nobody in (shop.member, replace(shop.member, bound_projects=())):
        for ask in (read, effects):
            with pytest.raises(NotFound):
                ask(shop, nobody)


def test_a_memory_is_worth_what_sessions_do_better_since_it_was_withheld_first(shop: Shop) -> None:
    memory = shop.remember()
    hour = timedelta(hours=1)
    without = shop.run([{"rereads": 5}, {"rereads": 6}] * 12)
    shop.log(without, memory.id, ago=hour, withheld=True)
    shop.log(shop.run([{"rereads": 1}, {"rereads": 2}] * 15), memory.id)
    shop.log(shop.run([{"rereads": 99}] * 3), memory.id, ago=2 * hour)  # on no side

    (found,) = effects(shop)

    said = rereads(found.measures)
    assert (found.memory.id, found.given, found.withheld) == (memory.id, 30, 24)
    assert said.difference.value == pytest.approx(-4.0)
    assert said.verdict == "better"


def test_memories_of_others_are_not_told_of_even_to_who_manages(shop: Shop) -> None:
    theirs = shop.remember(by=shop.member, scope="personal")
    left = shop.run([{"rereads": 1}] * 3, owners=(shop.member.user_id,))
    shop.log(left, theirs.id, withheld=True)

    assert effects(shop) == ()
    assert [one.memory.id for one in effects(shop, shop.member)] == [theirs.id]


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("searches", "memory_statistic_"),  # either fits a table without rows
        ("outcomes", "memory_session_phases"),
        ("groups", "memory_session_compared"),
    ],
)
@pytest.mark.usefixtures("tables_of_its_own", "in_organization")
def test_sums_of_a_project_are_read_by_an_index(name: str, index: str) -> None:
    statement = sql_queries.text(name, file=FILE)
    for part, alias in (("visible", "s"), ("visible_memory", "m")):
        statement = statement.replace(f"{{{part}}}", visibility.as_sql(alias=alias))
    given: dict[str, Any] = {
        "project": UUID(int=7),
        "since": datetime(2026, 1, 1, tzinfo=UTC),
        "everyone": True,
        "audiences": [UUID(int=7)],
        "bound": None,
    }

    with tenancy.unit(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(f"EXPLAIN {statement}", given)
        plan = "\n".join(row[0] for row in cursor.fetchall())

    assert index in plan, plan
