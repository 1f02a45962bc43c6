"""Health of a project's memory, 0..100, as a sum of named parts that are always shown.

Each part is a share 0..1 times its weight. Backlogs count against a limit: at the limit the part is
worth nothing. Weights and limits are defaults that nobody measured.
"""

from dataclasses import dataclass
from typing import Final

from memory.records.formulas import Factor, checked_share, total

VERIFIED_WEIGHT: Final = 20.0
FRESH_WEIGHT: Final = 20.0
REVIEW_WEIGHT: Final = 15.0
CORRECTION_WEIGHT: Final = 10.0
REVIEW_LIMIT: Final = 0.20  # share of memories waiting for review
CORRECTION_LIMIT: Final = 0.10  # share of memories corrected in 30 days
FULL_SCORE: Final = 100.0  # points


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """A score 0..100, the points of each part, and the most that each part could give."""

    value: float
    parts: tuple[Factor, ...]
    attainable: tuple[Factor, ...]


def health(
    *, memories: int, verified: int, stale: int, awaiting_review: int, corrected: int
) -> Health | None:
    """Score a project by counts of its active memories; None while it has none.

    `corrected`: in the last 30 days. Raises ValueError for counts larger than their whole.
    """
    if memories == 0:
        return None
    counts = {
        "verified": verified,
        "stale": stale,
        "awaiting_review": awaiting_review,
        "corrected": corrected,
    }
    share = {name: checked_share(name=name, value=n / memories) for name, n in counts.items()}
    review = 1.0 - min(1.0, share["awaiting_review"] / REVIEW_LIMIT)
    corrections = 1.0 - min(1.0, share["corrected"] / CORRECTION_LIMIT)
    weighted = (
        ("verified", VERIFIED_WEIGHT, share["verified"]),
        ("not stale", FRESH_WEIGHT, 1.0 - share["stale"]),
        ("review backlog", REVIEW_WEIGHT, review),
        ("correction rate", CORRECTION_WEIGHT, corrections),
    )
    scale = FULL_SCORE / sum(weight for _, weight, _ in weighted)
    parts = tuple(Factor(name=name, value=scale * weight * part) for name, weight, part in weighted)
    attainable = tuple(Factor(name=name, value=scale * weight) for name, weight, _ in weighted)
    return Health(value=total(factors=parts), parts=parts, attainable=attainable)
