"""The embedding models of an organization: which is active, being filled, or kept."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from accounts import jobs, tenancy
from accounts.caller import Caller
from accounts.errors import RoleNotSufficient
from accounts.rights import manages
from memory.index import query_vectors
from memory.index.sql import search_rows
from memory.providers import registry


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
    kept, not_kept = query_vectors.counts_here()
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
