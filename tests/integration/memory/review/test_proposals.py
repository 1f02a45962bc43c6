"""What an agent would put in the place of a person's memory waits for a person."""

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from accounts import tenancy
from accounts.caller import Caller, Role, TokenScope
from accounts.errors import Conflict, RoleNotSufficient
from memory.errors import ProtectedMemory
from memory.intake.actions import replacement, revise
from memory.intake.actions.remember import remember_all
from memory.records import actions
from memory.records.models import MemoryLink
from memory.records.queries import views
from memory.records.queries.views import MemoryView
from memory.review.actions import corrections, settlements, verdicts
from memory.review.queries import inbox
from memory.review.queries.conflicts import ConflictVerdict
from teams import visibility
from tests.support.memories import as_agent, correct, new
from tests.support.reviewed import HOUR, World, row_of

OLD = "Invoices are rounded per line and not per total, because the auditors ask for it."
NEW = "Invoices are rounded per total and not per line, whatever the auditors ask for."
OTHER = "Invoices are not rounded at all, since the ledger keeps fractions of a cent."
FIXED = ("status", "confidence", "pinned", "user_verified", "verification", "content", "version")
KEEP_OLDER, KEEP_NEWER, BOTH, _ = ConflictVerdict


def state_of(memory: MemoryView) -> tuple[Any, ...]:
    return tuple(getattr(row_of(memory), name) for name in FIXED)


def taught(world: World, **given: Any) -> MemoryView:
    return world.stored(OLD, type="fact", **given)


def verified(world: World) -> MemoryView:
    memory = world.stored(OLD, as_agent(world.owner), type="fact", source="agent_explicit")
    return actions.confirm(caller=world.owner, memory_id=memory.id, now=world.now)


def pinned(world: World) -> MemoryView:
    memory = world.stored(OLD, as_agent(world.owner), type="fact", source="agent_explicit")
    return actions.pin(caller=world.owner, memory_id=memory.id, pinned=True, now=world.now)


def tagged(world: World) -> MemoryView:
    given = {"type": "fact", "tags": ("person",), "source": "agent_explicit"}
    return world.stored(OLD, as_agent(world.owner), **given)


def layered(world: World) -> MemoryView:
    return world.stored(OLD, as_agent(world.owner), type="decision", source="agent_explicit")


def constitutional(world: World) -> MemoryView:
    return world.stored(OLD, type="identity")


def proposed(
    world: World,
    memory: MemoryView,
    content: str = NEW,
    by: Caller | None = None,
    reason: str = "",
) -> Any:
    who = by or as_agent(world.owner)
    return correct(
        caller=who, memory_id=memory.id, content=content, kind="wrong", reason=reason, now=world.now
    )


@pytest.mark.parametrize("known", [taught, verified, pinned, tagged, layered, constitutional])
def test_an_agents_correction_of_it_changes_nothing_and_waits(world: World, known: Any) -> None:
    memory = known(world)
    before = state_of(memory)

    done = proposed(world, memory)

    assert (done.outcome, done.related_id) == ("proposed", memory.id)
    assert done.hint
    assert state_of(memory) == before
    assert row_of(done.memory).needs_review
    (item,) = inbox.list_waiting(
        caller=world.owner, project=world.store, group=None, after=None, limit=9, now=world.now
    ).items
    assert item.conflict is not None
    assert (item.conflict.id, item.conflict.older.id) == (done.conflict_id, memory.id)
    assert (item.conflict.older.content, item.conflict.newer.content) == (OLD, NEW)


def test_an_agents_correction_of_what_an_agent_noted_is_carried_out(world: World) -> None:
    noted = world.stored(OLD, as_agent(world.owner), type="fact", source="agent_explicit")

    done = proposed(world, noted)

    assert done.outcome == "added"
    assert row_of(noted).status == "superseded"


def test_a_persons_correction_is_carried_out(world: World) -> None:
    memory = verified(world)

    done = proposed(world, memory, by=world.owner)

    assert done.outcome == "added"
    assert row_of(memory).status == "superseded"


def test_a_proposal_is_accepted_with_history_and_that_is_undone(world: World) -> None:
    memory = world.stored(OLD, type="fact", external_id="rounding", pinned=True)
    before = state_of(memory)
    done = proposed(world, memory)

    ended = world.settle(done.conflict_id, KEEP_NEWER, world.owner, reason="The law changed.")

    new_row, old_row = row_of(done.memory), row_of(memory)
    assert (old_row.status, old_row.superseded_by_id) == ("superseded", new_row.id)
    assert (new_row.needs_review, new_row.user_verified, new_row.pinned) == (False, True, True)
    assert new_row.external_id == "rounding"
    again = settlements.reopen(
        caller=world.owner, conflict_id=ended.id, if_version=None, now=world.now + HOUR
    )
    assert again.verdict == ""
    assert state_of(memory)[:-1] == before[:-1]
    new_row = row_of(done.memory)
    assert (new_row.needs_review, new_row.user_verified, new_row.external_id) == (True, False, "")


def test_a_rejected_proposal_changes_nothing_and_is_not_made_again(world: World) -> None:
    memory = taught(world)
    before = state_of(memory)
    done = proposed(world, memory)

    world.settle(done.conflict_id, KEEP_OLDER, world.owner, reason="No.")

    assert state_of(memory) == before
    assert row_of(done.memory).status == "superseded"
    again = proposed(world, memory)
    assert (again.outcome, again.memory.id) == ("known", memory.id)
    assert state_of(memory) == before


@pytest.mark.parametrize("is_settled", [True, False])
@pytest.mark.parametrize("is_reworded", [True, False])
def test_what_was_rejected_is_proposed_again_later_or_against_other_words(
    world: World, is_settled: bool, is_reworded: bool
) -> None:
    memory = taught(world)
    done = proposed(world, memory)
    if is_settled:
        world.settle(done.conflict_id, KEEP_OLDER, world.owner, reason="No.")
    else:
        verdicts.reject(caller=world.owner, memory_id=done.memory.id, reason="", now=world.now)

    if is_reworded:
        world = replace(world, now=world.now + HOUR)
        revise.revise(
            caller=world.owner, memory_id=memory.id, changes={"content": OTHER}, if_version=None,
            now=world.now,
        )  # fmt: skip
    else:
        world = replace(world, now=world.now + timedelta(days=replacement.DECIDED_DAYS, seconds=1))
    again = proposed(world, memory)

    assert again.outcome == "proposed"
    assert again.conflict_id != done.conflict_id
    assert world.conflict(again.conflict_id).verdict == ""


def test_a_proposal_that_is_rejected_in_the_inbox_leaves_the_old_one(world: World) -> None:
    memory = taught(world)
    before = state_of(memory)
    done = proposed(world, memory)

    verdicts.reject(caller=world.owner, memory_id=done.memory.id, reason="", now=world.now)

    assert state_of(memory) == before
    assert proposed(world, memory).outcome == "known"


def test_a_proposal_sent_again_adds_nothing_and_another_takes_its_place(world: World) -> None:
    memory = taught(world)
    first = proposed(world, memory)

    again = proposed(world, memory)
    other = proposed(world, memory, OTHER)

    assert (again.outcome, again.memory.id) == ("proposed", first.memory.id)
    assert again.conflict_id == first.conflict_id
    assert row_of(first.memory).status == "superseded"
    assert row_of(other.memory).needs_review
    counts = inbox.count_waiting(caller=world.owner, project=world.store, now=world.now)
    assert counts.total == 1


@pytest.mark.parametrize("in_bulk", [False, True])
def test_what_is_sent_again_under_its_external_id_waits(world: World, in_bulk: bool) -> None:
    memory = world.stored(OLD, type="fact", external_id="rounding")
    before = state_of(memory)
    agent = as_agent(world.owner)
    given = {"external_id": "rounding", "project": world.store, "source": "agent_explicit"}

    if in_bulk:
        (done,) = remember_all(caller=agent, new=(new(NEW, **given),), now=world.now)
    else:
        done = world.sent(NEW, agent, **given)

    assert done.outcome == "proposed"
    assert state_of(memory) == before


@pytest.mark.parametrize("is_first", [False, True])
def test_a_bulk_call_proposes_what_it_also_says_alone(world: World, is_first: bool) -> None:
    world.stored(OLD, type="fact", external_id="rounding")
    given = {"project": world.store, "source": "agent_explicit", "type": "fact"}
    items = (new(NEW, external_id="rounding", **given), new(NEW, **given))

    done = remember_all(
        caller=as_agent(world.owner), new=items if is_first else items[::-1], now=world.now
    )

    assert {one.outcome for one in done} == {"proposed", "confirmed" if is_first else "added"}
    assert len({one.memory and one.memory.id for one in done}) == 1


def test_an_agent_takes_back_nothing_that_a_person_verified(world: World) -> None:
    old = "The depot service in `depot/routes.py` listens on port 8080."
    known = world.stored(old, as_agent(world.owner), type="fact", source="agent_explicit")
    memory = actions.confirm(caller=world.owner, memory_id=known.id, now=world.now)
    before = state_of(memory)

    done = world.sent(
        "The depot service in `depot/routes.py` no longer listens on port 8080.",
        as_agent(world.owner), type="fact", source="agent_explicit",
    )  # fmt: skip

    assert (done.outcome, done.related_id) == ("proposed", memory.id)
    assert state_of(memory) == before
    assert row_of(done.memory).needs_review


def test_the_person_reads_why_an_agent_proposes_it(world: World) -> None:
    done = proposed(world, taught(world), reason="The auditors changed their mind.")

    seen = world.conflict(done.conflict_id)

    assert seen.proposal_reason == "wrong: The auditors changed their mind."


def test_other_words_of_an_agent_are_proposed_and_what_was_decided_is_refused(world: World) -> None:
    memory = verified(world)
    before = state_of(memory)
    given: dict[str, Any] = {
        "caller": as_agent(world.owner), "memory_id": memory.id, "if_version": None,
        "changes": {"content": NEW, "reason": "It is newer."}, "now": world.now,
    }  # fmt: skip

    done = corrections.revise_or_propose(**given)

    assert (done.outcome, state_of(memory)) == ("proposed", before)
    assert done.conflict_id is not None
    world.settle(done.conflict_id, KEEP_OLDER, world.owner, reason="No.")
    with pytest.raises(Conflict, match="decided"):
        corrections.revise_or_propose(**given)


def test_a_proposal_is_not_kept_beside_what_it_would_replace(world: World) -> None:
    memory = taught(world)
    done = proposed(world, memory, by=as_agent(world.member))
    item = inbox.waiting_memory(caller=world.member, memory_id=done.memory.id, now=world.now)

    assert (item["may_keep"], item["is_proposal"]) == (False, True)
    with pytest.raises(Conflict, match="place of another"):
        verdicts.keep(caller=world.member, memory_id=done.memory.id, now=world.now)

    assert row_of(done.memory).needs_review


@pytest.mark.parametrize("verdict", [KEEP_NEWER, BOTH])
def test_what_a_person_decided_is_not_proposed_the_other_way_round(
    world: World, verdict: ConflictVerdict
) -> None:
    memory = taught(world)
    done = proposed(world, memory)
    world.settle(done.conflict_id, verdict, world.owner, reason="So it is.")

    again = proposed(world, done.memory, OLD)

    assert (again.outcome, again.memory.id) == ("known", done.memory.id)
    assert row_of(done.memory).status == "active"
    with tenancy.unit():
        assert not MemoryLink.objects.filter(kind="contradicts", target=done.memory.id).exists()


def test_a_settlement_is_not_taken_back_over_what_was_changed_since(world: World) -> None:
    memory = taught(world)
    done = proposed(world, memory)
    ended = world.settle(done.conflict_id, KEEP_NEWER, world.owner, reason="The law changed.")
    actions.pin(caller=world.owner, memory_id=done.memory.id, pinned=True, now=world.now)

    with pytest.raises(Conflict, match="changed since"):
        settlements.reopen(caller=world.owner, conflict_id=ended.id, if_version=None, now=world.now)

    assert (row_of(done.memory).pinned, row_of(memory).status) == (True, "superseded")


def test_an_agent_may_not_edit_or_archive_it_and_is_told_what_it_may_do(world: World) -> None:
    memory = verified(world)

    with pytest.raises(ProtectedMemory) as refused:
        actions.archive(
            caller=as_agent(world.owner), memory_id=memory.id, reason="", if_version=None,
            now=world.now,
        )  # fmt: skip
    with pytest.raises(ProtectedMemory):
        world.say(memory, NEW, as_agent(world.owner))

    assert "/correct" in refused.value.hint


def test_an_agents_token_settles_nothing_not_even_with_the_scope_admin(world: World) -> None:
    done = proposed(world, taught(world))
    scopes = frozenset({TokenScope.READ, TokenScope.WRITE, TokenScope.INDEX, TokenScope.ADMIN})
    token = as_agent(world.owner, scopes=scopes)

    with pytest.raises(RoleNotSufficient):
        world.settle(done.conflict_id, KEEP_NEWER, token, reason="Mine is right.")

    assert row_of(done.memory).needs_review


def test_who_let_an_agent_propose_against_a_colleague_does_not_accept_it(world: World) -> None:
    memory = taught(world)
    stranger = replace(world.member, user_id=uuid4(), role=Role.STEWARD)
    done = proposed(world, memory, by=as_agent(world.member))

    barred = world.conflict(done.conflict_id, world.member).barred

    assert barred[KEEP_NEWER] == "own"
    world.settle(done.conflict_id, KEEP_NEWER, stranger, reason="It is so.")
    assert row_of(memory).status == "superseded"


def test_what_waits_silences_nothing_and_is_no_side_until_a_person_decides(world: World) -> None:
    memory = taught(world)
    done = proposed(world, memory)

    with tenancy.unit():
        sight = visibility.sight_of(caller=world.member)
        ids = (memory.id, done.memory.id)
        sides = views.contradicting(memory_ids=ids, sight=sight)
        related = views.contradictions(
            relations=views.relations_of(memory_ids=(memory.id,), sight=sight)
        )

        (seen,) = views.visible(caller=world.member).filter(pk=memory.id)
        read = views.views_of(memory_ids=(memory.id,), sight=sight, now=world.now)[memory.id]

    assert (seen.is_disputed, read.is_disputed) == (False, False)
    assert memory.id not in sides
    assert [one.memory_id for one in sides[done.memory.id]] == [memory.id]
    assert related == {}
