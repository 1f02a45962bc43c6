"""Phase weights: learned of what sessions did, told to whom, approved by a person, taken back."""

from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

import pytest

from accounts import tenancy
from accounts.caller import Caller, Role
from accounts.errors import Conflict, Forbidden, NotFound
from accounts.identifiers import new_id
from memory.customization.actions import define_methodology
from memory.customization.phases import Phase
from memory.experiments.actions.decide_weights import Verdict, decide_weights
from memory.experiments.queries.learned_weights import PhaseWeights, weights_of
from memory.records.queries.views import MemoryView
from memory.search.actions import search
from memory.search.request import SearchRequest
from memory.sessions.models import GivenOut, Session
from memory.taxonomy import MemoryType
from teams.audit.queries import every_entry
from teams.models import Project
from tests.support import memories
from tests.support.memories import CARTS, PARSER, REDIS

pytestmark = pytest.mark.usefixtures("in_organization")
DECISION, GOTCHA = MemoryType.DECISION, MemoryType.GOTCHA


@pytest.fixture
def pair(caller: Caller, store: str, now: datetime) -> tuple[MemoryView, MemoryView]:
    """A decision and a gotcha of the project."""
    return (
        memories.stored(caller, now, CARTS, project=store, type="decision"),
        memories.stored(caller, now, PARSER, project=store, type="gotcha"),
    )


def came(
    store: str,
    outcomes: dict[UUID, str],
    *,
    owner: UUID,
    count: int,
    now: datetime,
    phase: str = "coding",
    methodology: str = "",
) -> None:
    """Store sessions of a person that were given memories, and what came of them."""
    with tenancy.unit():
        project = Project.objects.get(slug=store)
        rows = Session.objects.bulk_create(
            Session(
                id=new_id(),
                project=project,
                audience=owner,
                scope="personal",
                opened_by=owner,
                source_interface="api",
                phase=phase,
                methodology=methodology,
                opened_at=now - timedelta(hours=1),
                active_at=now,
                ended_at=now,
            )
            for _ in range(count)
        )
        GivenOut.all_rows.bulk_create(
            GivenOut(memory_id=memory_id, session_id=row.id, at=now, point="step", outcome=outcome)
            for row in rows
            for memory_id, outcome in outcomes.items()
        )


def taught(caller: Caller, store: str, pair: tuple[MemoryView, MemoryView], now: datetime) -> None:
    """Let forty sessions of the caller use the decision, and ignore the gotcha mostly."""
    decision, gotcha = (one.id for one in pair)
    assert caller.user_id is not None
    came(store, {decision: "used", gotcha: "ignored"}, owner=caller.user_id, count=30, now=now)
    came(store, {decision: "ignored", gotcha: "used"}, owner=caller.user_id, count=10, now=now)


def read(caller: Caller, store: str, now: datetime) -> PhaseWeights:
    """Return what is learned."""
    return weights_of(caller=caller, project=store, now=now)


def proposed(found: PhaseWeights) -> dict[MemoryType, float | None]:
    """Return what is proposed by type."""
    return {one.type: one.proposed for one in found.found}


def decide(caller: Caller, store: str, verdict: Verdict, shown: str, now: datetime) -> PhaseWeights:
    """Decide."""
    return decide_weights(caller=caller, ref=store, verdict=verdict, shown=shown, now=now)


def approve(caller: Caller, store: str, now: datetime) -> PhaseWeights:
    """Approve what is proposed."""
    return decide(caller, store, Verdict.APPROVE, read(caller, store, now).proposal, now)


def undo(caller: Caller, store: str, shown: PhaseWeights, now: datetime) -> PhaseWeights:
    """Take back the decision that was shown."""
    made = shown.decided_at.isoformat() if shown.decided_at else ""
    return decide(caller, store, Verdict.UNDO, made, now)


def test_a_type_that_sessions_use_more_often_is_proposed_to_count_more(
    caller: Caller, store: str, pair: tuple[MemoryView, MemoryView], now: datetime
) -> None:
    taught(caller, store, pair, now)

    found = read(caller, store, now)

    assert (found.sessions, found.is_whole, found.own) == (40, True, {})
    assert proposed(found) == {DECISION: 1.4, GOTCHA: 0.8}
    assert {one.phase for one in found.found} == {Phase.IMPLEMENT}
    assert found.proposal


def test_nothing_is_proposed_before_thirty_sessions_or_of_what_is_unknown(
    caller: Caller, store: str, pair: tuple[MemoryView, MemoryView], now: datetime
) -> None:
    decision, gotcha = (one.id for one in pair)
    assert caller.user_id is not None
    me = caller.user_id
    came(store, {decision: "used", gotcha: "ignored"}, owner=me, count=29, now=now)
    came(store, {decision: "unknown", gotcha: ""}, owner=me, count=30, now=now)
    came(store, {decision: "used"}, owner=me, count=30, now=now, phase="")
    came(store, {decision: "used"}, owner=me, count=30, now=now - timedelta(days=91))

    found = read(caller, store, now)

    assert (found.sessions, found.proposal) == (29, "")


def weights(caller: Caller, store: str, phase: str, now: datetime) -> dict[str, float]:
    """Return what each type counts in a search for a phase."""
    request = SearchRequest(query="carts invoice lines", project=store, threshold=0.0, phase=phase)
    hits = search(caller=caller, request=request, now=now).hits
    return {hit.memory.type: hit.explain["multipliers"]["phase"] for hit in hits}


def test_approved_weights_count_in_searches_of_the_phase_until_they_are_taken_back(
    caller: Caller, store: str, pair: tuple[MemoryView, MemoryView], now: datetime
) -> None:
    taught(caller, store, pair, now)
    before, usual = read(caller, store, now), weights(caller, store, "implement", now)

    decided = decide(caller, store, Verdict.APPROVE, before.proposal, now)

    assert usual == {"decision": 1.0, "gotcha": 1.4}
    assert decided.own == {Phase.IMPLEMENT: {DECISION: 1.4, GOTCHA: 0.8}}
    assert (decided.proposal, decided.sessions, decided.decided_at) == ("", 0, now)
    assert weights(caller, store, "implement", now) == {"decision": 1.4, "gotcha": 0.8}
    assert weights(caller, store, "define", now) == {"decision": 1.1, "gotcha": 0.8}

    undone = undo(caller, store, decided, now)

    assert (before.may_undo, decided.may_undo, undone.may_undo) == (False, True, False)
    assert (undone.own, undone.decided_at) == ({}, None)
    assert weights(caller, store, "implement", now) == usual


def test_taken_back_once_the_weights_before_stay_and_later_sessions_count(
    caller: Caller, store: str, pair: tuple[MemoryView, MemoryView], now: datetime
) -> None:
    taught(caller, store, pair, now)
    first = approve(caller, store, now)
    later = now + timedelta(days=2)
    taught(caller, store, (pair[1], pair[0]), later)
    second = approve(caller, store, later)

    undone = undo(caller, store, second, later)

    assert second.own != first.own
    assert (undone.own, undone.decided_at, undone.may_undo) == (first.own, now, False)
    assert (undone.since, undone.sessions) == (later, 0)
    for shown in (undone, second):
        with pytest.raises(Conflict):
            undo(caller, store, shown, later)
    assert read(caller, store, later).own == first.own


def test_a_decision_that_was_not_shown_is_not_taken_back(
    caller: Caller, store: str, pair: tuple[MemoryView, MemoryView], now: datetime
) -> None:
    taught(caller, store, pair, now)
    first = decide(caller, store, Verdict.DECLINE, read(caller, store, now).proposal, now)
    later = now + timedelta(days=2)
    taught(caller, store, pair, later)
    second = approve(caller, store, later)

    for shown in (first, replace(first, decided_at=None)):
        with pytest.raises(Conflict):
            undo(caller, store, shown, later)

    assert read(caller, store, later) == second


def test_declined_is_not_proposed_again_from_the_same_sessions(
    caller: Caller, store: str, pair: tuple[MemoryView, MemoryView], now: datetime
) -> None:
    taught(caller, store, pair, now)

    declined = decide(caller, store, Verdict.DECLINE, read(caller, store, now).proposal, now)
    later = now + timedelta(days=2)
    taught(caller, store, pair, later)

    assert (declined.own, declined.proposal, declined.sessions) == ({}, "", 0)
    assert proposed(read(caller, store, later)) == {DECISION: 1.4, GOTCHA: 0.8}


def test_what_was_not_shown_is_not_approved(
    caller: Caller, store: str, pair: tuple[MemoryView, MemoryView], now: datetime
) -> None:
    taught(caller, store, pair, now)
    shown = read(caller, store, now).proposal
    assert caller.user_id is not None
    came(store, {pair[0].id: "ignored"}, owner=caller.user_id, count=80, now=now)

    with pytest.raises(Conflict):
        decide(caller, store, Verdict.APPROVE, shown, now)
    with pytest.raises(Conflict):
        decide(caller, store, Verdict.APPROVE, "", now)
    with pytest.raises(Conflict):
        decide(caller, store, Verdict.UNDO, "", now)
    assert read(caller, store, now).decided_at is None


def test_a_person_who_manages_the_project_decides_and_the_log_says_so(
    caller: Caller,
    member_caller: Caller,
    store: str,
    pair: tuple[MemoryView, MemoryView],
    now: datetime,
) -> None:
    taught(caller, store, pair, now)
    shown = read(caller, store, now).proposal

    for nobody in (member_caller, memories.as_agent(caller)):
        with pytest.raises(Forbidden):
            decide(nobody, store, Verdict.APPROVE, shown, now)
    decide(caller, store, Verdict.APPROVE, shown, now)

    with tenancy.unit():
        *_, entry = every_entry()
    assert (entry.act, entry.object_type) == ("project.changed", "project")


def test_others_are_told_of_what_they_see_and_managers_of_many(
    caller: Caller,
    member_caller: Caller,
    store: str,
    pair: tuple[MemoryView, MemoryView],
    now: datetime,
) -> None:
    taught(caller, store, pair, now)
    for person in range(1, 4):
        came(store, {pair[0].id: "used"}, owner=UUID(int=person), count=10, now=now)
    came(store, {pair[1].id: "used"}, owner=UUID(int=4), count=50, now=now)

    whole, mine = read(caller, store, now), read(member_caller, store, now)

    given = {one.type: one.own.given for one in whole.found}
    assert given == {DECISION: 40 + 30, GOTCHA: 40}
    assert (whole.sessions, whole.is_whole) == (40 + 80, False)
    assert (mine.sessions, mine.found, mine.proposal) == (0, (), "")


def test_a_personal_memory_in_a_session_that_one_sees_is_not_counted_for_others(
    caller: Caller, member_caller: Caller, store: str, now: datetime
) -> None:
    own = memories.stored(caller, now, CARTS, project=store, scope="personal", type="decision")
    assert caller.user_id is not None
    came(store, {own.id: "used"}, owner=caller.user_id, count=40, now=now)
    with tenancy.unit():
        project = Project.objects.get(slug=store)
        Session.objects.update(audience=project.id, scope="project")

    assert read(member_caller, store, now).found == ()
    assert [one.own.given for one in read(caller, store, now).found] == [40]
    admin = memories.as_role(member_caller, Role.ADMIN)
    assert read(admin, store, now).found == ()


def test_a_session_that_is_given_what_one_sees_and_what_not_counts_once(
    caller: Caller,
    member_caller: Caller,
    store: str,
    pair: tuple[MemoryView, MemoryView],
    now: datetime,
) -> None:
    own = memories.stored(member_caller, now, REDIS, project=store, scope="personal", type="fact")
    outcomes = {pair[0].id: "used", own.id: "used"}
    for person in (1, 2, 3):
        came(store, outcomes, owner=UUID(int=person), count=7, now=now)
    with tenancy.unit():
        project = Project.objects.get(slug=store)
        Session.objects.update(audience=project.id, scope="project")

    found = read(caller, store, now)

    assert sum(one.own.given for one in found.found) == 2 * 21
    assert (found.sessions, found.proposal, found.is_whole) == (21, "", True)


def test_another_project_is_told_nothing_and_one_of_others_is_not_there(
    caller: Caller,
    member_caller: Caller,
    store: str,
    pair: tuple[MemoryView, MemoryView],
    now: datetime,
) -> None:
    taught(caller, store, pair, now)
    with tenancy.unit():
        other = Project.objects.create(slug="other", name="Other")
        Project.objects.filter(slug=store).update(open_to_all=False)

    assert read(caller, "other", now).found == ()
    for nobody in (member_caller, replace(caller, bound_projects=(other.id,))):
        with pytest.raises(NotFound):
            read(nobody, store, now)


def test_a_methodology_of_the_organization_names_its_phases(
    caller: Caller, store: str, pair: tuple[MemoryView, MemoryView], now: datetime
) -> None:
    define_methodology(caller=caller, name="kanban", phases={"doing": "refine"}, now=now)
    assert caller.user_id is not None
    outcomes = {pair[0].id: "used"}
    me = caller.user_id
    came(store, outcomes, owner=me, count=3, now=now, phase="doing", methodology="kanban")
    came(store, outcomes, owner=me, count=2, now=now, phase="lunch", methodology="kanban")

    (found,) = read(caller, store, now).found

    assert (found.phase, found.own.given) == (Phase.REFINE, 3)
