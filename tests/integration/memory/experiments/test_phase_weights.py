"""Phase weights: learned of what sessions did, told to whom, approved by a person, undone."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from accounts import tenancy
from accounts.caller import Caller, Role
from accounts.errors import Conflict, Forbidden, NotFound
from memory.customization.actions import define_methodology
from memory.customization.phases import Phase
from memory.experiments.actions.consequences import Verdict, decide_weights
from memory.experiments.queries import PhaseWeights, weights_of
from memory.search.actions import search
from memory.search.request import SearchRequest
from memory.taxonomy import MemoryType
from teams.audit import every_entry
from teams.models import Project
from tests.integration.memory.experiments.conftest import Shop
from tests.support import memories
from tests.support.memories import CARTS, PARSER, REDIS

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


def test_nothing_is_proposed_before_thirty_sessions_or_of_what_is_unknown(
    lessons: Lessons,
) -> None:
    lessons.came({lessons.decision: "used", lessons.gotcha: "ignored"}, 29)
    lessons.came({lessons.decision: "unknown", lessons.gotcha: ""}, 30)
    lessons.came({lessons.decision: "used"}, 30, phase="")
    lessons.came({lessons.decision: "used"}, 30, ago=timedelta(days=91))

    found = lessons.read()

    assert (found.sessions, found.proposal) == (29, "")


def test_what_is_used_more_is_proposed_and_approved_counts_in_searches_until_it_is_undone(
    taught: Lessons,
) -> None:
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


def test_declined_is_not_proposed_again_from_the_same_sessions_nor_undone_unseen(
    taught: Lessons,
) -> None:
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


def test_a_personal_memory_in_a_session_that_one_sees_is_not_counted_for_others(
    lessons: Lessons,
) -> None:
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
