"""Typed callers of the named queries: what a search finds."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import orjson
from psycopg.types.json import Jsonb

from memory import sql_queries
from memory.index.models import LARGEST_PREFIX
from memory.index.sql import search_rows
from memory.providers.contracts import Vectors
from memory.records.states import LIVE, States
from memory.search.candidates import Path
from memory.text import globs as text_globs
from teams.visibility import Sight, parameters

GRAPH_LIMIT: Final = 15
NAMED_LIMIT: Final = 15  # ours
MOST_NEAR: Final = 64  # names around which the graph path looks, the first ones


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A candidate: cosine -1..1 or None without a vector, BM25 >= 0, share of the words asked.

    `graph` >= 0 says how much it has to do with the files asked about, 0 when nothing; `entities`
    how rare the things are that the question names and it too, likewise.
    """

    memory_id: UUID
    cosine: float | None
    bm25: float
    matched: float
    graph: float = 0.0
    entities: float = 0.0
    communities: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a search asks of the database; `model` is the key of the vector's model.

    Filters that are empty let everything through: `tags` all of, `files` any of (paths, ends of
    paths, globs), `modules` any of, learned at or after `since` and before `until`, `author` a
    person's id, agent or tool, `states` whether only what is live, confidence from `least_sure` to
    `most_sure`. `near` are paths and code names around which the graph path looks, `named` the keys
    of things that may be named, `spelled` the words of the question that do, `kinds` those of links
    that the question is about.
    """

    model: str
    vector: Vectors | None
    words: str
    projects: tuple[UUID, ...] | None
    type_codes: tuple[int, ...] | None
    moment: datetime | None
    dense_limit: int
    keyword_limit: int
    graph_limit: int = GRAPH_LIMIT
    named_limit: int = NAMED_LIMIT
    tags: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    author: str | None = None
    modules: tuple[str, ...] = ()
    topics: tuple[UUID, ...] | None = None
    topics_limit: int = 0
    states: States = LIVE
    least_sure: float | None = None
    most_sure: float | None = None
    near: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    spelled: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """What all paths found, and the model whose vectors the organization compares, if any."""

    active_model: str | None
    found: tuple[Found, ...]


def limits(*, question: Question) -> dict[str, int]:
    """Return how many memories each path but the graph's brings at most."""
    return {
        Path.DENSE: _dense_limit(question),
        Path.KEYWORD: question.keyword_limit,
        Path.ENTITIES: question.named_limit,
        Path.COMMUNITIES: question.topics_limit,
    }


def candidates(*, question: Question, sight: Sight) -> Candidates:
    """Return the candidates of all paths that the sight allows, in no order.

    Of a model with more dimensions than a scan reads, twice as many are taken by the first ones,
    and their cosines are those of the whole vectors.
    """
    rows = sql_queries.rows(
        "candidates",
        model=question.model,
        query=None if question.vector is None else search_rows.prefix_text(vector=question.vector),
        request=Jsonb(_search_request(question, sight), dumps=orjson.dumps),
    )
    found = tuple(
        Found(
            memory_id=row[1],
            cosine=row[2],
            bm25=row[3],
            matched=row[4],
            graph=row[5],
            entities=row[6],
            communities=row[7],
        )
        for row in rows
        if row[1] is not None
    )
    return Candidates(active_model=rows[0][0], found=_by_whole(question, found))


def _dense_limit(question: Question) -> int:
    return question.dense_limit * (search_rows.PREFIX_SURPLUS if _is_long(question.vector) else 1)


def _is_long(vector: Vectors | None) -> bool:
    return vector is not None and len(vector) > LARGEST_PREFIX


def _by_whole(question: Question, found: tuple[Found, ...]) -> tuple[Found, ...]:
    if question.vector is None or not _is_long(question.vector):
        return found
    ids = tuple(item.memory_id for item in found if item.cosine is not None)
    cosines = search_rows.whole_cosines(key=question.model, vector=question.vector, memory_ids=ids)
    return tuple(replace(item, cosine=cosines.get(item.memory_id, item.cosine)) for item in found)


def _search_request(question: Question, sight: Sight) -> dict[str, Any]:
    """Return the fields of the SQL type search_request; a filter that is None lets all through."""
    files = question.files
    globs = [text_globs.like(glob=file) for file in files if text_globs.is_glob(text=file)]
    near = [name for name in question.near if len(name) <= text_globs.LONGEST]
    return {
        "words": question.words,
        **parameters(sight=sight),
        "projects": question.projects,
        "types": question.type_codes,
        "moment": question.moment,
        "since": question.since,
        "until": question.until,
        "by_tags": question.tags or None,
        "by_files": [file for file in files if not text_globs.is_glob(text=file)] or None,
        "by_globs": globs or None,
        "by_modules": question.modules or None,
        "by_author": question.author,
        "by_states": question.states.all_of or None,
        "no_states": question.states.none_of,
        "least_sure": question.least_sure,
        "most_sure": question.most_sure,
        "near": near[:MOST_NEAR],
        "named": question.named,
        "spelled": question.spelled,
        "kinds": question.kinds,
        "by_topics": question.topics,
        "dense_limit": _dense_limit(question),
        "keyword_limit": question.keyword_limit,
        "graph_limit": question.graph_limit,
        "named_limit": question.named_limit,
        "topics_limit": question.topics_limit,
    }
