"""Vectors of queries that were asked before, kept for seven days.

In the flow: `actions.embedding` looks here before it asks a remote embedder, whose answer takes a
tenth of a second and costs money. Queries of a local model are not kept: one takes 3 ms of
processor time, looking here in vain and keeping it 0.8 ms (measured), so that would pay only if
more than a quarter of all queries came again.

Neither the query nor its vector can be read in Redis: from a vector short texts can be recovered
nearly whole (Morris et al. 2023), so the key is a digest under the server's pepper and the value is
encrypted. Both belong to one organization. Without Redis nothing is kept.
"""

import logging
from collections import Counter
from threading import Lock
from typing import Final

import numpy as np
from cryptography.fernet import InvalidToken
from redis.exceptions import RedisError

from accounts import peppers, redis_backoff, tenancy
from memory.providers.contracts import EmbeddingModel, Provider, Vectors

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
