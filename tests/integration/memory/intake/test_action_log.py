"""What became of candidates: who may ask, what is counted, and when it is forgotten."""

from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import InvalidInput, NotFound
from memory.intake import queries as intake_queries
from memory.intake.actions import apply_decision as writer
from memory.intake.actions.remember import remember_all
from memory.intake.queries import ActionView
from memory.records.models import Conflict, Memory
from memory.tasks import upkeep
from teams.models import AuditEntry
from tests.support.memories import REDIS, as_agent, new
from tests.support.reviewed import World
from tests.support.work import taken

OLD = "The checkout worker in `shop/checkout.py` retries a payment 3 times before it gives up."
NEW = "The checkout worker in `shop/checkout.py` retries a payment 5 times before it gives up."


def _rows(caller: Caller, **given: str) -> list[ActionView]:
    return list(intake_queries.page(caller=caller, after=None, limit=50, **given).items)


def _counts(world: World, caller: Caller, project: str | None = None) -> dict[str, int]:
    found = intake_queries.tallies(caller=caller, project=project, days=30, now=world.now)
    return {f"{one.outcome} {one.gate}".strip(): one.count for one in found}


def test_rows_tell_how_each_ended_newest_first_page_by_page_and_are_forgotten(
    world: World,
) -> None:
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


def test_a_refused_candidate_is_known_to_its_sender_or_where_nobody_sent_it_to_all(
    world: World,
) -> None:
    given = {"source": "agent_explicit"}
    world.sent("short", as_agent(world.member), **given)
    assert _counts(world, world.member, world.store) == {"refused length": 1}
    assert _counts(world, world.owner, world.store) == {}

    world.sent("short", replace(as_agent(world.owner), user_id=None, token_id=UUID(int=4)), **given)
    assert _counts(world, world.owner, world.store) == {"refused length": 1}


def test_others_count_nothing_of_what_is_personal_and_read_no_name_of_what_became_so(
    world: World,
) -> None:
    world.stored(NEW, scope="personal")
    assert (_rows(world.member), _counts(world, world.member)) == ([], {})
    assert _counts(world, world.owner, world.store) == {"added": 1}

    memory = world.stored(REDIS)
    with tenancy.unit():
        mine = {"audience": world.owner.user_id, "scope": "personal"}
        Memory.objects.filter(pk=memory.id).update(**mine)
    assert [row.memory_id for row in _rows(world.member)] == [None]
    assert _rows(world.owner)[0].memory_id == memory.id


@pytest.mark.parametrize("is_queued", [False, True])
def test_others_do_not_learn_that_a_personal_note_contradicts_their_project(
    world: World, is_queued: bool
) -> None:
    world.stored(OLD, scope="personal")
    if is_queued:
        sent = (new(NEW, project=world.store),)
        (outcome,) = remember_all(caller=world.owner, new=sent, now=world.now)
        upkeep.embed(taken(outcome.job_id))
    else:
        world.sent(NEW)

    (row,) = _rows(world.member)
    assert (row.outcome, row.cause, row.other_id) == ("added", "", None)
    assert _counts(world, world.member) == {"added": 1}
    with tenancy.unit():
        (mine,) = Conflict.objects.filter(cause="elsewhere")
        assert mine.audience == world.owner.user_id
        told = str(list(AuditEntry.objects.values_list("details", flat=True)))
        assert "related" not in told
        assert "contradicted" not in told
