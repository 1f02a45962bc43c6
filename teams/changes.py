"""The change feed: what happened in an organization, in order, and the call to look at it.

The feed is the source of truth for live pages and for agents that sync: a socket message carries
nothing but "there is more", and whoever hears it reads the feed from its own cursor through the
visibility predicate. So a reconnect is the same as a first connect, and nothing can be shown to
someone who may not see it. A lock per organization gives ids in the order of commit; without it a
reader could pass an id whose transaction commits later. It is taken as the last thing of a unit, so
that writers neither wait for each other's work nor lock each other out in a circle.
"""

import logging
from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.db import connection, transaction
from redis.exceptions import RedisError

from accounts import tenancy
from accounts.caller import Caller
from teams.models import Change

log = logging.getLogger(__name__)

GROUP: Final = "changes"
LOCK_SPACE: Final = 0x0CA1


def append(
    *,
    kind: str,
    object_id: UUID,
    project_id: UUID | None,
    audience: UUID,
    caller: Caller,
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


def append_all(*, caller: Caller, entries: tuple[Change, ...]) -> None:
    """Append several entries by one caller at the end of the unit; announce them once."""
    for entry in entries:
        entry.actor_user = caller.user_id
        entry.actor_name = caller.agent
        entry.source_interface = caller.source_interface
    tenancy.at_end_of_unit(lambda: _write(entries))


def announce(*, group: str) -> None:
    """Tell open pages that the feed has grown. Without Redis they find out by asking."""
    layer = get_channel_layer()
    if layer is None:
        return
    try:
        async_to_sync(layer.group_send)(group, {"type": "feed.grew"})
    except (RedisError, OSError) as error:
        log.warning("Live pages were not told of a change: %s", error)


def _write(entries: tuple[Change, ...]) -> None:
    lock = tenancy.current().organization_id.int & 0x7FFF_FFFF
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [LOCK_SPACE, lock])
    Change.objects.bulk_create(entries)
    group = tenancy.group(GROUP)
    transaction.on_commit(lambda: announce(group=group))
