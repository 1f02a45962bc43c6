"""An export is of one moment, holds no connection while it is taken, and never leaves its walls."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from functools import partial
from typing import Any

import pytest
from django.db import InternalError, connection

from accounts import tenancy
from accounts.caller import Caller
from accounts.models import Organization
from memory.documents import queries
from memory.documents.actions.export import ExportFormat, ExportRequest, export
from memory.records.filters import Filters
from memory.records.models import Memory
from teams.actions import create_project
from tests.support import memories, people

pytestmark = pytest.mark.django_db(transaction=True)
WHOLE = Filters(project="store")


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
    caller: Caller, organization: Organization, shop: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "PAGE", 1)

    with people.entered(organization=organization):
        told = queries.export_records(caller=caller, filters=WHOLE)
        first = next(told)
        changed = elsewhere(organization, lambda: Memory.objects.update(tags=["later"]))
        rest = list(told)
        after = list(queries.export_records(caller=caller, filters=WHOLE))

    assert changed == 3
    assert [one["tags"] for one in (first, *rest)] == [[], [], []]
    assert [one["tags"] for one in after] == [["later"]] * 3


def test_a_record_that_is_read_cannot_be_a_way_to_write(
    caller: Caller, organization: Organization, shop: str
) -> None:
    with people.entered(organization=organization):
        told = queries.export_records(caller=caller, filters=WHOLE)
        next(told)
        with pytest.raises(InternalError):
            Memory.objects.update(tags=["later"])
        told.close()

        assert not connection.in_atomic_block


def test_a_file_is_whole_before_it_is_taken_and_needs_no_connection(
    caller: Caller, organization: Organization, shop: str, now: datetime
) -> None:
    request = ExportRequest(project=shop, format=ExportFormat.MARKDOWN)

    with people.entered(organization=organization):
        made = export(caller=caller, request=request, now=now)
    connection.close()

    with made.file:
        assert len(made.file.read()) > 100
    assert made.memories == 3


def test_a_large_file_lies_on_the_disk(
    caller: Caller,
    organization: Organization,
    shop: str,
    now: datetime,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("memory.documents.actions.export.KEPT_IN_MEMORY", 1_000)

    with people.entered(organization=organization):
        made = export(caller=caller, request=ExportRequest(project=shop), now=now)

    with made.file:
        assert made.file.fileno() > 2
        assert len(json.load(made.file)["memories"]) == made.memories == 3


def test_a_full_disk_is_told_and_no_transaction_stays_open(
    caller: Caller,
    organization: Organization,
    shop: str,
    now: datetime,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    full = partial(open, "/dev/full", "wb", buffering=0)
    monkeypatch.setattr(
        "memory.documents.actions.export.SpooledTemporaryFile", lambda max_size: full()
    )
    request = ExportRequest(project=shop, format=ExportFormat.MARKDOWN)

    with people.entered(organization=organization):
        with pytest.raises(OSError, match="No space left") as told:
            export(caller=caller, request=request, now=now)

        assert not connection.in_atomic_block
    assert told.tb is not None  # what it holds is held still


def test_another_organizations_memories_are_in_no_record(
    caller: Caller, other_caller: Caller, other_organization: Organization, shop: str, now: datetime
) -> None:
    with people.entered(organization=other_organization):
        create_project(caller=other_caller, slug="store", name="Store", now=now)
        own = memories.stored(other_caller, now, memories.CARTS, project="store")

        made = export(caller=other_caller, request=ExportRequest(), now=now)

    with made.file:
        assert [one["id"] for one in json.load(made.file)["memories"]] == [str(own.id)]
    assert made.memories == 1
