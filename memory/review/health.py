"""Health of a project's memory, 0..100, as a sum of named parts (last paragraph).

Weights and limits are ours; the parts are always shown, never only the sum. Each part is a share
0..1 times its weight. Backlogs count against a limit: at the limit the part is worth nothing.
A project without an index has no module coverage; the other parts then share its weight.
"""

from dataclasses import dataclass

from memory.records.formulas import Factor, total

COVERAGE_WEIGHT = 25.0  # points, ours
VERIFIED_WEIGHT = 20.0  # points, ours
FRESH_WEIGHT = 20.0  # points, ours
REVIEW_WEIGHT = 15.0  # points, ours
DISPUTE_WEIGHT = 10.0  # points, ours
CORRECTION_WEIGHT = 10.0  # points, ours
REVIEW_LIMIT = 0.20  # share of memories waiting for review, ours
DISPUTE_LIMIT = 0.05  # share of memories in an open dispute, ours
CORRECTION_LIMIT = 0.10  # share of memories corrected in 30 days, ours
FULL_SCORE = 100.0  # points


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthCounts:
    """Counts over the active memories and the indexed modules of a project."""

    modules: int
    modules_covered: int
    memories: int
    verified: int
    stale: int
    awaiting_review: int
    disputed: int
    corrected_in_30_days: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """A score 0..100, the points of each part, and the most that each part could give."""

    value: float
    parts: tuple[Factor, ...]
    attainable: tuple[Factor, ...]


def health(*, counts: HealthCounts) -> Health | None:
    """Score a project; None while it has no memory, for there is nothing to judge.

    Raises ValueError for counts that are negative or larger than their whole.
    """
    _check(counts)
    if counts.memories == 0:
        return None
    shares = _shares(counts)
    scale = FULL_SCORE / sum(weight for _, weight, _ in shares)
    parts = tuple(Factor(name=name, value=scale * weight * share) for name, weight, share in shares)
    attainable = tuple(Factor(name=name, value=scale * weight) for name, weight, _ in shares)
    return Health(value=total(factors=parts), parts=parts, attainable=attainable)


def _shares(counts: HealthCounts) -> tuple[tuple[str, float, float], ...]:
    whole = counts.memories
    review = _within(counts.awaiting_review / whole, REVIEW_LIMIT)
    disputes = _within(counts.disputed / whole, DISPUTE_LIMIT)
    corrections = _within(counts.corrected_in_30_days / whole, CORRECTION_LIMIT)
    always = (
        ("verified", VERIFIED_WEIGHT, counts.verified / whole),
        ("not stale", FRESH_WEIGHT, 1.0 - counts.stale / whole),
        ("review backlog", REVIEW_WEIGHT, review),
        ("dispute backlog", DISPUTE_WEIGHT, disputes),
        ("correction rate", CORRECTION_WEIGHT, corrections),
    )
    if counts.modules == 0:
        return always
    covered = counts.modules_covered / counts.modules
    return (("modules covered", COVERAGE_WEIGHT, covered), *always)


def _within(share: float, limit: float) -> float:
    return 1.0 - min(1.0, share / limit)


def _check(counts: HealthCounts) -> None:
    pairs = (
        ("modules_covered", counts.modules_covered, counts.modules),
        ("verified", counts.verified, counts.memories),
        ("stale", counts.stale, counts.memories),
        ("awaiting_review", counts.awaiting_review, counts.memories),
        ("disputed", counts.disputed, counts.memories),
        ("corrected_in_30_days", counts.corrected_in_30_days, counts.memories),
    )
    for name, part, whole in pairs:
        if not 0 <= part <= whole:
            raise ValueError(f"{name} must be within 0..{whole}, not {part}")
