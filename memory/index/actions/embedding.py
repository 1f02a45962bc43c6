"""Vectors for memories: which model is active, what is embedded, and where vectors are kept.

The active model is a row of the organization's schema, so a vector always names its space. Calls to
an embedder happen outside of database units; a failing one leaves the memory without a vector and a
job behind, and the caller is told so.

The active model may change between a call and what is stored of it. So a vector is stored and
compared under the key of the model that made it, never under whichever is active by then; who
stores one looks again which is active, and has the memory embedded for that one. What is stored of
other models is of the present text or is deleted, so that a later switch or a way back finds it
true. Which model an organization was last seen to have is kept in the process: a wrong guess costs
a second embedding, never a wrong comparison. Another process may have switched meanwhile. A model
that runs in this process answers at once, and what is stored or searched next shows the switch. One
over a network may be away, so after a second it is looked up again which is active, then asked.
"""

import hashlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Final, Protocol
from uuid import UUID

import numpy as np
from django.conf import settings
from django.db.models.functions import Now

from accounts import jobs, tenancy
from memory.errors import EmbedderUnavailable
from memory.index import queries
from memory.index.models import LARGEST_PREFIX, EmbeddingModel, MemoryVector
from memory.providers import registry
from memory.providers.contracts import EmbeddingModel as Model
from memory.providers.contracts import Vectors
from memory.providers.errors import ProviderError, ProviderRefused
from memory.taxonomy import MemoryType, Status, type_row
from memory.text import text as texts

log = logging.getLogger(__name__)

BATCH = 64  # texts a call; a batch of the local model takes half a second
ACTIVE: Final = (Status.ACTIVE.value,)
NOT_DELETED: Final = (Status.ACTIVE.value, Status.SUPERSEDED.value, Status.ARCHIVED.value)


class StoredMemory(Protocol):
    """What embedding needs to know of a memory; `governance` is its layer, 1 the firmest."""

    id: UUID
    type: str
    content: str
    related_files: list[str]
    related_modules: list[str]
    governance: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedded:
    """A vector (dimensions,) and the key of the model it belongs to."""

    key: str
    vector: Vectors

    @property
    def is_long(self) -> bool:
        """Whether the vector has more dimensions than a scan reads."""
        return len(self.vector) > LARGEST_PREFIX


LOOK_AGAIN_SECONDS: Final = 1.0  # after which a switch elsewhere is noticed before a call
_last_seen: dict[str, tuple[str, float]] = {}  # the active model's key by schema, and when


def active_model() -> tuple[int, str]:
    """Return id and key of the active model; the installation's default at first. In a unit."""
    found = queries.active_model()
    if found is None:
        row = space(model=registry.embedder().model, active=True)
        found = (row.id, row.key)
    tenancy.memo()[("space", found[1])] = found[0]
    _last_seen[tenancy.current().schema_name] = (found[1], monotonic())
    return found


def space(*, model: Model, active: bool = False) -> EmbeddingModel:
    """Return the row of a model, made when there is none. In a unit."""
    row, _ = EmbeddingModel.objects.get_or_create(
        key=model.key,
        defaults={
            "dimensions": model.dimensions,
            "prefix_dimensions": min(model.dimensions, LARGEST_PREFIX),
            "active": active,
            "activated_at": Now() if active else None,
        },
    )
    return row


def space_id(*, key: str) -> int:
    """Return the id under which vectors of a known model are stored, once a unit. In a unit."""
    kept = tenancy.memo()
    if ("space", key) not in kept:
        ids = EmbeddingModel.objects.values_list("id", flat=True)
        kept[("space", key)] = int(ids.get(key=key))
    return int(kept[("space", key)])


def text_of(*, files: Sequence[str], modules: Sequence[str], type: str, content: str) -> str:
    """Return the text of a memory that is embedded."""
    return texts.contextual_text(
        files=tuple(files),
        module=modules[0] if modules else "",
        type=MemoryType(type),
        content=texts.visible_text(text=content),
    )


def embed_inline(*, text: str) -> Embedded | None:
    """Return a vector when the embedder is local and answers, else None.

    Runs outside of a unit. None means that the memory's job embeds it.
    """
    if not settings.EMBED_INLINE:
        return None
    try:
        embedder = registry.embedder(key=_expected(), tenant=tenancy.current().schema_name)
        if not embedder.is_local:
            return None
        vector = embedder.embed_documents(texts=(text,))[0]
    except ProviderError as error:
        log.warning("Not embedded in the request: %s", error.detail)
        return None
    return Embedded(key=embedder.model.key, vector=vector)


def embed_query(*, text: str, key: str = "") -> Embedded | None:
    """Return the vector of a query, or None when no embedder answers. Runs outside of a unit.

    `key` names the model; without it, the one the organization was last seen to compare by.
    """
    return embed_queries(texts=(text,), key=key).get(text)


def embed_queries(*, texts: tuple[str, ...], key: str) -> dict[str, Embedded]:
    """Return the vectors of queries by their texts, asked for at once; none when nobody answers.

    Of the model of `embed_query`. Runs outside of a unit.
    """
    if not texts:
        return {}
    expected = key or _expected()
    found = _embedded_queries(expected, texts)
    if found or key:
        return found
    with tenancy.unit():
        active = queries.active_model()
    if active is None or active[1] == expected:
        return {}
    return _embedded_queries(active[1], texts)


def store_vector(*, row: StoredMemory, text: str, embedded: Embedded) -> None:
    """Store the vector of one memory, in the unit that has written the memory.

    When another model has become active meanwhile, a job embeds the memory for that one.
    """
    active_id, active_key = active_model()
    is_active = active_key == embedded.key
    queries.write_vectors(
        model_id=active_id if is_active else space_id(key=embedded.key),
        rows=((row.id, code_of(row.type), _digest(text)),),
        vectors=embedded.vector.reshape(1, -1),
    )
    queries.follow_topics(memory_ids=(row.id,))
    if not is_active:
        enqueue(layers={row.id: row.governance})


def enqueue(
    *, layers: Mapping[UUID, int], name: str = "memory.embed", created_by: UUID | None = None
) -> UUID | None:
    """Queue the embedding of memories in the current unit; return the job's id if it is new.

    `layers` are their governance layers by id; the firmest says how urgent it is. `created_by` may
    look at the job; without, only managers may.
    """
    ids = [id.hex for id in layers]
    return jobs.enqueue(
        name,
        payload={"ids": [str(id) for id in layers]},
        key=ids[0] if len(ids) == 1 else "",
        priority=min(layers.values()),
        created_by=created_by,
    )


def embed_batch(*, memory_ids: tuple[UUID, ...]) -> int:
    """Give active memories a vector of the active model; return how many have one now.

    A memory that changes meanwhile is left to the job of that change. Raises EmbedderUnavailable
    when the embedder does not answer now, PermanentFailure when asking again cannot help.
    """
    with tenancy.unit():
        model_id, key = active_model()
        texts_of, lacking = _texts_to_embed(model_id, memory_ids, ACTIVE)
    vectors = _embed(key, lacking)
    if not texts_of:
        return 0
    with tenancy.unit():
        present = _store(model_id, texts_of, vectors, statuses=ACTIVE)
        queries.forget_others(model_id=model_id, texts=present)
        is_still_active = active_model()[0] == model_id
    return len(present) if is_still_active else embed_batch(memory_ids=memory_ids)


def embed_beside(*, key: str, memory_ids: tuple[UUID, ...]) -> int:
    """Give memories a vector of a model that is not active yet; return how many have one now.

    Raises as `embed_batch` does.
    """
    with tenancy.unit():
        model_id = space_id(key=key)
        texts_of, lacking = _texts_to_embed(model_id, memory_ids, NOT_DELETED)
    vectors = _embed(key, lacking)
    with tenancy.unit():
        return len(_store(model_id, texts_of, vectors, statuses=NOT_DELETED))


def memory_text(*, row: StoredMemory) -> str:
    """Return the text of a stored memory that is embedded."""
    files, modules = row.related_files, row.related_modules
    return text_of(files=files, modules=modules, type=row.type, content=row.content)


def code_of(type: str) -> int:
    """Return the number under which a type is indexed."""
    return type_row(type=MemoryType(type)).code


def _expected() -> str:
    """Return the model's key the organization most likely has; nothing when none is known."""
    seen, at = _last_seen.get(tenancy.current().schema_name, ("", 0.0))
    if seen and not registry.runs_here(key=seen) and monotonic() - at > LOOK_AGAIN_SECONDS:
        with tenancy.unit():
            seen = active_model()[1]
    if seen:
        return seen
    try:
        return registry.embedder().model.key
    except ProviderError as error:
        log.warning("The installation's embedder is not known: %s", error.detail)
        return ""


def _embedded_queries(key: str, texts: tuple[str, ...]) -> dict[str, Embedded]:
    """Return the vectors of queries by their texts: all of them, or none."""
    schema = tenancy.current().schema_name
    try:
        embedder = registry.embedder(key=key, tenant=schema)
        model = embedder.model
        known = {text: queries.find(model=model, text=text) for text in texts}
        lacking = tuple(text for text, vector in known.items() if vector is None)
        made = embedder.embed_queries(texts=lacking) if lacking else ()
    except ProviderError as error:
        log.warning("Searching without vectors: %s", error.detail)
        return {}
    for text, vector in zip(lacking, made, strict=True):
        queries.keep(model=model, text=text, vector=vector)
        known[text] = vector
    _last_seen[schema] = (model.key, monotonic())
    return {
        text: Embedded(key=model.key, vector=vector)
        for text, vector in known.items()
        if vector is not None
    }


def _texts(
    memory_ids: tuple[UUID, ...], *, statuses: tuple[str, ...], lock: bool = False
) -> dict[UUID, tuple[str, int]]:
    """Return by id the text that is embedded, and the type's code, of memories of statuses."""
    return {
        id: (text_of(files=files, modules=modules, type=type, content=content), code_of(type))
        for id, type, content, files, modules in queries.texts(
            memory_ids=memory_ids, statuses=statuses, lock=lock
        )
    }


def _texts_to_embed(
    model_id: int, memory_ids: tuple[UUID, ...], statuses: tuple[str, ...]
) -> tuple[dict[UUID, str], dict[UUID, str]]:
    """Return the texts of memories, and those of which there is no vector of a model yet."""
    texts_of = {id: text for id, (text, _) in _texts(memory_ids, statuses=statuses).items()}
    vectors = MemoryVector.objects.filter(model=model_id, memory__in=texts_of)
    stored = dict(vectors.values_list("memory", "text_hash"))
    return texts_of, {id: text for id, text in texts_of.items() if stored.get(id) != _digest(text)}


def _store(
    model_id: int,
    texts_of: dict[UUID, str],
    vectors: dict[UUID, Vectors],
    *,
    statuses: tuple[str, ...],
) -> dict[UUID, str]:
    """Store vectors of memories that are unchanged; return the digests of all such texts."""
    now = _texts(tuple(texts_of), statuses=statuses, lock=True)
    same = {id: _digest(text) for id, (text, _) in now.items() if text == texts_of[id]}
    new = tuple(id for id in same if id in vectors)
    if new:
        queries.write_vectors(
            model_id=model_id,
            rows=tuple((id, now[id][1], same[id]) for id in new),
            vectors=np.stack([vectors[id] for id in new]),
        )
        # A memory may have joined a topic by the vector that it had before.
        queries.leave_topics(memory_ids=new)
    queries.follow_topics(memory_ids=tuple(same))
    return same


def _embed(key: str, contents: dict[UUID, str]) -> dict[UUID, Vectors]:
    if not contents:
        return {}
    try:
        embedder = registry.embedder(key=key, tenant=tenancy.current().schema_name)
        rows = embedder.embed_documents(texts=tuple(contents.values()))
    except ProviderError as error:
        if isinstance(error, ProviderRefused):
            raise jobs.PermanentFailure(error.detail, error.hint) from error
        raise EmbedderUnavailable(detail=error.detail, hint=error.hint) from error
    return dict(zip(contents, rows, strict=True))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
