"""Answers of the server as frozen values; what a newer server adds is kept in `raw`.

A field that an answer lacks, or has in another form, is empty, so that a client of yesterday reads
a server of tomorrow.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Self

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What all answers have."""

    raw: Json = field(default_factory=dict, repr=False)

    @classmethod
    def read(cls, raw: Json, **computed: object) -> Self:
        """Read an answer: each field of the same name and of the type of its default."""
        values: dict[str, Any] = {
            one.name: raw[one.name]
            for one in fields(cls)
            if type(raw.get(one.name)) is type(one.default)
        }
        return cls(**{**values, **computed, "raw": raw})


@dataclass(frozen=True, slots=True, kw_only=True)
class Me(Answer):
    """Who the caller is to the server."""

    organization: str = ""
    role: str = ""
    scopes: tuple[str, ...] = ()
    agent: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory(Answer):
    """A memory, as far as a line about it needs."""

    id: str = ""
    project: str = ""
    type: str = ""
    content: str = ""
    created_at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit(Answer):
    """A memory that a search found, and the probability that it is relevant."""

    memory: Memory
    relevance: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResults(Answer):
    """What a search came to."""

    hits: tuple[SearchHit, ...] = ()
    nothing_relevant: bool = False
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedMemory(Answer):
    """What became of a memory that was handed in; `reason` says why it was refused."""

    outcome: str = ""
    memory: Memory | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session(Answer):
    """A session of the server."""

    id: str = ""
    state: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendedRows(Answer):
    """How many rows were new, stored already, and refused."""

    stored: int = 0
    known: int = 0
    refused: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportBatch(Answer):
    """An import: its state, how many statements it has, and what became of them."""

    id: str = ""
    state: str = ""
    total: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)
    error: str = ""


def read_me(*, raw: Json) -> Me:
    """Read who the caller is."""
    organization = raw.get("organization")
    slug = str(organization.get("slug", "")) if isinstance(organization, Mapping) else ""
    return Me.read(raw, organization=slug, scopes=tuple(_list(raw, "scopes")))


def read_results(*, raw: Json) -> SearchResults:
    """Read what a search came to."""
    hits = (SearchHit.read(one, memory=Memory.read(one["memory"])) for one in _list(raw, "results"))
    return SearchResults.read(raw, hits=tuple(hits), degraded=tuple(_list(raw, "degraded")))


def read_added(*, raw: Json) -> AddedMemory:
    """Read what became of a memory."""
    stored = raw.get("memory")
    return AddedMemory.read(
        raw,
        memory=Memory.read(stored) if isinstance(stored, Mapping) else None,
        reason=raw.get("hint") or raw.get("reason") or "",
    )


def read_appended(*, raw: Json) -> AppendedRows:
    """Read what was appended."""
    return AppendedRows.read(raw, refused=len(_list(raw, "refused")))


def read_batch(*, raw: Json) -> ImportBatch:
    """Read an import."""
    counts = raw.get("counts")
    return ImportBatch.read(raw, counts=counts if isinstance(counts, dict) else {})


def _list(raw: Json, name: str) -> list[Any]:
    value = raw.get(name)
    return value if isinstance(value, list) else []
