"""What a fit does to queries it has not seen: cross-validation on the train half.

Queries are dealt into folds, the answerable and the others alike; each fold is judged by what was
fitted on the rest (Stone 1974). So signs are chosen and the threshold is set by queries that had no
part in the slopes, and the held half is kept for one look at the end. They are dealt anew several
times, because a small half falls apart differently each time.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Final

import numpy as np

from memory.evaluation import calibration as fitting
from memory.evaluation.calibration import Pair, Silence
from memory.search.relevance import Calibration, Sign

FOLDS: Final = 5  # ours
DEALS: Final = 6  # of the folds, ours; the second decimal stands still
SEED: Final = 1974  # any; fixed, so that the same pairs give the same choice
CLEARLY: Final = 0.003  # by which more signs must part better than fewer, ours

Signs = tuple[Sign, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossed:
    """How signs do on unseen queries: area under the curve, threshold, and what that does."""

    parting: float
    threshold: float
    silence: Silence


def crossed(*, pairs: Sequence[Pair], signs: Signs) -> Crossed:
    """Return the means over the deals. Raises ValueError as `calibration.fit` does."""
    deals = tuple(_deals(pairs, signs))
    thresholds = [fitting.threshold_of(answered=answered) for answered, _ in deals]
    done = tuple(zip(deals, thresholds, strict=True))
    return Crossed(
        parting=fmean(_area(answered, others) for answered, others in deals),
        threshold=round(fmean(thresholds), fitting.DIGITS),
        silence=Silence(
            recall=fmean(fitting.below(values=others, limit=least) for (_, others), least in done),
            withheld=fmean(fitting.below(values=some, limit=least) for (some, _), least in done),
        ),
    )


def chosen(
    *, key: str, pairs: Sequence[Pair], options: Sequence[Signs]
) -> tuple[Calibration, Crossed]:
    """Fit the signs that part unseen queries best; of `options`, the fewest first.

    A later option is taken where it is better by CLEARLY. Raises ValueError without options.
    """
    best, found = None, None
    for signs in options:
        measured = crossed(pairs=pairs, signs=signs)
        if found is None or measured.parting > found.parting + CLEARLY:
            best, found = signs, measured
    if best is None or found is None:
        raise ValueError("there is nothing to choose from")
    row = fitting.fit(key=key, pairs=pairs, signs=best)
    return replace(row, threshold=found.threshold), found


def _deals(
    pairs: Sequence[Pair], signs: Signs
) -> Iterator[tuple[tuple[float, ...], tuple[float, ...]]]:
    """Yield for each deal the unseen best relevances of answerable queries, and of the others."""
    answerable = {pair.query_id: pair.answerable for pair in pairs}
    for deal in range(DEALS):
        folds = _dealt(answerable, deal)
        best: dict[str, float] = {}
        for fold in range(FOLDS):
            seen = tuple(pair for pair in pairs if folds[pair.query_id] != fold)
            unseen = tuple(pair for pair in pairs if folds[pair.query_id] == fold)
            row = fitting.fit(key="", pairs=seen, signs=signs)
            best |= fitting.best_of(pairs=unseen, calibration=row)
        yield fitting.parted(pairs=pairs, best=best)


def _dealt(answerable: dict[str, bool], deal: int) -> dict[str, int]:
    draw = np.random.default_rng(SEED + deal)
    folds: dict[str, int] = {}
    for outcome in (True, False):
        ids = sorted(id for id, has_answer in answerable.items() if has_answer is outcome)
        places = draw.permutation(len(ids))
        folds |= {id: int(place) % FOLDS for id, place in zip(ids, places, strict=True)}
    return folds


def _area(answered: Sequence[float], others: Sequence[float]) -> float:
    """Return how often an answerable query has the higher value; ties count half."""
    first, second = np.array(answered)[:, None], np.array(others)[None]
    return float(np.mean((first > second) + 0.5 * (first == second)))
