"""Queries about what searches read: models, vectors, words, and topics' members.

Vectors of queries that were asked before are kept for seven days: `embedding` looks here before it
asks a remote embedder, whose answer takes a tenth of a second and costs money. Neither the query
nor its vector can be read in Redis: from a vector short texts can be recovered nearly whole (Morris
et al. 2023), so the key is a digest under the server's pepper and the value is encrypted. Without
Redis nothing is kept. Queries of a local model take 3 to 6 ms of processor time, and looking in
Redis in vain and keeping one there 0.8 ms (measured), so each process remembers its last ones: the
points of a session ask one task again and again, and so does who changes a filter. Either way a
vector belongs to one organization: how fast an answer comes tells nobody what others asked.
"""

import logging
from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from threading import Lock
from typing import Final, NamedTuple
from uuid import UUID

import numpy as np
from cryptography.fernet import InvalidToken
from django.db.models import Count, Q
from pgvector import HalfVector
from redis.exceptions import RedisError

from accounts import jobs, live, peppers, tenancy
from accounts.caller import Caller, manages
from accounts.errors import RoleNotSufficient
from memory import sql_queries
from memory.index.models import LARGEST_PREFIX, EmbeddingModel, Lexeme, MemoryVector
from memory.providers import registry
from memory.providers.contracts import EmbeddingModel as Model
from memory.providers.contracts import Provider, Vectors
from teams import visibility
from teams.visibility import Sight, parameters

log = logging.getLogger(__name__)

KEPT_SECONDS: Final = 7 * 24 * 3_600
AREA: Final = "query-vector"
COUNTED: Final = "queries-to-vendors"
ON_THIS_MACHINE: Final = frozenset({Provider.LOCAL, Provider.STATIC, Provider.HASHING})
FILE: Final = "index/sql/search_rows.sql"
PREFIX_SURPLUS: Final = 2  # the best 60 of a prefix hold .979 of the whole's best 30 (measured)
RECENT_MOST: Final = 1_024  # queries of local models that a process remembers: 2 MB; a default
FIRST: Final = UUID(int=0)  # every id comes after it

_recent: OrderedDict[str, Vectors] = OrderedDict()  # by digest, the one used last at the end
_lock: Final = Lock()


def find(*, model: Model, text: str) -> Vectors | None:
    """Return the vector (dimensions,) a query had in this space, or None."""
    if model.provider in ON_THIS_MACHINE:
        digest = _digest(model, text)
        with _lock:
            if digest in _recent:
                _recent.move_to_end(digest)
            return _recent.get(digest)
    if live.redis.is_active():
        return None
    try:
        sealed = tenancy.cached(AREA, _digest(model, text))
        vector = None if sealed is None else _opened(sealed, model)
        tenancy.count(COUNTED, "not_kept" if vector is None else "kept", seconds=KEPT_SECONDS)
    except (RedisError, OSError) as error:
        _rest(error)
        return None
    return vector


def keep(*, model: Model, text: str, vector: Vectors) -> None:
    """Keep the vector (dimensions,) of a query."""
    if model.provider in ON_THIS_MACHINE:
        own = vector.copy()
        own.flags.writeable = False  # many searches read it
        digest = _digest(model, text)
        with _lock:
            _recent[digest] = own
            if len(_recent) > RECENT_MOST:
                _recent.popitem(last=False)
        return
    if live.redis.is_active():
        return
    written = vector.astype(np.float32).tobytes()
    sealed = peppers.cipher(purpose=peppers.QUERY_VECTORS).encrypt(written)
    try:
        tenancy.remember(AREA, _digest(model, text), value=sealed, seconds=KEPT_SECONDS)
    except (RedisError, OSError) as error:
        _rest(error)


def _digest(model: Model, text: str) -> str:
    organization = tenancy.current().organization_id.hex
    parts = (AREA, organization, model.key, str(model.dimensions), text)
    return peppers.digest(text="\x00".join(parts))


def _opened(sealed: bytes, model: Model) -> Vectors | None:
    """Return what was kept; nothing when it is another server's, or not of this length."""
    try:
        written = peppers.cipher(purpose=peppers.QUERY_VECTORS).decrypt(sealed)
    except InvalidToken:
        return None
    vector = np.frombuffer(written, dtype=np.float32)
    return vector if vector.shape == (model.dimensions,) else None


def _rest(error: Exception) -> None:
    live.redis.start()
    log.warning("No vectors of queries are kept for now: %s", error)


class Part(StrEnum):
    """What a model is to the organization; `kept`: one can go back to it at once."""

    ACTIVE = "active"
    FILLING = "filling"
    KEPT = "kept"
    LEFT = "left"


class ModelView(NamedTuple):
    """A model of an organization, and how many memories have a vector of it.

    `overlap`: how much it agrees with the one before it about what is near, 0..1.
    """

    id: int
    key: str
    dimensions: int
    active: bool
    filling: bool
    overlap: float | None
    activated_at: datetime | None
    embedded: int

    @property
    def part(self) -> Part:
        """What the model is to the organization."""
        if self.active:
            return Part.ACTIVE
        if self.filling:
            return Part.FILLING
        return Part.KEPT if self.activated_at is not None else Part.LEFT


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """The models, how many memories need a vector, and what a switch waits for, if anything."""

    models: tuple[ModelView, ...]
    needed: int
    waits_for: str
    known: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class QueriesKept:
    """Queries that a vendor's model would have embedded, in seven days at most.

    `kept` of those `asked` found the vector of the same query of before.
    """

    kept: int
    asked: int


def queries_kept(*, caller: Caller) -> QueriesKept:
    """Return how many queries did without a vendor of late. Raises RoleNotSufficient.

    Without Redis nothing was counted.
    """
    check_chooses(caller=caller)
    try:
        kept, not_kept = (tenancy.counted(COUNTED, event) for event in ("kept", "not_kept"))
    except (RedisError, OSError) as error:
        _rest(error)
        kept, not_kept = 0, 0
    return QueriesKept(kept=kept, asked=kept + not_kept)


def check_chooses(*, caller: Caller) -> None:
    """Raise RoleNotSufficient unless the caller may choose the organization's model."""
    if not manages(caller=caller):
        raise RoleNotSufficient(
            detail="Choosing the embedding model needs the role owner or admin.",
            hint="Ask an owner or admin; a token needs the scope admin and no bound projects.",
        )


def models(*, caller: Caller | None) -> Models:
    """Return the models of the organization; None is who works at the machine.

    Raises RoleNotSufficient.
    """
    if caller is not None:
        check_chooses(caller=caller)
    present = Count("vectors", filter=~Q(vectors__memory__status="deleted"))
    with tenancy.unit():
        rows = EmbeddingModel.objects.annotate(embedded=present).order_by("id")
        found = tuple(ModelView(*row) for row in rows.values_list(*ModelView._fields))
        active = next((one for one in found if one.active), None)
        needed = 0 if active is None else coverage(model_id=active.id)[0]
    return Models(
        models=found,
        needed=needed,
        waits_for=jobs.last_error(name="memory.switch_model"),
        known=registry.known_embedders(),
    )


def without_vector(*, model_id: int, after: UUID, limit: int) -> tuple[UUID, ...]:
    """Return memories that need a vector of a model and have none, by id, after one."""
    found = sql_queries.filled(
        "without_vector", file=FILE, parts=_needed(), model=model_id, after=after, limit=limit
    )
    return tuple(row[0] for row in found)


def coverage(*, model_id: int) -> tuple[int, int]:
    """Count the memories that need a vector, and those of them that have one of a model."""
    [(needed, embedded)] = sql_queries.filled("needing", file=FILE, parts=_needed(), model=model_id)
    return needed, embedded


def hold_memories() -> None:
    """Wait until nobody writes memories or vectors, and have writers wait until the unit ends.

    Raises OperationalError, caused by LockNotAvailable, after two seconds.
    """
    sql_queries.execute("wait_briefly", file=FILE)
    sql_queries.execute("hold_memories", file=FILE)


def forget_some(*, model_id: int, limit: int) -> int:
    """Delete some vectors of a model nobody searches by; return how many."""
    rows = MemoryVector.objects.filter(model=model_id, model__active=False, model__filling=False)
    some = rows.order_by("id").values("id")[:limit]
    return MemoryVector.objects.filter(id__in=some).delete()[0]


def forget_others(*, model_id: int, texts: dict[UUID, str]) -> int:
    """Delete vectors of other models than this whose text is not the one of this hash."""
    return sql_queries.execute(
        "forget_others", file=FILE, model=model_id, ids=list(texts), hashes=list(texts.values())
    )


def overlap(*, first: int, second: int, sample: int, near: int) -> float | None:
    """Return the mean share (0..1) of nearest memories that two models agree on, None without any.

    Of the same memories each time.
    """
    [(share,)] = sql_queries.rows(
        "overlap", file=FILE, first=first, second=second, sample=sample, near=near
    )
    return None if share is None else float(share)


def whole_cosines(
    *, model_id: int, vector: Vectors, memory_ids: tuple[UUID, ...]
) -> dict[UUID, float]:
    """Return cosines by whole vectors (dimensions,) of a model.

    Memories without a whole vector are left out.
    """
    found = sql_queries.rows(
        "whole_cosines",
        file=FILE,
        model=model_id,
        query=HalfVector(vector).to_text(),
        ids=list(memory_ids),
    )
    return {row[0]: float(row[1]) for row in found}


def active_model() -> tuple[int, str] | None:
    """Return the id and key of the active embedding model, None before the first vector."""
    found = sql_queries.rows("active_model", file=FILE)
    return next(((int(id), str(key)) for id, key in found), None)


def write_vectors(
    *, model_id: int, rows: tuple[tuple[UUID, int, str], ...], vectors: Vectors
) -> None:
    """Store vectors (n, dimensions) of memories given as (id, type code, hash of the text)."""
    ids, codes, hashes = (list(column) for column in zip(*rows, strict=True))
    whole = vectors.shape[1] > LARGEST_PREFIX
    sql_queries.execute(
        "write_vectors",
        file=FILE,
        model=model_id,
        prefix=min(vectors.shape[1], LARGEST_PREFIX),
        ids=ids,
        codes=codes,
        units=[prefix_text(vector=vector) for vector in vectors],
        wholes=[HalfVector(vector).to_text() if whole else None for vector in vectors],
        hashes=hashes,
    )


def unembedded(*, limit: int) -> dict[UUID, int]:
    """Return the layers of active memories, not new, without a vector of the active model."""
    return dict(sql_queries.rows("unembedded", file=FILE, limit=limit))


def texts(
    *, memory_ids: tuple[UUID, ...], statuses: tuple[str, ...], lock: bool = False
) -> list[tuple[UUID, str, str, list[str], list[str]]]:
    """Return id, type, content, files and modules of memories of some statuses, by id. In a unit.

    `lock` holds their rows until the unit ends.
    """
    return sql_queries.filled(
        "texts",
        file=FILE,
        parts={"lock": "FOR UPDATE" if lock else ""},
        ids=list(memory_ids),
        statuses=list(statuses),
    )


def nearest(
    *, model_id: int, vector: Vectors, audience: UUID, project_id: UUID | None, limit: int
) -> tuple[tuple[UUID, float], ...]:
    """Return the nearest live memories of one audience and project with their cosines."""
    is_long = len(vector) > LARGEST_PREFIX
    found = sql_queries.rows(
        "nearest",
        file=FILE,
        model=model_id,
        query=prefix_text(vector=vector),
        audience=audience,
        project=project_id,
        limit=limit * (PREFIX_SURPLUS if is_long else 1),
    )
    close = {row[0]: float(row[1]) for row in found}
    if is_long:
        close |= whole_cosines(model_id=model_id, vector=vector, memory_ids=tuple(close))
    return tuple(sorted(close.items(), key=lambda item: (-item[1], item[0]))[:limit])


def prefix_text(*, vector: Vectors) -> str:
    """Return a vector as scans compare it: its first dimensions, at unit length."""
    return _prefix_of(np.asarray(vector, dtype=np.float32).tobytes())


@lru_cache(maxsize=16)  # one write compares the same vector up to six times
def _prefix_of(raw: bytes) -> str:
    vector = np.frombuffer(raw, dtype=np.float32)
    head = vector[:LARGEST_PREFIX]
    unit = head if len(head) == len(vector) else head / np.linalg.norm(head)
    halves = unit.astype(np.float16).tolist()
    return f"[{','.join(['%.5g'] * len(halves)) % tuple(halves)}]"  # 5 digits tell halves apart


def write_keywords(*, rows: tuple[tuple[UUID, int, str], ...]) -> None:
    """Index the words of memories given as (id, type code, text)."""
    ids, codes, texts = (list(column) for column in zip(*rows, strict=True))
    sql_queries.execute("write_keywords", file=FILE, ids=ids, codes=codes, texts=texts)


def lock_without_day(*, after: UUID, limit: int) -> tuple[UUID, ...]:
    """Lock memories behind an id whose words lack the day on which they happened. In a unit."""
    rows = sql_queries.rows("lack_day", file=FILE, after=after, limit=limit)
    return tuple(id for (id,) in rows)


def list_holders(
    *, facets: tuple[tuple[str, str], ...], project: UUID | None, limit: int, sight: Sight
) -> tuple[UUID, ...]:
    """Return memories that hold all of these facets (kind, name), in no order. In a unit."""
    rows = sql_queries.filled(
        "few",
        file=FILE,
        parts={"visible": visibility.as_sql(alias="k")},
        kinds=[kind for kind, _ in facets],
        names=[name for _, name in facets],
        project=project,
        limit=limit,
        **parameters(sight=sight),
    )
    return tuple(row[0] for row in rows)


def sync_filters(*, memory_ids: tuple[UUID, ...]) -> None:
    """Repeat the filters of changed memories where searches read them."""
    sql_queries.execute("sync_vectors", file=FILE, ids=list(memory_ids))
    sql_queries.execute("sync_keywords", file=FILE, ids=list(memory_ids))


def lexicon_drift() -> tuple[int, int]:
    """Return how many memories have words now, and how many had when words were last counted."""
    row = sql_queries.rows("lexicon_drift", file=FILE)[0]
    return int(row[0]), int(row[1])


def refresh_lexicon() -> int:
    """Count anew in how many memories of each audience a word occurs; return the counts kept."""
    Lexeme.objects.all().delete()
    return sql_queries.execute("fill_lexicon", file=FILE)


def merge_access() -> int:
    """Move the access log into the usage counts; return how many memories were counted."""
    return sql_queries.execute("merge_access", file=FILE)


def is_indexed() -> bool:
    """Say whether the indexes of large organizations stand for the active model."""
    found = sql_queries.rows("is_indexed", file=FILE)
    return bool(found and found[0][0])


def index_search(*, most: int) -> int | None:
    """Make one of those that are missing; return how many were, None beyond `most` vectors."""
    organization = tenancy.current().organization_id
    ((lacked,),) = sql_queries.rows("index_search", file=FILE, organization=organization, most=most)
    return None if lacked is None else int(lacked)


def missing_indexes(*, least: int) -> tuple[tuple[str, str], ...]:
    """Return name and definition of the missing ones beyond `least` vectors. As the owner."""
    return tuple(
        (row[0], row[1]) for row in sql_queries.rows("missing_indexes", file=FILE, least=least)
    )


def follow_topics(*, memory_ids: tuple[UUID, ...]) -> None:
    """Let memories that were written or changed leave and join topics. In a unit."""
    sql_queries.rows("follow_topics", file=FILE, ids=list(memory_ids))


def leave_topics(*, memory_ids: tuple[UUID, ...]) -> None:
    """Take memories out of their topics: what they say has changed. In a unit."""
    sql_queries.execute("leave_topics", file=FILE, ids=list(memory_ids))


def _needed() -> dict[str, str]:
    return {"needed": sql_queries.text("needed", file=FILE)}
