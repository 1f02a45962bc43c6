"""What a new memory does to those that are there: replace, contradict, or stand beside (2.4)."""

from datetime import datetime, timedelta
from uuid import UUID

import pytest

from accounts import tenancy
from accounts.caller import Caller
from memory.index.models import MemoryVector
from memory.intake.models import ActionLog
from memory.records.models import Conflict, Memory, MemoryLink
from memory.review.queries import conflicts
from memory.review.queries.conflicts import ConflictState
from memory.taxonomy import LinkKind
from teams.actions.projects import change_project
from teams.models import AuditEntry, Change
from tests.support.memories import sent, stored

OLD = "The checkout worker in `shop/checkout.py` retries a payment 3 times before it gives up."
NEW = "The checkout worker in `shop/checkout.py` now retries a payment 5 times before it gives up."
OTHER = "The checkout worker in `shop/checkout.py` retries a payment 5 times before it gives up."
GONE = "The checkout worker in `shop/checkout.py` no longer retries a payment before it gives up."

pytestmark = pytest.mark.usefixtures("in_organization")


def _row(memory_id: UUID) -> Memory:
    with tenancy.unit():
        return Memory.objects.get(pk=memory_id)


def _open(caller: Caller, now: datetime, project: str | None = None) -> int:
    return len(
        conflicts.list_conflicts(
            caller=caller, project=project, state=ConflictState.OPEN, after=None, limit=50, now=now
        ).items
    )


def _agents(agent: Caller, now: datetime, content: str, store: str, **given: object) -> Memory:
    view = stored(agent, now, content, project=store, source="agent_explicit", **given)
    return _row(view.id)


def test_words_of_change_replace_and_keep_it(agent: Caller, store: str, now: datetime) -> None:
    old = _agents(agent, now, OLD, store)

    outcome = sent(agent, now + timedelta(days=1), NEW, project=store, source="agent_explicit")

    was = _row(old.id)
    assert (outcome.outcome, outcome.operation) == ("added", LinkKind.SUPERSEDES.value)
    assert outcome.memory is not None
    assert (was.status, was.superseded_by_id) == ("superseded", outcome.memory.id)
    assert (was.content, was.confidence) == (OLD, 0.3)
    assert was.archived_reason == "It replaces what was true."
    assert was.valid_until == outcome.memory.valid_from


def test_a_replacement_is_linked_and_logged(agent: Caller, store: str, now: datetime) -> None:
    old = _agents(agent, now, OLD, store)

    sent(agent, now + timedelta(days=1), NEW, project=store, source="agent_explicit")

    with tenancy.unit():
        assert not MemoryVector.objects.filter(memory_id=old.id, live=True).exists()
        links = MemoryLink.objects.filter(target_id=old.id, kind="supersedes", automatic=True)
        assert links.count() == 1
        assert AuditEntry.objects.filter(details__related=str(old.id)).count() == 1
        assert Change.objects.filter(kind="memory.superseded", object_id=old.id).exists()


def test_the_new_one_is_true_from_its_event(agent: Caller, store: str, now: datetime) -> None:
    old = _agents(agent, now - timedelta(days=9), OLD, store)

    sent(agent, now, NEW, project=store, source="agent_explicit", event_at=now - timedelta(days=2))

    assert _row(old.id).valid_until == now - timedelta(days=2)


def test_earlier_truth_replaces_nothing_later(agent: Caller, store: str, now: datetime) -> None:
    old = _agents(agent, now, OLD, store)

    outcome = sent(
        agent, now, NEW, project=store, source="agent_explicit", event_at=now - timedelta(days=30)
    )

    assert (outcome.cause, _row(old.id).status) == ("older", "active")


def test_equals_make_a_conflict(agent: Caller, caller: Caller, store: str, now: datetime) -> None:
    old = _agents(agent, now, OLD, store)

    outcome = sent(agent, now, OTHER, project=store, source="agent_explicit")

    assert (outcome.operation, outcome.cause) == (LinkKind.CONTRADICTS.value, "equal")
    assert _row(old.id).status == "active"
    found = conflicts.get_conflict(
        caller=caller, conflict_id=outcome.conflict_id or old.id, now=now
    )
    assert (found.older.id, found.verdict) == (old.id, "")
    assert outcome.memory is not None
    assert found.newer.id == outcome.memory.id


@pytest.mark.parametrize("content", [NEW, GONE])
def test_an_agent_replaces_nothing_that_a_person_taught(
    caller: Caller, agent: Caller, store: str, now: datetime, content: str
) -> None:
    old = stored(caller, now, OLD, project=store)

    outcome = sent(agent, now, content, project=store, source="agent_explicit")

    assert (outcome.cause, _row(old.id).status) == ("outranked", "active")
    assert _open(caller, now, store) == 1


@pytest.mark.parametrize(
    "given",
    [{"type": "decision"}, {"tags": ("exact_value",)}, {"pinned": True}],
    ids=["layer two", "a protected tag", "pinned"],
)
def test_an_agent_replaces_nothing_that_is_protected(
    agent: Caller, store: str, now: datetime, given: dict[str, object]
) -> None:
    old = _agents(agent, now, OLD, store, **given)

    outcome = sent(agent, now, NEW, project=store, source="agent_explicit")

    assert (outcome.cause, _row(old.id).status) == ("protected", "active")


def test_a_retraction_takes_back_what_was_true(agent: Caller, store: str, now: datetime) -> None:
    old = _agents(agent, now, OLD, store)

    outcome = sent(agent, now, GONE, project=store, source="agent_explicit")

    assert outcome.reason == "It takes back what was true."
    assert _row(old.id).superseded_by_id == (outcome.memory and outcome.memory.id)


def test_personal_replaces_nothing_of_project(caller: Caller, store: str, now: datetime) -> None:
    agents = stored(caller, now, OLD, project=store, source="agent_explicit")

    outcome = sent(caller, now, NEW, project=store, scope="personal")

    assert (outcome.cause, _row(agents.id).status) == ("elsewhere", "active")


def test_a_conflict_with_a_personal_memory_is_known_to_its_author_alone(
    caller: Caller, member_caller: Caller, store: str, now: datetime
) -> None:
    stored(caller, now, OLD, project=store)
    outcome = sent(caller, now, OTHER, project=store, scope="personal")

    assert outcome.conflict_id is not None
    assert (_open(caller, now), _open(member_caller, now)) == (1, 0)
    assert conflicts.count_open(caller=member_caller, project=store) == 0


def test_events_contradict_nothing(
    agent: Caller, caller: Caller, store: str, now: datetime
) -> None:
    stored(caller, now, OLD, type="event", project=store)
    stored(caller, now, OLD, scope="organization")

    outcome = sent(agent, now, OTHER, project=store, source="agent_explicit")

    assert (outcome.operation, outcome.conflict_id) == ("", None)


def test_what_waits_for_review_replaces_nothing(agent: Caller, store: str, now: datetime) -> None:
    old = _agents(agent, now, OLD, store)

    outcome = sent(agent, now, NEW, project=store, source="agent_explicit", needs_review=True)

    assert (outcome.cause, _row(old.id).status) == ("unreviewed", "active")


def test_projects_set_conflict_cosine(
    caller: Caller, agent: Caller, store: str, now: datetime
) -> None:
    change_project(caller=caller, ref=store, changes={"conflict_cosine": 1.0}, if_version=None)
    _agents(agent, now, OLD, store)

    assert sent(agent, now, OTHER, project=store, source="agent_explicit").operation == ""


@pytest.mark.parametrize(
    ("setting", "content"), [({"minimum_length": 200}, OLD), ({"maximum_length": 1_000}, OLD * 20)]
)
def test_a_project_sets_how_long_a_memory_is(
    caller: Caller, store: str, now: datetime, setting: dict[str, object], content: str
) -> None:
    change_project(caller=caller, ref=store, changes=setting, if_version=None)

    assert sent(caller, now, content, project=store).gate == "length"
    assert sent(caller, now, content).outcome == "added"


def test_candidates_leave_log_rows(
    caller: Caller, agent: Caller, store: str, now: datetime
) -> None:
    stored(caller, now, OLD, project=store)
    sent(caller, now, OLD, project=store)
    sent(agent, now, "too short", project=store, source="agent_explicit")
    sent(agent, now, NEW, project=store, source="agent_explicit")

    with tenancy.unit():
        rows = ActionLog.objects.order_by("id")
        ended = [(row.outcome, row.gate, row.cause) for row in rows]
        assert rows[2].audience == agent.user_id
    assert ended == [
        ("added", "", ""),
        ("confirmed", "exact_duplicate", ""),
        ("refused", "length", "too_short"),
        ("contradicted", "", "outranked"),
    ]


def test_whatever_leaves_has_a_successor(agent: Caller, store: str, now: datetime) -> None:
    for place, content in enumerate((OLD, NEW, OTHER, GONE, NEW.replace("5", "9"))):
        sent(agent, now + timedelta(minutes=place), content, project=store, source="agent_explicit")

    with tenancy.unit():
        gone = Memory.objects.exclude(status="active")
        assert gone.count() > 0
        assert not gone.filter(superseded_by=None).exists()
        assert not gone.filter(archived_reason="").exists()
        assert Conflict.objects.filter(older__status="active", newer__status="active").count() < 5
