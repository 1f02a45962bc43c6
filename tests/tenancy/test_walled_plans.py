"""Filters of lists and the audit log keep their indexes under row-level security."""

from collections.abc import Callable
from datetime import datetime, timedelta
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
from memory.review.queries.rollback_plan import (
    COUNTED,
    RollbackChoice,
    find_judgments,
    make_plan,
    resolve_choice,
)
from memory.search import request
from memory.search.queries import list_always_in_effect
from memory.search.request import Narrowing
from teams import visibility
from teams.actions import create_project
from teams.audit import Filters, page
from tests.conftest import NOW
from tests.support.memories import as_agent

pytestmark = pytest.mark.usefixtures("tables_of_its_own", "in_organization")

LOG = "teams_auditentry"
ENTRIES = 20_000
ASKED_AT = NOW + timedelta(days=1)
# of a hundred entries one confirms a memory in person, and one several
FILL = """
INSERT INTO teams_auditentry (number, act, object_type, object_id, actor_user, token_id, agent,
    source_interface, surface, request_id, address, details, fields, created_at, previous_hash,
    hash)
SELECT n + 1000000,
    CASE n %% 100 WHEN 0 THEN 'memory.confirmed' WHEN 1 THEN 'memory.bulk_confirmed'
        ELSE 'memory.created' END,
    'memory', gen_random_uuid(), gen_random_uuid(),
    CASE n %% 100 WHEN 0 THEN NULL WHEN 1 THEN NULL ELSE gen_random_uuid() END, '', 'api', 'rest',
    '', '', jsonb_build_object('confirmed', jsonb_build_array(gen_random_uuid())), '{}', now(), '',
    ''
FROM generate_series(1, %(entries)s) AS n
"""


def test_a_filter_by_tag_reads_its_index() -> None:
    with tenancy.unit():
        plan = _forced("SELECT FROM memory_memory WHERE tags @> ARRAY['rare']::varchar[]")

    assert "Index Cond: (tags @>" in plan
    assert "Filter: (tenant_id =" in plan


def test_a_list_looks_up_one_vector_a_row(caller: Caller) -> None:
    with tenancy.unit():
        newest = visible(caller=caller).order_by("-created_at", "id")[:30]
        plan = _forced(*newest.query.sql_with_params())

    assert "memory_vector_once" in plan
    assert "hashed SubPlan" not in plan


def test_who_was_told_what_is_looked_up_by_token_and_by_person(
    caller: Caller, now: datetime
) -> None:
    with tenancy.unit():
        agent = as_agent(caller)
        asked = _asked(
            lambda: find_delivered(caller=agent, source="agent_explicit", embedded=None, now=now),
            of="memory_givenout",
        )
        plan = _forced(*asked[0])

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
        plan = _forced(*asked[0])

    assert "Seq Scan on memory_givenout" not in plan
    assert "memory_given_" in plan


def test_what_stands_is_looked_up_among_what_stands(caller: Caller, now: datetime) -> None:
    with tenancy.unit():
        sight = visibility.sight_of(caller=caller)
        question = request.narrowed_question(caller=caller, narrowing=Narrowing())
        asked = _asked(
            lambda: list_always_in_effect(question=question, limit=5, sight=sight), of="reflection"
        )
        plan = _forced(*asked[0])

    assert "memory_standing" in plan
    assert "Seq Scan on memory_memory " not in plan


@pytest.fixture
def asked(caller: Caller) -> tuple[Caller, RollbackChoice]:
    """Who rolls back what, in an organization with a long log."""
    project = create_project(caller=caller, slug="store", name="Store", now=NOW)
    with tenancy.unit(), connection.cursor() as cursor:
        cursor.execute(FILL, {"entries": ENTRIES})
    return caller, RollbackChoice(project=project.slug, person=uuid4())


def test_confirmations_are_looked_up_in_an_index_of_nothing_else(
    asked: tuple[Caller, RollbackChoice],
) -> None:
    caller, choice = asked

    with tenancy.unit():
        chosen = resolve_choice(caller=caller, choice=choice, now=ASKED_AT)
        plans = [
            *_plans(lambda: make_plan(selection=chosen, most=COUNTED), of=LOG),
            *_plans(lambda: find_judgments(ids=[uuid4()], selection=chosen), of=LOG),
        ]

    assert len(plans) >= 4
    for plan in plans:
        assert "teams_audit_confirmed" in plan, plan
        assert "Seq Scan on teams_auditentry" not in plan, plan


def test_what_was_done_to_an_object_is_looked_up_by_it(
    asked: tuple[Caller, RollbackChoice],
) -> None:
    caller, _ = asked
    filters = Filters(object_id=str(uuid4()))

    with tenancy.unit():
        (plan,) = _plans(
            lambda: page(caller=caller, filters=filters, cursor=None, limit=50), of=LOG
        )

    assert "teams_audit_object" in plan, plan


def _asked(run: Callable[[], object], *, of: str) -> list[tuple[str, Any]]:
    """Return the statements that name something, with their values."""
    asked: list[tuple[str, Any]] = []

    def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if of in sql:
            asked.append((sql, params))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        run()
    return asked


def _plans(run: Callable[[], object], *, of: str) -> list[str]:
    """Return the plans of all that is asked of something."""
    return [_plan(sql, params) for sql, params in _asked(run, of=of)]


def _forced(sql: str, params: Any = ()) -> str:
    """Return the plan where an index is used if one can be."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
    return _plan(sql, params)


def _plan(sql: str, params: Any) -> str:
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {sql}", params)
        return "\n".join(row[0] for row in cursor.fetchall())
