"""What became of candidates: who may ask, what is counted, and when it is forgotten."""

from dataclasses import replace
from datetime import datetime, timedelta
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
from tests.support.memories import REDIS, as_agent, new, sent, stored
from tests.support.work import taken

OLD = "The checkout worker in `shop/checkout.py` retries a payment 3 times before it gives up."
NEW = "The checkout worker in `shop/checkout.py` retries a payment 5 times before it gives up."

pytestmark = pytest.mark.usefixtures("in_organization")


def _rows(caller: Caller, **given: str) -> list[ActionView]:
    return list(intake_queries.page(caller=caller, after=None, limit=50, **given).items)


def _counts(caller: Caller, now: datetime, project: str | None = None) -> dict[str, int]:
    found = intake_queries.tallies(caller=caller, project=project, days=30, now=now)
    return {f"{one.outcome} {one.gate}".strip(): one.count for one in found}


def test_rows_tell_how_each_ended_newest_first_page_by_page(
    caller: Caller, store: str, now: datetime
) -> None:
    memory = stored(caller, now, REDIS, project=store)
    sent(caller, now, REDIS, project=store)
    sent(caller, now, "short", project=store)

    rows = _rows(caller, project=store)

    assert [row.outcome for row in rows] == ["refused", "confirmed", "added"]
    assert [row.memory_id for row in rows] == [None, memory.id, memory.id]
    assert [row.outcome for row in _rows(caller, gate="exact_duplicate")] == ["confirmed"]
    first = intake_queries.page(caller=caller, after=None, limit=2)
    last = intake_queries.page(caller=caller, after=first.next_after, limit=2)
    assert ((*first.items, *last.items), last.next_after) == (tuple(rows), None)
    with pytest.raises(NotFound):
        _rows(caller, project="nowhere")


def test_a_refused_candidate_is_known_to_its_sender_alone(
    caller: Caller, member_caller: Caller, store: str, now: datetime
) -> None:
    sent(as_agent(member_caller), now, "short", project=store, source="agent_explicit")

    assert _counts(member_caller, now, store) == {"refused length": 1}
    assert _counts(caller, now, store) == {}


def test_refusals_of_a_service_show_in_project(caller: Caller, store: str, now: datetime) -> None:
    service = replace(as_agent(caller), user_id=None, token_id=UUID(int=4))

    sent(service, now, "short", project=store, source="agent_explicit")

    assert _counts(caller, now, store) == {"refused length": 1}


def test_others_count_nothing_of_what_is_personal(
    caller: Caller, member_caller: Caller, store: str, now: datetime
) -> None:
    stored(caller, now, REDIS, project=store, scope="personal")

    assert (_rows(member_caller), _counts(member_caller, now)) == ([], {})
    assert _counts(caller, now, store) == {"added": 1}


def test_a_memory_that_is_gone_or_hidden_now_is_not_named(
    caller: Caller, member_caller: Caller, store: str, now: datetime
) -> None:
    memory = stored(caller, now, REDIS, project=store)
    with tenancy.unit():
        Memory.objects.filter(pk=memory.id).update(audience=caller.user_id, scope="personal")

    assert [row.memory_id for row in _rows(member_caller)] == [None]
    assert [row.memory_id for row in _rows(caller)] == [memory.id]


def test_a_malformed_candidate_leaves_a_row_too(caller: Caller, store: str, now: datetime) -> None:
    with pytest.raises(InvalidInput):
        sent(caller, now, REDIS, project=store, type="nonsense")

    (row,) = _rows(caller, project=store)
    assert (row.outcome, row.gate, row.memory_id) == ("refused", "input", None)


def test_old_rows_are_forgotten(caller: Caller, store: str, now: datetime) -> None:
    sent(caller, now - timedelta(days=91), "short", project=store)
    sent(caller, now, "short", project=store)

    assert writer.forget_actions(now=now, days=90) == 1
    assert len(_rows(caller)) == 1


@pytest.mark.parametrize("is_queued", [False, True])
def test_others_do_not_learn_that_a_personal_note_contradicts_their_project(
    caller: Caller, member_caller: Caller, store: str, now: datetime, is_queued: bool
) -> None:
    stored(caller, now, OLD, project=store, scope="personal")
    if is_queued:
        (outcome,) = remember_all(caller=caller, new=(new(NEW, project=store),), now=now)
        upkeep.embed(taken(outcome.job_id))
    else:
        sent(caller, now, NEW, project=store)

    (row,) = _rows(member_caller)
    assert (row.outcome, row.cause, row.other_id) == ("added", "", None)
    assert _counts(member_caller, now) == {"added": 1}
    with tenancy.unit():
        (mine,) = Conflict.objects.filter(cause="elsewhere")
        assert mine.audience == caller.user_id
        told = str(list(AuditEntry.objects.values_list("details", flat=True)))
        assert "related" not in told
        assert "contradicted" not in told
