"""A person at a level of trust, as if it had been earned."""

from dataclasses import replace
from datetime import datetime

from accounts import tenancy
from accounts.caller import Caller
from memory.customization.models import Definition
from memory.customization.queries import STANDING, Kind
from memory.records.queries import pending
from teams import queries as places
from teams import trust
from teams.trust import TrustLevel


def stand(caller: Caller, project: str, level: TrustLevel, now: datetime) -> None:
    """Put a person at a level in a project."""
    standing = replace(
        trust.START,
        level=level,
        reached=min(level, TrustLevel.CONFIDENT),
        is_chosen=level is TrustLevel.AUTONOMOUS,
    )
    with tenancy.unit():
        Definition.objects.update_or_create(
            audience=pending.answerable(caller=caller),
            kind=Kind.TRUST,
            name=places.find_project(caller=caller, ref=project).id.hex,
            defaults={"body": STANDING.dump_python(standing, mode="json"), "defined_at": now},
        )
