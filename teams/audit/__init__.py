"""The audit log: who did what, when and from where, as a chain of hashes.

An action appends one entry for the whole of what it did: a call that changes a thousand memories is
one act, and its details hold the ids. The entry is written at the end of the unit of the act, so
both commit or neither, and under the one lock that the change feed takes too (`changes.take_turn`):
numbers have no gaps, writers wait for each other only there. The head of the chain stands in the
public schema and moves in the same transaction, so a log whose end is cut off is found. How hashes
are made is `teams.audit.chain`; `manage.py audit verify` checks them.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any, Final
from uuid import UUID

from django.db import connection
from django.utils import timezone

from accounts import audit as acts
from accounts import tenancy
from accounts.audit import Actor
from teams import changes
from teams.audit import chain

HEAD: Final = "SELECT count, hash FROM accounts_auditroot WHERE organization_id = %(tenant)s"
# Store an entry and move the head of the chain to it, by its key: one row each.
APPEND: Final = """
    WITH entry AS (
        INSERT INTO teams_auditentry
            (number, act, object_type, object_id, actor_user, token_id, agent, source_interface,
             surface, request_id, address, details, fields, created_at, previous_hash, hash)
        VALUES
            (%(number)s, %(act)s, %(object_type)s, %(object_id)s, %(actor_user)s, %(token_id)s,
             %(agent)s, %(source_interface)s, %(surface)s, %(request_id)s, %(address)s,
             %(details)s::jsonb, %(fields)s::varchar[], %(created_at)s, %(previous_hash)s,
             %(hash)s))
    UPDATE accounts_auditroot SET count = %(number)s, hash = %(hash)s
    WHERE organization_id = %(tenant)s
"""


class HeadLost(RuntimeError):
    """The head of an organization's log is gone; nothing is written behind a chain without end."""


def append(
    act: str,
    object_type: str,
    object_id: str,
    *,
    caller: Actor,
    details: Mapping[str, Any] | None = None,
    fields: tuple[str, ...] = (),
) -> None:
    """Append one entry at the end of the unit. `details` holds ids and names, never content.

    Raises NoTenant outside of a unit, TypeError for details that JSON does not hold exactly.
    """
    came = acts.origin()
    entry = chain.Entry(
        number=0,
        act=act,
        object_type=object_type,
        object_id=object_id,
        actor_user=caller.user_id,
        token_id=caller.token_id,
        agent=caller.agent,
        source_interface=caller.source_interface,
        surface=came.surface.value,
        request_id=came.request_id,
        address=came.ip,
        details=dict(details or {}),
        fields=fields,
        created_at=timezone.now(),
    )
    tenancy.at_end_of_unit(lambda: _write(entry))


def _write(entry: chain.Entry) -> None:
    changes.take_turn()
    tenant_id = tenancy.current().organization_id
    stamped = replace(entry, created_at=timezone.now())
    linked = chain.linked(entry=stamped, after=_head(tenant_id))
    details = json.dumps(linked.details)
    columns = {**asdict(linked), "details": details, "fields": list(linked.fields)}
    with connection.cursor() as cursor:
        cursor.execute(APPEND, {**columns, "tenant": tenant_id})


def _head(tenant_id: UUID) -> chain.Head:
    with connection.cursor() as cursor:
        cursor.execute(HEAD, {"tenant": tenant_id})
        found = cursor.fetchone()
    if found is None:
        raise HeadLost("The audit log has lost its head: run `manage.py audit verify`.")
    count, last = found
    return chain.Head(count=count, hash=last) if count else chain.genesis(tenant_id=tenant_id)
