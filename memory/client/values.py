"""What the server answers, as frozen values; what a newer server adds is kept in `told`.

A field that an answer lacks is empty, so that a client of yesterday reads a server of tomorrow.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Me:
    """Who the server takes the caller for."""

    organization: str
    role: str
    scopes: tuple[str, ...]
    agent: str
    told: Json = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """A memory, as far as a line about it needs."""

    id: str
    project: str
    type: str
    content: str
    created_at: str
    told: Json = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A memory that a search found, and the probability that it is relevant."""

    memory: Memory
    relevance: float
    told: Json = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a search came to."""

    hits: tuple[Hit, ...]
    nothing_relevant: bool
    degraded: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of a memory that was handed in; `reason` says why it was refused."""

    outcome: str
    memory: Memory | None
    reason: str
    told: Json = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A session of the server."""

    id: str
    state: str
    told: Json = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Appended:
    """How many of what was sent were new, how many were there, and what was still masked."""

    stored: int
    known: int
    masked: int
    refused: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """An import: its state, how many statements it has, and what became of them."""

    id: str
    state: str
    total: int
    counts: Mapping[str, int]
    error: str
    told: Json = field(repr=False)


def me(*, told: Json) -> Me:
    """Read who the caller is."""
    organization = told.get("organization")
    slug = organization.get("slug") if isinstance(organization, Mapping) else ""
    return Me(
        organization=_text(slug),
        role=_text(told.get("role")),
        scopes=tuple(_list(told, "scopes")),
        agent=_text(told.get("agent")),
        told=told,
    )


def memory(*, told: Json) -> Memory:
    """Read a memory."""
    return Memory(
        id=_text(told.get("id")),
        project=_text(told.get("project")),
        type=_text(told.get("type")),
        content=_text(told.get("content")),
        created_at=_text(told.get("created_at")),
        told=told,
    )


def found(*, told: Json) -> Found:
    """Read what a search came to."""
    hits = (
        Hit(memory=memory(told=one["memory"]), relevance=float(one.get("relevance") or 0), told=one)
        for one in _list(told, "results")
    )
    return Found(
        hits=tuple(hits),
        nothing_relevant=told.get("nothing_relevant") is True,
        degraded=tuple(_list(told, "degraded")),
    )


def outcome(*, told: Json) -> Outcome:
    """Read what became of a memory."""
    kept = told.get("memory")
    return Outcome(
        outcome=_text(told.get("outcome")),
        memory=memory(told=kept) if isinstance(kept, Mapping) else None,
        reason=_text(told.get("hint")) or _text(told.get("reason")),
        told=told,
    )


def session(*, told: Json) -> Session:
    """Read a session."""
    return Session(id=_text(told.get("id")), state=_text(told.get("state")), told=told)


def appended(*, told: Json) -> Appended:
    """Read what was appended."""
    return Appended(
        stored=int(told.get("stored") or 0),
        known=int(told.get("known") or 0),
        masked=len(_list(told, "masked")),
        refused=len(_list(told, "refused")),
    )


def batch(*, told: Json) -> Batch:
    """Read an import."""
    counts = told.get("counts")
    return Batch(
        id=_text(told.get("id")),
        state=_text(told.get("state")),
        total=int(told.get("total") or 0),
        counts=dict(counts) if isinstance(counts, Mapping) else {},
        error=_text(told.get("error")),
        told=told,
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _list(told: Json, name: str) -> list[Any]:
    value = told.get(name)
    return value if isinstance(value, list) else []
