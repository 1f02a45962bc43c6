"""A conversation that is handed in twice at the same moment is one session, and neither fails."""

from datetime import datetime
from threading import Event
from time import monotonic

import pytest
from django.db import connection

from accounts import tenancy
from accounts.caller import Caller
from accounts.models import Organization
from memory.sessions.actions import lifecycle
from memory.sessions.actions.append_turns import NewTurn, take_conversation
from memory.sessions.actions.lifecycle import NewSession
from memory.sessions.models import Session, Turn
from tests.support.racing import race_inside

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("in_organization")]
LONGEST_WAIT = 20  # seconds until the other is seen to wait


def test_two_of_one_external_id_are_one_session(
    organization: Organization, agent: Caller, store: str, now: datetime
) -> None:
    new = NewSession(project=store, external_id="run-1")
    turns = (NewTurn(role="user", text="We meet on Tuesdays.", sequence=1),)
    is_placed = Event()

    def work(number: int) -> int:
        if number:
            assert is_placed.wait(LONGEST_WAIT)
            return take_conversation(caller=agent, new=new, turns=turns, now=now)[2].stored
        with tenancy.unit():
            lifecycle.place_session(caller=agent, new=new, now=now)
            is_placed.set()
            until_somebody_waits()
        return 0

    assert race_inside(organization, work, times=2, threads=2) == [0, 1]
    with tenancy.unit():
        assert (Session.objects.count(), Turn.objects.count()) == (1, 1)


def until_somebody_waits() -> None:
    """Return once another transaction waits for ours."""
    until = monotonic() + LONGEST_WAIT
    with connection.cursor() as cursor:
        while monotonic() < until:
            cursor.execute(
                "SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype = 'transactionid'"
                " AND transactionid = pg_current_xact_id_if_assigned()::xid"
            )
            if cursor.fetchone()[0]:
                return
    raise AssertionError("nobody waited")
