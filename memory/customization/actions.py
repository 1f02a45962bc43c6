"""Define a methodology or a communication style, or remove one.

A methodology is the organization's; a style is the organization's or one's own,
and its acts are logged by its id alone: what a person calls a style is that person's.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db.models import QuerySet

from accounts import free_texts, tenancy
from accounts.caller import Caller
from accounts.errors import NotFound, wrong_field
from accounts.messages import message
from memory import sql_queries
from memory.customization import custom_type_rules, queries, style
from memory.customization import phases as phase_rules
from memory.customization.models import Definition
from memory.customization.phases import OnComplete, Transition
from memory.customization.queries import Kind, MethodologyView
from memory.customization.style import NewStyle, Style
from memory.taxonomy import Scope
from memory.text.text import check_text
from teams import audit
from teams.errors import NotBoundToProject
from teams.permissions import Act, require

MOST_METHODOLOGIES: Final = 50  # of an organization; default, not measured
MOST_STYLES: Final = 50  # of an organization or a person; default, not measured
LONGEST_STAGE: Final = 20  # characters, as a session's phase


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """How work goes on: transitions between stages, without any ours hold; what an end brings.

    And what memories of it are called beside our types.
    """

    relays: tuple[Transition, ...] = ()
    on_complete: tuple[OnComplete, ...] = ()
    types: tuple[custom_type_rules.OwnType, ...] = ()


USUAL: Final = Course()


def define_methodology(
    *, caller: Caller, name: str, phases: Mapping[str, Any], course: Course = USUAL, now: datetime
) -> MethodologyView:
    """Define a methodology, or define it anew; one with a name of ours comes before ours.

    Raises InvalidInput naming the field, RoleNotSufficient, NotBoundToProject.
    """
    _check_manages(caller)
    checked = phase_rules.checked_methodology(name=name, phases=phases)
    stages = (text for one in course.relays for text in (one.before, one.after))
    written = {"/name": name, "/phases": "\n".join(checked), "/relays": "\n".join(stages)}
    for place, one in enumerate(course.types):
        written |= {f"/types/{place}/name": one.name, f"/types/{place}/says": one.says}
    free_texts.check(texts=written)
    _check_relays(course.relays, custom_type_rules.checked(types=course.types))
    body = {
        "phases": {key: phase.value for key, phase in checked.items()},
        queries.RELAYS: [
            {"from": one.before, "to": one.after, "types": sorted(map(str, one.types))}
            for one in course.relays
        ],
        queries.ON_COMPLETE: [one.value for one in course.on_complete],
        queries.TYPES: queries.TYPE_ROWS.dump_python(course.types, mode="json"),
    }
    row = Definition(
        audience=caller.organization_id,
        kind=Kind.METHODOLOGY,
        name=name,
        body=body,
        defined_by=caller.user_id,
        defined_at=now,
    )
    full = message(
        "An organization has at most {most} methodologies of its own.", most=MOST_METHODOLOGIES
    )
    with tenancy.unit():
        others = _hold_others(row, MOST_METHODOLOGIES, full)
        _check_free(course.types, tuple(others))
        put = _put(row)
        _record(caller, "methodology_defined", name)
    return queries.own_methodology(row=put)


def remove_methodology(*, caller: Caller, name: str) -> None:
    """Remove a methodology of the organization's own.

    Raises NotFound, RoleNotSufficient, NotBoundToProject.
    """
    _check_manages(caller)
    with tenancy.unit():
        own = Definition.objects.filter(audience=caller.organization_id, kind=Kind.METHODOLOGY)
        gone, _ = own.filter(name=name).delete()
        if not gone:
            raise NotFound(
                detail="The organization has no such methodology of its own.",
                hint="GET /api/v1/methodologies lists those there are.",
            )
        _record(caller, "methodology_removed", name)


def _check_manages(caller: Caller) -> None:
    require(caller=caller, act=Act.MANAGE_SETTINGS)
    if caller.bound_projects is not None:
        raise NotBoundToProject(
            detail="This token is bound to projects; methodologies are the organization's.",
            hint="Use a token that is bound to none.",
        )


def _check_relays(
    relays: tuple[Transition, ...], types: tuple[custom_type_rules.OwnType, ...]
) -> None:
    """Check that stages are told apart, each transition is named once, and its types are known."""
    known = custom_type_rules.OURS.union(one.name for one in types)
    if len(relays) > phase_rules.MOST_PHASES:
        raise wrong_field(
            pointer="/relays",
            detail=message(
                "A methodology has at most {most} relays.", most=phase_rules.MOST_PHASES
            ),
            hint="Put types that go the same way together.",
            code="too_many",
        )
    seen: set[tuple[str, str]] = set()
    for place, one in enumerate(relays):
        pair = (one.before, one.after)
        is_unfit = any(
            not 0 < len(stage.strip()) <= LONGEST_STAGE or check_text(text=stage) for stage in pair
        )
        if one.before == one.after or pair in seen or is_unfit:
            raise wrong_field(
                pointer=f"/relays/{place}",
                detail="A relay leads from one stage to another, and is named once.",
                hint="Name both by the phase of the sessions that do them, and put types together.",
                code="relay",
            )
        seen.add(pair)
        if not one.types <= known:
            raise wrong_field(
                pointer=f"/relays/{place}/types",
                detail="A relay passes on types of ours and of the methodology itself.",
                hint=message("Use one of: {names}.", names=tuple(sorted(known))),
                code="choice",
            )


def _hold_others(row: Definition, most: int, full: str) -> QuerySet[Definition]:
    """Let nobody else define one of a kind for an audience, and return the others there are.

    Raises InvalidInput where there is no room for one more.
    """
    sql_queries.hold_path(audience=row.audience, project_id=None, path=row.kind)
    others = Definition.objects.filter(audience=row.audience, kind=row.kind).exclude(name=row.name)
    if others.count() >= most:
        raise wrong_field(pointer="/name", detail=full, hint="Remove one first.", code="too_many")
    return others


def _put(row: Definition) -> Definition:
    """Store a definition, in the place of one of that name where there is one; return it."""
    defined = ("body", "is_default", "defined_by", "defined_at")
    put, _ = Definition.objects.update_or_create(
        audience=row.audience,
        kind=row.kind,
        name=row.name,
        defaults={name: getattr(row, name) for name in defined},
    )
    return put


def _record(caller: Caller, act: str, object_id: str) -> None:
    """Append to the audit log what was done to a definition, a `style_…` or `methodology_…`."""
    audit.append(
        act=f"organization.{act}",
        object_type=act.partition("_")[0],
        object_id=object_id,
        caller=caller,
    )


def _check_free(
    types: tuple[custom_type_rules.OwnType, ...], others: tuple[Definition, ...]
) -> None:
    """Check that no other methodology has a type of that name: one word, one thing."""
    taken = {kept["name"]: row.name for row in others for kept in row.body.get(queries.TYPES, ())}
    for place, one in enumerate(types):
        if one.name in taken:
            raise wrong_field(
                pointer=f"/types/{place}/name",
                detail=message(
                    "The methodology {name} has a type of that name.", name=taken[one.name]
                ),
                hint="Give this one another name.",
                code="taken",
            )


def put_style(*, caller: Caller, new: NewStyle, now: datetime) -> Style:
    """Define a style, or define it anew; a new default takes the place of the one before.

    Raises InvalidInput naming the field, RoleNotSufficient, NotBoundToProject.
    """
    style.check(new=new)
    audience = _style_audience(caller, new.scope)
    topics = {f"/topics/{place}": topic for place, topic in enumerate(new.topics)}
    free_texts.check(texts={"/name": new.name, "/text": new.text, **topics})
    row = Definition(
        audience=audience,
        kind=Kind.STYLE,
        name=new.name,
        body={"text": new.text, "topics": [*new.topics], "interfaces": [*new.interfaces]},
        is_default=new.is_default,
        defined_by=caller.user_id,
        defined_at=now,
    )
    full = message("There is room for {most} styles.", most=MOST_STYLES)
    with tenancy.unit():
        others = _hold_others(row, MOST_STYLES, full)
        if new.is_default:
            others.filter(is_default=True).update(is_default=False)
        put = _put(row)
        _record(caller, "style_defined", str(put.id))
    return queries.to_style(row=put, caller=caller)


def remove_style(*, caller: Caller, style_id: UUID) -> None:
    """Remove a style. Raises NotFound, RoleNotSufficient, NotBoundToProject."""
    with tenancy.unit():
        _style_audience(caller, queries.find_style(caller=caller, style_id=style_id).scope)
        Definition.objects.filter(pk=style_id).delete()
        _record(caller, "style_removed", str(style_id))


def _style_audience(caller: Caller, scope: str) -> UUID:
    """Return whose styles of this scope are, of who may change them."""
    is_own = scope == Scope.PERSONAL
    require(caller=caller, act=Act.WRITE if is_own else Act.MANAGE_SETTINGS)
    if caller.bound_projects is not None:
        raise NotBoundToProject(
            detail="This token is bound to projects; styles are the organization's or a person's.",
            hint="Use a token that is bound to none.",
        )
    if not is_own:
        return caller.organization_id
    if caller.user_id is None:
        raise wrong_field(
            pointer="/scope",
            detail="Nobody stands behind this token, so it has no styles of its own.",
            hint="Define it for the organization, or use a person's token.",
            code="choice",
        )
    return caller.user_id
