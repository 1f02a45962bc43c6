"""The figures of a list of sessions say nothing of sessions or memories that one may not see."""

from datetime import datetime
from uuid import UUID, uuid4

import pytest

from accounts import tenancy
from accounts.authentication import entered
from accounts.caller import Caller
from memory.experiments.queries import SessionFigures, figures
from memory.sessions.models import GivenOut
from teams.actions import create_project
from tests.support.agent_runs import Shop
from tests.support.memories import REDIS

SHOWN = {"steps": 9, "tools": 12, "outcome": "success"}


@pytest.fixture
def shop(caller: Caller, member_caller: Caller, clean_cache: None, now: datetime) -> Shop:
    """A project of everybody's."""
    with entered(caller):
        create_project(caller=caller, slug="store", name="Store", now=now)
    return Shop(caller, member_caller, now)


def opened(shop: Shop, *, shared: bool) -> UUID:
    """Open a session of the owner that was measured; return its id."""
    run = shop.opened(shop.owner, shared=shared)
    run.update(observed=SHOWN, figures={"tokens": 4_100})
    return run.id


def give(shop: Shop, session_id: UUID, scope: str, came: str) -> None:
    """Note that a memory of a scope was given to a session, and what came of it."""
    memory = shop.remember(f"{REDIS} It is of scope {scope}.", scope=scope)
    with tenancy.unit():
        GivenOut.objects.create(
            person=shop.owner.user_id, memory_id=memory.id, at=shop.now, session_id=session_id,
            tokens=20, outcome=came,
        )  # fmt: skip


@pytest.mark.usefixtures("in_organization")
def test_each_counts_of_what_was_given_only_what_they_see(shop: Shop) -> None:
    session_id = opened(shop, shared=True)
    give(shop, session_id, "project", "used")
    give(shop, session_id, "personal", "wrong")
    worked = {"steps": 9, "calls": 12, "tokens": 4_100, "outcome": "success"}

    own, theirs = (
        figures(caller=caller, session_ids=(session_id,))[session_id]
        for caller in (shop.owner, shop.member)
    )

    assert own == SessionFigures(**worked, given=2, given_tokens=40, used=1, wrong=1)
    assert theirs == SessionFigures(**worked, given=1, given_tokens=20, used=1, wrong=0)


@pytest.mark.usefixtures("in_organization")
def test_a_session_of_somebody_else_has_no_figures(shop: Shop) -> None:
    personal = opened(shop, shared=False)
    give(shop, personal, "project", "used")

    assert figures(caller=shop.member, session_ids=(personal, uuid4())) == {}


def test_a_session_of_another_organization_has_no_figures(shop: Shop, other_caller: Caller) -> None:
    with entered(shop.owner):
        session_id = opened(shop, shared=True)

    with entered(other_caller):
        assert figures(caller=other_caller, session_ids=(session_id,)) == {}
