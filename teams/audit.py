"""The audit log: who did what, when and from where, as a chain of hashes (spec 7.6).

An action appends one entry for the whole of what it did: a call that changes a thousand memories is
one act, and its details hold the ids. The entry is written at the end of the unit of the act, so
both commit or neither, and under the one lock that the change feed takes too (`changes.take_turn`):
numbers have no gaps, writers wait for each other only there. The head of the chain stands in the
public schema and moves in the same transaction, so a log whose end is cut off is found. How hashes
are made is `teams.formulas.chain`; `manage.py audit verify` checks them.
"""

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any
from uuid import UUID

from django.utils import timezone

from accounts import audit as acts
from accounts import tenancy
from accounts.audit import Actor
from accounts.models import AuditRoot
from teams import changes
from teams.formulas import chain
from teams.models import AuditEntry


class HeadLost(RuntimeError):
    """The head of an organization's log is gone; nothing is written behind a chain without end."""


def append(
    *,
    act: str,
    object_type: str,
    object_id: str,
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
    columns = {**asdict(linked), "fields": list(linked.fields)}
    AuditEntry(**columns).save(force_insert=True)
    AuditRoot.objects.filter(pk=tenant_id).update(count=linked.number, hash=linked.hash)


def _head(tenant_id: UUID) -> chain.Head:
    roots = AuditRoot.objects.filter(pk=tenant_id).order_by().values_list("count", "hash")
    for count, last in roots:
        return chain.Head(count=count, hash=last) if count else chain.genesis(tenant_id=tenant_id)
    raise HeadLost("The audit log has lost its head: run `manage.py audit verify`.")
