"""The group of a session in an experiment, and what is withheld from it.

The group is assigned when the session could first be given something, and stored with it, so it
stays whatever becomes of the shares or of the experiment. A session that came to this while no
experiment ran takes part in none, because it may have been given memories already.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Final
from uuid import UUID

from django.utils.crypto import salted_hmac

from memory.experiments import points
from memory.experiments.points import Group, Point, Shares
from memory.records.queries.views import MemoryView
from memory.sessions.models import GivenOut, Session
from memory.taxonomy import Governance
from teams.queries import experiments_in

SALT: Final = "cairn.experiments"
APART: Final = "none"  # of a session that takes no part


def group_of(*, session: Session) -> Group | None:
    """Return the group of a session, assigned now where it has none; None: none. In a unit."""
    if not session.experiment_group:
        found = experiments_in(project=session.project)
        group = APART
        if found.enabled:
            group = points.group(
                key=_key(),
                session=str(session.pk),
                project=str(session.project_id),
                shares=Shares(control=found.control_percent, passive=found.passive_percent),
            ).value
        row = Session.objects.filter(pk=session.pk)
        row.filter(experiment_group="").update(experiment_group=group)
        session.experiment_group = row.values_list("experiment_group", flat=True).get()
    return None if session.experiment_group == APART else Group(session.experiment_group)


def group_in_effect(*, session: Session) -> Group | None:
    """Return the group that holds for a session now; None where no experiment runs. In a unit.

    An experiment that is switched off withholds nothing from anybody any more.
    """
    group = group_of(session=session)
    return group if experiments_in(project=session.project).enabled else None


def is_withheld(*, session: Session, memory_id: UUID) -> bool:
    """Say whether a session goes without a memory, to see what it is worth. In a unit."""
    return group_in_effect(session=session) is not None and points.is_withheld(
        key=_key(),
        memory=str(memory_id),
        session=str(session.pk),
        percent=experiments_in(project=session.project).withheld_percent,
    )


def withhold(
    *, session: Session, point: Point, views: Iterable[MemoryView], now: datetime
) -> frozenset[UUID]:
    """Return what is withheld from a locked session of what it would be given; log it.

    Only what would have been delivered is withheld, so that both sides needed it as much. What is
    withheld once is not delivered to that session later. What somebody pinned, and constitutional
    memories, are delivered to everybody. In a unit.
    """
    chosen = tuple(
        view.id
        for view in views
        if not (view.pinned or view.governance <= Governance.CONSTITUTIONAL)
        and is_withheld(session=session, memory_id=view.id)
    )
    GivenOut.all_rows.bulk_create(
        GivenOut(memory_id=one, at=now, session_id=session.id, point=point.value, withheld=True)
        for one in chosen
    )
    return frozenset(chosen)


def withheld_from(*, session: Session) -> frozenset[UUID]:
    """Return what was withheld from a session before. In a unit."""
    rows = GivenOut.all_rows.filter(session_id=session.id, withheld=True)
    return frozenset(rows.values_list("memory_id", flat=True))


def _key() -> bytes:
    """Return a key of this installation alone, so that nobody outside foresees a group."""
    return salted_hmac(SALT, "groups", algorithm="sha256").digest()
