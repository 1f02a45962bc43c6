"""Open sockets notice by themselves that a right has ended, or that a message was lost (9.2)."""

import json
from collections.abc import Iterator
from uuid import uuid4

import httpx
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from accounts import tenancy
from accounts.authentication import entered
from accounts.models import Membership, User
from frontend.consumers import ChangesConsumer
from teams.models import Change
from tests.support.live import Place, committed, running
from tests.support.people import PASSWORD

pytestmark = pytest.mark.django_db(transaction=True)

PATIENCE_S = 15
NEWEST = 1  # the change that made the project


@pytest.fixture
def place(transactional_db: None, clean_cache: None) -> Iterator[Place]:
    """An organization that the server can see; what a test writes is committed."""
    with committed(slug="live") as place:
        yield place


@pytest.fixture
def socket(place: Place, monkeypatch: pytest.MonkeyPatch) -> Iterator[ClientConnection]:
    """The socket of the owner's open page, on a server that looks again soon."""
    monkeypatch.setattr(ChangesConsumer, "look_again_s", 0.2)
    with running() as address:
        session = _sign_in(address, User.objects.get(pk=place.caller.user_id).email)
        url = f"{address.replace('http', 'ws')}/ws/o/{place.caller.organization_slug}/"
        headers = {"Cookie": f"cairn={session}"}
        origin = address
        with connect(f"{url}?cursor={NEWEST}", additional_headers=headers, origin=origin) as line:  # type: ignore[arg-type]
            yield line


def _sign_in(address: str, email: str) -> str:
    with httpx.Client(base_url=address) as browser:
        browser.get("/login/")
        secret = browser.cookies["cairn-csrf"]
        form = {"login": email, "password": PASSWORD, "csrfmiddlewaretoken": secret}
        assert browser.post("/login/", data=form).status_code == 302
        return browser.cookies["cairn"]


def _write_silently(place: Place) -> int:
    with entered(place.caller), tenancy.unit():
        change = Change.objects.create(
            kind="agent.seen", object_id=uuid4(), audience=place.caller.organization_id
        )
    return int(change.id)


def test_socket_of_a_lost_member_ends_when_nothing_happens(
    place: Place, socket: ClientConnection
) -> None:
    Membership.objects.filter(user_id=place.caller.user_id).delete()

    with pytest.raises(ConnectionClosed) as closed:
        socket.recv(timeout=PATIENCE_S)

    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 4403


def test_change_whose_announcement_was_lost_arrives(place: Place, socket: ClientConnection) -> None:
    written = _write_silently(place)

    message = json.loads(socket.recv(timeout=PATIENCE_S))

    assert message["id"] == written
