"""Who settles a conflict and is told of it, what follows, and that it can be taken back."""

from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import pytest

from accounts import tenancy
from accounts.caller import Caller, Role, TokenScope
from accounts.errors import (
    Conflict,
    Forbidden,
    InvalidInput,
    NotFound,
    PreconditionFailed,
    RoleNotSufficient,
)
from memory.errors import NotActive, RefusedByGate, SelfApproval
from memory.intake.actions.revise import revise
from memory.records import writes
from memory.records.actions import archive
from memory.records.models import Conflict as ConflictRow
from memory.records.models import Memory, MemoryLink
from memory.review.actions import settlements
from memory.review.queries import conflicts
from memory.review.queries.conflicts import Bar, ConflictState, ConflictVerdict, ConflictView
from teams import queries as places
from teams.models import AuditEntry, Project
from tests.support.memories import as_agent, as_role, sent
from tests.support.reviewed import HOUR, World, row_of

OLD = "The checkout worker in `shop/checkout.py` retries a payment 3 times before it gives up."
NEW = OLD.replace("3 times", "5 times")
RIGHT = OLD.replace("3 times", "4 times")
WHY = "It was raised last week."
MINE = "Nobody here understands why `shop/checkout.py` retries a payment so often at all."
KEEP_OLDER, KEEP_NEWER, BOTH, EDIT = ConflictVerdict


def clash(world: World, first: Caller, second: Caller, **given: Any) -> ConflictView:
    """Let the agents of two people say different things."""
    told = {"project": world.store, "source": "agent_explicit"}
    sent(as_agent(first), world.now, OLD, **told)
    found = sent(as_agent(second), world.now, NEW, **told, **given).conflict_id
    assert found is not None
    return world.conflict(found, second)


@pytest.fixture
def found(world: World) -> ConflictView:
    """A conflict of the owner's and the member's memories."""
    return clash(world, world.owner, world.member)


def ended(
    world: World, one: ConflictView, verdict: ConflictVerdict, by: Caller | None = None, **more: Any
) -> ConflictView:
    """Settle a conflict an hour later, as it was seen."""
    content = RIGHT if verdict is EDIT else ""
    given = {"content": content, "reason": WHY, "if_version": one.version, **more}
    return world.settle(one.id, verdict, by, after=HOUR, **given)


def reopened(world: World, one: ConflictView, by: Caller | None = None) -> ConflictView:
    who, then = by or world.steward, world.now + HOUR
    return settlements.reopen(caller=who, conflict_id=one.id, if_version=one.version, now=then)


def states(one: ConflictView) -> tuple[str, str]:
    return row_of(one.older).status, row_of(one.newer).status


def edges(one: ConflictView) -> list[dict[str, Any]]:
    ids = (one.older.id, one.newer.id)
    with tenancy.unit():
        rows = MemoryLink.objects.filter(source__in=ids, target__in=ids).order_by("source_id")
        found = list(rows.values())
    return [{name: value for name, value in edge.items() if name != "id"} for edge in found]


def put_away(one: ConflictView, status: str) -> None:
    """Let neither side be near what comes, or let them stand again."""
    with tenancy.unit():
        Memory.objects.filter(pk__in=(one.older.id, one.newer.id)).update(status=status)


@pytest.mark.parametrize(
    ("verdict", "after"),
    [
        (KEEP_OLDER, ("active", "superseded")),
        (KEEP_NEWER, ("superseded", "active")),
        (BOTH, ("active", "active")),
        (EDIT, ("superseded", "superseded")),
    ],
)
def test_a_verdict_is_carried_out_and_can_be_taken_back(
    world: World, found: ConflictView, verdict: ConflictVerdict, after: tuple[str, str]
) -> None:
    before = edges(found)

    done = ended(world, found, verdict)

    assert (done.verdict, done.reason, done.settled_by) == (verdict, WHY, world.steward.user_id)
    assert states(found) == after
    assert conflicts.count_open(caller=world.steward, project=world.store) == 0
    page = conflicts.list_conflicts(
        caller=world.steward, project=world.store, state=ConflictState.SETTLED, after=None,
        limit=5, now=world.now,
    )  # fmt: skip
    assert [one.id for one in page.items] == [found.id]
    again = reopened(world, done)
    assert (again.verdict, again.settled_at) == ("", None)
    assert states(found) == ("active", "active")
    assert row_of(found.older).confidence == found.older.confidence
    assert (len(before), len(edges(found))) == (1, 1)


@pytest.mark.parametrize("verdict", [KEEP_OLDER, KEEP_NEWER])
def test_what_leaves_says_why(world: World, found: ConflictView, verdict: ConflictVerdict) -> None:
    kept, gone = found.older, found.newer
    if verdict is KEEP_NEWER:
        kept, gone = gone, kept

    ended(world, found, verdict)

    row = row_of(gone)
    assert (row.superseded_by_id, row.archived_reason, row.confidence) == (kept.id, WHY, 0.3)
    with tenancy.unit():
        told = AuditEntry.objects.get(act="memory.conflict_settled")
    assert told.details["superseded"] == [str(gone.id)]


def test_edges_that_it_took_come_back_as_they_were(world: World, found: ConflictView) -> None:
    told = {"confidence": 0.4, "automatic": False, "description": "Said by hand.", "cosine": 0.7}
    with tenancy.unit():
        MemoryLink.objects.create(
            source_id=found.older.id, target_id=found.newer.id, kind="contradicts", **told
        )
        MemoryLink.objects.update(created_at=world.now)
    before = edges(found)

    done = ended(world, found, BOTH)
    assert edges(found) == []
    reopened(world, done)

    assert len(before) == 2
    assert edges(found) == before


def test_a_text_of_ones_own_replaces_both(world: World, found: ConflictView) -> None:
    ended(world, found, EDIT)

    older, newer = row_of(found.older), row_of(found.newer)
    with tenancy.unit():
        right = Memory.objects.get(pk=older.superseded_by_id)
        told = AuditEntry.objects.get(act="memory.conflict_settled")
    assert (newer.superseded_by_id, right.content) == (right.id, RIGHT)
    assert older.valid_until == newer.valid_until == right.valid_from
    assert older.valid_from < right.valid_from
    assert (older.archived_reason, older.confidence) == (WHY, 0.3)
    assert told.details["superseded"] == sorted([str(older.id), str(newer.id)])


def test_agents_settle_nothing(world: World, found: ConflictView) -> None:
    agent = replace(as_agent(world.steward), scopes=frozenset({TokenScope.READ, TokenScope.WRITE}))

    with pytest.raises(RoleNotSufficient):
        ended(world, found, KEEP_NEWER, agent)
    assert all(world.conflict(found.id, agent).barred.values())


def test_nobody_settles_over_what_changed_since(world: World, found: ConflictView) -> None:
    world.say(found.older, OLD.replace("3 times", "6 times"), world.owner)

    with pytest.raises(PreconditionFailed, match="was changed meanwhile"):
        ended(world, found, KEEP_OLDER)

    seen = world.conflict(found.id)
    assert seen.version == found.version + 1
    assert ended(world, seen, KEEP_OLDER).verdict == "keep_older"


def test_what_cannot_be_meant_is_refused(world: World, found: ConflictView) -> None:
    for verdict, reason, content, error in (
        (BOTH, " ", "", InvalidInput),
        (BOTH, "the password = hunter2Xq9!zLm4 was rotated", "", InvalidInput),
        (EDIT, WHY, "", InvalidInput),
        (EDIT, WHY, "No.", RefusedByGate),
    ):
        with pytest.raises(error):
            ended(world, found, verdict, reason=reason, content=content)

    assert states(found) == ("active", "active")


def test_what_is_over_is_not_settled_again(world: World, found: ConflictView) -> None:
    done = ended(world, found, KEEP_NEWER)

    with pytest.raises(PreconditionFailed, match="was settled meanwhile"):
        ended(world, found, BOTH)
    with pytest.raises(NotActive):
        ended(world, done, BOTH)
    with tenancy.unit():
        Memory.objects.filter(pk=found.older.id).update(status="archived")
    with pytest.raises(Conflict):
        reopened(world, done)


def test_a_side_that_was_archived_ends_the_conflict(world: World, found: ConflictView) -> None:
    archive(
        caller=world.owner, memory_id=found.older.id, reason="wrong", if_version=None, now=world.now
    )

    assert conflicts.count_open(caller=world.steward, project=None) == 0
    with pytest.raises(PreconditionFailed, match="has left meanwhile"):
        ended(world, found, BOTH)
    with pytest.raises(NotActive):
        ended(world, replace(found, version=found.version + 1), BOTH)


def test_a_conflict_is_nothing_to_who_sees_one_side_only(world: World) -> None:
    one = clash(world, world.owner, world.owner, scope="personal")

    with pytest.raises(NotFound):
        world.conflict(one.id, world.member)
    with pytest.raises(NotFound):
        ended(world, one, BOTH, world.member)


def test_a_text_that_settles_by_a_token_for_review_waits_for_nobody(world: World) -> None:
    one = clash(world, world.owner, world.member, needs_review=True)

    ended(world, one, EDIT, replace(world.steward, token_id=uuid4()))

    with tenancy.unit():
        assert not Memory.objects.get(pk=row_of(one.older).superseded_by_id).needs_review


def test_taking_back_leaves_what_was_there_before(world: World, found: ConflictView) -> None:
    put_away(found, "archived")
    right = world.stored(RIGHT)
    put_away(found, "active")
    done = ended(world, found, EDIT)
    assert row_of(found.older).superseded_by_id == right.id

    reopened(world, done)

    assert row_of(right).status == "active"
    assert states(found) == ("active", "active")


@pytest.mark.parametrize("is_changed", [True, False])
def test_a_text_that_settled_is_archived_if_unchanged(world: World, is_changed: bool) -> None:
    one = clash(world, world.owner, world.member, external_id="" if is_changed else "wiki-1")
    done = ended(world, one, EDIT)
    written = row_of(one.older).superseded_by_id
    if is_changed:
        given = {"caller": world.steward, "memory_id": written, "now": world.now + HOUR}
        revise(changes={"tags": ["payments"]}, if_version=None, **given)

    reopened(world, done)

    with tenancy.unit():
        status = Memory.objects.get(pk=written).status
    assert status == ("active" if is_changed else "archived")
    assert states(one) == ("active", "active")
    assert row_of(one.newer).external_id == one.newer.external_id


def test_a_text_that_replaces_a_fourth_is_refused(world: World, found: ConflictView) -> None:
    put_away(found, "archived")
    text = OLD.replace("3 times", "7 times")
    fourth = world.stored(text, as_agent(world.owner), source="agent_explicit")
    put_away(found, "active")

    with pytest.raises(Conflict):
        ended(world, found, EDIT)

    assert (row_of(fourth).status, states(found)) == ("active", ("active", "active"))


@pytest.mark.parametrize(
    ("role", "is_authors", "scope"),
    [
        (Role.MEMBER, True, "project"),
        (Role.MEMBER, False, "project"),
        (Role.STEWARD, True, "project"),
        (Role.VIEWER, True, "project"),
        (Role.MEMBER, True, "personal"),
        (Role.STEWARD, True, "personal"),
    ],
)
def test_what_a_conflict_says_of_rights_is_what_settling_does(
    world: World, role: Role, is_authors: bool, scope: str
) -> None:
    seen = clash(world, world.member, world.owner, scope=scope)
    asks = as_role(world.owner if is_authors else world.member, role)
    one = world.conflict(seen.id, asks)

    for verdict in ConflictVerdict:
        if not one.barred[verdict]:
            one = reopened(world, ended(world, one, verdict, asks), asks)
        else:
            with pytest.raises((Forbidden, RoleNotSufficient, SelfApproval)):
                ended(world, one, verdict, asks)

    assert one.verdict == ""


def test_it_is_taken_back_by_its_maker_or_a_steward(world: World, found: ConflictView) -> None:
    done = ended(world, found, KEEP_OLDER, world.member)
    stranger = replace(world.member, user_id=UUID(int=7))

    bars = [
        world.conflict(found.id, who).barred["reopen"]
        for who in (stranger, world.member, world.steward)
    ]

    assert bars == [Bar.STEWARD, Bar.NONE, Bar.NONE]
    with pytest.raises(RoleNotSufficient):
        reopened(world, done, stranger)


def told_of_conflicts(caller: Caller) -> list[tuple[UUID, str]]:
    with tenancy.unit():
        seen = places.changes_since(caller=caller, after=0, limit=200)
    return [
        (one.object_id, one.summary["citation"]) for one in seen if one.kind in writes.FEED_KINDS
    ]


@pytest.mark.parametrize("side", ["older", "newer"])
def test_a_personal_side_is_settled_unseen(world: World, found: ConflictView, side: str) -> None:
    people = {"older": world.owner, "newer": world.member}
    author, theirs = people.pop(side), getattr(found, side)
    (other,) = people.values()
    assert told_of_conflicts(other)

    world.say(theirs, MINE, author, HOUR, scope="personal")
    world.settle(found.id, ConflictVerdict.BOTH, author, HOUR)
    settlements.reopen(caller=author, conflict_id=found.id, if_version=None, now=world.now + HOUR)

    assert told_of_conflicts(other) == []
    mine = [citation for id, citation in told_of_conflicts(author) if id == theirs.id]
    assert {MINE.startswith(citation[:20]) for citation in mine[-2:]} == {True}
    with tenancy.unit():
        logged = AuditEntry.objects.filter(act__in=writes.FEED_KINDS).order_by("number")
        entries = [(one.object_id, one.details) for one in logged]
    assert entries == [(str(theirs.id), {"verdict": "both"}), (str(theirs.id), {})]


def test_who_is_told_follows_both_sides(world: World, found: ConflictView) -> None:
    def audience() -> UUID:
        with tenancy.unit():
            return ConflictRow.objects.get().audience

    first = audience()
    world.say(found.newer, MINE, after=HOUR, scope="personal")
    between = audience()
    world.say(found.newer, NEW, after=HOUR, scope="project")

    assert (between, audience()) == (world.member.user_id, first)
    world.settle(found.id, ConflictVerdict.KEEP_OLDER, world.member, HOUR)
    assert told_of_conflicts(world.member)[-1][0] == found.newer.id


@pytest.mark.parametrize(
    ("older", "newer", "told"),
    [
        ("personal", "open", "older"), ("organization", "closed", "newer"),
        ("organization", "open", "newer"), ("open", "team", "newer"), ("team", "closed", None),
        ("closed", "team", None), ("team", "team", None), ("personal", "personal", None),
    ],
)  # fmt: skip
def test_those_are_told_who_see_both(older: str, newer: str, told: str | None) -> None:
    rows = {"older": _row(older), "newer": _row(newer)}
    actor = uuid4()

    side, audience = writes.find_narrower_side(**rows, otherwise=actor)

    expected = rows["newer"] if told is None else rows[told]
    assert (side, audience) == (expected, actor if told is None else expected.audience)


def _row(place: str) -> Memory:
    project = Project(slug=place, name=place, open_to_all=place == "open")
    scope = "project" if place in {"open", "closed"} else place
    return Memory(scope=scope, audience=uuid4(), project=project)
