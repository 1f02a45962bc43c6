"""The embedding models of an organization: which is active, being filled, or kept."""

import logging
from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from threading import Lock
from typing import Final, NamedTuple

import numpy as np
from cryptography.fernet import InvalidToken
from redis.exceptions import RedisError

from accounts import jobs, peppers, redis_backoff, tenancy
from accounts.caller import Caller
from accounts.errors import RoleNotSufficient
from accounts.rights import manages
from memory.index.sql import search_rows
from memory.providers import registry
from memory.providers.contracts import EmbeddingModel, Provider, Vectors

# Vectors of queries that were asked before, kept for seven days.
#
# In the flow: `actions.embedding` looks here before it asks a remote embedder, whose answer takes
# a tenth of a second and costs money. Queries of a local model are not kept: one takes 3 ms of
# processor time, looking here in vain and keeping it 0.8 ms (measured), so that would pay only if
# more than a quarter of all queries came again.
#
# Neither the query nor its vector can be read in Redis: from a vector short texts can be
# recovered nearly whole (Morris et al. 2023), so the key is a digest under the server's pepper
# and the value is encrypted. Both belong to one organization. Without Redis nothing is kept.

log = logging.getLogger(__name__)

KEPT_SECONDS: Final = 7 * 24 * 3_600
AREA: Final = "query-vector"
COUNTED: Final = "queries-to-vendors"
ON_THIS_MACHINE: Final = frozenset({Provider.LOCAL, Provider.STATIC, Provider.HASHING})

_lock = Lock()
_counts: Counter[tuple[str, str]] = Counter()


def find(*, model: EmbeddingModel, text: str) -> Vectors | None:
    """Return the vector (dimensions,) a query had in this space, or None."""
    if model.provider in ON_THIS_MACHINE or redis_backoff.redis.is_active():
        return None
    try:
        sealed = tenancy.cached(AREA, _digest(model, text))
        vector = None if sealed is None else _opened(sealed, model)
        tenancy.count(COUNTED, "kept" if vector is not None else "not_kept", seconds=KEPT_SECONDS)
    except (RedisError, OSError) as error:
        _rest(error)
        return None
    _count(model, "kept" if vector is not None else "not_kept")
    return vector


def keep(*, model: EmbeddingModel, text: str, vector: Vectors) -> None:
    """Keep the vector (dimensions,) of a query."""
    if model.provider in ON_THIS_MACHINE or redis_backoff.redis.is_active():
        return
    written = vector.astype(np.float32).tobytes()
    sealed = peppers.cipher(purpose=peppers.QUERY_VECTORS).encrypt(written)
    try:
        tenancy.remember(AREA, _digest(model, text), value=sealed, seconds=KEPT_SECONDS)
    except (RedisError, OSError) as error:
        _rest(error)


def counts() -> dict[tuple[str, str], int]:
    """Return how often a vector was kept and not kept in this process, by provider and event."""
    with _lock:
        return dict(_counts)


def counts_here() -> tuple[int, int]:
    """Return how many queries of the entered organization found their vector, and how many not.

    Each count is of seven days at most; without Redis nothing was counted.
    """
    try:
        return tenancy.counted(COUNTED, "kept"), tenancy.counted(COUNTED, "not_kept")
    except (RedisError, OSError) as error:
        _rest(error)
        return 0, 0


def _digest(model: EmbeddingModel, text: str) -> str:
    organization = tenancy.current().organization_id.hex
    parts = (AREA, organization, model.key, str(model.dimensions), text)
    return peppers.digest(text="\x00".join(parts))


def _opened(sealed: bytes, model: EmbeddingModel) -> Vectors | None:
    """Return what was kept; nothing when it is another server's, or not of this length."""
    try:
        written = peppers.cipher(purpose=peppers.QUERY_VECTORS).decrypt(sealed)
    except InvalidToken:
        return None
    vector = np.frombuffer(written, dtype=np.float32)
    return vector if vector.shape == (model.dimensions,) else None


def _count(model: EmbeddingModel, event: str) -> None:
    with _lock:
        _counts[model.provider.value, event] += 1


def _rest(error: Exception) -> None:
    redis_backoff.redis.start()
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


def models(*, caller: Caller) -> Models:
    """Return the models of the caller's organization. Raises RoleNotSufficient."""
    check_chooses(caller=caller)
    return list_models()


def queries_kept(*, caller: Caller) -> QueriesKept:
    """Return how many queries did without a vendor of late. Raises RoleNotSufficient."""
    check_chooses(caller=caller)
    kept, not_kept = counts_here()
    return QueriesKept(kept=kept, asked=kept + not_kept)


def check_chooses(*, caller: Caller) -> None:
    """Raise RoleNotSufficient unless the caller may choose the organization's model."""
    if not manages(caller=caller):
        raise RoleNotSufficient(
            detail="Choosing the embedding model needs the role owner or admin.",
            hint="Ask an owner or admin; a token needs the scope admin and no bound projects.",
        )


def list_models() -> Models:
    """Return the models of the entered organization, to whoever works at the machine."""
    with tenancy.unit():
        found = tuple(ModelView(*row) for row in search_rows.list_models())
        active = next((one for one in found if one.active), None)
        needed = 0 if active is None else search_rows.coverage(model_id=active.id)[0]
    return Models(
        models=found,
        needed=needed,
        waits_for=jobs.last_error(name="memory.switch_model"),
        known=registry.known_embedders(),
    )
