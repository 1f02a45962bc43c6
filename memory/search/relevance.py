"""Relevance: how likely a hit answers the query at all, 0..1; what silence is made of.

Fusion scores rank within one query and say nothing across queries: the best of nothing relevant
still gets 1. Relevance looks at signs that mean the same in every query: how close the memory is,
what share of the query's words (by their rarity) it has, a thing's name in another spelling among
them, how far it stands out from the rest of the candidates on both, whether it is the closest of
them, which identifiers of the query it lacks. The same closeness says more of a long question than
of two words, and more of a French one, which an English embedder puts far from everything. A
logistic turns the signs into a probability; its constants and which signs it looks at are fitted on
judged pairs, for each embedder its own. Closeness and words never lower it, identifiers that are
missing never raise it.

The fitted rows (`tables/calibrations.toml`) were made by `manage.py evaluate fit-relevance` on the
train half of the shipped set, with the embedder of the row configured; signs and threshold are
chosen by cross-validation there, the threshold so that a tenth of the answerable queries are
withheld. NO_VECTORS is for searches by words alone, ANY for an embedder that was never fitted: it
does not use the size of the cosine, which differs between models, and was fitted with the static
one, the weakest of them, so that it withholds little.

Tried and left out, cross-validated on the train half: late interaction with static token vectors
(its value, its lead, the least covered word), the logarithm of BM25, ranks by words, what share of
the query's words nobody wrote, proper names that are missing. None parts answered from unanswerable
queries better than these.
"""

import math
from bisect import bisect_left
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from statistics import fmean
from typing import Final, NamedTuple
from uuid import UUID

from pydantic import TypeAdapter

from memory.records.formulas import Factor, total
from memory.search.query import Wording
from memory.text.text import read_tables

NO_VECTORS: Final = "no vectors"
ANY: Final = "any"
RIVALS: Final = slice(3, 12)  # best ones of a sign after the first three; a default, not measured
CROWD: Final = 12  # candidates from which on a query has rivals of its own
STEADY: Final = 0.03  # cosine added to the spread, so that few equal candidates do not blow it up


class Sign(StrEnum):
    """What relevance looks at; the names of slopes in `tables/calibrations.toml`."""

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


class Observed(NamedTuple):
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


class Relevance(NamedTuple):
    """A probability 0..1; the parts are summands of its log-odds, with the signs behind them."""

    value: float
    parts: tuple[Factor, ...]
    signs: Signs


_ROWS: Final = read_tables(file=Path(__file__).with_name("tables") / "calibrations.toml")
CALIBRATIONS: Final = TypeAdapter(dict[str, Calibration]).validate_python(
    {key: {"key": key, **row} for key, row in _ROWS.items()}
)


def calibration_of(*, model: str, has_vectors: bool) -> Calibration:
    """Return the row of an embedder's key, or what stands in for it."""
    if not has_vectors:
        return CALIBRATIONS[NO_VECTORS]
    return CALIBRATIONS.get(model, CALIBRATIONS[ANY])


def signs_of(
    *,
    observed: tuple[Observed, ...],
    usual: Rivals,
    wording: Wording,
    only: Collection[UUID] | None = None,
) -> dict[UUID, Signs]:
    """Return the signs of each candidate, which are relative to the others of its query.

    Or of some of them `only`, relative to all.
    A lead is the value minus the mean of the 4th to 12th best; a standing is (cosine - mean) /
    (standard deviation + 0.03). Fewer than 12 are filled up with the usual rivals; for a standing,
    with 0. `closest` is 1 / (1 + how many are closer), `cosine_words` the cosine times the telling
    words of the query; what begins with `french` is 0 unless the query is French.
    """
    cosines = [max(one.cosine, 0.0) for one in observed if one.cosine is not None]
    rival_cosine = _rivals(cosines, usual.cosine)
    rival_matched = _rivals([min(one.matched, 1.0) for one in observed], usual.matched)
    crowd = [*cosines, *[0.0] * (CROWD - len(cosines))]
    mean = fmean(crowd)
    spread = math.sqrt(fmean([(cosine - mean) ** 2 for cosine in crowd])) + STEADY  # as pstdev
    falling = sorted(-cosine for cosine in cosines)
    french = float(wording.is_french)
    found: dict[UUID, Signs] = {}
    for one in observed:
        if only is not None and one.memory_id not in only:
            continue
        matched = min(one.matched, 1.0)
        signs = {
            Sign.MATCHED: matched,
            Sign.MATCHED_LEAD: matched - rival_matched,
            Sign.FRENCH_MATCHED: matched * french,
            Sign.MISSING: one.missing,
        }
        if one.cosine is not None:
            cosine = max(one.cosine, 0.0)
            signs |= {
                Sign.COSINE: cosine,
                Sign.COSINE_LEAD: cosine - rival_cosine,
                Sign.COSINE_STANDING: (cosine - mean) / spread,
                Sign.COSINE_WORDS: cosine * wording.words,
                Sign.CLOSEST: 1.0 / (1 + bisect_left(falling, -cosine)),
                Sign.FRENCH_LEAD: (cosine - rival_cosine) * french,
            }
        found[one.memory_id] = signs
    return found


def judge(
    *,
    observed: tuple[Observed, ...],
    calibration: Calibration,
    wording: Wording,
    only: Collection[UUID] | None = None,
) -> dict[UUID, Relevance]:
    """Return the relevance of each candidate of a query, or of some of them only."""
    signs = signs_of(observed=observed, usual=calibration.rivals, wording=wording, only=only)
    return {id: relevance(signs=own, calibration=calibration) for id, own in signs.items()}


def relevance(*, signs: Signs, calibration: Calibration) -> Relevance:
    """Compute L(intercept + Σ slope · sign), L the logistic function."""
    parts = (
        Factor("intercept", calibration.intercept),
        *[Factor(sign, slope * signs.get(sign, 0.0)) for sign, slope in calibration.slopes.items()],
    )
    return Relevance(value=logistic(total(factors=parts)), parts=parts, signs=signs)


def logistic(x: float) -> float:
    """Compute 1 / (1 + exp(-x)), 0..1, without overflow."""
    return 0.5 * (1.0 + math.tanh(x / 2.0))


def _rivals(values: list[float], usual: float) -> float:
    best = sorted(values, reverse=True)
    return fmean([*best, *[usual] * (CROWD - len(best))][RIVALS])
