"""Filters of lists keep their indexes under row-level security."""

import pytest
from django.db import connection

from accounts import tenancy
from accounts.caller import Caller
from memory.queries.views import visible

pytestmark = pytest.mark.usefixtures("in_organization")


def test_a_filter_by_tag_reads_its_index() -> None:
    with tenancy.unit():
        plan = _plan("SELECT FROM memory_memory WHERE tags @> ARRAY['rare']::varchar[]")

    assert "Index Cond: (tags @>" in plan
    assert "Filter: (tenant_id =" in plan


def test_a_list_looks_up_one_vector_a_row(caller: Caller) -> None:
    with tenancy.unit():
        newest = visible(caller=caller).order_by("-created_at", "id")[:30]
        plan = _plan(*newest.query.sql_with_params())

    assert "memory_vector_once" in plan
    assert "hashed SubPlan" not in plan


def _plan(sql: str, params: tuple[object, ...] = ()) -> str:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(f"EXPLAIN {sql}", params)
        return "\n".join(row[0] for row in cursor.fetchall())
