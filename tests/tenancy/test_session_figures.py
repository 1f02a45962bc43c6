"""The figures of a list of sessions say nothing of sessions or memories that one may not see."""

from datetime import datetime
from uuid import UUID, uuid4

import pytest

from accounts import tenancy
from accounts.authentication import entered
from accounts.caller import Caller
from memory.experiments.queries import SessionFigures, figures
from memory.sessions.actions.lifecycle import NewSession, open_session
from memory.sessions.models import GivenOut, Session
from teams.actions import create_project
from tests.support.memories import REDIS, stored

SHOWN = {"steps": 9, "tools": 12, "outcome": "success"}


def _opened(caller: Caller, now: datetime, *, shared: bool) -> UUID:
    new = NewSession(project="shop", shared=shared)
    session = open_session(caller=caller, new=new, now=now).session
    with tenancy.unit():
        rows = Session.objects.filter(pk=session.id)
        rows.update(observed=SHOWN, figures={"tokens": 4_100})
    return session.id


def _give(caller: Caller, session_id: UUID, now: datetime, scope: str, came: str) -> None:
    memory = stored(caller, now, f"{REDIS} It is of scope {scope}.", project="shop", scope=scope)
    with tenancy.unit():
        GivenOut.objects.create(
            person=caller.user_id,
            memory_id=memory.id,
            at=now,
            session_id=session_id,
            tokens=20,
            outcome=came,
        )


@pytest.fixture
def shop(caller: Caller, in_organization: tenancy.Tenant, now: datetime) -> None:
    """A project of everybody's."""
    create_project(caller=caller, slug="shop", name="Shop", now=now)


@pytest.mark.usefixtures("shop")
def test_each_counts_of_what_was_given_only_what_they_see(
    caller: Caller, member_caller: Caller, now: datetime
) -> None:
    session_id = _opened(caller, now, shared=True)
    _give(caller, session_id, now, "project", "used")
    _give(caller, session_id, now, "personal", "wrong")
    worked = {"steps": 9, "calls": 12, "tokens": 4_100, "outcome": "success"}

    own = figures(caller=caller, session_ids=(session_id,))[session_id]
    theirs = figures(caller=member_caller, session_ids=(session_id,))[session_id]

    assert own == SessionFigures(**worked, given=2, given_tokens=40, used=1, wrong=1)  # type: ignore[arg-type]
    assert theirs == SessionFigures(**worked, given=1, given_tokens=20, used=1, wrong=0)  # type: ignore[arg-type]


@pytest.mark.usefixtures("shop")
def test_a_session_of_somebody_else_has_no_figures(
    caller: Caller, member_caller: Caller, now: datetime
) -> None:
    personal = _opened(caller, now, shared=False)
    _give(caller, personal, now, "project", "used")

    found = figures(caller=member_caller, session_ids=(personal, uuid4()))

    assert found == {}


def test_a_session_of_another_organization_has_no_figures(
    caller: Caller, other_caller: Caller, clean_cache: None, now: datetime
) -> None:
    with entered(caller):
        create_project(caller=caller, slug="shop", name="Shop", now=now)
        session_id = _opened(caller, now, shared=True)

    with entered(other_caller):
        found = figures(caller=other_caller, session_ids=(session_id,))

    assert found == {}
