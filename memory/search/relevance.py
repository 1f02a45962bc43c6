"""Relevance: how likely a hit answers the query at all, 0..1; what silence is made of (11.1).

Fusion scores rank within one query and say nothing across queries: the best of nothing relevant
still gets 1. Relevance looks at signs that mean the same in every query: how close the memory is,
what share of the query's words (by their rarity) it has, a thing's name in another spelling
among them, how far it stands out from the rest of
the candidates on both, whether it is the closest of them, which identifiers of the query it lacks.
The same closeness says more of a long question than of two words, and more of a French one, which
an English embedder puts far from everything. A logistic turns the signs into a probability; its
constants and which signs it looks at are fitted on judged pairs, for each embedder its own, and
stand in `calibrations` with the command that made them. Closeness and words never lower it,
identifiers that are missing never raise it.

Tried and left out, cross-validated on the train half: late interaction with static token vectors
(its value, its lead, the least covered word), the logarithm of BM25, ranks by words, what share of
the query's words nobody wrote, proper names that are missing. None parts answered from unanswerable
queries better than these.
"""

import math
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean
from typing import Final
from uuid import UUID

from memory.records.factors import Factor, total
from memory.search.query_language import Wording

RIVALS: Final = slice(3, 12)  # best ones of a sign after the first three, ours
CROWD: Final = 12  # candidates from which on a query has rivals of its own
STEADY: Final = 0.03  # cosine added to the spread, so that few equal candidates do not blow it up
ROUNDING: Final = 1e-6  # of a database sum
HALF_ROUNDING: Final = 1.01  # the cosine of half-precision vectors, at most


class Sign(StrEnum):
    """What relevance looks at; the columns of the table of slopes."""

    COSINE = "cosine"
    COSINE_LEAD = "cosine_lead"
    COSINE_STANDING = "cosine_standing"
    COSINE_WORDS = "cosine_words"
    CLOSEST = "closest"
    FRENCH_LEAD = "french_lead"
    MATCHED = "matched"
    MATCHED_LEAD = "matched_lead"
    FRENCH_MATCHED = "french_matched"
    MISSING = "missing"


Signs = Mapping[Sign, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """What paths say of a candidate: cosine -1..1 or None, matched share of the query's words.

    `missing`: share of the query's identifiers that stand nowhere in it, in no spelling.
    """

    memory_id: UUID
    cosine: float | None
    matched: float
    missing: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rivals:
    """The mean of the 4th to 12th best of a query: cosine and matched share, 0..1."""

    cosine: float
    matched: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """A fitted logistic: slopes by sign, and from which relevance on a hit is given out.

    `rivals` are the usual ones; they stand in where a store is too small to have its own.
    """

    key: str
    intercept: float
    slopes: Mapping[Sign, float]
    threshold: float
    rivals: Rivals


@dataclass(frozen=True, slots=True, kw_only=True)
class Relevance:
    """A probability 0..1; the parts are summands of its log-odds, with the signs behind them."""

    value: float
    parts: tuple[Factor, ...]
    signs: Signs


@dataclass(frozen=True, slots=True, kw_only=True)
class _Near:
    """What the signs of a candidate are relative to; `falling` are the cosines, negated, sorted."""

    rivals: Rivals
    spread: tuple[float, float]
    falling: list[float]
    words: int
    french: float


def signs_of(
    *, observed: tuple[Observed, ...], usual: Rivals, wording: Wording
) -> dict[UUID, Signs]:
    """Return the signs of each candidate, which are relative to the others of its query.

    A lead is the value minus the mean of the 4th to 12th best; a standing is (cosine - mean) /
    (standard deviation + 0.03). Fewer than 12 are filled up with the usual rivals; for a standing,
    with 0. `closest` is 1 / (1 + how many are closer), `cosine_words` the cosine times the telling
    words of the query; what begins with `french` is 0 unless the query is French. Raises ValueError
    for impossible evidence.
    """
    for one in observed:
        _check(one)
    cosines = [max(one.cosine, 0.0) for one in observed if one.cosine is not None]
    rivals = Rivals(
        cosine=_rivals(cosines, usual.cosine),
        matched=_rivals([min(one.matched, 1.0) for one in observed], usual.matched),
    )
    near = _Near(
        rivals=rivals,
        spread=_spread([*cosines, *[0.0] * (CROWD - len(cosines))]),
        falling=sorted(-cosine for cosine in cosines),
        words=wording.words,
        french=float(wording.is_french),
    )
    return {one.memory_id: _signs(one, near) for one in observed}


def relevance(*, signs: Signs, calibration: Calibration) -> Relevance:
    """Compute L(intercept + Σ slope · sign), L the logistic function."""
    parts = (
        Factor(name="intercept", value=calibration.intercept),
        *(
            Factor(name=sign.value, value=slope * signs.get(sign, 0.0))
            for sign, slope in calibration.slopes.items()
        ),
    )
    return Relevance(value=logistic(total(factors=parts)), parts=parts, signs=signs)


def logistic(x: float) -> float:
    """Compute 1 / (1 + exp(-x)), 0..1, without overflow."""
    return 0.5 * (1.0 + math.tanh(x / 2.0))


def _signs(one: Observed, near: _Near) -> dict[Sign, float]:
    matched = min(one.matched, 1.0)
    signs = {
        Sign.MATCHED: matched,
        Sign.MATCHED_LEAD: matched - near.rivals.matched,
        Sign.FRENCH_MATCHED: matched * near.french,
        Sign.MISSING: one.missing,
    }
    if one.cosine is not None:
        cosine = max(one.cosine, 0.0)
        lead = cosine - near.rivals.cosine
        signs |= {
            Sign.COSINE: cosine,
            Sign.COSINE_LEAD: lead,
            Sign.COSINE_STANDING: (cosine - near.spread[0]) / near.spread[1],
            Sign.COSINE_WORDS: cosine * near.words,
            Sign.CLOSEST: 1.0 / (1 + bisect_left(near.falling, -cosine)),
            Sign.FRENCH_LEAD: lead * near.french,
        }
    return signs


def _spread(cosines: list[float]) -> tuple[float, float]:
    """Return mean and standard deviation. `pstdev` counts in fractions and takes ten times that."""
    mean = fmean(cosines)
    return mean, math.sqrt(fmean([(cosine - mean) ** 2 for cosine in cosines])) + STEADY


def _rivals(values: list[float], usual: float) -> float:
    best = sorted(values, reverse=True)
    return fmean([*best, *[usual] * (CROWD - len(best))][RIVALS])


def _check(one: Observed) -> None:
    for name, value in (("matched", one.matched), ("missing", one.missing)):
        if not 0.0 <= value <= 1.0 + ROUNDING:
            raise ValueError(f"{name} must be within 0..1, not {value}")
    if one.cosine is not None and not -HALF_ROUNDING <= one.cosine <= HALF_ROUNDING:
        raise ValueError(f"cosine must be within -1..1, not {one.cosine}")
