"""Create a project, and change what it is called and what it keeps to."""

import re
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any, Final

from django.db import IntegrityError, transaction

from accounts import free_texts, identifiers, tenancy
from accounts.caller import Caller
from accounts.errors import InvalidInput, PreconditionFailed, wrong_field
from accounts.messages import message
from accounts.queries.directory import keep_events_days
from teams import audit, changes, visibility
from teams.errors import NotBoundToProject, SlugTaken
from teams.models import Project, ProjectMember, Team
from teams.permissions import Act, require
from teams.queries import (
    EVENTS_KEPT,
    GATES,
    KEEP_EVENTS,
    MODE,
    MODES,
    SETTINGS,
    SPENDING,
    THRESHOLD,
    WHOLE,
    ProjectView,
    check_unbound,
    events_days_of,
    find_project,
    is_within,
    project_view,
)

SLUG: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?\Z")


def check_slug(*, slug: str) -> None:
    """Raise InvalidInput unless a text can be a short name."""
    if SLUG.match(slug):
        return
    raise wrong_field(
        pointer="/slug",
        detail=message("{slug!r} cannot be a short name.", slug=slug),
        hint="Use 1 to 64 lower-case letters, digits and inner hyphens.",
        code="slug",
    )


def insert(*, row: Project | Team) -> None:
    """Store a new row. Raises SlugTaken."""
    try:
        with transaction.atomic():
            row.save(force_insert=True)
    except IntegrityError as error:
        raise SlugTaken(
            detail=message("The short name {slug!r} is taken.", slug=row.slug),
            hint="Choose another short name.",
        ) from error


def check_version(*, row: Project | Team, if_version: int | None) -> None:
    """Check that a locked row is the version a writer has read, where they named one.

    Raises PreconditionFailed when it has changed since.
    """
    if if_version is None or row.version == if_version:
        return
    raise PreconditionFailed(
        detail=message(
            "It is at version {number}, not {asked}.", number=row.version, asked=if_version
        ),
        hint="Read it again, merge your change, and send it with the new ETag.",
    )


DESCRIPTION_LENGTH: Final = 400  # characters, the column's
CHANGEABLE: Final = ("name", "description", *SETTINGS)
WHOLE_NUMBERS: Final = frozenset({*WHOLE, *SPENDING, KEEP_EVENTS})


def create_project(
    *,
    caller: Caller,
    slug: str,
    name: str,
    description: str = "",
    open_to_all: bool = True,
    now: datetime,
) -> ProjectView:
    """Create a project; who creates it belongs to it.

    Without a name it is called by its slug. Raises InvalidInput naming the field, SlugTaken,
    RoleNotSufficient, NotBoundToProject.
    """
    require(caller=caller, act=Act.MANAGE_PROJECTS)
    if caller.bound_projects is not None:
        raise NotBoundToProject(
            detail="This token is bound to projects and cannot create others.",
            hint="Create the project in the dashboard, or with a token that is bound to none.",
        )
    check_slug(slug=slug)
    _check_description(description)
    free_texts.check(texts={"/slug": slug, "/name": name, "/description": description})
    with tenancy.unit():
        row = Project(
            slug=slug,
            name=identifiers.checked_name(name.strip() or slug),
            description=description,
            open_to_all=open_to_all,
            created_by=caller.user_id,
            created_at=now,
        )
        insert(row=row)
        if caller.user_id is not None:
            ProjectMember.objects.create(project=row, user_id=caller.user_id)
        visibility.forget()
        tell(caller=caller, row=row, kind="project.created")
        return project_view(row)


def change_project(
    *, caller: Caller, ref: str, changes: Mapping[str, Any], if_version: int | None
) -> ProjectView:
    """Change a project's name, its description, or what searches, intake and extraction keep to.

    A `relevance_threshold` is 0 to 1, or None for the fitted one; None also gives the others
    their usual value. What agents did is kept as long as the organization says at most. Raises
    InvalidInput naming the field, PreconditionFailed, RoleNotSufficient, NotBoundToProject,
    NotFound.
    """
    require(caller=caller, act=Act.MANAGE_PROJECTS)
    with tenancy.unit():
        row = hold_project(caller=caller, ref=ref)
        check_unbound(caller=caller)
        check_version(row=row, if_version=if_version)
        changed = _put_settings(row, _checked(changes, caller))
        if changed:
            row.version += 1
            row.save(update_fields=["name", "description", "settings", "version"])
            tell(caller=caller, row=row, kind="project.changed", fields=changed)
        return project_view(row)


def hold_project(*, caller: Caller, ref: str) -> Project:
    """Return the row of a project, locked until the open unit ends. Raises NotFound."""
    found = find_project(caller=caller, ref=ref)
    return Project.objects.select_for_update().get(pk=found.pk)


def admit(*, caller: Caller, row: Project, everyone: bool) -> ProjectView:
    """Store whether everyone belongs to a project that is locked already."""
    if row.open_to_all != everyone:
        row.open_to_all, row.version = everyone, row.version + 1
        row.save(update_fields=["open_to_all", "version"])
        visibility.forget()
        tell(caller=caller, row=row, kind="project.opened" if everyone else "project.closed")
    return project_view(row)


def tell(*, caller: Caller, row: Project, kind: str, fields: tuple[str, ...] = ()) -> None:
    """Write what was done to a project into the audit log and the feed of changes."""
    audit.append(kind, "project", str(row.id), caller=caller, fields=fields)
    changes.append(
        kind=kind,
        object_id=row.id,
        project_id=row.id,
        audience=row.id,
        caller=caller,
        summary={"slug": row.slug, "name": row.name},
    )


def _checked(changes: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
    unknown = sorted(set(changes) - set(CHANGEABLE))
    if unknown:
        raise InvalidInput(
            detail=message("{name} cannot be changed.", name=unknown[0]),
            hint=message("Possible: {names}.", names=CHANGEABLE),
        )
    given = dict(changes)
    free_texts.check(
        texts={f"/{field}": given[field] for field in ("name", "description") if field in given}
    )
    if "name" in given:
        given["name"] = identifiers.checked_name(given["name"])
    if "description" in given:
        _check_description(given["description"])
    if given.get(THRESHOLD) is not None and not 0 <= given[THRESHOLD] <= 1:
        raise wrong_field(
            pointer=f"/{THRESHOLD}", detail="Use a number from 0 to 1, or nothing.", code="range"
        )
    for name, bounds in {**GATES, **SPENDING}.items():
        _check_gate(name, given.get(name), bounds)
    if given.get(KEEP_EVENTS) is not None:
        longest = keep_events_days(organization_id=caller.organization_id)
        _check_gate(KEEP_EVENTS, given[KEEP_EVENTS], (EVENTS_KEPT[0], longest))
    if given.get(MODE) is not None and given[MODE] not in MODES:
        detail = message("{value!r} is not one of: {names}.", value=given[MODE], names=MODES)
        raise wrong_field(pointer=f"/{MODE}", detail=detail, code="choice")
    return given


def _check_gate(name: str, value: object, bounds: tuple[float, float]) -> None:
    is_fitting = is_within(value=value, bounds=bounds)
    if value is None or (is_fitting and (name not in WHOLE_NUMBERS or isinstance(value, int))):
        return
    raise wrong_field(
        pointer=f"/{name}",
        detail=message(
            "Use a number from {least:g} to {most:g}, or nothing.", least=bounds[0], most=bounds[1]
        ),
        hint="Nothing gives it its usual value.",
        code="range",
    )


def _put_settings(row: Project, given: Mapping[str, Any]) -> tuple[str, ...]:
    """Put new values into a row; return the names of those that are other than before."""
    stored = {**asdict(project_view(row)), KEEP_EVENTS: events_days_of(row=row)}
    changed = tuple(name for name, value in given.items() if value != stored[name])
    row.name = given.get("name", row.name)
    row.description = given.get("description", row.description)
    put = {name: given[name] for name in SETTINGS if name in given}
    kept = {name: value for name, value in {**row.settings, **put}.items() if value is not None}
    row.settings = kept
    return changed


def _check_description(description: str) -> None:
    if len(description) > DESCRIPTION_LENGTH:
        detail = message("The description has at most {most} characters.", most=DESCRIPTION_LENGTH)
        raise wrong_field(pointer="/description", detail=detail, code="length")
