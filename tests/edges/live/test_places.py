"""Open pages and waiting calls hear what their person may see, and no longer."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from uuid import UUID

import httpx
import pytest
from websockets.sync.client import ClientConnection

from accounts.actions.tokens import NewToken, create_token
from accounts.authentication import entered
from accounts.caller import Caller, Role
from frontend.consumers import NOT_A_MEMBER
from memory.records.actions import close_project
from memory.sessions.actions.append_events import append_events
from memory.sessions.actions.lifecycle import NewSession, open_session
from teams.actions import add_person, change_project, create_project, create_team, remove_person
from teams.queries import Kind
from tests.edges.live.conftest import closed_with, heard, listening, signed_in, write_change
from tests.support.live import Place
from tests.support.memories import stored

pytestmark = pytest.mark.django_db(transaction=True)

WITHIN_S = 5.0
Figure = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Someone:
    """A member who was added to a closed project and a team, signed in."""

    caller: Caller
    http: httpx.Client


@pytest.fixture
def someone(place: Place, address: str, only_called: None) -> Iterator[Someone]:
    """A member in both; pages look only when they are called."""
    owner, now = place.caller, datetime.now(UTC)
    with signed_in(place=place, address=address, role=Role.MEMBER) as (person, caller, http):
        with entered(owner):
            create_project(caller=owner, slug="vault", name="Vault", open_to_all=False, now=now)
            create_team(caller=owner, slug="vault")
            for kind in Kind:
                add_person(caller=owner, kind=kind, ref="vault", person=person.email)
        yield Someone(caller=caller, http=http)


def take_out(place: Place, someone: Someone, kind: Kind) -> float:
    """Take somebody out; return when it was done."""
    assert someone.caller.user_id is not None
    with entered(place.caller):
        remove_person(caller=place.caller, kind=kind, ref="vault", user_id=someone.caller.user_id)
    return time.monotonic()


def await_kind(line: ClientConnection, kind: str) -> None:
    """Hear messages until one of a kind."""
    while heard(line)["kind"] != kind:
        pass


def test_an_open_page_of_the_project_and_a_call_that_waits_for_it_end(
    place: Place, address: str, someone: Someone, figure: Figure
) -> None:
    token = create_token(caller=someone.caller, new=NewToken(name="agent"), now=datetime.now(UTC))
    asked = partial(httpx.get, headers={"Authorization": f"Bearer {token.text}"}, timeout=30)
    url = f"{address}/api/v1/changes?project=vault&after=1000"
    assert asked(url).status_code == 200

    with (
        ThreadPoolExecutor(1) as pool,
        listening(place=place, address=address, http=someone.http, project="vault") as line,
    ):
        await_kind(line, "project.member_added")
        waiting = pool.submit(asked, f"{url}&wait=20")
        began = take_out(place, someone, Kind.PROJECT)
        assert closed_with(line) == NOT_A_MEMBER
        took = time.monotonic() - began
        assert waiting.result().status_code == 404
        assert time.monotonic() - began < WITHIN_S
    with listening(place=place, address=address, http=someone.http, project="shop") as line:
        await_kind(line, "project.created")
        with entered(place.caller):
            close_project(caller=place.caller, ref="shop")
        assert closed_with(line) == NOT_A_MEMBER

    assert took < WITHIN_S
    figure(f"page of a closed project: closed {took * 1000:.0f} ms after its person was taken out")


@pytest.mark.parametrize("kind", list(Kind))
def test_a_page_of_the_organization_hears_no_more_of_it(
    place: Place, address: str, someone: Someone, kind: Kind
) -> None:
    now, owner = datetime.now(UTC), place.caller
    given = {"project": "vault"} if kind is Kind.PROJECT else {"scope": "team", "team": "vault"}
    with listening(place=place, address=address, http=someone.http) as line:
        with entered(owner):
            stored(owner, now, "The first stone covers the key of the vault.", **given)
        await_kind(line, "memory.created")
        take_out(place, someone, kind)
        with entered(owner):
            stored(owner, now, "The key of the vault is under another stone now.", **given)
            change_project(
                caller=owner, ref="shop", changes={"description": "Open."}, if_version=None
            )
        assert heard(line)["kind"] == "project.changed"


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
        last = write_change(place, place.caller.organization_id)
        while (message := heard(line)).get("id") != last:
            told.append(message["type"])

    assert set(told) == {"change"}
