"""The audit trail: who did what, when and from where. Appended in the transaction of the act."""

from collections.abc import Mapping
from typing import Any

from accounts.caller import Caller
from teams.models import AuditEntry


def append(
    *,
    act: str,
    object_type: str,
    object_id: str,
    caller: Caller,
    details: Mapping[str, Any] | None = None,
    fields: tuple[str, ...] = (),
) -> None:
    """Append one entry. `details` holds ids and names of things, never their content."""
    AuditEntry.objects.create(
        act=act,
        object_type=object_type,
        object_id=object_id,
        actor_user=caller.user_id,
        token_id=caller.token_id,
        source_interface=caller.source_interface,
        details=dict(details or {}),
        fields=list(fields),
    )
