"""A page that shows a session of an agent hears that it goes on, if its person may see it."""

from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest

from accounts import tenancy
from accounts.authentication import entered
from accounts.caller import Role
from memory.sessions.actions.append_events import append_events
from memory.sessions.actions.lifecycle import NewSession, open_session
from teams.models import Change
from tests.edges.live.conftest import heard, listening, signed_in
from tests.support.live import Place

pytestmark = pytest.mark.django_db(transaction=True)


def _opened(place: Place, *, shared: bool) -> UUID:
    with entered(place.caller):
        new = NewSession(project="shop", shared=shared)
        return open_session(caller=place.caller, new=new, now=datetime.now(UTC)).session.id


def _does(place: Place, session_id: UUID, sequence: int) -> None:
    event = {"sequence": sequence, "kind": "reasoning", "text": "Let me see."}
    with entered(place.caller):
        append_events(
            caller=place.caller, session_id=session_id, events=(event,), now=datetime.now(UTC)
        )


def test_each_look_at_a_session_that_goes_on_says_so_once(place: Place, address: str) -> None:
    session_id = _opened(place, shared=True)
    with (
        signed_in(place=place, address=address, role=Role.MEMBER) as (_, _, http),
        listening(place=place, address=address, http=http, shown=str(session_id)) as line,
    ):
        while (first := heard(line))["type"] != "session":
            pass

        _does(place, session_id, 1)
        second = heard(line)

    assert first == second == {"type": "session", "id": str(session_id)}


def test_a_page_hears_nothing_of_a_session_of_somebody_else(place: Place, address: str) -> None:
    session_id = _opened(place, shared=False)
    told: list[str] = []
    with (
        signed_in(place=place, address=address, role=Role.ADMIN) as (_, _, http),
        listening(place=place, address=address, http=http, shown=str(session_id)) as line,
    ):
        told.append(heard(line)["type"])
        _does(place, session_id, 1)
        last = _written(place)
        while (message := heard(line)).get("id") != last:
            told.append(message["type"])

    assert set(told) == {"change"}


def _written(place: Place) -> int:
    """Write what everybody hears; return its number."""
    with entered(place.caller), tenancy.unit():
        change = Change.objects.create(
            kind="agent.seen", object_id=uuid4(), audience=place.caller.organization_id
        )
    return int(change.id)
