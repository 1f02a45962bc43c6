"""One memory in full: belief over time, provenance, relations, history."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from accounts.caller import Caller, may
from accounts.caller import TokenScope as Scope
from accounts.queries.directory import people
from frontend.labels import session_labels
from frontend.labels.memory_labels import Name, name_of
from frontend.presenters import figures
from memory.customization.queries import trust_floor
from memory.experiments.queries import session_figures
from memory.experiments.queries.session_figures import ReentryCounts
from memory.records.queries import memories
from memory.records.queries.memories import LinkView, VersionView
from memory.records.queries.relations import Contradiction
from memory.records.queries.views import MemoryView
from memory.review.queries import session_summary
from memory.review.queries.session_summary import MemoryOrigin
from memory.taxonomy import MemoryType

NONE: Final = ReentryCounts()


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """A version beside the one before it; `before` is None for the first."""

    version: VersionView
    before: str | None
    who: str
    current: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspected:
    """Everything the inspector shows of a memory; `sides` contradict it.

    `proof` says how it was learned, None where that was in no session, or in one that is gone or
    that the caller may not see; `is_of_session` tells those apart.
    """

    memory: MemoryView
    curve: figures.Curve
    versions: tuple[Version, ...]
    links: tuple[LinkView, ...]
    sides: tuple[Contradiction, ...]
    author: str
    active: bool
    may_change: bool
    is_of_session: bool = False
    proof: MemoryOrigin | None = None
    signal: Name = ""
    reentered: ReentryCounts = NONE


def inspect(*, memory: MemoryView, caller: Caller, now: datetime) -> Inspected:
    """Gather what the inspector shows. Raises NotFound when the memory is gone meanwhile."""
    history = memories.history(caller=caller, memory_id=memory.id)
    ids = {view.changed_by for view in history if view.changed_by is not None}
    if memory.author_user is not None:
        ids.add(memory.author_user)
    names = people(caller=caller, ids=ids) if ids else {}
    proof = session_summary.find_origin(caller=caller, memory=memory)
    return Inspected(
        memory=memory,
        curve=figures.curve(
            confidence=memory.effective_confidence,
            half_life_days=memory.decay_half_life_days,
            pinned=memory.pinned,
            floor=trust_floor(caller=caller, project_id=memory.project_id),
            now=now,
        ),
        versions=_versions(history, names),
        links=memories.links(caller=caller, memory_id=memory.id),
        sides=memories.sides(caller=caller, memory=memory),
        author=_who(memory.author_agent, memory.author_user, names),
        active=memory.status == "active",
        may_change=may(caller=caller, scope=Scope.WRITE),
        is_of_session=session_summary.is_of_session(memory=memory),
        proof=proof,
        signal="" if proof is None else name_of(session_labels.SIGNALS, proof.signal),
        reentered=_reentered(memory, caller),
    )


def _reentered(memory: MemoryView, caller: Caller) -> ReentryCounts:
    """Return how often a dead end was entered again; other memories cannot be."""
    is_one = memory.type == MemoryType.DEAD_END
    return (
        session_figures.reentries_of_memory(caller=caller, memory_id=memory.id) if is_one else NONE
    )


def _versions(history: tuple[VersionView, ...], names: Mapping[UUID, str]) -> tuple[Version, ...]:
    earlier = (*(view.content for view in history[1:]), None)
    return tuple(
        Version(
            version=view,
            before=before,
            who=_who(view.changed_agent, view.changed_by, names),
            current=position == 0,
        )
        for position, (view, before) in enumerate(zip(history, earlier, strict=True))
    )


def _who(agent: str, user: UUID | None, names: Mapping[UUID, str]) -> str:
    return agent or (names.get(user, "") if user else "")
