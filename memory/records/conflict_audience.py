"""Who is told of two memories that contradict each other: those who see both, and nobody else.

One that only its author sees is told of to its author alone, with its own citation: that somebody
privately contradicts what all see is nothing that others learn, neither from the feed nor from a
log.
"""

from typing import Final
from uuid import UUID

from django.db.models import Q

from memory.records.models import Conflict, Memory
from memory.taxonomy import Scope
from teams import changes as feed

FEED_KINDS: Final = ("memory.contradicted", "memory.conflict_settled", "memory.conflict_reopened")
ORDER: Final = (Scope.PERSONAL, Scope.TEAM, Scope.PROJECT, Scope.ORGANIZATION)


def find_narrower_side(
    *, older: Memory, newer: Memory, otherwise: UUID | None
) -> tuple[Memory, UUID]:
    """Return the side that fewer people see, and the audience that is told. In a unit.

    Where those who see one do not all see the other, `otherwise` alone is told, or nobody.
    """
    if older.audience == newer.audience:
        return newer, newer.audience
    few, many = sorted((newer, older), key=lambda side: ORDER.index(Scope(side.scope)))
    are_two_peoples = many.scope == Scope.PERSONAL
    if not are_two_peoples and (few.scope == Scope.PERSONAL or _is_for_all(many)):
        return few, few.audience
    if not are_two_peoples and _is_for_all(few):
        return many, many.audience
    return newer, otherwise or newer.id


def have_different_audiences(*, older: Memory, newer: Memory) -> bool:
    """Say whether the two are seen by different people: no log of others names both then."""
    return older.audience != newer.audience


def move_conflicts(*, row: Memory, is_taken: bool) -> None:
    """Let the conflicts of a memory follow it to its new audience. In a unit.

    `is_taken`: others saw it before. What the feed said of a conflict under the name of the other
    side is then left to those who see both.
    """
    for conflict in Conflict.objects.filter(Q(older=row) | Q(newer=row)).order_by("id"):
        other = conflict.older if conflict.newer_id == row.id else conflict.newer
        _, audience = find_narrower_side(older=other, newer=row, otherwise=None)
        # one that is being settled waits for this memory, and is told anew when it has it
        free = Conflict.objects.select_for_update(skip_locked=True).filter(pk=conflict.pk)
        Conflict.objects.filter(pk__in=[one.pk for one in free]).update(audience=audience)
        if is_taken and audience != other.audience:
            feed.leave_to(
                object_id=other.id, audience=audience, kinds=FEED_KINDS, of=other.audience
            )


def _is_for_all(side: Memory) -> bool:
    if side.scope == Scope.ORGANIZATION:
        return True
    return side.scope == Scope.PROJECT and side.project is not None and side.project.open_to_all
