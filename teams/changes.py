"""The change feed: what happened in an organization, in order, and the call to look at it.

The feed is the source of truth for live pages and for agents that sync: a socket message carries
nothing but "there is more", and whoever hears it reads the feed from its own cursor through the
visibility predicate. So a reconnect is the same as a first connect, and nothing can be shown to
someone who may not see it. A lock per organization gives ids in the order of commit; without it a
reader could pass an id whose transaction commits later. It is taken as the last thing of a unit, so
that writers neither wait for each other's work nor lock each other out in a circle.
"""

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from django.db import connection, transaction

from accounts import bulk_insert, live, tenancy
from accounts.audit import Actor
from teams.models import Change

GROUP: Final = "changes"
LOCK_SPACE: Final = 0x0CA1


def append(
    *,
    kind: str,
    object_id: UUID,
    project_id: UUID | None,
    audience: UUID,
    caller: Actor,
    summary: Mapping[str, Any],
) -> None:
    """Append one entry at the end of the current unit; announce it after commit."""
    append_all(
        caller=caller,
        entries=(
            Change(
                kind=kind,
                object_id=object_id,
                project_id=project_id,
                audience=audience,
                summary=dict(summary),
            ),
        ),
    )


def append_all(*, caller: Actor, entries: tuple[Change, ...]) -> None:
    """Append several entries by one caller at the end of the unit; announce them once."""
    for entry in entries:
        entry.actor_user = caller.user_id
        entry.actor_name = caller.agent
        entry.source_interface = caller.source_interface
    tenancy.at_end_of_unit(lambda: _write(entries))


def leave_to(
    *, object_id: UUID, audience: UUID, kinds: tuple[str, ...] = (), of: UUID | None = None
) -> None:
    """Leave what the feed has said of a thing to one audience: it is less shared from now on.

    All of it, or these kinds, or what another audience was told.
    """
    rows = Change.objects.filter(object_id=object_id)
    if kinds:
        rows = rows.filter(kind__in=kinds)
    if of is not None:
        rows = rows.filter(audience=of)
    rows.update(audience=audience)


def forget(*, object_ids: tuple[UUID, ...]) -> int:
    """Take out of the feed what it has said of things that are deleted for good."""
    gone, _ = Change.objects.filter(object_id__in=object_ids).delete()
    return gone


def take_turn() -> None:
    """Wait until no other unit of the organization writes its endings; ours are then in order.

    A unit asks the database once, however many of its endings ask for their turn.
    """
    this_unit = connection.unit_endings  # type: ignore[attr-defined]
    if getattr(connection, "turn_of", None) is this_unit:
        return
    lock = tenancy.current().organization_id.int & 0x7FFF_FFFF
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [LOCK_SPACE, lock])
    connection.turn_of = this_unit  # type: ignore[attr-defined]


def _write(entries: tuple[Change, ...]) -> None:
    take_turn()
    bulk_insert.insert_rows(rows=entries)
    group = tenancy.group(GROUP)
    transaction.on_commit(lambda: live.wake_pages(group=group))
