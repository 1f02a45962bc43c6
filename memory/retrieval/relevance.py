"""Relevance: how likely a hit answers the query at all, 0..1; what silence is made of (11.1).

Fusion scores rank within one query and say nothing across queries: the best of nothing relevant
still gets 1. Relevance looks at two absolute evidences, the cosine and the share of the query's
words (by idf) that the memory has, and puts their sum through a logistic. It never falls when
either rises. The constants are starting values chosen by hand for the default embedder, whose
unrelated texts lie around cosine 0.1 and related ones around 0.5; they are to be fitted on judged
sets per model.
"""

import math
from dataclasses import dataclass
from uuid import UUID

INTERCEPT = -4.0  # ours: neither evidence gives 0.02
COSINE_SLOPE = 8.0  # per unit of cosine, ours
MATCHED_SLOPE = 3.0  # per unit of matched idf share, ours
KEYWORD_ONLY_INTERCEPT = -2.5  # ours: without a vector the words alone must convince
KEYWORD_ONLY_SLOPE = 4.0  # ours: all words give 0.82, half of them 0.38
THRESHOLD = 0.25  # default of a project, ours; learnt from feedback later


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A hit with its relevance 0..1."""

    memory_id: UUID
    relevance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgment:
    """What is worth saying, in the given order, and how many hits were kept silent."""

    kept: tuple[Judged, ...]
    silenced: int


def relevance(*, cosine: float | None, matched: float) -> float:
    """Compute L(-4 + 8·max(cos, 0) + 3·matched); without a vector L(-2.5 + 4·matched).

    L: the logistic function; cosine: -1..1, None when query or memory has no vector;
    matched: share of the query's idf, 0..1.
    Raises ValueError outside of these.
    """
    if not 0.0 <= matched <= 1.0 + 1e-6:  # rounding of a database sum
        raise ValueError(f"matched must be within 0..1, not {matched}")
    if cosine is None:
        return _logistic(KEYWORD_ONLY_INTERCEPT + KEYWORD_ONLY_SLOPE * matched)
    if not -1.01 <= cosine <= 1.01:  # rounding of half-precision vectors
        raise ValueError(f"cosine must be within -1..1, not {cosine}")
    return _logistic(INTERCEPT + COSINE_SLOPE * max(cosine, 0.0) + MATCHED_SLOPE * matched)


def judge(*, hits: tuple[Judged, ...], threshold: float) -> Judgment:
    """Keep the hits at or above the threshold; 0 keeps all, whatever their relevance."""
    kept = tuple(hit for hit in hits if hit.relevance >= threshold)
    return Judgment(kept=kept, silenced=len(hits) - len(kept))


def _logistic(x: float) -> float:
    return 0.5 * (1.0 + math.tanh(x / 2.0))
