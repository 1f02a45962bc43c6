"""Which memories were told apart: a link of the two was taken back, and both say the same since.

Neither a model nor words compare such a pair again. What the two said is kept with the
verdict, as hashes: another tag or a pin changes nothing about it, another text does.
"""

from collections.abc import Collection
from typing import Final
from uuid import UUID

from memory.records.models import Memory
from memory.records.verdict_models import ReviewVerdict
from memory.records.verdicts import Verdict

SAID: Final = "said"  # where a verdict keeps the hashes of both texts, by their memories


def said(*, rows: Collection[Memory]) -> dict[str, str]:
    """Return what memories say, as a verdict keeps it."""
    return {str(row.id): row.content_hash for row in rows}


def pairs(*, memory_ids: Collection[UUID]) -> frozenset[frozenset[UUID]]:
    """Return those pairs of these memories that were told apart. In a unit."""
    rows = ReviewVerdict.objects.filter(
        memory__in=memory_ids, verdict=Verdict.UNLINK.value, undone_at__isnull=True
    )
    told = [kept for kept in rows.order_by("id").values_list(f"before__{SAID}", flat=True) if kept]
    ids = {id for kept in told for id in kept}
    if not ids:
        return frozenset()
    now = said(rows=Memory.objects.filter(pk__in=ids).only("content_hash").order_by("id"))
    return frozenset(
        frozenset(UUID(id) for id in kept) for kept in told if kept.items() <= now.items()
    )
