"""What only one active memory of a place can have: its text, and its external id.

Episodes may say the same. Two unique indexes of memories hold it; here it is known beforehand.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.db.models import Q

from memory.records.models import Memory
from memory.taxonomy import MemoryType, Status

COLUMNS: Final = ("id", "audience", "project_id", "type", "content_hash", "external_id")
Key = tuple[Any, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A memory, and what it alone would have where it stood."""

    memory_id: UUID
    keys: frozenset[Key]


def claim_of(*, row: Memory, **said: str) -> Claim:
    """Return what a memory would have alone; `said` is what it would say instead, by column."""
    type, text, name = (said.get(one, getattr(row, one)) for one in COLUMNS[3:])
    place: tuple[UUID, UUID | None] = (row.audience, row.project_id)
    keys: set[Key] = set()
    if type != MemoryType.EPISODE:
        keys.add((*place, "text", text))
    if name:
        keys.add((*place, "name", name))
    return Claim(memory_id=row.id, keys=frozenset(keys))


class Taken:
    """Who has what in their places, as far as it was asked for, while memories come and change."""

    def __init__(self, *, wanted: Iterable[Claim], leaving: Collection[UUID] = ()) -> None:
        """Look who has what is wanted, but for those that leave. In a unit."""
        keys = {key for one in wanted for key in one.keys}
        texts, names = ({key[-1] for key in keys if key[-2] == kind} for kind in ("text", "name"))
        rows = Memory.objects.filter(status=Status.ACTIVE.value).filter(
            Q(content_hash__in=texts) | Q(external_id__in=names)
        )
        self._owners: dict[Key, UUID] = {}
        for row in rows.only(*COLUMNS).order_by("id"):
            if row.id not in leaving:
                self._owners |= dict.fromkeys(claim_of(row=row).keys, row.id)

    def take(self, *, claim: Claim) -> bool:
        """Let a memory have what it claims, and nothing else; False where another has it."""
        if any(self._owners.get(key, claim.memory_id) != claim.memory_id for key in claim.keys):
            return False
        old = [key for key, owner in self._owners.items() if owner == claim.memory_id]
        for key in old:
            del self._owners[key]
        self._owners |= dict.fromkeys(claim.keys, claim.memory_id)
        return True
