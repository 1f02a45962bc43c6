"""What an organization, or a person in it, has defined: methodologies, types, styles, trust levels.

Definitions belong to no project, so what `teams.visibility` says of memories without one holds here
too: a credential that is bound to projects reaches nothing that is a person's alone. Custom types
are the organization's vocabulary: whoever may name one may know them, and they tell nothing of any
memory. A trust level is a definition of its person, named after the project; nobody else is told
it. Who has none, and every credential without a person, is at the first level.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

from django.db.models import QuerySet
from pydantic import TypeAdapter

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import NotFound, wrong_field
from accounts.messages import message
from memory.customization import custom_type_rules, phases, style
from memory.customization.custom_type_rules import OwnType
from memory.customization.models import Definition
from memory.customization.phases import Methodology, OnComplete, Phase, Transition
from memory.customization.style import Composed, Style
from memory.taxonomy import MemoryType, Scope
from teams import trust
from teams.permissions import Act, require
from teams.trust import START, Standing, TrustLevel

TYPES: Final = "types"  # of a methodology's body
MOST_TOLD: Final = 40  # names of one refusal; default, not measured
RELAYS: Final = "relays"  # of a methodology's body
ON_COMPLETE: Final = "on_complete"  # likewise
TYPE_ROWS: Final = TypeAdapter(tuple[OwnType, ...])  # as a methodology's body keeps them
STANDING: Final = TypeAdapter(Standing)  # as the body of a definition of trust keeps it


class Kind(StrEnum):
    """What is defined."""

    METHODOLOGY = "methodology"
    STYLE = "style"
    TRUST = "trust"


def list_definitions(*, caller: Caller, kind: Kind) -> QuerySet[Definition]:
    """Return the definitions of a kind that a caller may see. In a unit.

    Raises RoleNotSufficient for a credential that may not read.
    """
    require(caller=caller, act=Act.READ)
    audiences = [caller.organization_id]
    if caller.user_id is not None and caller.bound_projects is None:
        audiences.append(caller.user_id)
    return Definition.objects.filter(kind=kind, audience__in=audiences)


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodologyView:
    """A methodology, and which of the six phases each of its own is."""

    name: str
    phases: Methodology
    is_own: bool  # false: shipped
    relays: tuple[Transition, ...] = ()  # that it names; none: ours hold
    on_complete: tuple[OnComplete, ...] = ()  # what it does when a unit of work ends
    types: tuple[OwnType, ...] = ()  # added to those of memories


def own_methodologies(*, caller: Caller) -> dict[str, Methodology]:
    """Return the organization's own methodologies by name."""
    with tenancy.unit():
        rows = tuple(list_definitions(caller=caller, kind=Kind.METHODOLOGY).order_by("name", "id"))
    return {row.name: own_methodology(row=row).phases for row in rows}


def find_own_methodology(*, caller: Caller, name: str) -> MethodologyView | None:
    """Return a methodology of the organization's own, None for any other name. In a unit."""
    row = list_definitions(caller=caller, kind=Kind.METHODOLOGY).filter(name=name).first()
    return None if row is None else own_methodology(row=row)


def list_methodologies(*, caller: Caller) -> tuple[MethodologyView, ...]:
    """Return all that can be named in a context, by name; own ones come before shipped ones."""
    with tenancy.unit():
        rows = list_definitions(caller=caller, kind=Kind.METHODOLOGY).order_by("name", "id")
        own = {row.name: own_methodology(row=row) for row in rows}
    relays = {phases.NATIVE: phases.NATIVE_TRANSITIONS}
    shipped = {
        name: MethodologyView(name=name, phases=named, is_own=False, relays=relays.get(name, ()))
        for name, named in phases.METHODOLOGIES.items()
    }
    return tuple(sorted({**shipped, **own}.values(), key=lambda view: view.name))


def find_methodology(*, caller: Caller, name: str) -> MethodologyView:
    """Return a methodology by its name. Raises NotFound."""
    found = next((view for view in list_methodologies(caller=caller) if view.name == name), None)
    if found is None:
        raise NotFound(detail="There is no such methodology.", hint="It may have been removed.")
    return found


def own_methodology(*, row: Definition) -> MethodologyView:
    """Make the value of the row of a methodology."""
    body: Mapping[str, Any] = row.body
    return MethodologyView(
        name=row.name,
        phases={key: Phase(value) for key, value in body["phases"].items()},
        is_own=True,
        relays=tuple(
            Transition(before=kept["from"], after=kept["to"], types=frozenset(kept["types"]))
            for kept in body.get(RELAYS, ())
        ),
        on_complete=tuple(map(OnComplete, body.get(ON_COMPLETE, ()))),
        types=TYPE_ROWS.validate_python(body.get(TYPES, ())),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedType:
    """A type, and the methodology that adds it."""

    type: OwnType
    methodology: str


def list_custom_types(*, caller: Caller) -> Mapping[str, AddedType]:
    """Return the types that the organization's methodologies add, by name."""
    with tenancy.unit():
        rows = Definition.objects.filter(audience=caller.organization_id, kind=Kind.METHODOLOGY)
        bodies = tuple(rows.order_by("name", "id").values_list("name", "body"))
    found: dict[str, AddedType] = {}
    for methodology, body in bodies:
        for type in TYPE_ROWS.validate_python(body.get(TYPES, ())):
            found.setdefault(type.name, AddedType(type=type, methodology=methodology))
    return dict(sorted(found.items()))


def find_custom_type(*, caller: Caller, name: str, pointer: str) -> AddedType:
    """Return the type of that name. Raises InvalidInput naming those there are."""
    added = list_custom_types(caller=caller)
    if name in added:
        return added[name]
    names = (*tuple(added)[:MOST_TOLD], *(item.value for item in MemoryType))
    raise wrong_field(
        pointer=pointer,
        detail="There is no such type of memory.",
        hint=message("Use one of: {names}.", names=names),
        code="choice",
    )


def check_custom_types(*, caller: Caller, names: Iterable[str], pointer: str = "/types") -> None:
    """Check that all types one asks for are known; ours always are. Raises InvalidInput."""
    for name in names:
        if custom_type_rules.is_own(name=name):
            find_custom_type(caller=caller, name=name, pointer=pointer)


def list_styles(*, caller: Caller) -> tuple[Style, ...]:
    """Return the organization's styles and the person's own, by name."""
    with tenancy.unit():
        rows = tuple(list_definitions(caller=caller, kind=Kind.STYLE).order_by("name", "id"))
    return tuple(to_style(row=row, caller=caller) for row in rows)


def find_style(*, caller: Caller, style_id: UUID) -> Style:
    """Return a style. Raises NotFound for one that the caller cannot see."""
    with tenancy.unit():
        row = list_definitions(caller=caller, kind=Kind.STYLE).filter(pk=style_id).first()
    if row is None:
        raise NotFound(
            detail="There is no such style.", hint="GET /api/v1/styles lists those there are."
        )
    return to_style(row=row, caller=caller)


def choose_style(*, caller: Caller, topic: str, interface: str | None) -> Composed | None:
    """Return the style that fits a session; `interface` None is the one the caller comes from."""
    return style.compose(
        styles=list_styles(caller=caller),
        topic=topic,
        interface=caller.source_interface if interface is None else interface,
    )


def to_style(*, row: Definition, caller: Caller) -> Style:
    """Make the value of a row."""
    is_shared = row.audience == caller.organization_id
    body: Mapping[str, Any] = row.body
    return Style(
        id=row.id,
        name=row.name,
        scope=Scope.ORGANIZATION if is_shared else Scope.PERSONAL,
        text=body["text"],
        topics=tuple(body["topics"]),
        interfaces=tuple(body["interfaces"]),
        is_default=row.is_default,
    )


def trust_level_of(*, caller: Caller, project_id: UUID | None) -> TrustLevel:
    """Return the level in force for a caller in a project, the first outside of any. In a unit."""
    standing = standing_of(user_id=caller.user_id, project_id=project_id)
    return trust.in_force(standing=standing, role=caller.role)


def trust_floor(*, caller: Caller, project_id: UUID | None) -> float:
    """Return the confidence from which a caller's agents are given what a project knows unasked."""
    with tenancy.unit():
        level = trust_level_of(caller=caller, project_id=project_id)
    return trust.level_row(level=level).injects_from_confidence


def standing_of(*, user_id: UUID | None, project_id: UUID | None) -> Standing:
    """Return where a person stands, as it is kept. In a unit."""
    if user_id is None or project_id is None:
        return START
    rows = Definition.objects.filter(kind=Kind.TRUST, audience=user_id, name=project_id.hex)
    body = rows.values_list("body", flat=True).first()
    return START if body is None else STANDING.validate_python(body)
