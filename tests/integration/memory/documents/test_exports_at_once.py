"""So many exports of an organization at once, and a dead one holds no place."""

from collections.abc import Iterator
from contextlib import ExitStack, closing
from datetime import datetime

import psycopg
import pytest
from django.db import connection
from django.test import Client

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import RateLimited
from accounts.models import Organization, User
from memory.documents.actions.export import ExportRequest, export
from memory.documents.queries import AGAIN_SECONDS, AT_ONCE, LOCK_SPACE
from teams.actions import create_project
from tests.support import people
from tests.support.racing import race_inside

Process = psycopg.Connection[tuple[object, ...]]
BACKEND = "allauth.account.auth_backends.AuthenticationBackend"

pytestmark = pytest.mark.django_db(transaction=True)


def other_process() -> Process:
    """Return a connection of its own, as another process has one."""
    return psycopg.connect(**connection.get_connection_params(), autocommit=False)


def place(held: Process, organization: Organization, at: int) -> None:
    """Hold a place as an export does."""
    key = organization.id.int & 0x7FFF_FFFF
    held.execute("SELECT pg_advisory_xact_lock(%s::int, %s::int)", [LOCK_SPACE + at, key])


@pytest.fixture
def busy(organization: Organization) -> Iterator[list[Process]]:
    """As many exports under way as may be, each of another process."""
    with ExitStack() as opened:
        held = [opened.enter_context(closing(other_process())) for _ in range(AT_ONCE)]
        for at, one in enumerate(held):
            place(one, organization, at)
        yield held


def written(caller: Caller, organization: Organization, now: datetime) -> int:
    with people.entered(organization=organization):
        done = export(caller=caller, request=ExportRequest(project="store"), now=now)
        done.file.close()
        return done.memories


def test_one_more_is_refused_and_told_when_to_ask_again(
    caller: Caller, organization: Organization, shop: str, now: datetime, busy: object
) -> None:
    with pytest.raises(RateLimited) as refused:
        written(caller, organization, now)

    assert refused.value.retry_after_seconds == AGAIN_SECONDS


def test_one_whose_process_died_holds_no_place(
    caller: Caller,
    organization: Organization,
    shop: str,
    now: datetime,
    busy: list[Process],
) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [busy[1].info.backend_pid])

    assert written(caller, organization, now) == 3


def test_another_organization_has_places_of_its_own(
    caller: Caller,
    other_caller: Caller,
    organization: Organization,
    other_organization: Organization,
    shop: str,
    now: datetime,
    busy: object,
) -> None:
    with people.entered(organization=other_organization):
        create_project(caller=other_caller, slug="store", name="Store", now=now)

    assert written(other_caller, other_organization, now) == 0


def test_what_is_refused_and_what_is_done_leave_no_lock(
    caller: Caller, organization: Organization, shop: str, now: datetime
) -> None:
    done = race_inside(organization, lambda _: _outcome(caller, now), times=3 * AT_ONCE)

    assert set(done) <= {"written", "refused"}
    assert "written" in done
    with people.entered(organization=organization), tenancy.unit():
        assert all(tenancy.holds(space=LOCK_SPACE + at) for at in range(AT_ONCE))


def _outcome(caller: Caller, now: datetime) -> str:
    try:
        export(caller=caller, request=ExportRequest(project="store"), now=now).file.close()
    except RateLimited:
        return "refused"
    return "written"


def test_the_page_and_the_call_say_429(
    client: Client, caller: Caller, organization: Organization, shop: str, busy: object
) -> None:
    client.force_login(User.objects.get(pk=caller.user_id), backend=BACKEND)

    answer = client.post("/o/acme/p/store/export", {"format": "json"})

    assert (answer.status_code, answer["Retry-After"]) == (429, str(AGAIN_SECONDS))
    assert "3 exports of this organization are being written." in answer.content.decode()
