"""Answers of the server as frozen values; what a newer server adds is kept in `raw`.

A field that an answer lacks is empty, so that a client of yesterday reads a server of tomorrow.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Me:
    """Who the caller is to the server."""

    organization: str
    role: str
    scopes: tuple[str, ...]
    agent: str
    raw: Json = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """A memory, as far as a line about it needs."""

    id: str
    project: str
    type: str
    content: str
    created_at: str
    raw: Json = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A memory that a search found, and the probability that it is relevant."""

    memory: Memory
    relevance: float
    raw: Json = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResults:
    """What a search came to."""

    hits: tuple[Hit, ...]
    nothing_relevant: bool
    degraded: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedMemory:
    """What became of a memory that was handed in; `reason` says why it was refused."""

    outcome: str
    memory: Memory | None
    reason: str
    raw: Json = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A session of the server."""

    id: str
    state: str
    raw: Json = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Appended:
    """How many rows were new, how many were stored already, and what was still masked."""

    stored: int
    known: int
    masked: int
    refused: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportBatch:
    """An import: its state, how many statements it has, and what became of them."""

    id: str
    state: str
    total: int
    counts: Mapping[str, int]
    error: str
    raw: Json = field(repr=False)


def me(*, raw: Json) -> Me:
    """Read who the caller is."""
    organization = raw.get("organization")
    slug = organization.get("slug") if isinstance(organization, Mapping) else ""
    return Me(
        organization=_text(slug),
        role=_text(raw.get("role")),
        scopes=tuple(_list(raw, "scopes")),
        agent=_text(raw.get("agent")),
        raw=raw,
    )


def memory(*, raw: Json) -> Memory:
    """Read a memory."""
    return Memory(
        id=_text(raw.get("id")),
        project=_text(raw.get("project")),
        type=_text(raw.get("type")),
        content=_text(raw.get("content")),
        created_at=_text(raw.get("created_at")),
        raw=raw,
    )


def found(*, raw: Json) -> SearchResults:
    """Read what a search came to."""
    hits = (
        Hit(memory=memory(raw=one["memory"]), relevance=float(one.get("relevance") or 0), raw=one)
        for one in _list(raw, "results")
    )
    return SearchResults(
        hits=tuple(hits),
        nothing_relevant=raw.get("nothing_relevant") is True,
        degraded=tuple(_list(raw, "degraded")),
    )


def outcome(*, raw: Json) -> AddedMemory:
    """Read what became of a memory."""
    kept = raw.get("memory")
    return AddedMemory(
        outcome=_text(raw.get("outcome")),
        memory=memory(raw=kept) if isinstance(kept, Mapping) else None,
        reason=_text(raw.get("hint")) or _text(raw.get("reason")),
        raw=raw,
    )


def session(*, raw: Json) -> Session:
    """Read a session."""
    return Session(id=_text(raw.get("id")), state=_text(raw.get("state")), raw=raw)


def appended(*, raw: Json) -> Appended:
    """Read what was appended."""
    return Appended(
        stored=int(raw.get("stored") or 0),
        known=int(raw.get("known") or 0),
        masked=len(_list(raw, "masked")),
        refused=len(_list(raw, "refused")),
    )


def batch(*, raw: Json) -> ImportBatch:
    """Read an import."""
    counts = raw.get("counts")
    return ImportBatch(
        id=_text(raw.get("id")),
        state=_text(raw.get("state")),
        total=int(raw.get("total") or 0),
        counts=dict(counts) if isinstance(counts, Mapping) else {},
        error=_text(raw.get("error")),
        raw=raw,
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _list(raw: Json, name: str) -> list[Any]:
    value = raw.get(name)
    return value if isinstance(value, list) else []
