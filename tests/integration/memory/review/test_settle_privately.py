"""What only its author sees any more contradicts nothing that others see, as far as they know."""

from uuid import UUID, uuid4

import pytest

from accounts import tenancy
from accounts.caller import Caller
from memory.records import writes
from memory.records.models import Conflict, Memory
from memory.review.actions.settlements import reopen
from memory.review.queries.conflicts import ConflictVerdict, ConflictView
from teams import queries as places
from teams.models import AuditEntry, Project
from tests.integration.memory.review.test_settle import NEW, clash
from tests.support.reviewed import HOUR, World

MINE = "Nobody here understands why `shop/checkout.py` retries a payment so often at all."


@pytest.fixture
def found(world: World) -> ConflictView:
    """A conflict of two memories that all see: the owner's, and later the member's."""
    return clash(world, world.owner, world.member)


def told_of_conflicts(caller: Caller) -> list[tuple[UUID, str]]:
    with tenancy.unit():
        seen = places.changes_since(caller=caller, after=0, limit=200)
    return [
        (one.object_id, one.summary["citation"]) for one in seen if one.kind in writes.FEED_KINDS
    ]


@pytest.mark.parametrize("side", ["older", "newer"])
def test_a_side_that_became_personal_is_settled_out_of_sight(
    world: World, found: ConflictView, side: str
) -> None:
    people = {"older": world.owner, "newer": world.member}
    author, theirs = people.pop(side), getattr(found, side)
    (other,) = people.values()
    assert told_of_conflicts(other)

    world.say(theirs, MINE, author, HOUR, scope="personal")
    world.settle(found.id, ConflictVerdict.BOTH, author, HOUR)
    reopen(caller=author, conflict_id=found.id, if_version=None, now=world.now + HOUR)

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
            return Conflict.objects.get().audience

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
        ("personal", "open", "older"),
        ("organization", "closed", "newer"),
        ("organization", "open", "newer"),
        ("open", "team", "newer"),
        ("team", "closed", None),
        ("closed", "team", None),
        ("team", "team", None),
        ("personal", "personal", None),
    ],
)
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
