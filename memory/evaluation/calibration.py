"""Fit relevance on judged pairs, and say how far its probabilities may be believed.

A pair is a hit of a query and whether the set says that it answers. Slopes are fitted by ridge
logistic regression on standardized signs (Newton's method; le Cessie and van Houwelingen 1992); a
slope whose sign contradicts what the sign means is left out and the rest fitted again, so that
closeness and words never lower relevance. The threshold is the relevance that withholds a chosen
share of the queries that have an answer, and a least one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from memory.evaluation.dataset import Split
from memory.search import relevance as relevances
from memory.search.relevance import Calibration, Rivals, Sign, Signs

RIDGE: Final = 1.0  # pull of each standardized slope towards 0, ours
ROUNDS: Final = 30  # of Newton's method; six are enough on our sets
BINS: Final = 10  # of equal width, for reliability
WITHHELD: Final = 0.10  # share of the answerable queries that silence may cost, ours
LEAST: Final = 0.05  # of a threshold: what is wrong 19 times in 20 is noise, whatever is lost; ours
DIGITS: Final = 3  # of a constant in the table
AGAINST: Final = frozenset({Sign.MISSING})  # signs that may only lower relevance

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One hit of one query: its signs, whether it answers, and whether anything does."""

    query_id: str
    signs: Signs
    answers: bool
    answerable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """Pairs of similar relevance: how many, the mean said, and the share that answers."""

    count: int
    said: float
    true: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Reliability:
    """How well probabilities fit: mean squared error (Brier 1950), that of always saying the base
    rate, and the bins that have pairs.
    """

    brier: float
    base_brier: float
    bins: tuple[Bin, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Silence:
    """What a threshold does to queries: share of the unanswerable met with silence, and withheld
    of the answerable. `taken_out`: of answerable ones whose answers were taken out of the store.
    """

    recall: float
    withheld: float
    taken_out: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A fitted calibration, and by half how reliable it is and what its threshold does.

    `unseen`: what it does to queries of the train half that had no part in the fit; `parting`: how
    often such an answerable query has the higher relevance of two, 0..1.
    """

    calibration: Calibration
    parting: float
    unseen: Silence
    reliability: Mapping[Split, Reliability]
    silence: Mapping[Split, Silence]


def fit(*, key: str, pairs: Sequence[Pair], signs: tuple[Sign, ...]) -> Calibration:
    """Fit a calibration on these signs; its threshold withholds WITHHELD of the answerable.

    It is never below LEAST: where evidence is poor, more is withheld.

    Raises ValueError when the pairs hold only one kind of outcome, or no sign parts them.
    """
    answers = np.array([pair.answers for pair in pairs], dtype=float)
    if not 0 < answers.sum() < len(answers):
        raise ValueError("fitting needs pairs that answer and pairs that do not")
    intercept, slopes = _fitted(pairs, answers, signs)
    wrong = tuple(sign for sign, slope in slopes.items() if (slope < 0) != (sign in AGAINST))
    if len(wrong) == len(signs):
        raise ValueError("no sign tells pairs that answer from others the way it should")
    if wrong:
        return fit(key=key, pairs=pairs, signs=tuple(sign for sign in signs if sign not in wrong))
    free = Calibration(
        key=key, intercept=intercept, slopes=slopes, threshold=0.0, rivals=_rivals(pairs)
    )
    answered, _ = parted(pairs=pairs, best=best_of(pairs=pairs, calibration=free))
    return replace(free, threshold=threshold_of(answered=answered))


def threshold_of(*, answered: Sequence[float]) -> float:
    """Return the relevance below which WITHHELD of these answerable queries are, or LEAST."""
    return max(LEAST, _cut(float(np.quantile(answered, WITHHELD, method="lower")), DIGITS))


def best_of(*, pairs: Sequence[Pair], calibration: Calibration) -> dict[str, float]:
    """Return the relevance of the best hit of each query."""
    best: dict[str, float] = {}
    for pair in pairs:
        best[pair.query_id] = max(best.get(pair.query_id, 0.0), _value(pair, calibration))
    return best


def parted(
    *, pairs: Sequence[Pair], best: Mapping[str, float]
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the best relevances of the answerable queries, and of the others."""
    answerable = {pair.query_id: pair.answerable for pair in pairs}
    answered = tuple(value for id, value in best.items() if answerable[id])
    return answered, tuple(value for id, value in best.items() if not answerable[id])


def reliability(*, pairs: Sequence[Pair], calibration: Calibration) -> Reliability:
    """Compare what is said with what is so. Raises ValueError without pairs."""
    if not pairs:
        raise ValueError("reliability needs pairs")
    said = np.array([_value(pair, calibration) for pair in pairs])
    true = np.array([pair.answers for pair in pairs], dtype=float)
    place = np.minimum((said * BINS).astype(int), BINS - 1)
    bins = tuple(
        Bin(
            count=int((place == number).sum()),
            said=float(said[place == number].mean()),
            true=float(true[place == number].mean()),
        )
        for number in range(BINS)
        if (place == number).any()
    )
    return Reliability(
        brier=float(((said - true) ** 2).mean()), base_brier=float(true.var()), bins=bins
    )


def silence(*, pairs: Sequence[Pair], calibration: Calibration, threshold: float) -> Silence:
    """Return what silence below a threshold does to the queries that have candidates."""
    answered, others = parted(pairs=pairs, best=best_of(pairs=pairs, calibration=calibration))
    return Silence(
        recall=below(values=others, limit=threshold),
        withheld=below(values=answered, limit=threshold),
    )


def below(*, values: Sequence[float], limit: float) -> float:
    """Return the share of values below a limit; 0 without values."""
    return sum(value < limit for value in values) / len(values) if values else 0.0


def _fitted(
    pairs: Sequence[Pair], answers: Array, signs: tuple[Sign, ...]
) -> tuple[float, Mapping[Sign, float]]:
    raw = np.array([[pair.signs.get(sign, 0.0) for sign in signs] for pair in pairs])
    mean, spread = raw.mean(axis=0), raw.std(axis=0) + 1e-9
    beta = _newton((raw - mean) / spread, answers)
    slopes = beta[1:] / spread
    intercept = float(beta[0] - slopes @ mean)
    rounded = {sign: round(float(s), DIGITS) for sign, s in zip(signs, slopes, strict=True)}
    return round(intercept, DIGITS), rounded


def _newton(standard: Array, answers: Array) -> Array:
    """Return the intercept and slopes that minimize -log-likelihood + ridge / 2 · |slopes|²."""
    x = np.column_stack([np.ones(len(standard)), standard])
    pull = np.diag([0.0, *[RIDGE] * standard.shape[1]])
    beta = np.zeros(x.shape[1])
    for _ in range(ROUNDS):
        said = 0.5 * (1.0 + np.tanh(x @ beta / 2.0))
        gradient = x.T @ (answers - said) - pull @ beta
        curvature = (x * (said * (1 - said))[:, None]).T @ x + pull
        beta = beta + np.linalg.solve(curvature, gradient)
    return beta


def _rivals(pairs: Sequence[Pair]) -> Rivals:
    """Return what stood against the hits of these pairs on average."""
    return Rivals(
        cosine=_mean_rival(pairs, Sign.COSINE, Sign.COSINE_LEAD),
        matched=_mean_rival(pairs, Sign.MATCHED, Sign.MATCHED_LEAD),
    )


def _mean_rival(pairs: Sequence[Pair], sign: Sign, lead: Sign) -> float:
    values = [pair.signs[sign] - pair.signs[lead] for pair in pairs if lead in pair.signs]
    return round(float(np.mean(values or [0.0])), DIGITS)


def _value(pair: Pair, calibration: Calibration) -> float:
    return relevances.relevance(signs=pair.signs, calibration=calibration).value


def _cut(value: float, digits: int) -> float:
    """Round down, so that what stood at the threshold still passes."""
    return float(np.floor(value * 10**digits) / 10**digits)
