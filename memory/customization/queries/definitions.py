"""Which definitions a caller may see: the organization's, and those of the person who asks.

Definitions belong to no project, so what `teams.visibility` says of memories without one holds here
too: a credential that is bound to projects reaches nothing that is a person's alone.
"""

from enum import StrEnum

from django.db.models import QuerySet

from accounts.caller import Caller
from memory.customization.models import Definition
from teams.permissions import Act, require


class Kind(StrEnum):
    """What is defined."""

    METHODOLOGY = "methodology"
    STYLE = "style"
    TRUST = "trust"


def seen(*, caller: Caller, kind: Kind) -> QuerySet[Definition]:
    """Return the definitions of a kind that a caller may see. In a unit.

    Raises RoleNotSufficient for a credential that may not read.
    """
    require(caller=caller, act=Act.READ)
    audiences = [caller.organization_id]
    if caller.user_id is not None and caller.bound_projects is None:
        audiences.append(caller.user_id)
    return Definition.objects.filter(kind=kind, audience__in=audiences)
