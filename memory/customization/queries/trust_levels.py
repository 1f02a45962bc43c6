"""The trust level of a person in a project, as it is stored.

A standing is a definition of its person, named after the project; nobody else is told it. Who has
none, and every credential without a person, is at the first level.
"""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from memory.customization.models import Definition
from memory.customization.queries.definitions import Kind
from teams import trust
from teams.trust import NOTHING, START, Evidence, Standing, TrustLevel


def level_of(*, caller: Caller, project_id: UUID | None) -> TrustLevel:
    """Return the level in force for a caller in a project, the first outside of any. In a unit."""
    standing = standing_of(user_id=caller.user_id, project_id=project_id)
    return trust.in_force(standing=standing, role=caller.role)


def floor(*, caller: Caller, project_id: UUID | None) -> float:
    """Return the confidence from which a caller's agents are given what a project knows unasked."""
    with tenancy.unit():
        level = level_of(caller=caller, project_id=project_id)
    return trust.level_row(level=level).injects_from_confidence


def standing_of(*, user_id: UUID | None, project_id: UUID | None) -> Standing:
    """Return where a person stands, as it is kept. In a unit."""
    if user_id is None or project_id is None:
        return START
    rows = Definition.objects.filter(kind=Kind.TRUST, audience=user_id, name=project_id.hex)
    body = rows.values_list("body", flat=True).first()
    return START if body is None else from_body(body)


def to_body(*, standing: Standing) -> dict[str, Any]:
    """Return what is kept of a standing."""
    return {
        "level": standing.level.value,
        "reached": standing.reached.value,
        "since": None if standing.since is None else standing.since.isoformat(),
        "is_chosen": standing.is_chosen,
        "gone": asdict(standing.gone),
    }


def from_body(body: Mapping[str, Any]) -> Standing:
    """Return the standing that was kept."""
    since = body["since"]
    return Standing(
        level=TrustLevel(body["level"]),
        reached=TrustLevel(body["reached"]),
        since=None if since is None else datetime.fromisoformat(since),
        is_chosen=bool(body["is_chosen"]),
        gone=Evidence(**body["gone"]) if "gone" in body else NOTHING,
    )
