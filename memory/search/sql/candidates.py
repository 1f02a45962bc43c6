"""Typed callers of the named queries: what a search finds, and what an index holds."""

from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Any, Final
from uuid import UUID

import numpy as np
import orjson
from pgvector import HalfVector
from psycopg.types.json import Jsonb

from accounts import tenancy
from memory import sql_queries
from memory.index.models import LARGEST_PREFIX
from memory.index.sql import vectors as index_vectors
from memory.providers.contracts import Vectors
from memory.records.states import LIVE, States
from memory.search.candidates import Path
from memory.text import globs as text_globs
from teams.visibility import Sight, parameters

GRAPH_LIMIT: Final = 15
NAMED_LIMIT: Final = 15  # ours
PREFIX_SURPLUS: Final = 2  # the best 60 of a prefix hold .979 of the whole's best 30 (measured)
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
        query=_prefix(question.vector),
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


def active_model() -> tuple[int, str] | None:
    """Return the id and key of the active embedding model, None before the first vector."""
    found = sql_queries.rows("active_model")
    return (found[0][0], found[0][1]) if found else None


def nearest(
    *, model_id: int, vector: Vectors, audience: UUID, project_id: UUID | None, limit: int
) -> tuple[tuple[UUID, float], ...]:
    """Return the nearest live memories of one audience and project with their cosines."""
    is_long = len(vector) > LARGEST_PREFIX
    found = sql_queries.rows(
        "nearest",
        model=model_id,
        query=_prefix(vector),
        audience=audience,
        project=project_id,
        limit=limit * (PREFIX_SURPLUS if is_long else 1),
    )
    close = {row[0]: float(row[1]) for row in found}
    if is_long:
        close |= index_vectors.whole_cosines(
            model_id=model_id, vector=vector, memory_ids=tuple(close)
        )
    return tuple(sorted(close.items(), key=lambda item: (-item[1], item[0]))[:limit])


def write_keywords(*, rows: tuple[tuple[UUID, int, str], ...]) -> None:
    """Index the words of memories given as (id, type code, text)."""
    ids, codes, texts = (list(column) for column in zip(*rows, strict=True))
    sql_queries.execute("write_keywords", ids=ids, codes=codes, texts=texts)


def write_vectors(
    *, model_id: int, rows: tuple[tuple[UUID, int, str], ...], vectors: Vectors
) -> None:
    """Store vectors (n, dimensions) of memories given as (id, type code, hash of the text)."""
    ids, codes, hashes = (list(column) for column in zip(*rows, strict=True))
    whole = vectors.shape[1] > LARGEST_PREFIX
    sql_queries.execute(
        "write_vectors",
        model=model_id,
        prefix=min(vectors.shape[1], LARGEST_PREFIX),
        ids=ids,
        codes=codes,
        units=[_prefix(vector) for vector in vectors],
        wholes=[_text(vector) if whole else None for vector in vectors],
        hashes=hashes,
    )


def sync_filters(*, memory_ids: tuple[UUID, ...]) -> None:
    """Repeat the filters of changed memories where searches read them."""
    sql_queries.execute("sync_vectors", ids=list(memory_ids))
    sql_queries.execute("sync_keywords", ids=list(memory_ids))


def merge_access() -> int:
    """Move the access log into the usage counts; return how many memories were counted."""
    return sql_queries.execute("merge_access")


def unembedded(*, limit: int) -> tuple[UUID, ...]:
    """Return active memories that have no vector of the active model and are not new."""
    return tuple(row[0] for row in sql_queries.rows("unembedded", limit=limit))


def is_indexed() -> bool:
    """Say whether the indexes of large organizations stand for the active model."""
    found = sql_queries.rows("is_indexed")
    return bool(found and found[0][0])


def index_search(*, most: int) -> int | None:
    """Make one of those that are missing; return how many were, None beyond `most` vectors."""
    organization = tenancy.current().organization_id
    lacked: int | None = sql_queries.rows("index_search", organization=organization, most=most)[0][
        0
    ]
    return lacked


def missing_indexes(*, least: int) -> tuple[tuple[str, str], ...]:
    """Return name and definition of the missing ones beyond `least` vectors. As the owner."""
    return tuple((row[0], row[1]) for row in sql_queries.rows("missing_indexes", least=least))


def lexicon_drift() -> tuple[int, int]:
    """Return how many memories have words now, and how many had when words were last counted."""
    row = sql_queries.rows("lexicon_drift")[0]
    return int(row[0]), int(row[1])


def refresh_lexicon() -> int:
    """Count anew in how many memories of each audience a word occurs; return the counts kept."""
    sql_queries.execute("clear_lexicon")
    return sql_queries.execute("fill_lexicon")


def _dense_limit(question: Question) -> int:
    return question.dense_limit * (PREFIX_SURPLUS if _is_long(question.vector) else 1)


def _is_long(vector: Vectors | None) -> bool:
    return vector is not None and len(vector) > LARGEST_PREFIX


def _by_whole(question: Question, found: tuple[Found, ...]) -> tuple[Found, ...]:
    if question.vector is None or not _is_long(question.vector):
        return found
    ids = tuple(item.memory_id for item in found if item.cosine is not None)
    cosines = index_vectors.whole_cosines(
        key=question.model, vector=question.vector, memory_ids=ids
    )
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


def _prefix(vector: Vectors | None) -> str | None:
    """Cut a vector to the dimensions a scan reads, at unit length again."""
    if vector is None:
        return None
    return _prefix_of(np.asarray(vector, dtype=np.float32).tobytes())


@lru_cache(maxsize=16)  # one write compares the same vector up to six times
def _prefix_of(raw: bytes) -> str:
    vector = np.frombuffer(raw, dtype=np.float32)
    head = vector[:LARGEST_PREFIX]
    return _text(head if len(head) == len(vector) else head / np.linalg.norm(head))


def prefix_text(*, vector: Vectors) -> str:
    """Return a vector as scans compare it: its first dimensions, at unit length."""
    return str(_prefix(vector))


def _text(vector: Vectors) -> str:
    return HalfVector(vector).to_text()
