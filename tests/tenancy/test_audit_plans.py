"""The audit log is looked through by its indexes, however long it has become."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection

from accounts import tenancy
from accounts.caller import Caller
from memory.review.queries.rollback_plan import (
    COUNTED,
    RollbackChoice,
    find_judgments,
    make_plan,
    resolve_choice,
)
from teams.actions import create_project
from teams.audit import Filters, page
from tests.conftest import NOW

pytestmark = pytest.mark.usefixtures("tables_of_its_own", "in_organization")

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
            *_plans(lambda: make_plan(selection=chosen, most=COUNTED)),
            *_plans(lambda: find_judgments(ids=[uuid4()], selection=chosen)),
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
        (plan,) = _plans(lambda: page(caller=caller, filters=filters, cursor=None, limit=50))

    assert "teams_audit_object" in plan, plan


def _plans(ask: Callable[[], object]) -> list[str]:
    """Return the plans of all that is asked of the audit log."""
    asked: list[tuple[str, Any]] = []

    def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if "teams_auditentry" in sql:
            asked.append((sql, params))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        ask()
    return [_plan(sql, params) for sql, params in asked]


def _plan(sql: str, params: Any) -> str:
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {sql}", params)
        return "\n".join(row[0] for row in cursor.fetchall())
