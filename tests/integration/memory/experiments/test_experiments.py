"""What memory changed: sums of sessions in SQL, whom they are told, and what is claimed."""

from collections.abc import Sequence
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
from accounts.identifiers import new_id
from memory import sql_queries
from memory.experiments.figures import Figure
from memory.experiments.intervals import LEAST_SESSIONS
from memory.experiments.points import Group
from memory.experiments.queries.experiments import (
    LEAST_PEOPLE,
    ExperimentReport,
    MemoryEffect,
    memory_effects,
    report,
)
from memory.experiments.sql.session_sums import FILE
from memory.sessions.models import GivenOut, Session
from teams import visibility
from teams.models import Project
from tests.support import memories

pytestmark = pytest.mark.usefixtures("in_organization")
DAYS = 30


def stored(
    store: str, group: str, figures: Sequence[dict[str, Any]], *, owner: UUID, now: datetime
) -> list[Session]:
    """Store sessions of a person in a group, with their figures."""
    with tenancy.unit():
        project = Project.objects.get(slug=store)
        return Session.objects.bulk_create(
            Session(
                id=new_id(),
                project=project,
                audience=owner,
                scope="personal",
                opened_by=owner,
                source_interface="api",
                experiment_group=group,
                figures=one,
                opened_at=now - timedelta(days=1),
                active_at=now,
            )
            for one in figures
        )


def read(caller: Caller, store: str, now: datetime) -> ExperimentReport:
    """Return the report."""
    return report(caller=caller, project=store, days=DAYS, now=now)


def rereads(found: ExperimentReport, group: Group) -> Any:
    """Return what is said of rereads in a group."""
    (compared,) = (one for one in found.compared if one.group is group)
    return next(one for one in compared.measures if one.figure is Figure.REREADS)


def person(caller: Caller) -> UUID:
    """Return who calls."""
    assert caller.user_id is not None
    return caller.user_id


def test_sums_of_the_database_are_those_of_the_sessions(
    caller: Caller, store: str, now: datetime
) -> None:
    drawn = np.random.default_rng(11)
    full, control = drawn.poisson(3, 60).tolist(), drawn.poisson(6, 25).tolist()
    me = person(caller)
    stored(store, "full", [{"rereads": one, "qa": 1} for one in full], owner=me, now=now)
    stored(store, "control", [{"rereads": one, "qa": 0} for one in control], owner=me, now=now)

    found = read(caller, store, now)

    said = rereads(found, Group.FULL)
    assert found.sessions == {Group.CONTROL: 25, Group.PASSIVE: 0, Group.FULL: 60}
    assert (said.given.count, said.without.count) == (60, 25)
    assert said.given.mean == pytest.approx(np.mean(full))
    assert said.given.variance == pytest.approx(np.var(full, ddof=1))
    assert said.without.variance == pytest.approx(np.var(control, ddof=1))
    assert said.difference.value == pytest.approx(np.mean(full) - np.mean(control))
    assert said.verdict == "better"


def test_a_figure_that_few_sessions_tell_is_not_claimed(
    caller: Caller, store: str, now: datetime
) -> None:
    me = person(caller)
    few = [{"rereads": 9}] * (LEAST_SESSIONS - 1) + [{}] * 10
    stored(store, "control", few, owner=me, now=now)
    stored(store, "full", [{"rereads": 1}] * 50, owner=me, now=now)

    said = rereads(read(caller, store, now), Group.FULL)

    assert (said.without.count, said.difference, said.verdict) == (
        LEAST_SESSIONS - 1,
        None,
        "too_few",
    )


def test_tokens_saved_are_those_of_the_control_group_less_those_given(
    caller: Caller, store: str, now: datetime
) -> None:
    me = person(caller)
    stored(store, "control", [{"tokens": 900}, {"tokens": 1_100}] * 15, owner=me, now=now)
    stored(store, "full", [{"tokens": 700}, {"tokens": 900}] * 20, owner=me, now=now)

    saved = read(caller, store, now).saved

    assert saved is not None
    assert saved.sessions == 40
    assert saved.tokens == pytest.approx(8_000)
    assert saved.low < 8_000 < saved.high


def test_sessions_before_the_days_asked_of_and_of_no_group_do_not_count(
    caller: Caller, store: str, now: datetime
) -> None:
    me = person(caller)
    stored(store, "none", [{"rereads": 1}] * 3, owner=me, now=now)
    stored(store, "", [{"rereads": 1}] * 3, owner=me, now=now)
    stored(store, "full", [{"rereads": 1}] * 3, owner=me, now=now - timedelta(days=DAYS))

    assert set(read(caller, store, now).sessions.values()) == {0}


def test_who_does_not_manage_is_told_of_sessions_that_they_see(
    caller: Caller, member_caller: Caller, store: str, now: datetime
) -> None:
    for owner in (person(caller), UUID(int=1), UUID(int=2), UUID(int=3)):
        stored(store, "full", [{"rereads": 1}] * 8, owner=owner, now=now)
    stored(store, "full", [{"rereads": 1}] * 2, owner=person(member_caller), now=now)

    mine, whole = read(member_caller, store, now), read(caller, store, now)
    reading = frozenset({TokenScope.READ})
    agent = read(memories.as_agent(caller, scopes=reading), store, now)

    assert (mine.sessions[Group.FULL], mine.is_whole) == (2, False)
    assert (whole.sessions[Group.FULL], whole.is_whole) == (34, True)
    assert (agent.sessions[Group.FULL], agent.is_whole) == (8, False)


@pytest.mark.parametrize(("people", "each"), [(3, 6), (2, 30), (1, 60)])
def test_what_few_sessions_or_few_people_came_to_is_not_told_of_personal_ones(
    caller: Caller, store: str, now: datetime, people: int, each: int
) -> None:
    memory = memories.stored(caller, now, project=store)
    for owner in range(1, people + 1):
        for withheld in (True, False):
            told = stored(store, "full", [{"rereads": 9}] * each, owner=UUID(int=owner), now=now)
            given(told, memory.id, now, withheld=withheld)
    mine = stored(store, "full", [{"rereads": 1}], owner=person(caller), now=now)
    given(mine, memory.id, now, withheld=True)

    found, (proof,) = read(caller, store, now), proved(caller, store, now)

    is_many = people * each * 2 >= LEAST_SESSIONS and people >= LEAST_PEOPLE
    whole = people * each * 2 + 1
    assert (found.sessions[Group.FULL], found.is_whole) == (
        (whole, True) if is_many else (1, False)
    )
    assert (proof.given, proof.withheld) == (0, 1)


def test_a_figure_that_one_person_told_is_not_told_although_their_sessions_count(
    caller: Caller, store: str, now: datetime
) -> None:
    for owner in (1, 2, 3):
        figures = {"tools": 4} | ({"rereads": 9} if owner == 1 else {})
        stored(store, "full", [figures] * 25, owner=UUID(int=owner), now=now)

    found = read(caller, store, now)

    assert (found.sessions[Group.FULL], found.is_whole) == (75, False)
    assert rereads(found, Group.FULL).given.count == 0


def test_a_project_of_others_is_as_if_it_were_not_there(
    member_caller: Caller, caller: Caller, store: str, now: datetime
) -> None:
    with tenancy.unit():
        Project.objects.filter(slug=store).update(open_to_all=False)

    for ask in (report, memory_effects):
        with pytest.raises(NotFound):
            ask(caller=member_caller, project=store, days=DAYS, now=now)
    bound = replace(member_caller, bound_projects=())
    with pytest.raises(NotFound):
        report(caller=bound, project=store, days=DAYS, now=now)


def given(sessions: Sequence[Session], memory_id: UUID, now: datetime, *, withheld: bool) -> None:
    """Put into the ledger that sessions were given a memory, or went without."""
    with tenancy.unit():
        GivenOut.all_rows.bulk_create(
            GivenOut(
                memory_id=memory_id,
                session_id=one.id,
                at=now,
                point="tool_result",
                withheld=withheld,
            )
            for one in sessions
        )


def proved(caller: Caller, store: str, now: datetime) -> tuple[MemoryEffect, ...]:
    """Return what memories are worth."""
    return memory_effects(caller=caller, project=store, days=DAYS, now=now)


def test_a_memory_is_worth_what_sessions_with_it_do_better(
    caller: Caller, store: str, now: datetime
) -> None:
    memory = memories.stored(caller, now, project=store)
    me = person(caller)
    told = stored(store, "full", [{"rereads": 1}, {"rereads": 2}] * 15, owner=me, now=now)
    left = stored(store, "full", [{"rereads": 5}, {"rereads": 6}] * 12, owner=me, now=now)
    given(told, memory.id, now, withheld=False)
    given(left, memory.id, now, withheld=True)

    (found,) = proved(caller, store, now)

    said = next(one for one in found.measures if one.figure is Figure.REREADS)
    assert (found.memory.id, found.given, found.withheld) == (memory.id, 30, 24)
    assert said.difference is not None
    assert said.difference.value == pytest.approx(-4.0)
    assert said.verdict == "better"


def test_what_was_given_before_anything_was_withheld_is_no_side_of_the_comparison(
    caller: Caller, store: str, now: datetime
) -> None:
    memory = memories.stored(caller, now, project=store)
    me = person(caller)
    early, late, left = (
        stored(store, "full", [{"rereads": 1}] * 3, owner=me, now=now) for _ in "abc"
    )
    given(early, memory.id, now - timedelta(hours=2), withheld=False)
    given(left, memory.id, now - timedelta(hours=1), withheld=True)
    given(late, memory.id, now, withheld=False)

    (found,) = proved(caller, store, now)

    assert (found.given, found.withheld) == (3, 3)


def test_memories_of_others_are_not_told_of_even_to_who_manages(
    caller: Caller, member_caller: Caller, store: str, now: datetime
) -> None:
    theirs = memories.stored(member_caller, now, project=store, scope="personal")
    left = stored(store, "full", [{"rereads": 1}] * 3, owner=person(member_caller), now=now)
    given(left, theirs.id, now, withheld=True)

    assert proved(caller, store, now) == ()
    assert [one.memory.id for one in proved(member_caller, store, now)] == [theirs.id]


HERE = UUID(int=7)


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
        "project": HERE,
        "since": datetime(2026, 1, 1, tzinfo=UTC),
        "everyone": True,
        "audiences": [HERE],
        "bound": None,
    }

    with tenancy.unit(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(f"EXPLAIN {statement}", given)
        plan = "\n".join(row[0] for row in cursor.fetchall())

    assert index in plan, plan
