"""What memory changed: sums in SQL, who is told, and weights learned of them."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from django.db import connection

from accounts import tenancy
from accounts.caller import Caller, Role, TokenScope
from accounts.errors import Conflict, Forbidden, NotFound
from memory import sql_queries
from memory.customization.actions import define_methodology
from memory.customization.phases import Phase
from memory.experiments.actions.consequences import Verdict, decide_weights
from memory.experiments.figures import Figure
from memory.experiments.points import Group
from memory.experiments.queries import (
    FILE,
    LEAST_PEOPLE,
    ExperimentReport,
    MemoryEffect,
    PhaseWeights,
    memory_effects,
    report,
    weights_of,
)
from memory.experiments.uplift import LEAST_SESSIONS
from memory.search.actions import search
from memory.search.request import SearchRequest
from memory.taxonomy import MemoryType
from teams import visibility
from teams.audit import every_entry
from teams.models import Project
from tests.integration.memory.experiments.conftest import Shop
from tests.support import memories
from tests.support.memories import CARTS, PARSER, REDIS

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
def test_what_few_people_came_to_is_not_told(shop: Shop, people: int, each: int) -> None:
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


def test_a_figure_that_one_person_told_is_not_told(shop: Shop) -> None:
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


DECISION, GOTCHA = MemoryType.DECISION, MemoryType.GOTCHA
LEARNED = {DECISION: 1.4, GOTCHA: 0.8}


class Lessons:
    """A decision and a gotcha of the project, and sessions that used one of them."""

    def __init__(self, shop: Shop) -> None:
        self.shop, self.now = shop, shop.now
        self.decision = shop.remember(CARTS, type="decision").id
        self.gotcha = shop.remember(PARSER, type="gotcha").id

    def came(self, outcomes: dict[UUID, str], count: int, **fields: Any) -> None:
        """Store sessions of a person that were given memories, and what came of them."""
        shop = replace(self.shop, now=self.now)
        more = {"phase": "coding", "ended_at": self.now, "ago": timedelta(hours=1), **fields}
        rows = shop.run([None] * count, "", **more)
        for memory_id, outcome in outcomes.items():
            shop.log(rows, memory_id, outcome=outcome)

    def teach(self, *, is_turned: bool = False) -> None:
        """Let forty sessions of the owner use the decision, and ignore the gotcha mostly."""
        counts = (10, 30) if is_turned else (30, 10)
        self.came({self.decision: "used", self.gotcha: "ignored"}, counts[0])
        self.came({self.decision: "ignored", self.gotcha: "used"}, counts[1])

    def read(self, caller: Caller | None = None, project: str = "store") -> PhaseWeights:
        """Return what is learned."""
        return weights_of(caller=caller or self.shop.owner, project=project, now=self.now)

    def decide(
        self, verdict: Verdict, shown: str | None = None, caller: Caller | None = None
    ) -> PhaseWeights:
        """Decide about what is proposed, or about what was shown."""
        return decide_weights(
            caller=caller or self.shop.owner,
            ref=self.shop.slug,
            verdict=verdict,
            shown=self.read().proposal if shown is None else shown,
            now=self.now,
        )

    def undo(self, decided_at: datetime | None) -> PhaseWeights:
        """Undo the decision that was made then."""
        return self.decide(Verdict.UNDO, decided_at.isoformat() if decided_at else "")

    def weights(self, phase: str) -> dict[str, float]:
        """Return what each type counts in a search for a phase."""
        request = SearchRequest(
            query="carts invoice lines", project=self.shop.slug, threshold=0.0, phase=phase
        )
        hits = search(caller=self.shop.owner, request=request, now=self.now).hits
        return {hit.memory.type: hit.explain["multipliers"]["phase"] for hit in hits}


@pytest.fixture
def lessons(shop: Shop) -> Lessons:
    """A project that has taught nothing yet."""
    return Lessons(shop)


@pytest.fixture
def taught(lessons: Lessons) -> Lessons:
    """A project whose sessions use the decision and ignore the gotcha."""
    lessons.teach()
    return lessons


def proposed(found: PhaseWeights) -> dict[MemoryType, float | None]:
    """Return what is proposed by type."""
    return {one.type: one.proposed for one in found.found}


def given(found: PhaseWeights) -> dict[MemoryType, int]:
    """Return how many deliveries count by type."""
    return {one.type: one.own.count for one in found.found}


def test_nothing_is_proposed_before_thirty_sessions_or_of_what_is_unknown(lessons: Lessons) -> None:
    lessons.came({lessons.decision: "used", lessons.gotcha: "ignored"}, 29)
    lessons.came({lessons.decision: "unknown", lessons.gotcha: ""}, 30)
    lessons.came({lessons.decision: "used"}, 30, phase="")
    lessons.came({lessons.decision: "used"}, 30, ago=timedelta(days=91))

    found = lessons.read()

    assert (found.sessions, found.proposal) == (29, "")


def test_what_is_used_more_is_proposed_and_counts_until_it_is_undone(taught: Lessons) -> None:
    before, usual = taught.read(), taught.weights("implement")
    assert (before.sessions, before.is_whole, before.own) == (40, True, {})
    assert proposed(before) == LEARNED
    assert {one.phase for one in before.found} == {Phase.IMPLEMENT}

    decided = taught.decide(Verdict.APPROVE)

    assert usual == {"decision": 1.0, "gotcha": 1.4}
    assert decided.own == {Phase.IMPLEMENT: LEARNED}
    assert (decided.proposal, decided.sessions, decided.decided_at) == ("", 0, taught.now)
    assert taught.weights("implement") == {"decision": 1.4, "gotcha": 0.8}
    assert taught.weights("define") == {"decision": 1.1, "gotcha": 0.8}

    undone = taught.undo(decided.decided_at)

    assert (before.may_undo, decided.may_undo, undone.may_undo) == (False, True, False)
    assert (undone.own, undone.decided_at) == ({}, None)
    assert taught.weights("implement") == usual


def test_undone_once_the_weights_before_stay_and_later_sessions_count(taught: Lessons) -> None:
    first = taught.decide(Verdict.APPROVE)
    taught.now += timedelta(days=2)
    taught.teach(is_turned=True)
    second = taught.decide(Verdict.APPROVE)

    undone = taught.undo(second.decided_at)

    assert second.own != first.own
    assert (undone.own, undone.decided_at, undone.may_undo) == (first.own, first.decided_at, False)
    assert (undone.since, undone.sessions) == (taught.now, 0)
    for shown in (undone, second):
        with pytest.raises(Conflict):
            taught.undo(shown.decided_at)
    assert taught.read().own == first.own


def test_declined_is_not_proposed_again_nor_undone_unseen(taught: Lessons) -> None:
    first = taught.decide(Verdict.DECLINE)
    taught.now += timedelta(days=2)
    taught.teach()
    assert (first.own, first.proposal, first.sessions) == ({}, "", 0)
    assert proposed(taught.read()) == LEARNED
    second = taught.decide(Verdict.APPROVE)

    for shown in (first.decided_at, None):
        with pytest.raises(Conflict):
            taught.undo(shown)

    assert taught.read() == second


def test_what_was_not_shown_is_not_approved(taught: Lessons) -> None:
    shown = taught.read().proposal
    taught.came({taught.decision: "ignored"}, 80)

    for verdict, name in ((Verdict.APPROVE, shown), (Verdict.APPROVE, ""), (Verdict.UNDO, "")):
        with pytest.raises(Conflict):
            taught.decide(verdict, name)
    assert taught.read().decided_at is None


def test_a_person_who_manages_the_project_decides_and_the_log_says_so(taught: Lessons) -> None:
    for nobody in (taught.shop.member, memories.as_agent(taught.shop.owner)):
        with pytest.raises(Forbidden):
            taught.decide(Verdict.APPROVE, caller=nobody)
    taught.decide(Verdict.APPROVE)

    with tenancy.unit():
        *_, entry = every_entry()
    assert (entry.act, entry.object_type) == ("project.changed", "project")


def test_others_are_told_of_what_they_see_and_managers_of_many(taught: Lessons) -> None:
    three = tuple(UUID(int=person) for person in (1, 2, 3))
    taught.came({taught.decision: "used"}, 30, owners=three)
    taught.came({taught.gotcha: "used"}, 50, owners=(UUID(int=4),))

    whole, mine = taught.read(), taught.read(taught.shop.member)

    assert given(whole) == {DECISION: 40 + 30, GOTCHA: 40}
    assert (whole.sessions, whole.is_whole) == (40 + 80, False)
    assert (mine.sessions, mine.found, mine.proposal) == (0, (), "")


def test_a_personal_memory_is_not_counted_for_others(lessons: Lessons) -> None:
    own = lessons.shop.remember(REDIS, scope="personal", type="decision")
    lessons.came({own.id: "used"}, 40)
    lessons.shop.share()
    member = lessons.shop.member

    assert given(lessons.read()) == {DECISION: 40}
    for other in (member, memories.as_role(member, Role.ADMIN)):
        assert lessons.read(other).found == ()


def test_a_session_that_is_given_what_one_sees_and_what_not_counts_once(lessons: Lessons) -> None:
    own = lessons.shop.remember(REDIS, by=lessons.shop.member, scope="personal", type="fact")
    three = tuple(UUID(int=person) for person in (1, 2, 3))
    lessons.came({lessons.decision: "used", own.id: "used"}, 21, owners=three)
    lessons.shop.share()

    found = lessons.read()

    assert sum(given(found).values()) == 2 * 21
    assert (found.sessions, found.proposal, found.is_whole) == (21, "", True)


def test_another_project_is_told_nothing_and_one_of_others_is_not_there(taught: Lessons) -> None:
    with tenancy.unit():
        other = Project.objects.create(slug="other", name="Other")
        Project.objects.filter(slug="store").update(open_to_all=False)

    assert taught.read(project="other").found == ()
    for nobody in (taught.shop.member, replace(taught.shop.owner, bound_projects=(other.id,))):
        with pytest.raises(NotFound):
            taught.read(nobody)


def test_a_methodology_of_the_organization_names_its_phases(lessons: Lessons) -> None:
    phases = {"doing": "refine"}
    define_methodology(caller=lessons.shop.owner, name="kanban", phases=phases, now=lessons.now)
    for phase, count in (("doing", 3), ("lunch", 2)):
        lessons.came({lessons.decision: "used"}, count, phase=phase, methodology="kanban")

    (found,) = lessons.read().found

    assert (found.phase, found.own.count) == (Phase.REFINE, 3)
