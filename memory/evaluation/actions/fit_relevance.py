"""Fit relevance on the train half of a judged set, and check it on the held half.

Each query is asked as usual, without silence; the signs behind each hit's relevance and the set's
judgment are the pairs. Asked twice: with the installation's embedder, and with no vectors at all.
Every query that has an answer is also asked while its answers are out of the store: what it finds
then is near and wrong, and there are three times as many of them as of queries that nothing
answers. They are looked at and not fitted on: fitting on them too parted unseen queries worse.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from memory.evaluation import calibration as fitting
from memory.evaluation import cross_validation
from memory.evaluation.actions.sandbox import Tell, Trial, taken_out, trial
from memory.evaluation.calibration import Checked, Pair, Silence
from memory.evaluation.dataset import JudgedQuery, JudgedSet, Split
from memory.evaluation.outcomes import K
from memory.search.actions import search
from memory.search.relevance import ANY, NO_VECTORS, Calibration, Sign
from memory.search.request import SearchRequest

WORDS: Final = (Sign.MATCHED, Sign.MATCHED_LEAD, Sign.MISSING)
CLOSE: Final = (Sign.COSINE, Sign.COSINE_LEAD, *WORDS)
SCALE_FREE: Final = (Sign.COSINE_STANDING, *WORDS)
OF_WORDS: Final = (WORDS, (*WORDS, Sign.FRENCH_MATCHED))
OF_CLOSE: Final = (  # the fewest first
    CLOSE,
    (*CLOSE, Sign.CLOSEST),
    (*CLOSE, Sign.CLOSEST, Sign.COSINE_WORDS, Sign.FRENCH_LEAD),
)
OF_SCALE_FREE: Final = (SCALE_FREE, (*SCALE_FREE, Sign.CLOSEST))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Half:
    """The pairs of a half of the queries: as usual, and with their answers taken out."""

    usual: tuple[Pair, ...]
    taken_out: tuple[Pair, ...]


Halves = Mapping[Split, _Half]


def fit_relevance(
    *, judged: JudgedSet, with_held: bool = False, now: datetime, tell: Tell
) -> tuple[Checked, ...]:
    """Return the rows of the installation's embedder, of any other, and of words alone.

    The held half is looked at when nothing is chosen any more. Raises EmbedderUnavailable when
    nothing can be embedded.
    """
    splits = tuple(Split) if with_held else (Split.TRAIN,)
    with trial(judged=judged, now=now, tell=tell) as filled:
        close, key = _halves(filled, splits, now, tell), filled.embedder
    with trial(judged=judged, now=now, with_vectors=False, tell=tell) as filled:
        worded = _halves(filled, splits, now, tell)
    wanted = (
        (key, close, OF_CLOSE),
        (ANY, close, OF_SCALE_FREE),
        (NO_VECTORS, worded, OF_WORDS),
    )
    return tuple(_checked(name, given, options) for name, given, options in wanted)


def _checked(key: str, halves: Halves, options: tuple[tuple[Sign, ...], ...]) -> Checked:
    train = halves[Split.TRAIN]
    row, crossed = cross_validation.chosen(key=key, pairs=train.usual, options=options)
    return Checked(
        calibration=row,
        parting=crossed.parting,
        unseen=crossed.silence,
        reliability={
            split: fitting.reliability(pairs=half.usual, calibration=row)
            for split, half in halves.items()
        },
        silence={split: _silence(half, row) for split, half in halves.items()},
    )


def _silence(half: _Half, row: Calibration) -> Silence:
    usual, without = (
        fitting.silence(pairs=pairs, calibration=row, threshold=row.threshold)
        for pairs in (half.usual, half.taken_out)
    )
    return replace(usual, taken_out=without.recall)


def _halves(filled: Trial, splits: tuple[Split, ...], now: datetime, tell: Tell) -> Halves:
    halves = {}
    for split in splits:
        queries = tuple(one for one in filled.judged.queries if one.split is split)
        halves[split] = _Half(
            usual=tuple(pair for one in queries for pair in _pairs(filled, one, now)),
            taken_out=tuple(
                pair for one in queries if one.answerable for pair in _without(filled, one, now)
            ),
        )
        tell(f"asked {len(queries)} queries of the half {split}, with and without their answers")
    return halves


def _without(filled: Trial, query: JudgedQuery, now: datetime) -> tuple[Pair, ...]:
    with taken_out(filled=filled, names=frozenset(query.grades)):
        return tuple(_pairs(filled, replace(query, grades={}), now))


def _pairs(filled: Trial, query: JudgedQuery, now: datetime) -> Iterator[Pair]:
    answer = search(caller=filled.caller, request=_request(query), now=now)
    for hit in answer.hits:
        signs: Mapping[str, Any] = hit.explain["relevance"]["signs"]
        yield Pair(
            query_id=query.id,
            signs={Sign(name): float(value) for name, value in signs.items()},
            answers=filled.names[hit.memory.id] in query.grades,
            answerable=query.answerable,
        )


def _request(query: JudgedQuery) -> SearchRequest:
    return SearchRequest(
        query=query.text, project=query.project, as_of=query.as_of, limit=K, threshold=0.0
    )
