"""Vectors for memories: which model is active, what is embedded, and where vectors are kept.

The active model is a row of the organization's schema, so a vector always names its space. Calls to
an embedder happen outside of database units; a failing one leaves the memory without a vector and a
job behind, and the caller is told so.
"""

import logging
from dataclasses import dataclass
from uuid import UUID

import numpy as np
from django.conf import settings

from accounts import jobs, tenancy
from memory.errors import EmbedderUnavailable
from memory.intake import text as texts
from memory.models import EmbeddingModel, Memory
from memory.models.search import LARGEST_PREFIX
from memory.providers import registry
from memory.providers.contracts import Vectors
from memory.providers.errors import ProviderError, ProviderRefused
from memory.sql import retrieval
from memory.taxonomy import MemoryType, type_row

log = logging.getLogger(__name__)

BATCH = 64  # texts a call; a batch of the local model takes half a second


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedded:
    """A vector (dimensions,) and the key of the model it belongs to."""

    key: str
    vector: Vectors


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveModel:
    """The model whose vectors an organization's searches compare."""

    id: int
    key: str


def active_model() -> ActiveModel:
    """Return the organization's active model; the installation's default at first. In a unit."""
    found = retrieval.active_model()
    if found is not None:
        return ActiveModel(id=found[0], key=found[1])
    default = registry.embedding_model()
    row, _ = EmbeddingModel.objects.get_or_create(
        key=default.key,
        defaults={
            "dimensions": default.dimensions,
            "prefix_dimensions": min(default.dimensions, LARGEST_PREFIX),
            "active": True,
        },
    )
    return ActiveModel(id=row.id, key=row.key)


def text_of(*, files: tuple[str, ...], modules: tuple[str, ...], type: str, content: str) -> str:
    """Return the text of a memory that is embedded."""
    module = modules[0] if modules else ""
    return texts.contextual_text(
        files=files, module=module, type=MemoryType(type), content=texts.visible_text(text=content)
    )


def embed_inline(*, text: str) -> Embedded | None:
    """Return a vector when the embedder is local and answers, else None.

    Runs outside of a unit. None means that the memory's job embeds it.
    """
    if not settings.EMBED_INLINE:
        return None
    try:
        embedder = registry.default_embedder(tenant=tenancy.current().schema_name)
        if not embedder.is_local:
            return None
        vector = embedder.embed_documents(texts=(text,))[0]
    except ProviderError as error:
        log.warning("Not embedded in the request: %s", error.detail)
        return None
    return Embedded(key=embedder.model.key, vector=vector)


def embed_query(*, text: str, key: str = "") -> Embedded | None:
    """Return the vector of a query, or None when no embedder answers. Runs outside of a unit.

    `key` names the model; without it, the installation's default.
    """
    tenant = tenancy.current().schema_name
    try:
        embedder = registry.embedder(key=key or registry.embedding_model().key, tenant=tenant)
        vector = embedder.embed_query(text=text)
    except ProviderError as error:
        log.warning("Searching without vectors: %s", error.detail)
        return None
    return Embedded(key=embedder.model.key, vector=vector)


def store_vector(*, row: Memory, text: str, vector: Vectors) -> None:
    """Store the vector of one memory under the active model. In a unit."""
    store_vectors(rows=((row, text),), vectors=vector.reshape(1, -1))


def store_vectors(*, rows: tuple[tuple[Memory, str], ...], vectors: Vectors) -> None:
    """Store vectors (n, dimensions) of memories and the texts they came from. In a unit."""
    keyed = tuple(
        (row.id, code_of(row.type), texts.content_hash(content=text)) for row, text in rows
    )
    retrieval.write_vectors(model_id=active_model().id, rows=keyed, vectors=vectors)


def enqueue(
    *,
    memory_ids: tuple[UUID, ...],
    name: str = "memory.embed",
    created_by: UUID | None = None,
) -> UUID | None:
    """Queue the embedding of memories in the current unit; return the job's id if it is new.

    `created_by` may look at the job; without, only managers may.
    """
    key = memory_ids[0].hex if len(memory_ids) == 1 else ""
    payload = {"ids": [str(item) for item in memory_ids]}
    return jobs.enqueue(name, payload=payload, key=key, created_by=created_by)


def embed_batch(*, memory_ids: tuple[UUID, ...]) -> int:
    """Embed memories and store their vectors; return how many were there and unchanged.

    A memory that changes meanwhile is left to the job of that change. Raises EmbedderUnavailable
    when the embedder does not answer now, PermanentFailure when asking again cannot help.
    """
    with tenancy.unit():
        found = Memory.objects.filter(pk__in=memory_ids, status="active").order_by("id")
        sent = {row.id: memory_text(row=row) for row in found}
        key = active_model().key
    if not sent:
        return 0
    vectors = dict(zip(sent, _embed(key, tuple(sent.values())), strict=True))
    with tenancy.unit():
        now = Memory.objects.select_for_update().filter(pk__in=sent).order_by("id")
        same = tuple((row, sent[row.id]) for row in now if memory_text(row=row) == sent[row.id])
        if same:
            store_vectors(rows=same, vectors=np.stack([vectors[row.id] for row, _ in same]))
    return len(same)


def memory_text(*, row: Memory) -> str:
    """Return the text of a stored memory that is embedded."""
    return text_of(
        files=tuple(row.related_files),
        modules=tuple(row.related_modules),
        type=row.type,
        content=row.content,
    )


def code_of(type: str) -> int:
    """Return the number under which a type is indexed."""
    return type_row(type=MemoryType(type)).code


def _embed(key: str, contents: tuple[str, ...]) -> Vectors:
    try:
        embedder = registry.embedder(key=key, tenant=tenancy.current().schema_name)
        return embedder.embed_documents(texts=contents)
    except ProviderError as error:
        if isinstance(error, ProviderRefused):
            raise jobs.PermanentFailure(f"{error.detail} {error.hint}") from error
        raise EmbedderUnavailable(detail=error.detail, hint=error.hint) from error
