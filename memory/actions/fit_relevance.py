"""Fit relevance on the train half of a judged set, and check it on the held half (spec 11.1).

Each query is asked as usual, without silence; the signs behind each hit's relevance and the set's
judgment are the pairs. Asked twice: with the installation's embedder, and with no vectors at all.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from memory.actions.search import SearchRequest, search
from memory.actions.trial import Tell, Trial, trial
from memory.evaluation import calibration as fitting
from memory.evaluation.calibration import Checked, Pair
from memory.evaluation.judged import JudgedQuery, JudgedSet, Split
from memory.evaluation.outcomes import K
from memory.retrieval.calibrations import ANY, NO_VECTORS
from memory.retrieval.relevance import Sign

WORDS: Final = (Sign.MATCHED, Sign.MATCHED_LEAD, Sign.MISSING)
CLOSE: Final = (Sign.COSINE, Sign.COSINE_LEAD, *WORDS)
SCALE_FREE: Final = (Sign.COSINE_STANDING, *WORDS)


def fit_relevance(*, judged: JudgedSet, now: datetime, tell: Tell) -> tuple[Checked, ...]:
    """Return the rows of the installation's embedder, of any other, and of words alone.

    Raises EmbedderUnavailable when nothing can be embedded.
    """
    with trial(judged=judged, now=now, tell=tell) as filled:
        pairs, key = tuple(_pairs(filled, now)), filled.embedder
    with trial(judged=judged, now=now, with_vectors=False, tell=tell) as filled:
        worded = tuple(_pairs(filled, now))
    wanted = ((key, pairs, CLOSE), (ANY, pairs, SCALE_FREE), (NO_VECTORS, worded, WORDS))
    return tuple(_checked(name, given, signs) for name, given, signs in wanted)


def _checked(key: str, pairs: tuple[tuple[Split, Pair], ...], signs: tuple[Sign, ...]) -> Checked:
    halves = {split: tuple(pair for half, pair in pairs if half is split) for split in Split}
    row = fitting.fit(key=key, pairs=halves[Split.TRAIN], signs=signs)
    return Checked(
        calibration=row,
        reliability={
            split: fitting.reliability(pairs=given, calibration=row)
            for split, given in halves.items()
        },
        silence={
            split: fitting.silence(pairs=given, calibration=row, threshold=row.threshold)
            for split, given in halves.items()
        },
    )


def _pairs(filled: Trial, now: datetime) -> Iterator[tuple[Split, Pair]]:
    for query in filled.judged.queries:
        answer = search(caller=filled.caller, request=_request(query), now=now)
        for hit in answer.hits:
            signs: Mapping[str, Any] = hit.explain["relevance"]["signs"]
            yield (
                query.split,
                Pair(
                    query_id=query.id,
                    signs={Sign(name): float(value) for name, value in signs.items()},
                    answers=filled.names[hit.memory.id] in query.grades,
                    answerable=query.answerable,
                ),
            )


def _request(query: JudgedQuery) -> SearchRequest:
    return SearchRequest(
        query=query.text, project=query.project, as_of=query.as_of, limit=K, threshold=0.0
    )
