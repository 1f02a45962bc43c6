"""A running server, an organization that it can see, and a person with an open page."""

from collections.abc import Iterator
from dataclasses import dataclass

import httpx
import pytest
from websockets.sync.client import ClientConnection, connect

from accounts.caller import Caller, Role
from accounts.models import Organization, User
from tests.support import people
from tests.support.live import Place, committed, running
from tests.support.people import PASSWORD

PATIENCE_S = 15


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
    organization = Organization.objects.get(pk=place.caller.organization_id)
    email = f"admin@{organization.slug}.test"
    person = people.make_person(organization=organization, email=email, role=Role.ADMIN)
    caller = people.as_caller(organization=organization, user=person, role=Role.ADMIN)
    with httpx.Client(base_url=address) as http:
        _sign_in(http, email)
        url = f"{address.replace('http', 'ws')}/ws/o/{organization.slug}/?cursor=0"
        cookie = {"Cookie": f"cairn={http.cookies['cairn']}"}
        with connect(url, additional_headers=cookie, origin=address) as line:  # type: ignore[arg-type]
            line.recv(timeout=PATIENCE_S)  # the change that made the project: the page is settled
            yield Browser(person=person, caller=caller, http=http, line=line)
    person.delete()


def _sign_in(http: httpx.Client, email: str) -> None:
    http.get("/login/")
    form = {"login": email, "password": PASSWORD}
    secret = http.cookies["cairn-csrf"]
    assert http.post("/login/", data={**form, "csrfmiddlewaretoken": secret}).status_code == 302
