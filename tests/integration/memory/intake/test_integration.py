"""What a new memory does to those that are there, at once or after a bulk call was embedded."""

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import Conflict as Changed
from accounts.models import Job
from memory.index.models import MemoryVector
from memory.intake.actions import candidate
from memory.intake.actions.apply_decision import ReplacementShare, hold, integrate_stored
from memory.intake.actions.remember import prepare, remember_all
from memory.intake.actions.revise import revise
from memory.intake.actions.similar_memories import find_similar
from memory.intake.integrate import LEAST_SHARE, Decision, decide
from memory.intake.models import ActionLog
from memory.records.models import Conflict, Memory, MemoryLink
from memory.review.queries import conflicts
from memory.review.queries.conflicts import ConflictState
from memory.tasks import upkeep
from memory.taxonomy import LinkKind
from teams.actions import change_project
from teams.models import AuditEntry, Change
from tests.support.memories import PARSER, new, sent, stored
from tests.support.work import taken

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


@pytest.mark.parametrize(
    ("content", "reason"),
    [(NEW, "It replaces what was true."), (GONE, "It takes back what was true.")],
)
def test_words_of_change_replace_and_keep_it(
    agent: Caller, store: str, now: datetime, content: str, reason: str
) -> None:
    old = _agents(agent, now - timedelta(days=9), OLD, store)
    event_at = now - timedelta(days=2)

    outcome = sent(agent, now, content, project=store, source="agent_explicit", event_at=event_at)

    was = _row(old.id)
    assert (outcome.outcome, outcome.operation) == ("added", LinkKind.SUPERSEDES.value)
    assert (was.status, was.superseded_by_id) == (
        "superseded",
        outcome.memory and outcome.memory.id,
    )
    assert (was.content, was.confidence, was.archived_reason) == (OLD, 0.3, reason)
    assert was.valid_until == event_at
    with tenancy.unit():
        assert not MemoryVector.objects.filter(memory_id=old.id, live=True).exists()
        links = MemoryLink.objects.filter(target_id=old.id, kind="supersedes", automatic=True)
        assert links.count() == 1
        assert AuditEntry.objects.filter(details__related=str(old.id)).count() == 1
        assert Change.objects.filter(kind="memory.superseded", object_id=old.id).exists()


@pytest.mark.parametrize(
    ("old", "new", "cause"),
    [
        ({"source": "user_taught"}, {}, "outranked"),
        ({"source": "user_taught"}, {"content": GONE}, "outranked"),
        ({"type": "decision"}, {}, "protected"),
        ({"tags": ("exact_value",)}, {}, "protected"),
        ({"pinned": True}, {}, "protected"),
        ({}, {"needs_review": True}, "unreviewed"),
        ({}, {"event_at": datetime(2020, 1, 1, tzinfo=UTC)}, "older"),
        ({}, {"scope": "personal"}, "elsewhere"),
    ],
    ids=str,
)
def test_what_an_agent_may_not_replace_becomes_a_conflict(
    caller: Caller, agent: Caller, store: str, now: datetime,
    old: dict[str, object], new: dict[str, object], cause: str,
) -> None:  # fmt: skip
    given = {"content": OLD, "project": store, "source": "agent_explicit", **old}
    known = stored(caller if "source" in old else agent, now, **given)

    sending = {"content": NEW, "project": store, "source": "agent_explicit", **new}
    outcome = sent(agent, now, **sending)

    assert (outcome.cause, _row(known.id).status) == (cause, "active")
    assert outcome.conflict_id is not None


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


def test_a_conflict_with_a_personal_memory_is_known_to_its_author_alone(
    caller: Caller, member_caller: Caller, store: str, now: datetime
) -> None:
    stored(caller, now, OLD, project=store)
    outcome = sent(caller, now, OTHER, project=store, scope="personal")

    assert outcome.conflict_id is not None
    assert (_open(caller, now), _open(member_caller, now)) == (1, 0)
    assert conflicts.count_open(caller=member_caller, project=store) == 0


def test_events_oppose_nothing(agent: Caller, caller: Caller, store: str, now: datetime) -> None:
    stored(caller, now, OLD, type="event", project=store)
    stored(caller, now, OLD, scope="organization")

    outcome = sent(agent, now, OTHER, project=store, source="agent_explicit")

    assert (outcome.operation, outcome.conflict_id) == ("", None)


def test_conflict_cosine_is_set(caller: Caller, agent: Caller, store: str, now: datetime) -> None:
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


def _bulk(agent: Caller, now: datetime, store: str, *contents: str) -> None:
    """Store memories at once, and run the job that embeds them."""
    items = tuple(new(text, project=store, source="agent_explicit") for text in contents)
    outcomes = remember_all(caller=agent, new=items, now=now)
    (job_id,) = {one.job_id for one in outcomes if one.job_id}
    upkeep.embed(taken(job_id))


def _service(number: int, times: int, now: str = "") -> str:
    name = f"Worker_{chr(97 + number)}_pool"
    return f"In `shop/{name}.py` the {name} {now} retries a payment {times} times."


def test_a_bulk_call_is_integrated_when_embedded(agent: Caller, store: str, now: datetime) -> None:
    old = _agents(agent, now, OLD, store)

    _bulk(agent, now + timedelta(hours=1), store, NEW, PARSER)

    assert _row(old.id).status == "superseded"
    with tenancy.unit():
        assert AuditEntry.objects.filter(act="memory.bulk_integrated").count() == 1
        assert ActionLog.objects.filter(outcome="superseded", other_id=old.id).count() == 1


def test_a_run_replaces_its_share(agent: Caller, caller: Caller, store: str, now: datetime) -> None:
    _bulk(agent, now, store, *(_service(number, 3) for number in range(6)))

    later = tuple(_service(number, 9, "now") for number in range(6))
    _bulk(agent, now + timedelta(hours=1), store, *later)

    with tenancy.unit():
        assert Memory.objects.filter(status="superseded").count() == LEAST_SHARE
        assert Conflict.objects.filter(cause="share").count() == 6 - LEAST_SHARE
    assert _open(caller, now, store) == 6 - LEAST_SHARE


def test_a_copy_names_the_memory_it_repeats(agent: Caller, store: str, now: datetime) -> None:
    old = _agents(agent, now, OLD, store)

    _bulk(agent, now, store, OLD.replace("a payment", "the payment"))

    was = _row(old.id)
    with tenancy.unit():
        copy = Memory.objects.get(superseded_by_id=old.id)
    assert (was.status, was.confirmations) == ("active", 1)
    assert (copy.status, copy.archived_reason) == (
        "superseded",
        "It says the same as an earlier one.",
    )


def test_a_second_run_changes_nothing(agent: Caller, store: str, now: datetime) -> None:
    _agents(agent, now, OLD, store)
    _bulk(agent, now, store, OTHER, PARSER)
    with tenancy.unit():
        ids = tuple(Memory.objects.values_list("id", flat=True))

    changed = integrate_stored(memory_ids=ids, share=ReplacementShare(ids=frozenset(ids)), now=now)

    assert changed == 0
    with tenancy.unit():
        assert Conflict.objects.count() == 1


def test_nearly_the_same_in_one_call_is_one(agent: Caller, store: str, now: datetime) -> None:
    items = tuple(
        new(text, project=store, source="agent_explicit")
        for text in (OLD, OLD.replace("before it", "before that it"), OTHER)
    )

    found = remember_all(caller=agent, new=items, now=now)

    assert [one.outcome for one in found] == ["added", "confirmed", "added"]
    assert found[1].gate == "near_duplicate"


@pytest.mark.parametrize("by_agent", [True, False])
def test_an_agent_that_edits_a_persons_memory_replaces_no_others_by_it(
    caller: Caller, agent: Caller, store: str, now: datetime, by_agent: bool
) -> None:
    target = stored(caller, now, OLD, project=store)
    edited = stored(caller, now + timedelta(hours=1), PARSER, project=store)

    revise(
        caller=agent if by_agent else caller,
        memory_id=edited.id,
        changes={"content": NEW},
        if_version=None,
        now=now + timedelta(hours=2),
    )
    _embed_again(edited.id)

    assert _row(target.id).status == ("active" if by_agent else "superseded")
    with tenancy.unit():
        assert Conflict.objects.filter(cause="outranked").count() == int(by_agent)


def _embed_again(memory_id: UUID) -> None:
    upkeep.embed(taken(Job.objects.get(key=memory_id.hex, state=Job.State.QUEUED).id))


def _compared(agent: Caller, store: str, now: datetime) -> Decision:
    """Decide about a candidate that replaces what is known, and write nothing yet."""
    given = new(NEW, project=store, source="agent_explicit", event_at=now)
    prepared = prepare(caller=agent, new=given)
    with tenancy.unit():
        _, statement, stored = find_similar(
            caller=agent,
            checked=prepared.checked,
            where=candidate.find_placement(caller=agent, new=prepared.checked.new),
            embedded=prepared.embedded,
            now=now,
        )
    return decide(candidate=statement, known=stored)


def test_reworded_since_compared_is_not_replaced(agent: Caller, store: str, now: datetime) -> None:
    old = _agents(agent, now, OLD, store)
    decision = _compared(agent, store, now)
    with tenancy.unit():
        assert hold(decision=decision) is not None

    revise(caller=agent, memory_id=old.id, changes={"content": PARSER}, if_version=None, now=now)

    with pytest.raises(Changed), tenancy.unit():
        hold(decision=decision)


@pytest.mark.parametrize(
    "doubtful", [{"needs_review": True}, {"taint_reason": "web"}, {"stale_at": True}]
)
def test_a_sound_memory_does_not_vanish_into_a_doubtful_one(
    agent: Caller, store: str, now: datetime, doubtful: dict[str, object]
) -> None:
    old = _agents(agent, now, OLD, store)
    with tenancy.unit():
        changed = {name: now if name == "stale_at" else value for name, value in doubtful.items()}
        Memory.objects.filter(pk=old.id).update(**changed)

    _bulk(agent, now, store, OLD.replace("a payment", "the payment"))

    with tenancy.unit():
        assert Memory.objects.filter(status="active").count() == 2
        assert Memory.objects.get(pk=old.id).confirmations == 0


def test_a_twin_gets_sessions_and_weight(agent: Caller, store: str, now: datetime) -> None:
    first, later = uuid4(), uuid4()
    old = _agents(agent, now, OLD, store, session_id=first)

    again = new(
        OLD.replace("a payment", "the payment"),
        project=store,
        source="agent_explicit",
        session_id=later,
    )
    (outcome,) = remember_all(caller=agent, new=(again,), now=now)
    assert outcome.job_id is not None
    upkeep.embed(taken(outcome.job_id))

    kept = _row(old.id)
    assert kept.provenance_sessions == [first, later]
    assert kept.importance > old.importance
