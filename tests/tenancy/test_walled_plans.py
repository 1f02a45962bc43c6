"""Filters of lists and the audit log keep their indexes under row-level security."""

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection

from accounts import tenancy
from accounts.caller import Caller
from memory import sql_queries
from memory.injection.actions import delivery_log
from memory.intake.actions.candidate import find_placement
from memory.intake.actions.similar_memories import find_delivered
from memory.records.models import Memory
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
from teams.actions import create_project
from teams.audit import Filters, page
from tests.conftest import NOW
from tests.support.memories import as_agent, new

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


def _find_by_tag(caller: Caller, now: datetime) -> object:
    return list(Memory.objects.filter(tags__contains=["rare"]))


def _list_newest(caller: Caller, now: datetime) -> object:
    return list(visible(caller=caller).order_by("-created_at", "id")[:30])


def _find_delivered(caller: Caller, now: datetime) -> object:
    agent = as_agent(caller)
    where = find_placement(caller=agent, new=new("Carts expire after a day."))
    return find_delivered(
        caller=agent, source="agent_explicit", where=where, embedded=None, now=now
    )


def _list_told(caller: Caller, now: datetime) -> object:
    given = {"sessions": [uuid4()], "ids": [uuid4()], "token": uuid4(), "agent": "", "since": now}
    return sql_queries.rows(
        "delivered_to_agent", file=delivery_log.FILE, compacted=None, is_anew=True, **given
    )


def _list_standing(caller: Caller, now: datetime) -> object:
    question = request.narrowed_question(caller=caller, narrowing=Narrowing())
    return list_always_in_effect(question=question, limit=5)


LOOKUPS: dict[str, tuple[Callable[[Caller, datetime], object], str, tuple[str, ...], str]] = {
    "what has a tag": (
        _find_by_tag, "tags", (r"Index Cond: \(tags @>", r"Filter: \(tenant_id ="), "Seq Scan",
    ),
    "one vector a row of a list": (
        _list_newest, "LIMIT 30", ("memory_vector_once",), "hashed SubPlan",
    ),
    "what was told to a token and to a person, by the time as well": (
        _find_delivered, "memory_givenout",
        ("memory_given_token", "memory_given_person", "memory_memory_pkey",
         r"Index Cond: \(\(token =.*\(at >", r"Index Cond: \(\(person =.*\(at >"),
        "Seq Scan on memory_givenout",
    ),
    "what an agent was told, by its session and its token": (
        _list_told, "memory_givenout", ("memory_given_",), "Seq Scan on memory_givenout",
    ),
    "what stands among what stands": (
        _list_standing, "reflection", ("memory_standing",), "Seq Scan on memory_memory ",
    ),
}  # fmt: skip


def test_what_is_looked_up_is_found_by_an_index(
    caller: Caller, now: datetime, subtests: pytest.Subtests
) -> None:
    for name, (ask, of, present, absent) in LOOKUPS.items():
        with subtests.test(name), tenancy.unit():
            plan = _forced(*_asked(partial(ask, caller, now), of=of)[0])

            assert [part for part in present if not re.search(part, plan)] == [], plan
            assert absent not in plan


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
