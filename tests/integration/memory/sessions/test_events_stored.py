"""Events of a session are stored by one statement, which finds what it needs by an index."""

from datetime import datetime
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection

from accounts import tenancy
from memory import sql_queries
from memory.sessions.actions import append_events

pytestmark = pytest.mark.usefixtures("tables_of_its_own", "in_organization")


def test_the_last_event_and_late_checkpoints_are_looked_up(now: datetime) -> None:
    given = {"session": uuid4(), "done": 1, "checkpoint": 2, "events": "[]", "count": 0}
    with tenancy.unit():
        last = _plan("last", **given)
        append = _plan("append", **given, first=1, now=now)

    assert "memory_turn_once" in last
    assert "memory_turn_once" in append
    assert "memory_agentsession_pkey" in append
    assert "Seq Scan" not in last + append


def _plan(name: str, **given: Any) -> str:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(f"EXPLAIN {sql_queries.text(name, file=append_events.FILE)}", given)
        return "\n".join(row[0] for row in cursor.fetchall())
