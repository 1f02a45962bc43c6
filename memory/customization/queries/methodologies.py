"""The methodologies an organization works by: ours and its own, which come first."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import NotFound
from memory.customization import custom_type_rules, methodology
from memory.customization.custom_type_rules import OwnType
from memory.customization.methodology import NATIVE, Methodology, OnComplete, Transition
from memory.customization.phases import METHODOLOGIES, Phase
from memory.customization.queries import definitions
from memory.customization.queries.definitions import Kind
from memory.customization.queries.own_types import TYPES

RELAYS: Final = "relays"  # of a methodology's body
ON_COMPLETE: Final = "on_complete"  # likewise


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodologyView:
    """A methodology, which of the six phases each of its own is, and whether it is shipped.

    `relays` are the transitions it names; where it names none, ours hold. `on_complete` is what it
    does when a unit of work ends, `types` what it adds to those of memories.
    """

    name: str
    phases: Methodology
    is_own: bool
    relays: tuple[Transition, ...] = ()
    on_complete: tuple[OnComplete, ...] = ()
    types: tuple[OwnType, ...] = ()


def own(*, caller: Caller) -> dict[str, Methodology]:
    """Return the organization's own methodologies by name."""
    with tenancy.unit():
        rows = tuple(definitions.seen(caller=caller, kind=Kind.METHODOLOGY).order_by("name", "id"))
    return {row.name: _phases(row.body["phases"]) for row in rows}


def relays_of(*, caller: Caller, name: str) -> tuple[Transition, ...]:
    """Return the transitions that an own methodology names; none for any other. In a unit."""
    row = definitions.seen(caller=caller, kind=Kind.METHODOLOGY).filter(name=name).first()
    return () if row is None else _transitions(row.body)


def on_complete(*, caller: Caller, name: str) -> tuple[OnComplete, ...]:
    """Return what an own methodology does when a unit of work ends; ours do nothing. In a unit."""
    row = definitions.seen(caller=caller, kind=Kind.METHODOLOGY).filter(name=name).first()
    return () if row is None else _acts(row.body)


def to_body(*, transition: Transition) -> dict[str, Any]:
    """Return what a row keeps of a transition."""
    return {
        "from": transition.before,
        "to": transition.after,
        "types": sorted(map(str, transition.types)),
    }


def known(*, caller: Caller) -> tuple[MethodologyView, ...]:
    """Return all that can be named in a context, by name."""
    with tenancy.unit():
        rows = definitions.seen(caller=caller, kind=Kind.METHODOLOGY).order_by("name", "id")
        mine = {row.name: row.body for row in rows}
    ours = (
        MethodologyView(name=name, phases=phases, is_own=False, relays=_shipped(name))
        for name, phases in METHODOLOGIES.items()
        if name not in mine
    )
    theirs = (
        MethodologyView(
            name=name,
            phases=_phases(body["phases"]),
            is_own=True,
            relays=_transitions(body),
            on_complete=_acts(body),
            types=_types(body),
        )
        for name, body in mine.items()
    )
    return tuple(sorted((*ours, *theirs), key=lambda view: view.name))


def one(*, caller: Caller, name: str) -> MethodologyView:
    """Return a methodology by its name. Raises NotFound."""
    found = next((view for view in known(caller=caller) if view.name == name), None)
    if found is None:
        raise NotFound(
            detail="There is no such methodology.",
            hint="It may have been removed.",
        )
    return found


def _shipped(name: str) -> tuple[Transition, ...]:
    return methodology.NATIVE_TRANSITIONS if name == NATIVE else ()


def _acts(body: Mapping[str, Any]) -> tuple[OnComplete, ...]:
    return tuple(map(OnComplete, body.get(ON_COMPLETE, ())))


def _types(body: Mapping[str, Any]) -> tuple[OwnType, ...]:
    return tuple(custom_type_rules.of_body(kept=kept) for kept in body.get(TYPES, ()))


def _transitions(body: Mapping[str, Any]) -> tuple[Transition, ...]:
    return tuple(map(_transition, body.get(RELAYS, ())))


def _transition(kept: Mapping[str, Any]) -> Transition:
    return Transition(before=kept["from"], after=kept["to"], types=frozenset(kept["types"]))


def _phases(kept: Mapping[str, str]) -> Methodology:
    return {key: Phase(value) for key, value in kept.items()}
