"""Filters of lists keep their indexes under row-level security."""

from collections.abc import Callable
from datetime import datetime
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection

from accounts import tenancy
from accounts.caller import Caller
from memory import sql_queries
from memory.injection.actions import delivery_log
from memory.intake.actions.similar_memories import find_delivered
from memory.records.queries.views import visible
from memory.search import request
from memory.search.queries import list_always_in_effect
from memory.search.request import Narrowing
from teams import visibility
from tests.support.memories import as_agent

pytestmark = pytest.mark.usefixtures("tables_of_its_own", "in_organization")


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


def test_who_was_told_what_is_looked_up_by_token_and_by_person(
    caller: Caller, now: datetime
) -> None:
    with tenancy.unit():
        plan = _plan(*_asked_of_whom_was_told(caller, now))

    for index in ("memory_given_token", "memory_given_person", "memory_memory_pkey"):
        assert index in plan
    lines = plan.splitlines()
    for person_or_token in ("token", "person"):
        found = [one for one in lines if f"Index Cond: (({person_or_token} =" in one]
        assert found != [], plan
        assert "(at >" in found[0]  # the moment is looked up as well


def test_what_an_agent_was_told_is_looked_up_by_its_session_and_its_token(
    caller: Caller, now: datetime
) -> None:
    with tenancy.unit():
        asked = _asked(
            lambda: sql_queries.rows(
                "delivered_to_agent",
                file=delivery_log.FILE,
                sessions=[uuid4()],
                agent="",
                token=uuid4(),
                since=now,
                compacted=None,
                is_anew=True,
                ids=[uuid4()],
            ),
            of="memory_givenout",
        )
        plan = _plan(*asked)

    assert "Seq Scan on memory_givenout" not in plan
    assert "memory_given_" in plan


def test_what_stands_is_looked_up_among_what_stands(caller: Caller, now: datetime) -> None:
    with tenancy.unit():
        sight = visibility.sight_of(caller=caller)
        question = request.narrowed_question(caller=caller, narrowing=Narrowing())
        asked = _asked(
            lambda: list_always_in_effect(question=question, limit=5, sight=sight), of="reflection"
        )
        plan = _plan(*asked)

    assert "memory_standing" in plan
    assert "Seq Scan on memory_memory " not in plan


def _asked_of_whom_was_told(caller: Caller, now: datetime) -> tuple[str, Any]:
    """Return the statement that asks whom was told what, and its values."""
    agent = as_agent(caller)
    return _asked(
        lambda: find_delivered(caller=agent, source="agent_explicit", embedded=None, now=now),
        of="memory_givenout",
    )


def _asked(run: Callable[[], object], *, of: str) -> tuple[str, Any]:
    """Return the one statement that names something, and its values."""
    asked: list[tuple[str, Any]] = []

    def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        asked.append((sql, params))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        run()
    (question,) = (one for one in asked if of in one[0])
    return question


def _plan(sql: str, params: Any = ()) -> str:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(f"EXPLAIN {sql}", params)
        return "\n".join(row[0] for row in cursor.fetchall())
