"""The methodologies an organization works by: ours and its own, which come first (spec 3.1)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from accounts import tenancy
from accounts.caller import Caller
from memory.observer.injection.relays import Transition
from memory.queries import definitions
from memory.queries.definitions import Kind
from memory.retrieval.methodology import Methodology
from memory.retrieval.phases import METHODOLOGIES, Phase
from memory.taxonomy import MemoryType

RELAYS: Final = "relays"  # of a methodology's body


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodologyView:
    """A methodology, which of the six phases each of its own is, and whether it is shipped."""

    name: str
    phases: Methodology
    is_own: bool


def own(*, caller: Caller) -> dict[str, Methodology]:
    """Return the organization's own methodologies by name."""
    with tenancy.unit():
        rows = tuple(definitions.seen(caller=caller, kind=Kind.METHODOLOGY).order_by("name", "id"))
    return {row.name: _phases(row.body["phases"]) for row in rows}


def relays_of(*, caller: Caller, name: str) -> tuple[Transition, ...]:
    """Return the transitions that an own methodology names; none for any other. In a unit."""
    row = definitions.seen(caller=caller, kind=Kind.METHODOLOGY).filter(name=name).first()
    return () if row is None else tuple(map(_transition, row.body.get(RELAYS, ())))


def known(*, caller: Caller) -> tuple[MethodologyView, ...]:
    """Return all that can be named in a context, by name."""
    mine = own(caller=caller)
    both = {**METHODOLOGIES, **mine}
    return tuple(
        MethodologyView(name=name, phases=both[name], is_own=name in mine) for name in sorted(both)
    )


def _transition(kept: Mapping[str, Any]) -> Transition:
    types = frozenset(MemoryType(one) for one in kept["types"])
    return Transition(before=kept["from"], after=kept["to"], types=types)


def _phases(kept: Mapping[str, str]) -> Methodology:
    return {key: Phase(value) for key, value in kept.items()}
