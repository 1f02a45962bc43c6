"""A running server, an organization that it can see, and a person with an open page."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from accounts import tenancy
from accounts.authentication import entered
from accounts.caller import Caller, Role
from accounts.models import Organization, User
from frontend.consumers import ChangesConsumer
from teams.models import Change
from tests.support import people
from tests.support.live import Place, committed, running
from tests.support.people import PASSWORD

PATIENCE_S = 15
NEVER_S = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Browser:
    """Somebody signed in, with a page open: the socket, and the cookies for further requests."""

    person: User
    caller: Caller
    http: httpx.Client
    line: ClientConnection

    def post(self, path: str, **form: str) -> httpx.Response:
        """Send a form."""
        secret = self.http.cookies["cairn-csrf"]
        return self.http.post(path, data={**form, "csrfmiddlewaretoken": secret})


@pytest.fixture
def place(transactional_db: None, clean_cache: None) -> Iterator[Place]:
    """An organization that the server can see; what a test writes is committed."""
    with committed(slug="ends") as place:
        yield place


@pytest.fixture
def address(place: Place) -> Iterator[str]:
    """The server's address."""
    with running() as address:
        yield address


@pytest.fixture
def browser(place: Place, address: str) -> Iterator[Browser]:
    """An admin beside the owner, signed in, with an open page."""
    with (
        signed_in(place=place, address=address, role=Role.ADMIN) as (person, caller, http),
        listening(place=place, address=address, http=http) as line,
    ):
        line.recv(timeout=PATIENCE_S)  # the change that made the project: the page is settled
        yield Browser(person=person, caller=caller, http=http, line=line)


@contextmanager
def signed_in(
    *, place: Place, address: str, role: Role
) -> Iterator[tuple[User, Caller, httpx.Client]]:
    """Make a person of the organization, called after their role, and sign them in."""
    organization = Organization.objects.get(pk=place.caller.organization_id)
    email = f"{role}@{organization.slug}.test"
    person = people.make_person(organization=organization, email=email, role=role)
    caller = people.as_caller(organization=organization, user=person, role=role)
    with httpx.Client(base_url=address) as http:
        _sign_in(http, email)
        yield person, caller, http
    person.delete()


@contextmanager
def listening(
    *, place: Place, address: str, http: httpx.Client, project: str = "", shown: str = ""
) -> Iterator[ClientConnection]:
    """Open the socket of a page of whoever is signed in, which may show an agent's session."""
    about = f"&project={project}" if project else ""
    about += f"&session={shown}" if shown else ""
    url = f"{address.replace('http', 'ws')}/ws/o/{place.caller.organization_slug}/?cursor=0{about}"
    cookie = {"Cookie": f"cairn={http.cookies['cairn']}"}
    with connect(url, additional_headers=cookie, origin=address) as line:  # type: ignore[arg-type]
        yield line


@pytest.fixture
def only_called(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pages look only when they are called."""
    monkeypatch.setattr(ChangesConsumer, "look_again_s", NEVER_S)
    monkeypatch.setattr(ChangesConsumer, "shown_look_again_s", NEVER_S)


def write_change(place: Place, audience: UUID) -> int:
    """Write what an audience hears, without a call; return its number."""
    with entered(place.caller), tenancy.unit():
        change = Change.objects.create(kind="agent.seen", object_id=uuid4(), audience=audience)
    return int(change.id)


def heard(line: ClientConnection) -> dict[str, Any]:
    """Return the next message."""
    return dict(json.loads(line.recv(timeout=PATIENCE_S)))


def closed_with(line: ClientConnection) -> int:
    """Return the code with which a page is told to end."""
    with pytest.raises(ConnectionClosed) as closed:
        line.recv(timeout=PATIENCE_S)
    assert closed.value.rcvd is not None
    return closed.value.rcvd.code


def _sign_in(http: httpx.Client, email: str) -> None:
    http.get("/login/")
    form = {"login": email, "password": PASSWORD}
    secret = http.cookies["cairn-csrf"]
    assert http.post("/login/", data={**form, "csrfmiddlewaretoken": secret}).status_code == 302
