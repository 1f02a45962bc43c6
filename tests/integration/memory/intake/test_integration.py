"""What a new memory does to known ones, and who is told what became of it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import Conflict as Changed
from accounts.errors import InvalidInput, NotFound
from accounts.models import Job
from memory.index.actions import model_switch
from memory.index.models import MemoryVector
from memory.intake import queries as intake_queries
from memory.intake.actions import apply_decision as writer
from memory.intake.actions import candidate
from memory.intake.actions.apply_decision import ReplacementShare, hold, integrate_stored
from memory.intake.actions.remember import Outcome, prepare, remember_all
from memory.intake.actions.similar_memories import find_similar
from memory.intake.integrate import LEAST_SHARE, Decision, decide
from memory.intake.models import ActionLog
from memory.intake.queries import ActionView
from memory.records import actions
from memory.records.models import Conflict, Memory, MemoryLink
from memory.records.queries.views import MemoryView
from memory.review.queries import conflicts
from memory.tasks import upkeep
from memory.taxonomy import LinkKind
from teams.actions import change_project
from teams.models import AuditEntry, Change
from tests.support.memories import PARSER, REDIS, as_agent, new
from tests.support.reviewed import HOUR, World, row_of
from tests.support.switching import do_jobs
from tests.support.work import taken

OLD = "The checkout worker in `shop/checkout.py` retries a payment 3 times before it gives up."
NEW = "The checkout worker in `shop/checkout.py` now retries a payment 5 times before it gives up."
OTHER = "The checkout worker in `shop/checkout.py` retries a payment 5 times before it gives up."
GONE = "The checkout worker in `shop/checkout.py` no longer retries a payment before it gives up."
COPY = OLD.replace("a payment", "the payment")


def told(world: World, content: str, **given: Any) -> Outcome:
    """Let the member's agent say something."""
    return world.sent(content, as_agent(world.member), **{"source": "agent_explicit", **given})


def said(world: World, content: str, **given: Any) -> MemoryView:
    memory = told(world, content, **given).memory
    assert memory is not None
    return memory


def told_at_once(world: World, *contents: str, **given: Any) -> tuple[Outcome, ...]:
    """Let the member's agent store memories at once, and run the job that embeds them."""
    given = {"project": world.store, "source": "agent_explicit", **given}
    agent, now = as_agent(world.member), world.now + HOUR
    items = tuple(new(text, **given) for text in contents)
    outcomes = remember_all(caller=agent, new=items, now=now)
    (job_id,) = {one.job_id for one in outcomes if one.job_id}
    upkeep.embed(taken(job_id))
    return outcomes


@pytest.mark.parametrize(
    ("content", "reason"),
    [(NEW, "It replaces what was true."), (GONE, "It takes back what was true.")],
)
def test_words_of_change_replace_and_keep_it(world: World, content: str, reason: str) -> None:
    old = said(world, OLD, at=world.now - timedelta(days=9))
    event_at = world.now - timedelta(days=2)

    outcome = told(world, content, event_at=event_at)

    assert (outcome.outcome, outcome.operation) == ("added", LinkKind.SUPERSEDES.value)
    was, by = row_of(old), outcome.memory and outcome.memory.id
    assert (was.status, was.superseded_by_id, was.content) == ("superseded", by, OLD)
    assert (was.confidence, was.archived_reason, was.valid_until) == (0.3, reason, event_at)
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
        ({}, {"content": OTHER}, "equal"),
    ],
    ids=str,
)
def test_what_an_agent_may_not_replace_becomes_a_conflict(
    world: World, old: dict[str, Any], new: dict[str, Any], cause: str
) -> None:
    teacher = world.owner if "source" in old else as_agent(world.member)
    known = world.stored(OLD, teacher, **{"source": "agent_explicit", **old})

    outcome = told(world, **{"content": NEW, **new})

    assert (outcome.cause, row_of(known).status) == (cause, "active")
    assert (outcome.operation, outcome.conflict_id is not None) == ("contradicts", True)
    assert outcome.conflict_id is not None
    found = world.conflict(outcome.conflict_id, world.member)
    assert outcome.memory is not None
    assert (found.older.id, found.newer.id, found.verdict) == (known.id, outcome.memory.id, "")


def test_a_conflict_with_a_personal_memory_is_known_to_its_author_alone(world: World) -> None:
    world.stored(OLD)
    outcome = world.sent(OTHER, scope="personal")

    assert outcome.conflict_id is not None
    counts = [
        conflicts.count_open(caller=who, project=project)
        for who in (world.owner, world.member)
        for project in (None, world.store)
    ]
    assert counts == [1, 1, 0, 0]


def test_what_is_true_of_its_time_or_far_from_it_opposes_nothing(world: World) -> None:
    world.stored(OLD, type="event")
    world.stored(OLD, scope="organization")
    passing = told(world, OTHER)
    change = {"conflict_cosine": 1.0}
    change_project(caller=world.owner, ref=world.store, changes=change, if_version=None)

    far = told(world, GONE)

    assert [(one.operation, one.conflict_id) for one in (passing, far)] == [("", None)] * 2


def _service(number: int, times: int, now: str = "") -> str:
    name = f"Worker_{chr(97 + number)}_pool"
    return f"In `shop/{name}.py` the {name} {now} retries a payment {times} times."


@pytest.mark.parametrize("is_switched", [False, True])
def test_what_came_without_a_vector_is_judged_when_it_has_one(
    world: World, settings: Any, is_switched: bool
) -> None:
    known = said(world, OLD)
    settings.EMBED_INLINE = False

    outcome = told(world, OTHER)

    assert (outcome.embedding, outcome.conflict_id) == ("queued", None)
    if is_switched:
        model_switch.switch(caller=world.owner, key="hashing/turned-384")
    do_jobs()
    assert outcome.memory is not None
    with tenancy.unit():
        found = Conflict.objects.get()
        logged = ActionLog.objects.get(outcome="contradicted")
    assert (found.older_id, found.newer_id) == (known.id, outcome.memory.id)
    assert (logged.memory_id, logged.certainty) == (outcome.memory.id, 1.0)


def test_a_bulk_call_is_integrated_when_embedded_and_once(world: World) -> None:
    old = said(world, OLD)

    told_at_once(world, NEW, PARSER)

    assert row_of(old).status == "superseded"
    with tenancy.unit():
        ids = tuple(Memory.objects.values_list("id", flat=True))
    share = ReplacementShare(ids=frozenset(ids))
    assert integrate_stored(memory_ids=ids, share=share, now=world.now + HOUR) == 0
    with tenancy.unit():
        assert AuditEntry.objects.filter(act="memory.bulk_integrated").count() == 1
        assert ActionLog.objects.filter(outcome="superseded", other_id=old.id).count() == 1


def test_a_run_replaces_its_share(world: World) -> None:
    told_at_once(world, *(_service(number, 3) for number in range(6)))

    told_at_once(world, *(_service(number, 9, "now") for number in range(6)))

    with tenancy.unit():
        assert Memory.objects.filter(status="superseded").count() == LEAST_SHARE
        assert Conflict.objects.filter(cause="share").count() == 6 - LEAST_SHARE
    open_ones = conflicts.count_open(caller=world.owner, project=world.store)
    assert open_ones == 6 - LEAST_SHARE


def test_a_copy_names_the_memory_it_repeats_which_gets_sessions_and_weight(world: World) -> None:
    first, later = uuid4(), uuid4()
    old = said(world, OLD, session_id=first)

    told_at_once(world, COPY, session_id=later)

    was = row_of(old)
    assert (was.status, was.confirmations, was.provenance_sessions) == ("active", 1, [first, later])
    assert was.importance > old.importance
    with tenancy.unit():
        copy = Memory.objects.get(superseded_by_id=old.id)
    assert (copy.status, copy.archived_reason) == (
        "superseded", "It says the same as an earlier one.",
    )  # fmt: skip


@pytest.mark.parametrize("doubtful", ["needs_review", "taint_reason", "stale_at"])
def test_a_sound_memory_does_not_vanish_into_a_doubtful_one(world: World, doubtful: str) -> None:
    values = {"needs_review": True, "taint_reason": "web", "stale_at": world.now}
    old = said(world, OLD)
    with tenancy.unit():
        Memory.objects.filter(pk=old.id).update(**{doubtful: values[doubtful]})

    told_at_once(world, COPY)

    with tenancy.unit():
        assert Memory.objects.filter(status="active").count() == 2
    assert row_of(old).confirmations == 0


def test_the_same_in_other_spelling_in_one_call_is_one_and_other_words_are_not(
    world: World,
) -> None:
    found = told_at_once(world, OLD, COPY, OTHER, OLD.replace("before it", "before that it"))

    assert [one.outcome for one in found] == ["added", "confirmed", "added", "added"]
    assert found[1].gate == "near_duplicate"


def test_what_is_near_and_differs_is_stored_beside_it_and_linked(world: World) -> None:
    known = said(world, OLD)

    outcome = world.sent(OLD.replace("before it gives up", "before it gives up quietly"))

    assert (outcome.outcome, outcome.operation, outcome.related_id) == (
        "added",
        "similar",
        known.id,
    )
    assert row_of(known).confirmations == 0
    with tenancy.unit():
        link = MemoryLink.objects.get(target_id=known.id)
        assert (link.kind, link.automatic) == ("similar", True)
        assert Memory.objects.filter(status="active").count() == 2


@pytest.mark.parametrize("by_agent", [True, False])
def test_an_agents_edit_of_a_persons_memory_replaces_none(world: World, by_agent: bool) -> None:
    target, agent = world.stored(OLD), as_agent(world.member)
    theirs = {"by": agent, "source": "agent_explicit"} if by_agent else {}
    edited = world.stored(PARSER, at=world.now + HOUR, **theirs)

    world.say(edited, NEW, agent if by_agent else world.owner, 2 * HOUR)
    upkeep.embed(taken(Job.objects.get(key=edited.id.hex, state=Job.State.QUEUED).id))

    assert row_of(target).status == ("active" if by_agent else "superseded")
    with tenancy.unit():
        assert Conflict.objects.filter(cause="outranked").count() == int(by_agent)


def test_what_a_person_has_verified_does_not_wait_again(world: World, settings: Any) -> None:
    world.stored(OLD)
    settings.EMBED_INLINE = False
    mine = said(world, NEW)
    actions.confirm(caller=world.owner, memory_id=mine.id, now=world.now)

    do_jobs()

    assert not row_of(mine).needs_review
    with tenancy.unit():
        assert Conflict.objects.filter(cause="outranked").exists()


def _compared(world: World, agent: Caller) -> Decision:
    """Decide about a candidate that replaces what is known, and write nothing yet."""
    given = new(NEW, project=world.store, source="agent_explicit", event_at=world.now)
    prepared = prepare(caller=agent, new=given)
    with tenancy.unit():
        _, statement, stored = find_similar(
            caller=agent,
            checked=prepared.checked,
            where=candidate.find_placement(caller=agent, new=prepared.checked.new),
            embedded=prepared.embedded,
            now=world.now,
        )
    return decide(candidate=statement, known=stored)


def test_reworded_since_compared_is_not_replaced(world: World) -> None:
    old, agent = said(world, OLD), as_agent(world.member)
    decision = _compared(world, agent)
    with tenancy.unit():
        assert hold(decision=decision) is not None

    world.say(old, PARSER, agent)

    with pytest.raises(Changed), tenancy.unit():
        hold(decision=decision)


def _rows(caller: Caller, **given: str) -> list[ActionView]:
    return list(intake_queries.page(caller=caller, after=None, limit=50, **given).items)


def _counts(world: World, caller: Caller, project: str | None = None) -> dict[str, int]:
    found = intake_queries.tallies(caller=caller, project=project, days=30, now=world.now)
    return {f"{one.outcome} {one.gate}".strip(): one.count for one in found}


def test_rows_tell_how_each_ended_page_by_page_and_are_forgotten(world: World) -> None:
    world.sent("short", at=world.now - timedelta(days=91))
    memory = world.stored(REDIS)
    world.sent(REDIS)
    with pytest.raises(InvalidInput):
        world.sent(REDIS, type="nonsense")

    assert writer.forget_actions(now=world.now, days=90) == 1
    rows = _rows(world.owner, project=world.store)
    assert [(row.outcome, row.gate) for row in rows] == [
        ("refused", "input"), ("confirmed", "exact_duplicate"), ("added", ""),
    ]  # fmt: skip
    assert [row.memory_id for row in rows] == [None, memory.id, memory.id]
    assert [one.outcome for one in _rows(world.owner, gate="exact_duplicate")] == ["confirmed"]
    first = intake_queries.page(caller=world.owner, after=None, limit=2)
    last = intake_queries.page(caller=world.owner, after=first.next_place, limit=2)
    assert ((*first.items, *last.items), last.next_place) == (tuple(rows), None)
    with pytest.raises(NotFound):
        _rows(world.owner, project="nowhere")


def test_a_refused_candidate_is_known_to_its_sender_or_to_all(world: World) -> None:
    given = {"source": "agent_explicit"}
    world.sent("short", as_agent(world.member), **given)
    assert _counts(world, world.member, world.store) == {"refused length": 1}
    assert _counts(world, world.owner, world.store) == {}

    world.sent("short", replace(as_agent(world.owner), user_id=None, token_id=UUID(int=4)), **given)
    assert _counts(world, world.owner, world.store) == {"refused length": 1}


def test_others_count_and_read_nothing_of_what_is_or_became_personal(world: World) -> None:
    world.stored(OTHER, scope="personal")
    assert (_rows(world.member), _counts(world, world.member)) == ([], {})
    assert _counts(world, world.owner, world.store) == {"added": 1}

    memory = world.stored(REDIS)
    with tenancy.unit():
        mine = {"audience": world.owner.user_id, "scope": "personal"}
        Memory.objects.filter(pk=memory.id).update(**mine)
    assert [row.memory_id for row in _rows(world.member)] == [None]
    assert _rows(world.owner)[0].memory_id == memory.id


@pytest.mark.parametrize("is_queued", [False, True])
def test_others_learn_of_no_personal_contradiction(world: World, is_queued: bool) -> None:
    world.stored(OLD, scope="personal")
    if is_queued:
        sent = (new(OTHER, project=world.store),)
        (outcome,) = remember_all(caller=world.owner, new=sent, now=world.now)
        upkeep.embed(taken(outcome.job_id))
    else:
        world.sent(OTHER)

    (row,) = _rows(world.member)
    assert (row.outcome, row.cause, row.other_id) == ("added", "", None)
    assert _counts(world, world.member) == {"added": 1}
    with tenancy.unit():
        (mine,) = Conflict.objects.filter(cause="elsewhere")
        assert mine.audience == world.owner.user_id
        told = str(list(AuditEntry.objects.values_list("details", flat=True)))
        assert "related" not in told
        assert "contradicted" not in told
