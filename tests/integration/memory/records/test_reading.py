"""Pages, filters, history and links of memories; who sees a closed project."""

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from accounts import tenancy
from accounts.caller import Caller, Role, TokenScope
from accounts.errors import Conflict, NotFound, RoleNotSufficient
from memory.records.actions import close_project, open_project, pin
from memory.records.filters import Filters
from memory.records.models import Memory
from memory.records.queries import memories
from memory.records.queries import memories as queries
from teams.actions import create_team
from teams.models import AuditEntry
from teams.queries import project
from tests.support.memories import CARTS, PARSER, REDIS
from tests.support.reviewed import World

ALL = Filters()


@pytest.fixture
def three(world: World, agent: Caller) -> tuple[str, ...]:
    """Three memories: a gotcha with tags, a pinned decision, a fact of an agent in no file."""
    world.stored(REDIS, type="gotcha", tags=("auth", "redis"), confidence=0.5)
    decision = world.stored(CARTS, at=world.now + timedelta(days=1), type="decision")
    pin(caller=world.owner, memory_id=decision.id, pinned=True, now=world.now)
    given = {"type": "fact", "source": "agent_explicit", "related_modules": ("billing",)}
    world.stored(PARSER, agent, at=world.now + timedelta(days=2), **given)
    return (REDIS, CARTS, PARSER)


def page(
    world: World, filters: Filters = ALL, cursor: str | None = None, limit: int = 200
) -> queries.MemoryPage:
    given = {"caller": world.owner, "now": world.now}
    return queries.page(filters=filters, cursor=cursor, limit=limit, **given)


def listed(world: World, **given: Any) -> list[str]:
    found = page(world, Filters(**given))
    assert len(found.items) == queries.count(caller=world.owner, filters=Filters(**given))
    return [item.content for item in found.items]


FILTERS: tuple[tuple[dict[str, Any], list[str]], ...] = (
    ({}, [PARSER, CARTS, REDIS]), ({"project": "store"}, [PARSER, CARTS, REDIS]),
    ({"types": ("gotcha", "decision")}, [CARTS, REDIS]), ({"tags": ("auth",)}, [REDIS]),
    ({"tags": ("auth", "other")}, []), ({"files": ("billing/parser.py",)}, [PARSER]),
    ({"files": ("billing/*",)}, [PARSER]), ({"modules": ("billing",)}, [PARSER]),
    ({"author": "claude-code"}, [PARSER]), ({"minimum_confidence": 0.7}, [PARSER, CARTS]),
    ({"maximum_confidence": 0.7}, [REDIS]), ({"pinned": True}, [CARTS]),
    ({"pinned": False}, [PARSER, REDIS]), ({"needs_review": True}, []), ({"stale": True}, []),
    ({"status": ("archived",)}, []), ({"tags": ("\x00",)}, []), ({"files": ("%",)}, []),
    ({"files": ("_",)}, []), ({"author": "\x00"}, []),
)  # fmt: skip


@pytest.mark.parametrize("few", [queries.FEW, 0], ids=["few", "many"])
def test_a_filter_lets_through_what_fits(
    world: World, three: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr(queries, "FEW", few)  # what a rare filter leaves is few, or never is

    for given, expected in FILTERS:
        assert listed(world, **given) == expected, given


def test_unknown_projects_are_not_found(world: World) -> None:
    for name in ("nothing", "\x00", "'", "x" * 5_000):
        with pytest.raises(NotFound):
            listed(world, project=name)


def test_pages_follow_one_another_without_gaps(world: World) -> None:
    for number in range(7):
        moment = world.now + timedelta(seconds=number // 3)
        world.stored(f"Fact number {number} about paging.", at=moment)

    found = page(world, limit=2)
    seen = [item.id for item in found.items]
    while found.next_cursor is not None:
        found = page(world, cursor=found.next_cursor, limit=2)
        seen += [item.id for item in found.items]

    assert seen == [item.id for item in page(world).items]
    assert len(set(seen)) == 7


def test_history_says_who_and_why(world: World, agent: Caller) -> None:
    memory = world.stored(REDIS, agent)
    later = world.now + timedelta(days=1)
    for who, text in ((agent, CARTS), (world.owner, PARSER)):
        world.say(memory, text, who, timedelta(days=1), reason=f"now {len(text)}")

    third, second, first = queries.history(caller=world.owner, memory_id=memory.id)

    assert (third.number, third.content, third.changed_by) == (3, PARSER, world.owner.user_id)
    assert (second.content, second.changed_agent) == (CARTS, "claude-code")
    assert second.reason == f"now {len(CARTS)}"
    assert (first.content, first.changed_agent) == (REDIS, "claude-code")
    assert first.changed_at == world.now
    assert (second.changed_at, third.changed_at) == (later, later)


def test_a_link_to_what_cannot_be_seen_is_not_shown(world: World) -> None:
    old = world.theirs(REDIS)
    world.put_right(old.id, CARTS)
    with tenancy.unit():
        new = Memory.objects.get(content=CARTS)
    world.say(new, scope="personal")

    assert queries.links(caller=world.owner, memory_id=old.id) == ()
    assert len(queries.links(caller=world.member, memory_id=old.id)) == 1


def test_the_deleted_are_gone_the_archived_listed_if_asked_and_others_unseen(world: World) -> None:
    gone, old = world.stored(PARSER), world.stored(REDIS)
    world.archive(old.id)
    theirs = world.theirs(CARTS, scope="personal", project=None)
    with tenancy.unit():
        Memory.objects.filter(pk=gone.id).update(status="deleted")

    with pytest.raises(NotFound):
        queries.get(caller=world.owner, memory_id=gone.id, now=world.now)
    assert [listed(world, **one) for one in ({}, {"status": ("deleted",)})] == [[], []]
    assert listed(world, status=("archived",)) == [REDIS]
    ids = (gone.id, old.id, theirs.id)
    assert set(queries.by_ids(caller=world.owner, memory_ids=ids, now=world.now)) == {old.id}


pytestmark = pytest.mark.usefixtures("in_organization")

SONG = "The canary sings in the mine every morning at six."


@pytest.fixture
def song(world: World) -> UUID:
    """A memory of an open project."""
    world.make_project("mine")
    return world.stored(SONG, project="mine").id


def member_sees(world: World, memory_id: UUID) -> bool:
    given = {"caller": world.member, "now": world.now}
    return memory_id in memories.by_ids(memory_ids=(memory_id,), **given)


def test_who_is_not_in_it_sees_it_while_it_is_open(world: World, song: UUID) -> None:
    seen = [member_sees(world, song)]
    closed, _again = (close_project(caller=world.owner, ref="mine") for _ in range(2))
    with tenancy.unit():  # the change is told once
        acts = AuditEntry.objects.filter(act__startswith="project.").order_by("number")
        assert [entry.act for entry in acts] == [*["project.created"] * 2, "project.closed"]
    seen.append(member_sees(world, song))
    with pytest.raises(NotFound):
        project(caller=world.member, ref="mine")
    opened = open_project(caller=world.owner, ref="mine")
    seen.append(member_sees(world, song))

    assert seen == [True, False, True]
    assert [(one.open_to_all, one.version) for one in (closed, opened)] == [(False, 2), (True, 3)]


def test_what_is_shared_more_widely_leaves_it_first(world: World, song: UUID) -> None:
    create_team(caller=world.owner, slug="core")
    world.stored("My helmet hangs on the third hook.", project="mine", scope="personal")
    for number, given in enumerate(({"scope": "team", "team": "core"}, {"scope": "organization"})):
        text = f"Lamps of shaft {number} are filled on Fridays by the night shift."
        wide = world.stored(text, project="mine", **given)
        if number:
            world.archive(wide.id)

        with pytest.raises(Conflict):
            close_project(caller=world.owner, ref="mine")

        assert project(caller=world.owner, ref="mine").open_to_all
        with tenancy.unit():
            Memory.objects.filter(pk=wide.id).update(status="deleted")

    assert not close_project(caller=world.owner, ref="mine").open_to_all


def test_only_owners_and_admins_close(world: World, song: UUID) -> None:
    writing = frozenset({TokenScope.READ, TokenScope.WRITE})
    others = (
        replace(world.owner, role=Role.STEWARD),
        replace(world.owner, token_id=uuid4(), scopes=writing),
        replace(world.owner, token_id=uuid4(), bound_projects=()),
    )
    for other in others:
        for act in (open_project, close_project):
            with pytest.raises(RoleNotSufficient):
                act(caller=other, ref="mine")
