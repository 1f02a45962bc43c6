"""Fit relevance and the weights of fusion on judged queries, and say how far to believe them.

A pair is a hit of a query and whether the set says that it answers. Slopes are fitted by ridge
logistic regression on standardized signs (Newton's method; le Cessie and van Houwelingen 1992); a
slope whose sign contradicts what the sign means is left out and the rest fitted again, so that
closeness and words never lower relevance. The threshold is the relevance that withholds a chosen
share of the queries that have an answer, and a least one.

Which signs are used, and the threshold, are chosen by cross-validation on the train half: queries
are dealt into folds, the answerable and the others alike, and each fold is judged by what was
fitted on the rest (Stone 1974). They are dealt anew several times, because a small half falls apart
differently each time. The held half is kept for one look at the end.

Weights of fusion are chosen on a coarse grid. A point's value is the mean over itself and its
neighbors on the grid, so that a lucky point does not win; the winner replaces the usual weights
only where the interval of its paired gain excludes zero.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Final

import numpy as np
import numpy.typing as npt

from memory.evaluation import measures
from memory.evaluation.dataset import Split
from memory.evaluation.measures import Interval
from memory.search import relevance as relevances
from memory.search.fusion import Path
from memory.search.relevance import Calibration, Rivals, Sign, Signs

ROUNDS: Final = 30  # of Newton's method; six are enough on our sets
DIGITS: Final = 3  # of a constant in the table
AGAINST: Final = frozenset({Sign.MISSING})  # signs that may only lower relevance
# Defaults, not measured:
RIDGE: Final = 1.0  # pull of each standardized slope towards 0
BINS: Final = 10  # of equal width, for reliability
WITHHELD: Final = 0.10  # share of the answerable queries that silence may cost
LEAST: Final = 0.05  # of a threshold: what is wrong 19 times in 20 is noise, whatever is lost
FOLDS: Final = 5
DEALS: Final = 6  # of the folds; the second decimal is steady
SEED: Final = 1974  # any; fixed, so that the same pairs give the same choice
CLEARLY: Final = 0.003  # by which more signs must part better than fewer
STEPS: Final = 10  # of a weight from 0 to 1
PATHS: Final = (Path.DENSE, Path.KEYWORD, Path.GRAPH)

Array = npt.NDArray[np.float64]
Point = tuple[int, int, int]  # of PATHS, in steps; they sum to STEPS


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredPair:
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
class Crossed:
    """How signs do on unseen queries: threshold, what it does, and how often an answerable query
    has the higher relevance of two, 0..1.
    """

    parting: float
    threshold: float
    silence: Silence


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A fitted calibration, how it does on unseen queries, and by half how reliable it is."""

    calibration: Calibration
    crossed: Crossed
    halves: Mapping[Split, tuple[Reliability, Silence]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The best weights of a grid, their smoothed value, and the gain over the usual ones."""

    weights: Mapping[str, float]
    value: float
    gain: Interval | None
    usual: float

    @property
    def is_better(self) -> bool:
        """Whether the gain is no accident of the queries."""
        return self.gain is not None and self.gain.low > 0


def fit(*, key: str, pairs: Sequence[ScoredPair], signs: tuple[Sign, ...]) -> Calibration:
    """Fit a calibration on these signs; its threshold withholds WITHHELD of the answerable.

    It is never below LEAST: where evidence is poor, more is withheld. Raises ValueError when the
    pairs hold only one kind of outcome, or no sign parts them.
    """
    answers = np.array([pair.answers for pair in pairs], dtype=float)
    if not 0 < answers.sum() < len(answers):
        raise ValueError("fitting needs pairs that answer and pairs that do not")
    raw = np.array([[pair.signs.get(sign, 0.0) for sign in signs] for pair in pairs])
    mean, spread = raw.mean(axis=0), raw.std(axis=0) + 1e-9
    beta = fit_logistic(standard=(raw - mean) / spread, answers=answers)
    fitted = beta[1:] / spread
    slopes = {sign: round(float(s), DIGITS) for sign, s in zip(signs, fitted, strict=True)}
    right = tuple(sign for sign, slope in slopes.items() if (slope < 0) == (sign in AGAINST))
    if not right:
        raise ValueError("no sign tells pairs that answer from others the way it should")
    if right != signs:
        return fit(key=key, pairs=pairs, signs=right)
    free = Calibration(
        key=key,
        intercept=round(float(beta[0] - fitted @ mean), DIGITS),
        slopes=slopes,
        threshold=0.0,
        rivals=Rivals(
            cosine=_mean_rival(pairs, Sign.COSINE, Sign.COSINE_LEAD),
            matched=_mean_rival(pairs, Sign.MATCHED, Sign.MATCHED_LEAD),
        ),
    )
    answered, _ = _part(pairs, _best_of(pairs, free))
    return replace(free, threshold=threshold_of(answered=answered))


def fit_logistic(*, standard: Array, answers: Array) -> Array:
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


def _mean_rival(pairs: Sequence[ScoredPair], sign: Sign, lead: Sign) -> float:
    """Return what was against the hits of these pairs on average."""
    values = [pair.signs[sign] - pair.signs[lead] for pair in pairs if lead in pair.signs]
    return round(float(np.mean(values or [0.0])), DIGITS)


def threshold_of(*, answered: Sequence[float]) -> float:
    """Return the relevance below which WITHHELD of these answerable queries are, or LEAST.

    Rounded down, so that what is at the threshold still passes.
    """
    quantile = float(np.quantile(answered, WITHHELD, method="lower"))
    return max(LEAST, float(np.floor(quantile * 10**DIGITS) / 10**DIGITS))


def _best_of(pairs: Sequence[ScoredPair], calibration: Calibration) -> dict[str, float]:
    """Return the relevance of the best hit of each query."""
    best: dict[str, float] = {}
    for pair in pairs:
        best[pair.query_id] = max(best.get(pair.query_id, 0.0), _value(pair, calibration))
    return best


def _part(
    pairs: Sequence[ScoredPair], best: Mapping[str, float]
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the best relevances of the answerable queries, and of the others."""
    answerable = {pair.query_id for pair in pairs if pair.answerable}
    answered = tuple(value for id, value in best.items() if id in answerable)
    return answered, tuple(value for id, value in best.items() if id not in answerable)


def reliability(*, pairs: Sequence[ScoredPair], calibration: Calibration) -> Reliability:
    """Compare what is said with what is so."""
    said = np.array([_value(pair, calibration) for pair in pairs])
    true = np.array([pair.answers for pair in pairs], dtype=float)
    number = np.minimum((said * BINS).astype(int), BINS - 1)
    bins = tuple(
        Bin(count=int(own.sum()), said=float(said[own].mean()), true=float(true[own].mean()))
        for own in (number == each for each in range(BINS))
        if own.any()
    )
    return Reliability(
        brier=float(((said - true) ** 2).mean()), base_brier=float(true.var()), bins=bins
    )


def silence(*, pairs: Sequence[ScoredPair], calibration: Calibration) -> Silence:
    """Return what silence below the threshold does to the queries that have candidates."""
    return _silence(*_part(pairs, _best_of(pairs, calibration)), calibration.threshold)


def cross_validate(*, pairs: Sequence[ScoredPair], signs: tuple[Sign, ...]) -> Crossed:
    """Return the means over the deals. Raises ValueError as `fit` does."""
    deals = tuple(_deals(pairs, signs))
    thresholds = [threshold_of(answered=answered) for answered, _ in deals]
    effects = [_silence(*deal, least) for deal, least in zip(deals, thresholds, strict=True)]
    return Crossed(
        parting=fmean(_area(answered, others) for answered, others in deals),
        threshold=round(fmean(thresholds), DIGITS),
        silence=Silence(
            recall=fmean(one.recall for one in effects),
            withheld=fmean(one.withheld for one in effects),
        ),
    )


def choose_signs(
    *, key: str, pairs: Sequence[ScoredPair], options: Sequence[tuple[Sign, ...]]
) -> tuple[Calibration, Crossed]:
    """Fit the signs that part unseen queries best; of `options`, the fewest first.

    A later option is taken where it is better by CLEARLY.
    """
    best, *more = options
    found = cross_validate(pairs=pairs, signs=best)
    for signs in more:
        measured = cross_validate(pairs=pairs, signs=signs)
        if measured.parting > found.parting + CLEARLY:
            best, found = signs, measured
    row = fit(key=key, pairs=pairs, signs=best)
    return replace(row, threshold=found.threshold), found


def _deal(answerable: dict[str, bool], *, seed: int) -> dict[str, int]:
    """Return a fold for each query; answerable ones and the others are dealt evenly."""
    draw = np.random.default_rng(seed)
    folds: dict[str, int] = {}
    for outcome in (True, False):
        ids = sorted(id for id, has_answer in answerable.items() if has_answer is outcome)
        places = draw.permutation(len(ids))
        folds |= {id: int(place) % FOLDS for id, place in zip(ids, places, strict=True)}
    return folds


def _deals(
    pairs: Sequence[ScoredPair], signs: tuple[Sign, ...]
) -> Iterator[tuple[tuple[float, ...], tuple[float, ...]]]:
    """Yield for each deal the unseen best relevances of answerable queries, and of the others."""
    answerable = {pair.query_id: pair.answerable for pair in pairs}
    for deal in range(DEALS):
        folds = _deal(answerable, seed=SEED + deal)
        best: dict[str, float] = {}
        for fold in range(FOLDS):
            seen = tuple(pair for pair in pairs if folds[pair.query_id] != fold)
            unseen = tuple(pair for pair in pairs if folds[pair.query_id] == fold)
            best |= _best_of(unseen, fit(key="", pairs=seen, signs=signs))
        yield _part(pairs, best)


def _area(answered: Sequence[float], others: Sequence[float]) -> float:
    """Return how often an answerable query has the higher value; ties count half."""
    first, second = np.array(answered)[:, None], np.array(others)[None]
    return float(np.mean((first > second) + 0.5 * (first == second)))


def _silence(answered: Sequence[float], others: Sequence[float], threshold: float) -> Silence:
    recall, withheld = (
        sum(value < threshold for value in values) / len(values) if values else 0.0
        for values in (others, answered)
    )
    return Silence(recall=recall, withheld=withheld)


def _value(pair: ScoredPair, calibration: Calibration) -> float:
    return relevances.relevance(signs=pair.signs, calibration=calibration).value


def weight_grid() -> dict[Point, Mapping[str, float]]:
    """Return every point whose dense and keyword weights are not both zero, with its weights."""
    points = (
        (dense, keyword, STEPS - dense - keyword)
        for dense in range(STEPS + 1)
        for keyword in range(STEPS + 1 - dense)
        if dense + keyword
    )
    return {
        point: {path.value: steps / STEPS for path, steps in zip(PATHS, point, strict=True)}
        for point in points
    }


def choose_weights(*, measured: Mapping[Point, Sequence[float]], usual: Sequence[float]) -> Choice:
    """Choose from a measured grid; values are per query, in the order of the usual ones."""
    means = {point: fmean(values) for point, values in measured.items()}
    moves = ((0, 0, 0), (1, -1, 0), (-1, 1, 0), (1, 0, -1), (-1, 0, 1), (0, 1, -1), (0, -1, 1))
    smooth = {}
    for dense, keyword, graph in means:
        near = ((dense + a, keyword + b, graph + c) for a, b, c in moves)
        smooth[dense, keyword, graph] = fmean(means[point] for point in near if point in means)
    best = max(smooth, key=lambda point: (smooth[point], point))
    return Choice(
        weights=weight_grid()[best],
        value=smooth[best],
        gain=measures.paired(first=usual, second=measured[best]),
        usual=fmean(usual),
    )
