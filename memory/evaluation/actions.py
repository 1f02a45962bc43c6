"""Evaluate searches and extraction on judged sets, and fit what searches are judged by.

Each run fills an organization that is never there (`sandbox.trial`) and leaves nothing of it. Each
query goes through `search()` with each profile in turns, so that no profile has the warmer machine.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from accounts import tenancy
from accounts.errors import wrong_field
from accounts.messages import message
from memory.customization import phases
from memory.evaluation import conversations, fitting, measures
from memory.evaluation.dataset import JudgedQuery, JudgedSet, Split
from memory.evaluation.sandbox import Tell, Trial, taken_out, trial
from memory.extraction import extract, model_answers
from memory.extraction.actions import Allowance, Mode, extract_part
from memory.index.actions import embedding
from memory.search import fusion, packing, query, ranking, refinement, relevance
from memory.search import pool as pools
from memory.search.actions import SearchAnswer, search
from memory.search.request import PROFILES, SearchRequest, Silence
from memory.taxonomy import MemoryType
from memory.text import tokens

PACK: Final = phases.TABLES[phases.Phase.IMPLEMENT].budget  # what an agent at work is given
SHOW_EVERY: Final = 100  # queries between two lines of progress
TENANT: Final = "evaluation"  # whose circuit the calls of an extraction use
WORDS: Final = (relevance.Sign.MATCHED, relevance.Sign.MATCHED_LEAD, relevance.Sign.MISSING)
CLOSE: Final = (relevance.Sign.COSINE, relevance.Sign.COSINE_LEAD, *WORDS)
SCALE_FREE: Final = (relevance.Sign.COSINE_STANDING, *WORDS)
SIGNS_OF_WORDS: Final = (WORDS, (*WORDS, relevance.Sign.FRENCH_MATCHED))  # the fewest first
SIGNS_OF_CLOSE: Final = (
    CLOSE,
    (*CLOSE, relevance.Sign.CLOSEST),
    (*CLOSE, relevance.Sign.CLOSEST, relevance.Sign.COSINE_WORDS, relevance.Sign.FRENCH_LEAD),
)
SIGNS_OF_ANY: Final = (SCALE_FREE, (*SCALE_FREE, relevance.Sign.CLOSEST))
BARE: Final = SearchRequest(query="", limit=measures.K, threshold=0.0)  # without silence

Halves = Mapping[Split, tuple[tuple[fitting.ScoredPair, ...], tuple[fitting.ScoredPair, ...]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What came of a conversation, and why words stood in for a model, where they did."""

    outcome: conversations.CaseOutcome
    degraded: str
    tokens: int


def evaluate(
    *,
    judged: JudgedSet,
    profiles: tuple[str, ...],
    reranks: tuple[str, ...] = (refinement.Rerank.USUAL.value,),
    split: Split | None,
    now: datetime,
    tell: Tell,
) -> measures.Evaluation:
    """Ask the queries of a set, of one half or all, of each profile; leave nothing behind.

    Each profile is asked with each way of reranking; but for the usual, it is `profile+way`. `tell`
    hears how far it is. Raises InvalidInput for an unknown profile or a half without queries,
    EmbedderUnavailable when nothing can be embedded.
    """
    if not profiles or not set(profiles) <= set(PROFILES):
        detail = message("Name profiles among: {names}.", names=tuple(PROFILES))
        raise wrong_field(pointer="/profiles", detail=detail, code="choice")
    queries = tuple(query for query in judged.queries if split in {None, query.split})
    if not queries:
        raise wrong_field(pointer="/split", detail="No query is in this half.", code="empty")
    ways = {
        profile if rerank == refinement.Rerank.USUAL else f"{profile}+{rerank}": SearchRequest(
            query="", limit=measures.K, profile=profile, rerank=rerank
        )
        for profile in profiles
        for rerank in reranks
    }
    with trial(judged=replace(judged, queries=queries), now=now, tell=tell) as filled:
        systems, degraded = _ask(filled, ways, now, tell)
    return measures.Evaluation(
        judged=filled.judged,
        split=split,
        embedder=filled.embedder,
        embedded=filled.embedded,
        refused=filled.refused,
        degraded=degraded,
        systems=systems,
    )


def _ask(
    filled: Trial, ways: dict[str, SearchRequest], now: datetime, tell: Tell
) -> tuple[dict[str, tuple[measures.Asked, ...]], tuple[str, ...]]:
    caller, queries = filled.caller, filled.judged.queries
    found: dict[str, list[measures.Asked]] = {name: [] for name in ways}
    degraded: dict[str, None] = {}
    for way in ways.values():
        search(caller=caller, request=_request(queries[0], way), now=now)  # loads, plans
    for number, one in enumerate(queries, start=1):
        for name, way in ways.items():
            usual = _request(one, way)
            bare = search(caller=caller, request=replace(usual, threshold=0.0), now=now)
            answer = search(caller=caller, request=replace(usual, silence=Silence.HIT), now=now)
            degraded.update(dict.fromkeys(answer.degraded))
            found[name].append(_asked(one, bare, answer, filled.names))
        if number % SHOW_EVERY == 0 or number == len(queries):
            tell(f"asked {number} of {len(queries)} queries")
    return {name: tuple(asked) for name, asked in found.items()}, tuple(degraded)


def _request(one: JudgedQuery, way: SearchRequest) -> SearchRequest:
    return replace(way, query=one.text, project=one.project, as_of=one.as_of)


def _asked(
    one: JudgedQuery, bare: SearchAnswer, answer: SearchAnswer, names: dict[UUID, str]
) -> measures.Asked:
    costs = tuple(
        (MemoryType(hit.memory.type), tokens.count(text=hit.memory.content)) for hit in answer.hits
    )
    packed = packing.pack(costs=costs, budget=PACK)
    return measures.Asked(
        query_id=one.id,
        ranked=tuple(names[hit.memory.id] for hit in bare.hits),
        best_relevance=max((hit.relevance for hit in bare.hits), default=0.0),
        silent=answer.nothing_relevant,
        pack=tuple(names[answer.hits[place].memory.id] for place in packed),
        pack_tokens=sum(costs[place][1] for place in packed),
        took_ms=answer.took_ms,
        stages=answer.stages,
    )


def evaluate_extraction(*, conversation: conversations.Conversation, mode: Mode) -> Measured:
    """Extract from one labelled conversation, by words or with the installation's model; judge it.

    A model is asked once for each 30 turns.
    """
    allowance = Allowance(mode=mode, calls=len(conversation.turns), tokens=None, may_leave=True)
    found: list[extract.Candidate] = []
    degraded, spent = "", 0
    for batch in model_answers.batches(turns=conversation.turns):
        part = extract_part(turns=batch, allowance=allowance, tenant=TENANT)
        found.extend(part.candidates)
        degraded = part.degraded or degraded
        spent += part.spent.tokens
    outcome = conversations.judge(conversation=conversation, candidates=found)
    return Measured(outcome=outcome, degraded=degraded, tokens=spent)


def fit_relevance(
    *, judged: JudgedSet, with_held: bool = False, now: datetime, tell: Tell
) -> tuple[fitting.Checked, ...]:
    """Return the rows of the installation's embedder, of any other, and of words alone.

    Each query of the train half is asked without silence, with the installation's embedder and with
    no vectors at all; the signs behind each hit's relevance and the set's judgment are the pairs.
    Every query that has an answer is also asked while its answers are out of the store: what it
    finds then is near and wrong, and there are three times as many of them as of queries that
    nothing answers. They are looked at and not fitted on: fitting on them too parted unseen queries
    worse. The held half is looked at when nothing is chosen any more. Raises EmbedderUnavailable
    when nothing can be embedded.
    """
    splits = tuple(Split) if with_held else (Split.TRAIN,)
    with trial(judged=judged, now=now, tell=tell) as filled:
        close, key = _halves(filled, splits, now, tell), filled.embedder
    with trial(judged=judged, now=now, with_vectors=False, tell=tell) as filled:
        worded = _halves(filled, splits, now, tell)
    return tuple(
        _checked(name, halves, options)
        for name, halves, options in (
            (key, close, SIGNS_OF_CLOSE),
            (relevance.ANY, close, SIGNS_OF_ANY),
            (relevance.NO_VECTORS, worded, SIGNS_OF_WORDS),
        )
    )


def _checked(
    key: str, halves: Halves, options: Sequence[tuple[relevance.Sign, ...]]
) -> fitting.Checked:
    train, _ = halves[Split.TRAIN]
    row, crossed = fitting.choose_signs(key=key, pairs=train, options=options)
    halves_checked = {}
    for split, (usual, without) in halves.items():
        away = fitting.silence(pairs=without, calibration=row).recall
        silence = replace(fitting.silence(pairs=usual, calibration=row), taken_out=away)
        halves_checked[split] = fitting.reliability(pairs=usual, calibration=row), silence
    return fitting.Checked(calibration=row, crossed=crossed, halves=halves_checked)


def _halves(filled: Trial, splits: tuple[Split, ...], now: datetime, tell: Tell) -> Halves:
    """Return the pairs of each half: as usual, and with the answers taken out of the store."""
    halves = {}
    for split in splits:
        queries = tuple(one for one in filled.judged.queries if one.split is split)
        usual = tuple(pair for one in queries for pair in _pairs(filled, one, now))
        without: list[fitting.ScoredPair] = []
        for one in queries:
            if one.answerable:
                with taken_out(filled=filled, names=frozenset(one.relevant)):
                    without += _pairs(filled, replace(one, relevant={}), now)
        halves[split] = (usual, tuple(without))
        tell(f"asked {len(queries)} queries of the half {split}, with and without their answers")
    return halves


def _pairs(filled: Trial, one: JudgedQuery, now: datetime) -> Iterator[fitting.ScoredPair]:
    answer = search(caller=filled.caller, request=_request(one, BARE), now=now)
    for hit in answer.hits:
        signs: Mapping[str, Any] = hit.explain["relevance"]["signs"]
        yield fitting.ScoredPair(
            query_id=one.id,
            signs={relevance.Sign(name): float(value) for name, value in signs.items()},
            answers=filled.names[hit.memory.id] in one.relevant,
            answerable=one.answerable,
        )


def fit_weights(
    *, judged: JudgedSet, now: datetime, tell: Tell
) -> Mapping[query.QueryKind, tuple[int, fitting.Choice]]:
    """Return by kind how many answerable train queries it has, and what fits them best.

    Candidates are gathered once a query; ranking them anew under each point of the grid is pure.
    Raises EmbedderUnavailable when nothing can be embedded.
    """
    train = tuple(one for one in judged.queries if one.split is Split.TRAIN and one.answerable)
    with trial(judged=replace(judged, queries=train), now=now, tell=tell) as filled:
        gathered = tuple(_gathered(filled, now))
        names = filled.names
    choices = {}
    for kind in query.QueryKind:
        some = [(one, pool) for one, pool in gathered if pool.kind is kind]
        if some:
            usual = _ndcg(some, names, fusion.WEIGHTS[kind])
            grid = fitting.weight_grid().items()
            measured = {point: _ndcg(some, names, weights) for point, weights in grid}
            choices[kind] = len(some), fitting.choose_weights(measured=measured, usual=usual)
    return choices


def _gathered(filled: Trial, now: datetime) -> Iterator[tuple[JudgedQuery, pools.Pool]]:
    for one in filled.judged.queries:
        asked = query.understand(text=one.text)
        embedded = embedding.embed_query(text=asked.normalized, key=filled.embedder)
        request = _request(one, BARE)
        with tenancy.unit():
            pool = pools.gather(
                caller=filled.caller, request=request, asked=asked, embedded=embedded, now=now
            )
        yield one, pool


def _ndcg(
    gathered: Sequence[tuple[JudgedQuery, pools.Pool]],
    names: Mapping[UUID, str],
    given: Mapping[str, float],
) -> tuple[float, ...]:
    """Return the nDCG of each query under some weights; paths without one keep the usual."""
    found = []
    for one, pool in gathered:
        weights = {**fusion.WEIGHTS[pool.kind], **given}
        task = replace(pools.task_of(pool=pool, request=BARE), weights=weights, shares={})
        standings = ranking.rank(
            candidates=pools.candidates_of(pool=pool), evidence=pool.known, task=task
        )
        ranked = tuple(names[standing.memory_id] for standing in standings[: measures.K])
        found.append(measures.ndcg_at(ranked=ranked, grades=one.relevant, k=measures.K))
    return tuple(found)
