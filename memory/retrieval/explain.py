"""Why a hit stands where it stands: its score as named parts that sum to it (spec 3)."""

from collections.abc import Mapping

from memory.formulas.factors import Factor
from memory.retrieval.fusion import Fused


def parts(*, fused: Fused) -> tuple[Factor, ...]:
    """Return the score as one factor a path; they sum to it."""
    return tuple(Factor(name=part.path, value=part.value) for part in fused.contributions)


def of(*, fused: Fused) -> Mapping[str, object]:
    """Return the explanation as sent: score; per path score, rank from 1, weight, value."""
    return {
        "score": fused.score,
        "paths": {
            part.path: {
                "score": part.score,
                "rank": part.rank + 1,
                "weight": part.weight,
                "value": part.value,
            }
            for part in fused.contributions
        },
    }
