"""Why a hit stands where it stands: its score as named parts that sum to it.

The shape, as the interfaces send it: `score`; `parts`, which sum to the score; `multipliers`, which
are in every part already; `fusion`, the score before the profile, and `paths`, whose values sum to
it, each with its own score, rank from 1 and weight; `boost`, the files shared with the best hits;
`rerank`, the rank before and the reranker's score; `relevance`, its value, the threshold, the
calibration, the signs, and the parts of the log-odds. `boost` and `rerank` are null when there was
none.
"""

from collections.abc import Iterable, Mapping

from memory.records.factors import Factor
from memory.search.fusion import Fused
from memory.search.ranking import Standing
from memory.search.relevance import Calibration, Relevance


def of(
    *, standing: Standing, relevance: Relevance, threshold: float, calibration: Calibration
) -> Mapping[str, object]:
    """Return the explanation of one hit as plain values."""
    boost, moved = standing.boost, standing.moved
    return {
        "score": standing.score,
        "parts": _named(standing.factors),
        "multipliers": _named(standing.multipliers),
        "fusion": standing.fused.score,
        "paths": _paths(standing.fused),
        "boost": None if boost is None else {"shared_files": boost.shared, "value": boost.value},
        "rerank": None
        if moved is None
        else {"rank_before": moved.rank_before + 1, "score": moved.score},
        "relevance": {
            "value": relevance.value,
            "threshold": threshold,
            "calibration": calibration.key,
            "signs": {sign.value: value for sign, value in relevance.signs.items()},
            "parts": _named(relevance.parts),
        },
    }


def _named(factors: Iterable[Factor]) -> dict[str, float]:
    return {factor.name: factor.value for factor in factors}


def _paths(fused: Fused) -> dict[str, dict[str, float | None]]:
    return {
        part.path: {
            "score": part.score,
            "rank": part.rank + 1,
            "weight": part.weight,
            "value": part.value,
        }
        for part in fused.contributions
    }
