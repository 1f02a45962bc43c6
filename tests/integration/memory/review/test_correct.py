"""A correction takes the place of what was wrong, and both stay readable."""

from datetime import datetime

import pytest

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import Forbidden, InvalidInput
from memory.errors import NotActive, RefusedByGate, SelfApproval
from memory.records.models import Memory
from memory.records.queries import memories as queries
from memory.records.queries.views import MemoryView
from memory.review.actions.corrections import Correction, correct, edit
from memory.search.actions import search
from memory.search.request import SearchRequest
from tests.support.memories import CARTS, REDIS, as_agent, stored
from tests.support.waiting import waiting

FIXED = "Token refresh raises RefreshError when Redis is unreachable since version 4."

pytestmark = pytest.mark.usefixtures("in_organization")


@pytest.fixture
def memory(caller: Caller, store: str, now: datetime) -> MemoryView:
    return stored(caller, now, project=store, tags=("auth",))


def test_the_new_one_supersedes_the_old_one(
    caller: Caller, memory: MemoryView, now: datetime
) -> None:
    outcome = correct(
        caller=caller, memory_id=memory.id, content=FIXED, kind="wrong", reason="read it", now=now
    )

    assert outcome.memory is not None
    old = queries.get(caller=caller, memory_id=memory.id, now=now)
    links = queries.links(caller=caller, memory_id=outcome.memory.id)
    assert (old.status, old.confidence, old.superseded_by) == ("superseded", 0.3, outcome.memory.id)
    assert (old.content, old.archived_reason) == (REDIS, "wrong: read it")
    assert (outcome.memory.content, outcome.memory.tags) == (FIXED, ("auth",))
    assert [(link.kind, link.outgoing, link.other_id) for link in links] == [
        ("supersedes", True, memory.id)
    ]


def test_a_correction_that_is_known_already_points_there(
    caller: Caller, memory: MemoryView, store: str, now: datetime
) -> None:
    known = stored(caller, now, CARTS, project=store)

    outcome = correct(
        caller=caller, memory_id=memory.id, content=CARTS, kind="outdated", reason="", now=now
    )

    assert outcome.memory is not None
    assert (outcome.outcome, outcome.memory.id) == ("confirmed", known.id)


@pytest.mark.parametrize(
    ("content", "kind", "error"),
    [
        ("short", "wrong", RefusedByGate),
        ("password = hunter2Xq9!zLm4", "wrong", RefusedByGate),
        (FIXED, "boring", InvalidInput),
        (REDIS, "wrong", InvalidInput),
    ],
)
def test_a_refused_correction_changes_nothing(
    caller: Caller, memory: MemoryView, now: datetime, content: str, kind: str, error: type
) -> None:
    with pytest.raises(error):
        correct(caller=caller, memory_id=memory.id, content=content, kind=kind, reason="", now=now)

    assert queries.get(caller=caller, memory_id=memory.id, now=now) == memory
    with tenancy.unit():
        assert Memory.objects.count() == 1


def test_what_was_corrected_is_not_corrected_again(
    caller: Caller, memory: MemoryView, now: datetime
) -> None:
    correct(caller=caller, memory_id=memory.id, content=FIXED, kind="wrong", reason="", now=now)

    with pytest.raises(NotActive):
        correct(caller=caller, memory_id=memory.id, content=CARTS, kind="wrong", reason="", now=now)


def test_an_external_id_moves_to_the_correction(caller: Caller, store: str, now: datetime) -> None:
    old = stored(caller, now, project=store, external_id="t-1")

    outcome = correct(
        caller=caller, memory_id=old.id, content=FIXED, kind="wrong", reason="", now=now
    )

    assert outcome.memory is not None
    assert outcome.memory.external_id == "t-1"


def test_a_correction_of_a_team_memory_stays_with_its_team(
    caller: Caller, store: str, now: datetime, team: str
) -> None:
    old = stored(caller, now, project=store, scope="team", team=team)

    outcome = correct(
        caller=caller, memory_id=old.id, content=FIXED, kind="wrong", reason="", now=now
    )

    assert outcome.memory is not None
    assert (outcome.memory.scope, outcome.memory.team_id) == ("team", old.team_id)


def test_an_agent_that_corrects_what_waits_does_not_end_the_wait(
    caller: Caller, store: str, now: datetime
) -> None:
    memory = waiting(caller, now, project=store)

    outcome = correct(
        caller=as_agent(caller), memory_id=memory.id, content=FIXED, kind="wrong", reason="",
        now=now,
    )  # fmt: skip

    assert outcome.memory is not None
    assert outcome.memory.needs_review


def test_an_agent_corrects_no_taint_away(caller: Caller, store: str, now: datetime) -> None:
    memory = waiting(caller, now, project=store, set={"taint_reason": "web"})

    with pytest.raises(SelfApproval):
        correct(
            caller=as_agent(caller), memory_id=memory.id, content=FIXED, kind="wrong", reason="",
            now=now,
        )  # fmt: skip


def test_a_correction_is_shared_more_widely_by_who_may(
    caller: Caller, member_caller: Caller, store: str, now: datetime
) -> None:
    memory = stored(caller, now, project=store)
    narrow = Correction(content=FIXED, kind="not_here", reason="", scope="personal")

    with pytest.raises(Forbidden):
        edit(caller=member_caller, memory_id=memory.id, correction=narrow, now=now)

    moved = edit(caller=caller, memory_id=memory.id, correction=narrow, now=now).outcome.memory
    assert moved is not None
    assert moved.scope == "personal"


def test_a_correction_is_for_no_scope_that_is_none(
    caller: Caller, memory: MemoryView, now: datetime
) -> None:
    odd = Correction(content=FIXED, kind="wrong", reason="", scope="galaxy")

    with pytest.raises(InvalidInput):
        edit(caller=caller, memory_id=memory.id, correction=odd, now=now)


def test_an_agent_that_only_restates_what_it_was_given_corrects_nothing(
    caller: Caller, memory: MemoryView, store: str, now: datetime
) -> None:
    agent = as_agent(caller)
    search(caller=agent, request=SearchRequest(query=REDIS, project=store, threshold=0.0), now=now)

    with pytest.raises(InvalidInput, match="says exactly the same"):
        correct(
            caller=agent,
            memory_id=memory.id,
            content=f"“{REDIS}”",
            kind="wrong",
            reason="",
            now=now,
        )

    assert queries.get(caller=caller, memory_id=memory.id, now=now).status == "active"
