"""The group of a session in a comparison: fixed when it could first be given something.

It is stored with the session, so it stays whatever becomes of the shares or of the comparison. A
session whose first moment came while nothing was compared takes no part in any comparison, because
it may have been given memory already.
"""

from typing import Final
from uuid import UUID

from django.utils.crypto import salted_hmac

from memory.experiments import experiments
from memory.experiments.experiments import Shares
from memory.sessions.models import Session
from memory.sessions.points import Group
from teams.queries import experiments_in

SALT: Final = "cairn.experiments"
APART: Final = "none"  # of a session that takes no part


def group_of(*, row: Session) -> Group | None:
    """Return the group of a session, and settle it where nobody has; None: none. In a unit."""
    if not row.experiment_group:
        here = Session.objects.filter(pk=row.pk)
        here.filter(experiment_group="").update(experiment_group=_settled(row))
        row.experiment_group = here.values_list("experiment_group", flat=True).get()
    return None if row.experiment_group == APART else Group(row.experiment_group)


def compared(*, row: Session) -> Group | None:
    """Return the group that holds for a session now; None where nothing is compared. In a unit.

    A comparison that is switched off takes nothing from anybody any more.
    """
    group = group_of(row=row)
    return group if experiments_in(project=row.project).enabled else None


def is_withheld(*, row: Session, memory_id: UUID) -> bool:
    """Say whether a session goes without a memory, to see what it is worth (11.6). In a unit."""
    return compared(row=row) is not None and experiments.is_withheld(
        key=_key(),
        memory=str(memory_id),
        session=str(row.pk),
        percent=experiments_in(project=row.project).withheld_percent,
    )


def _settled(row: Session) -> str:
    """Return the group that a session belongs to by the shares of now."""
    found = experiments_in(project=row.project)
    if not found.enabled:
        return APART
    return experiments.group(
        key=_key(),
        session=str(row.pk),
        project=str(row.project_id),
        shares=Shares(control=found.control_percent, passive=found.passive_percent),
    ).value


def _key() -> bytes:
    """Return a key of this installation alone, so that nobody outside foresees a group."""
    return salted_hmac(SALT, "groups", algorithm="sha256").digest()
