"""What becomes of a candidate, alone or with others, and that nothing else is left behind."""

import logging
from collections import defaultdict
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from pgvector import HalfVector

from accounts import tenancy
from accounts.caller import Role
from accounts.errors import InvalidInput, NotFound, RoleNotSufficient, TooLarge
from accounts.models import Job
from memory.errors import GovernanceDenied
from memory.index.models import MemoryKeyword, MemoryUsage, MemoryVector
from memory.intake import queries
from memory.intake.actions.remember import MOST, NewMemory, Outcome, remember, remember_all
from memory.intake.queries import Spot
from memory.records.actions import archive
from memory.records.models import Memory
from memory.records.queries.views import MemoryView
from memory.topics.models import Topic, TopicMember
from teams.actions import change_project
from teams.errors import NotBoundToProject
from teams.models import AuditEntry, Change
from tests.support import memories
from tests.support.memories import CARTS, PARSER, REDIS, as_agent, as_role, new
from tests.support.reviewed import World, row_of

SECRET = "The deploy uses AKIAQ3EGRXVZ7TPLMBWD with ghp_16C7e42F292c6912E7710c838347Ae178B4a."
MERGED = "The cart service merges two carts of a customer under a lock of the database."
NEAR = "The cart service merges the carts of a customer while it holds a lock."
FAR = "Holiday photos of the office party are on the notice board near the kitchen."


def sent_all(world: World, *items: NewMemory, by: Any = None) -> tuple[Outcome, ...]:
    """Send candidates at once, each to the project unless it names another."""
    placed = tuple(one if one.project else replace(one, project=world.store) for one in items)
    return remember_all(caller=by or world.owner, new=placed, now=world.now)


def ends(outcomes: tuple[Outcome, ...]) -> list[str]:
    return [one.outcome for one in outcomes]


def test_a_new_statement_is_added_with_its_rows_and_says_where_it_came_from(world: World) -> None:
    agent = as_agent(world.member)
    memory = world.stored(REDIS, agent, source="agent_explicit", commit_sha="ab12")

    assert (memory.source, memory.source_interface) == ("agent_explicit", "claude-code")
    assert (memory.author_user, memory.author_agent) == (agent.user_id, "claude-code")
    assert (memory.scope, memory.version, memory.status) == ("project", 1, "active")
    assert memory.embedded
    with tenancy.unit():
        assert MemoryKeyword.objects.filter(memory_id=memory.id, live=True).exists()
        assert MemoryVector.objects.filter(memory_id=memory.id, live=True).exists()
        assert not MemoryUsage.objects.filter(memory_id=memory.id).exists()  # until it is used
        assert Change.objects.filter(kind="memory.created", object_id=memory.id).count() == 1
        assert AuditEntry.objects.filter(object_id=str(memory.id)).count() == 1


def test_a_secret_reaches_no_row_or_log(world: World, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)

    outcome = world.sent(SECRET)

    told = f"{outcome!r} {caplog.text}"
    assert (outcome.outcome, outcome.gate, outcome.memory) == ("refused", "secrets", None)
    assert outcome.hint
    assert "AKIAQ3EGRXVZ7TPLMBWD" not in told
    assert "16C7e42F292c6912E7710c838347Ae178B4a" not in told
    with tenancy.unit():
        assert not Memory.objects.exists()
        assert not Change.objects.filter(kind__startswith="memory").exists()


def test_an_agent_without_a_session_confirms_once_in_whatever_calls_it_says_it(
    world: World,
) -> None:
    known = world.stored(REDIS)
    agent, given = as_agent(world.member), {"project": world.store, "source": "agent_explicit"}
    items = tuple(new(REDIS, **given) for _ in range(3))

    first = remember_all(caller=agent, new=items, now=world.now)
    second = remember_all(caller=agent, new=items[:1], now=world.now + timedelta(minutes=5))
    third = world.sent(REDIS, agent, at=world.now + timedelta(minutes=10), source="agent_explicit")

    assert ends(first) == ["confirmed", "known", "known"]
    assert (ends(second), third.outcome) == (["known"], "known")
    assert row_of(known).confirmations == 1


def test_what_is_known_is_confirmed_with_its_session_once(world: World) -> None:
    known, sessions = world.stored(REDIS), [uuid4(), uuid4()]

    for session in sessions:
        given: dict[str, Any] = {"source": "qa_auto", "session_id": session}
        again = world.sent(f"  {REDIS}\n", **given)
        (at_once,) = sent_all(world, new(REDIS, **given))
        assert (again.gate, at_once.gate) == ("exact_duplicate",) * 2

    with tenancy.unit():
        row = Memory.objects.get(pk=known.id)
    assert (row.confirmations, row.provenance_sessions) == (2, sessions)


def test_a_text_is_unique_in_its_place_while_it_is_active_and_no_episode(world: World) -> None:
    mine = world.stored(REDIS, scope="personal", external_id="note-1")
    theirs = world.theirs(REDIS, scope="personal", external_id="note-1")
    ours = world.stored(REDIS)
    given = {"caller": world.owner, "if_version": None, "now": world.now}
    archive(memory_id=ours.id, reason="", **given)

    again = [world.sent(REDIS), *(world.sent("ok", type="episode") for _ in range(2))]

    assert len({mine.id, theirs.id, ours.id}) == 3
    assert [one.outcome for one in again] == ["added"] * 3


def test_an_external_id_is_brought_up_to_date_and_makes_no_two_the_same(world: World) -> None:
    first, other = world.stored(REDIS, external_id="ticket-7"), world.stored(PARSER)

    outcomes = [world.sent(text, external_id="ticket-7") for text in (REDIS, CARTS, PARSER)]

    assert [one.outcome for one in outcomes] == ["confirmed", "updated", "refused"]
    assert outcomes[2].gate == "exact_duplicate"
    assert str(other.id) in outcomes[2].reason
    (updated,) = (one.memory for one in outcomes if one.outcome == "updated")
    assert updated is not None
    assert (updated.id, updated.content, updated.version) == (first.id, CARTS, 2)


@pytest.mark.django_db(transaction=True)
def test_nothing_is_half_stored_on_a_failure(world: World) -> None:
    with connection.as_owner(), tenancy.unit(), connection.cursor() as cursor:
        cursor.execute("ALTER TABLE teams_change ADD CHECK (summary->>'type' <> 'decision')")

    with pytest.raises(Exception, match="check constraint"):
        world.sent(CARTS, type="decision")
    with pytest.raises(Exception, match="check constraint"):
        sent_all(world, new(REDIS), new(CARTS, type="decision"))

    with tenancy.unit():
        assert not Memory.objects.exists()
        assert not MemoryKeyword.objects.exists()
        assert not AuditEntry.objects.filter(object_type="memory").exists()
    assert not Job.objects.exists()


def test_neither_an_agent_nor_a_member_founds_a_constitution(world: World) -> None:
    for given in ({"type": "identity"}, {"tags": ("chain_of_command",)}):
        for sender in (as_agent(world.owner), world.member):
            with pytest.raises(GovernanceDenied):
                world.sent(REDIS, sender, **given)

    assert world.stored(REDIS, type="identity").governance == 1


def test_long_names_and_odd_texts_are_stored_byte_for_byte(world: World) -> None:
    path = "/".join(["deep"] * 200) + "/file.py"
    many = " ".join(f"src/pkg{n}/file{n}.py" for n in range(100))

    memory = world.stored(f"These files matter: {path} and {many}")

    assert len(memory.related_files) <= 64
    assert all(len(file) <= 400 for file in memory.related_files)
    for text in (
        "مرحبا بالعالم هذا نص طويل بما يكفي للذاكرة",
        "Zero\u200bwidth and \u202ebidi\u202c are kept exactly as they were sent.",
        "e\u0301\u0301\u0301 combining marks and 👩‍👩‍👧‍👦 families stay byte for byte.",
        "İstanbul and ISTANBUL and \u0131stanbul are three different cities here.",
        "quotes ' \" ; DROP TABLE memory_memory; -- $$ \\ %s {0} stay text",
    ):
        assert world.stored(text, tags=("tag",)).content == text


def test_a_place_that_cannot_be_is_named_and_nothing_is_stored(world: World) -> None:
    for given, pointer in (({"scope": "team"}, "/team"), ({"scope": "project"}, "/scope")):
        with pytest.raises(InvalidInput) as refused:
            world.sent(REDIS, project=None, **given)
        assert refused.value.errors[0].pointer == pointer
    with pytest.raises(NotBoundToProject):
        world.sent(REDIS, replace(world.owner, bound_projects=()), project=None)

    with tenancy.unit():
        assert not Memory.objects.exists()


def test_each_item_has_its_own_outcome_in_order(world: World) -> None:
    world.stored(CARTS)
    world.stored(FAR, type="decision", external_id="adr-1")

    people = sent_all(
        world, new(REDIS), new("short"), new(CARTS), new(REDIS), new(PARSER, type="nonsense"),
        new(PARSER, scope="team", team="nobody's"), new("password = hunter2Xq9!zLm4 is what it is"),
    )  # fmt: skip
    agents = sent_all(
        world, new(NEAR), new(PARSER, external_id="adr-1"), new("short", external_id="adr-1"),
        new(PARSER, type="identity"), by=as_agent(world.member),
    )  # fmt: skip

    assert ends(people) == ["added", "refused", "confirmed", "confirmed", *["refused"] * 3]
    assert ends(agents) == ["added", "proposed", *["refused"] * 2]


def test_one_job_and_one_audit_entry_for_all(world: World) -> None:
    found = sent_all(world, new(REDIS), new(CARTS))

    ids = [str(outcome.memory.id) for outcome in found if outcome.memory]
    job = Job.objects.get(name="memory.embed_bulk")
    assert job.payload["ids"] == ids
    assert {outcome.job_id for outcome in found} == {job.id}
    with tenancy.unit():
        assert AuditEntry.objects.filter(act="memory.bulk_written").count() == 1
        assert Change.objects.filter(kind="memory.created").count() == 2


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        (((CARTS, "a"), (CARTS, "a"), (CARTS, ""), (REDIS, "")),
         ["updated", "confirmed", "confirmed", "added"]),
        (((PARSER, "b"), (PARSER, "b"), (CARTS, "b")), ["added", "confirmed", "refused"]),
        (((CARTS, ""), (CARTS, "a")), ["added", "refused"]),
    ],
)  # fmt: skip
def test_external_ids_of_a_call_are_brought_up_to_date(
    world: World, items: tuple[tuple[str, str], ...], expected: list[str]
) -> None:
    world.stored(REDIS, external_id="a")

    found = sent_all(world, *(new(text, external_id=external_id) for text, external_id in items))

    assert ends(found) == expected


def test_too_many_a_viewer_and_an_unseen_project_are_refused(world: World) -> None:
    viewer, hidden = as_role(world.owner, Role.VIEWER), new(CARTS, project="nothing")

    with pytest.raises(TooLarge):
        sent_all(world, *(new() for _ in range(MOST + 1)))
    for who, items, error in (
        (viewer, (new(project=world.store),), RoleNotSufficient),
        (world.owner, (new(project=world.store), hidden), NotFound),
    ):
        with pytest.raises(error):
            remember_all(caller=who, new=items, now=world.now)
        with pytest.raises(error):
            remember(caller=who, new=items[-1], now=world.now)


def test_jobs_are_as_urgent_as_the_firmest_memory(world: World) -> None:
    one = {"max_llm_adds_per_day": 2}
    change_project(caller=world.owner, ref=world.store, changes=one, if_version=None)
    sent_all(world, new(CARTS, type="event"))
    sent_all(world, new(REDIS), new(PARSER, pinned=True))
    world.say(world.stored(FAR, pinned=True), NEAR, world.owner)

    urgency = defaultdict(list)
    for name, priority in Job.objects.order_by("created_at", "id").values_list("name", "priority"):
        urgency[name].append(priority)
    assert urgency["memory.embed_bulk"] == [4, 2]
    assert (urgency["memory.judge_added"], urgency["memory.embed"]) == ([2], [2])


@pytest.fixture
def topic(world: World) -> Topic:
    """A topic whose center is the vector of one memory."""
    memory = world.stored(MERGED)
    with tenancy.unit():
        vector = MemoryVector.objects.get(memory_id=memory.id)
        return Topic.objects.create(
            audience=vector.audience, project_id=vector.project_id, words=["cart"],
            model_id=vector.model_id, center=vector.unit, reach=0.5, sorted_at=world.now,
        )  # fmt: skip


def _topic_of(memory: MemoryView) -> object:
    with tenancy.unit():
        found = TopicMember.objects.filter(memory_id=memory.id)
        return found.values_list("topic_id", flat=True).first()


def test_far_from_centers_of_its_place_is_a_surprise(world: World, topic: Topic) -> None:
    near, far = (world.stored(text, confidence=0.8) for text in (NEAR, FAR))
    elsewhere = world.stored(NEAR, scope="personal")

    assert near.surprise < 0.5 < far.surprise
    assert near.importance == pytest.approx(0.5 + 0.2 * near.surprise + 0.1 * 0.8)
    assert (_topic_of(near), _topic_of(far), elsewhere.surprise) == (topic.id, None, 0.5)


def test_newest_entries_are_compared_too(world: World) -> None:
    memory = world.stored(MERGED)
    with tenancy.unit():
        vector = MemoryVector.objects.get(memory_id=memory.id)
        row = Memory.objects.get(pk=memory.id)
        spot = Spot(vector.model_id, row.audience, row.project_id)
        query = HalfVector(vector.unit).to_text()
        found = queries.newest(spot=spot, query=query, window=100, least=0.95)
        assert [id for id, _ in found] == [memory.id]
        assert queries.newest(spot=spot, query=query, window=0, least=0.95) == ()
        elsewhere = Spot(vector.model_id, row.id, row.project_id)
        assert queries.newest(spot=elsewhere, query=query, window=100, least=0.95) == ()


def test_projects_set_near_duplicates_and_how_long_a_memory_is(world: World) -> None:
    def change(**changes: float) -> None:
        change_project(caller=world.owner, ref=world.store, changes=changes, if_version=None)

    change(near_duplicate_cosine=0.8, conflict_cosine=1.0, maximum_length=1_000)
    world.stored(MERGED)

    outcome, long = world.sent(MERGED.replace("two", "`2`")), world.sent(FAR * 20)
    change(near_duplicate_cosine=1.0)
    apart = world.sent(MERGED.replace("two", "2"))
    change(minimum_length=200)

    assert (outcome.outcome, outcome.gate, long.gate) == ("confirmed", "near_duplicate", "length")
    assert apart.outcome == "added"
    assert world.sent(FAR).gate == "length"
    assert memories.sent(world.owner, world.now, FAR).outcome == "added"


def test_resending_a_call_adds_nothing_where_it_says_one_thing_twice(world: World) -> None:
    items = (new(REDIS), new(REDIS.rstrip(".") + "!"), new(CARTS))
    first = sent_all(world, *items)

    again = sent_all(world, *items)

    assert ends(first) == ["added", "confirmed", "added"]
    assert "added" not in ends(again)
