"""Rows inserted in one statement are those that Django itself would have written."""

from datetime import datetime, timedelta, timezone
from uuid import UUID, uuid4

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from accounts import bulk_insert, tenancy
from accounts.identifiers import new_id
from memory.records.models import Memory
from teams.models import Change

pytestmark = pytest.mark.usefixtures("in_organization")

ODD_ZONE = timezone(timedelta(hours=5, minutes=53, seconds=28))
AUDIENCE = UUID(int=7)


def memory(now: datetime, content_hash: str, **fields: object) -> Memory:
    times = {"created_at": now, "updated_at": now, "valid_from": now}
    return Memory(audience=AUDIENCE, content_hash=content_hash, **{**times, **fields})


def test_every_kind_of_value_arrives_as_it_was(now: datetime) -> None:
    sent = {
        "content": 'He said "no" \\ twice\nin Zürich\u2028🙂',
        "attributes": {"large": 10**30, "small": 1.5e-9, "none": None, "in": [{"é": "\\u0000"}]},
        "tags": ["a,b", '{"c"}', "NULL"],
        "provenance_sessions": [new_id()],
        "event_at": datetime(1911, 11, 20, 3, 4, 5, 678901, tzinfo=ODD_ZONE),
        "source_line": 2_147_483_647,
    }
    with tenancy.unit():
        bulk_insert.insert_rows(rows=[memory(now, "0", **sent)])

        read = Memory.objects.get(content_hash="0")

    assert {name: getattr(read, name) for name in sent} == sent


def test_rows_are_numbered_in_their_order_and_dated(now: datetime) -> None:
    ids = [uuid4() for _ in range(50)]
    entries = [Change(kind="memory.created", object_id=one, audience=AUDIENCE) for one in ids]
    with tenancy.unit():
        bulk_insert.insert_rows(rows=entries)

        read = Change.objects.filter(audience=AUDIENCE).order_by("id")

        assert [row.object_id for row in read] == ids
        assert all(row.created_at for row in read)


def test_a_row_that_may_not_stand_beside_another_stores_none(now: datetime) -> None:
    with tenancy.unit():
        bulk_insert.insert_rows(rows=[memory(now, "1")])

    with tenancy.unit(), pytest.raises(IntegrityError), transaction.atomic():
        bulk_insert.insert_rows(rows=[memory(now, "2"), memory(now, "1")])

    with tenancy.unit():
        assert Memory.objects.filter(audience=AUDIENCE).count() == 1


def test_an_inserted_row_is_saved_again_as_a_change_and_no_rows_are_no_statement(
    now: datetime,
) -> None:
    row = memory(now, "3")
    with tenancy.unit():
        bulk_insert.insert_rows(rows=[row])
        row.content = "changed"
        row.save(update_fields=["content"])

        assert Memory.objects.get(pk=row.pk).content == "changed"
        with CaptureQueriesContext(connection) as asked:
            bulk_insert.insert_rows(rows=())
    assert asked.captured_queries == []
