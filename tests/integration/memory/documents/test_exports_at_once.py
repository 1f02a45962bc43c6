"""Exports beside others: each of one moment, in its walls, with no connection, so many at once."""

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from datetime import datetime
from functools import partial
from typing import Any

import psycopg
import pytest
from django.db import InternalError, connection
from django.test import Client

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import RateLimited
from accounts.models import Organization, User
from memory.documents import queries
from memory.documents.actions.export import Exported, ExportFormat, ExportRequest, export
from memory.documents.queries import AGAIN_SECONDS, AT_ONCE, LOCK_SPACE
from memory.records.filters import Filters
from memory.records.models import Memory
from teams.actions import create_project
from tests.support import memories, people
from tests.support.racing import race_inside

Process = psycopg.Connection[tuple[object, ...]]
BACKEND = "allauth.account.auth_backends.AuthenticationBackend"
WHOLE = Filters(project="store")

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("shop")]


@pytest.fixture
def shop(transactional_db: None, caller: Caller, organization: Organization, now: datetime) -> str:
    """A project with three memories, committed."""
    with people.entered(organization=organization):
        slug = create_project(caller=caller, slug="store", name="Store", now=now).slug
        for text in (memories.REDIS, memories.CARTS, memories.PARSER):
            memories.stored(caller, now, text, project=slug)
    return slug


@pytest.fixture
def busy(organization: Organization) -> Iterator[list[Process]]:
    """As many exports under way as may be, each of another process."""
    key = organization.id.int & 0x7FFF_FFFF
    with ExitStack() as opened:
        held = [
            opened.enter_context(
                closing(psycopg.connect(**connection.get_connection_params(), autocommit=False))
            )
            for _ in range(AT_ONCE)
        ]
        for at, one in enumerate(held):
            one.execute("SELECT pg_advisory_xact_lock(%s::int, %s::int)", [LOCK_SPACE + at, key])
        yield held


def exported(
    caller: Caller,
    now: datetime,
    format: ExportFormat = ExportFormat.JSON,
    project: str | None = "store",
) -> Exported:
    """Write the project, or all there is, as a file, in its organization."""
    request = ExportRequest(project=project, format=format)
    with people.entered(organization=Organization.objects.get(pk=caller.organization_id)):
        return export(caller=caller, request=request, now=now)


def elsewhere(organization: Organization, work: Callable[[], Any]) -> Any:
    """Do this over another connection, and commit it."""

    def inside() -> Any:
        try:
            with people.entered(organization=organization), tenancy.unit():
                return work()
        finally:
            connection.close()

    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(inside).result()


def test_what_is_written_meanwhile_is_in_no_record(
    caller: Caller, organization: Organization, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "PAGE", 1)

    with people.entered(organization=organization):
        told = queries.export_records(caller=caller, filters=WHOLE)
        first = next(told)
        changed = elsewhere(organization, lambda: Memory.objects.update(tags=["later"]))
        rest = list(told)
        after = list(queries.export_records(caller=caller, filters=WHOLE))
        told = queries.export_records(caller=caller, filters=WHOLE)
        next(told)
        with pytest.raises(InternalError):
            Memory.objects.update(tags=["never"])
        told.close()
        assert not connection.in_atomic_block

    assert changed == 3
    assert [one["tags"] for one in (first, *rest)] == [[], [], []]
    assert [one["tags"] for one in after] == [["later"]] * 3


def test_a_file_is_whole_on_the_disk_before_it_is_taken_and_needs_no_connection(
    caller: Caller, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory.documents.actions.export.KEPT_IN_MEMORY", 1_000)

    made = exported(caller, now)
    connection.close()

    with made.file:
        assert made.file.fileno() > 2
        assert len(json.load(made.file)["memories"]) == made.memories == 3


def test_a_full_disk_is_told_and_no_transaction_stays_open(
    caller: Caller, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = partial(open, "/dev/full", "wb", buffering=0)
    monkeypatch.setattr(
        "memory.documents.actions.export.SpooledTemporaryFile", lambda max_size: full()
    )

    with pytest.raises(OSError, match="No space left") as told:
        exported(caller, now, ExportFormat.MARKDOWN)

    assert not connection.in_atomic_block
    assert told.tb is not None  # what it holds is held still


def test_one_more_is_refused_and_another_organization_has_places_and_memories_of_its_own(
    caller: Caller,
    other_caller: Caller,
    other_organization: Organization,
    now: datetime,
    busy: list[Process],
) -> None:
    with people.entered(organization=other_organization):
        create_project(caller=other_caller, slug="store", name="Store", now=now)
        own = memories.stored(other_caller, now, memories.CARTS, project="store")

    with pytest.raises(RateLimited) as refused:
        exported(caller, now)

    assert refused.value.retry_after_seconds == AGAIN_SECONDS
    for project in ("store", None):  # of the project, and of everything
        with exported(other_caller, now, project=project).file as file:
            assert [one["id"] for one in json.load(file)["memories"]] == [str(own.id)]
    with connection.cursor() as cursor:  # one whose process died holds no place
        cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [busy[1].info.backend_pid])
    assert exported(caller, now).memories == 3


def test_nothing_leaves_a_lock(caller: Caller, organization: Organization, now: datetime) -> None:
    def outcome(_: int) -> str:
        try:
            export(caller=caller, request=ExportRequest(project="store"), now=now).file.close()
        except RateLimited:
            return "refused"
        return "written"

    done = race_inside(organization, outcome, times=3 * AT_ONCE)

    assert set(done) <= {"written", "refused"}
    assert "written" in done
    with people.entered(organization=organization), tenancy.unit():
        assert all(tenancy.holds(space=LOCK_SPACE + at) for at in range(AT_ONCE))


def test_the_page_and_the_call_say_429(client: Client, caller: Caller, busy: list[Process]) -> None:
    client.force_login(User.objects.get(pk=caller.user_id), backend=BACKEND)

    answer = client.post("/o/acme/p/store/export", {"format": "json"})

    assert (answer.status_code, answer["Retry-After"]) == (429, str(AGAIN_SECONDS))
    assert "3 exports of this organization are being written." in answer.content.decode()
