"""What experiments read grows with an organization: it is read by indexes."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from django.db import connection

from accounts import tenancy
from memory import sql_queries
from memory.experiments.sql.session_sums import FILE
from teams import visibility

HERE = UUID(int=7)


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("searches", "memory_statistic_"),  # either fits a table without rows
        ("outcomes", "memory_session_phases"),
        ("groups", "memory_session_compared"),
    ],
)
@pytest.mark.usefixtures("tables_of_its_own", "in_organization")
def test_sums_of_a_project_are_read_by_an_index(name: str, index: str) -> None:
    statement = sql_queries.text(name, file=FILE)
    for part, alias in (("visible", "s"), ("visible_memory", "m")):
        statement = statement.replace(f"{{{part}}}", visibility.as_sql(alias=alias))
    given: dict[str, Any] = {
        "project": HERE,
        "since": datetime(2026, 1, 1, tzinfo=UTC),
        "everyone": True,
        "audiences": [HERE],
        "bound": None,
    }

    with tenancy.unit(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(f"EXPLAIN {statement}", given)
        plan = "\n".join(row[0] for row in cursor.fetchall())

    assert index in plan, plan
