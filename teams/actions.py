"""Create and change projects and teams, add people to them and take people out.

Who may see what is read anew by every call and by every look of an open page, so a person sees from
the next of them on, and no longer: nothing is kept that would have to be thrown away. Open pages
are woken to look, those of the one who is taken out in person besides. Owners and admins reach a
closed project whether they are in it or not, and find every team, so a place without anybody left
is not lost; whom they add, also themselves, stands in the audit log.

Membership is in the public schema and places are in the tenant's; both end in one transaction, so
that somebody who is invited again later starts with nothing.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import IntegrityError, transaction

from accounts import free_texts, identifiers, live, tenancy
from accounts.actions import members
from accounts.actions.members import hold_member
from accounts.caller import Caller, check_manages, decides_in_person, is_person
from accounts.errors import Forbidden, InvalidInput, NotFound, PreconditionFailed, wrong_field
from accounts.messages import message
from accounts.queries import MemberView, keep_events_days, list_tokens, token_ids_of
from teams import audit, changes, queries, visibility
from teams.errors import NotBoundToProject, SlugTaken
from teams.models import Project, ProjectMember, Team, TeamMember
from teams.permissions import Act, require

SLUG: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?\Z")
DESCRIPTION_LENGTH: Final = 400  # characters, the column's
CHANGEABLE: Final = ("name", "description", *queries.SETTINGS)


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


def create_project(
    *,
    caller: Caller,
    slug: str,
    name: str,
    description: str = "",
    open_to_all: bool = True,
    now: datetime,
) -> queries.ProjectView:
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
        return queries.project_view(row)


def change_project(
    *, caller: Caller, ref: str, changes: Mapping[str, Any], if_version: int | None
) -> queries.ProjectView:
    """Change a project's name, its description, or what searches, intake and extraction keep to.

    A `relevance_threshold` is 0 to 1, or None for the fitted one; None also gives the others
    their usual value. What agents did is kept as long as the organization says at most. Raises
    InvalidInput naming the field, PreconditionFailed, RoleNotSufficient, NotBoundToProject,
    NotFound, and Forbidden for an agent that decides for whom is what sessions teach.
    """
    require(caller=caller, act=Act.MANAGE_PROJECTS)
    if queries.LESSONS in changes and not decides_in_person(caller=caller):
        raise Forbidden(
            detail="Only a person decides for whom is what sessions teach.",
            hint="Decide in the dashboard, or with the token of cairn login --review.",
        )
    with tenancy.unit():
        row = hold_project(caller=caller, ref=ref)
        queries.check_unbound(caller=caller)
        check_version(row=row, if_version=if_version)
        changed = _put_settings(row, _checked(changes, caller))
        if changed:
            row.version += 1
            row.save(update_fields=["name", "description", "settings", "version"])
            tell(caller=caller, row=row, kind="project.changed", fields=changed)
        return queries.project_view(row)


def hold_project(*, caller: Caller, ref: str) -> Project:
    """Return the row of a project, locked until the open unit ends. Raises NotFound."""
    found = queries.find_project(caller=caller, ref=ref)
    return Project.objects.select_for_update().get(pk=found.pk)


def admit(*, caller: Caller, row: Project, everyone: bool) -> queries.ProjectView:
    """Store whether everyone belongs to a project that is locked already."""
    if row.open_to_all != everyone:
        row.open_to_all, row.version = everyone, row.version + 1
        row.save(update_fields=["open_to_all", "version"])
        visibility.forget()
        tell(caller=caller, row=row, kind="project.opened" if everyone else "project.closed")
    return queries.project_view(row)


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
    for name in filter(queries.BOUNDS.get, given):
        least, most = queries.BOUNDS[name]
        if name == queries.KEEP_EVENTS:
            most = keep_events_days(organization_id=caller.organization_id)
        _check_number(name, given[name], (least, most))
    for name in filter(queries.CHOICES.get, given):
        _check_choice(name, given[name])
    return given


def _check_choice(name: str, value: str | None) -> None:
    names = queries.CHOICES[name]
    if value is not None and value not in names:
        detail = message("{value!r} is not one of: {names}.", value=value, names=names)
        raise wrong_field(pointer=f"/{name}", detail=detail, code="choice")


def _check_number(name: str, value: object, bounds: tuple[float, float]) -> None:
    is_fitting = queries.is_within(value=value, bounds=bounds)
    if value is None or (is_fitting and (name not in queries.WHOLE or isinstance(value, int))):
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
    stored = {
        name: queries.setting_of(settings=row.settings, name=name) for name in queries.SETTINGS
    }
    stored |= {"name": row.name, "description": row.description}
    changed = tuple(name for name, value in given.items() if value != stored[name])
    row.name = given.get("name", row.name)
    row.description = given.get("description", row.description)
    put = {name: given[name] for name in queries.SETTINGS if name in given}
    kept = {name: value for name, value in {**row.settings, **put}.items() if value is not None}
    row.settings = kept
    return changed


def _check_description(description: str) -> None:
    if len(description) > DESCRIPTION_LENGTH:
        detail = message("The description has at most {most} characters.", most=DESCRIPTION_LENGTH)
        raise wrong_field(pointer="/description", detail=detail, code="length")


@contextmanager
def _settings_of(caller: Caller, ref: str, setting: str) -> Iterator[Project]:
    """Open a unit with a locked project; save and announce its changed setting at the end."""
    with tenancy.unit():
        row = hold_project(caller=caller, ref=ref)
        queries.check_unbound(caller=caller)
        yield row
        row.save(update_fields=["settings"])
        tell(caller=caller, row=row, kind="project.changed", fields=(setting,))


def change_experiments(
    *, caller: Caller, ref: str, changed: Mapping[str, Any]
) -> queries.Experiments:
    """Change some of what a project compares; the rest stays as it is.

    Sessions keep the group they have. Raises InvalidInput naming the field, NotFound,
    RoleNotSufficient, NotBoundToProject.
    """
    require(caller=caller, act=Act.MANAGE_PROJECTS)
    _check_experiments(changed)
    with _settings_of(caller, ref, queries.EXPERIMENTS) as row:
        found = replace(queries.experiments_in(project=row), **changed)
        if found.control_percent + found.passive_percent > queries.MOST_TOGETHER:
            detail = message(
                "Both smaller groups together take at most {most:g} percent.",
                most=queries.MOST_TOGETHER,
            )
            raise wrong_field(
                pointer="/passive_percent",
                detail=detail,
                hint="The others are given everything, and there must be some of them.",
                code="range",
            )
        usual = asdict(queries.USUAL_EXPERIMENTS)
        other = {name: one for name, one in asdict(found).items() if one != usual[name]}
        _keep(row, queries.EXPERIMENTS, other)
        return queries.experiments_in(project=row)


def _check_experiments(changed: Mapping[str, Any]) -> None:
    if not changed:
        raise InvalidInput(
            detail="There is nothing to change.",
            hint=message("Send one of: {names}.", names=("enabled", *queries.PERCENTS)),
        )
    for name, (least, most) in queries.PERCENTS.items():
        if name in changed and not queries.is_within(value=changed[name], bounds=(least, most)):
            raise wrong_field(
                pointer=f"/{name}",
                detail=message("Use a number from {least:g} to {most:g}.", least=least, most=most),
                hint="It is a share of the sessions, in percent.",
                code="range",
            )


def switch_hooks(
    *, caller: Caller, ref: str, switched: Mapping[queries.Hook, bool]
) -> queries.Hooks:
    """Switch some hooks of a project on or off; the others stay as they are.

    Raises InvalidInput where nothing is named, NotFound, RoleNotSufficient, NotBoundToProject.
    """
    require(caller=caller, act=Act.MANAGE_PROJECTS)
    if not switched:
        raise InvalidInput(
            detail="There is nothing to change.",
            hint=message("Send one of: {names}.", names=tuple(queries.Hook)),
        )
    with _settings_of(caller, ref, queries.SWITCHED) as row:
        usual = queries.hooks_in(project=None)
        now = {**queries.hooks_in(project=row), **switched}
        other = {hook.value: is_on for hook, is_on in now.items() if is_on != usual[hook]}
        _keep(row, queries.SWITCHED, other)
        return queries.hooks_in(project=row)


def pause(
    *, caller: Caller, ref: str, token_id: UUID | None, paused: bool, mine: bool = False
) -> queries.Pauses:
    """Pause or resume a project, one credential in it, or with `mine` every one of the caller's.

    A project is paused by who manages projects, a credential by whoever sees it among their tokens.
    Raises NotFound, InvalidInput, RoleNotSufficient, NotBoundToProject.
    """
    if token_id is None and not mine:
        require(caller=caller, act=Act.MANAGE_PROJECTS)
        with _settings_of(caller, ref, queries.PAUSED) as row:
            _keep(row, queries.PAUSED, paused)
            return queries.pauses_in(project=row)
    user_id = _find_paused_user(caller, token_id, mine=mine)
    with tenancy.unit():
        row = hold_project(caller=caller, ref=ref)
        if token_id is not None:
            _put_token(caller, row, token_id, user_id, paused=paused)
        elif user_id is not None:
            _put_person(caller, row, user_id, paused=paused)
        row.save(update_fields=["settings"])
        tell(caller=caller, row=row, kind="project.changed", fields=(queries.PAUSED,))
        return queries.pauses_in(project=row)


def _find_paused_user(caller: Caller, token_id: UUID | None, *, mine: bool) -> UUID | None:
    """Return the person whose token, or whose every token, is paused.

    None where the caller's own token is not among those that they can list.
    Raises InvalidInput, NotFound for a token that the caller does not see, RoleNotSufficient.
    """
    if mine and token_id is not None:
        raise wrong_field(
            pointer="/mine",
            detail="Either every token of yours, or one.",
            hint="Leave `mine` or `token` out.",
            code="together",
        )
    if mine and caller.user_id is None:
        raise wrong_field(
            pointer="/mine",
            detail="This token does not belong to a person.",
            hint="Name a token, or pause the project.",
            code="nobody",
        )
    require(caller=caller, act=Act.WRITE)
    if mine:
        return caller.user_id
    owners = {one.id: one.user_id for one in list_tokens(caller=caller)}
    if token_id not in {caller.token_id, *owners}:
        raise NotFound(
            detail="There is no such token.", hint="GET /api/v1/tokens lists those you can see."
        )
    return owners.get(token_id) if token_id else None


def _put_token(
    caller: Caller, row: Project, token_id: UUID, owner: UUID | None, *, paused: bool
) -> None:
    """Pause or resume one token; the others of a person who is paused stay so, each by itself."""
    before = queries.pauses_in(project=row)
    named, people = before.tokens | {token_id}, before.people
    if not paused and owner is not None and owner in people:
        named |= token_ids_of(caller=caller, user_id=owner)
        people -= {owner}
    _keep(row, queries.PAUSED_PEOPLE, _texts(people))
    _keep(row, queries.PAUSED_TOKENS, _texts(named if paused else named - {token_id}))


def _put_person(caller: Caller, row: Project, user_id: UUID, *, paused: bool) -> None:
    """Pause or resume every token of a person, those that were paused by themselves too."""
    before = queries.pauses_in(project=row)
    people = before.people
    if not paused:
        own = token_ids_of(caller=caller, user_id=user_id)
        _keep(row, queries.PAUSED_TOKENS, _texts(before.tokens - own))
    _keep(row, queries.PAUSED_PEOPLE, _texts(people | {user_id} if paused else people - {user_id}))


def _keep(row: Project, setting: str, value: Any) -> None:
    """Put a value among the settings; what is empty is as usual and is not kept."""
    others = {name: one for name, one in row.settings.items() if name != setting}
    row.settings = {**others, setting: value} if value else others


def _texts(ids: Iterable[UUID]) -> list[str]:
    return sorted(str(one) for one in ids)


def add_person(
    *, caller: Caller, kind: queries.Kind, ref: str, person: str
) -> tuple[queries.PersonView, bool]:
    """Add a member, by id or e-mail address; say whether they were not there yet.

    Raises RoleNotSufficient, NotFound.
    """
    check_manages(caller=caller)
    with tenancy.unit():
        place = queries.find_place(caller=caller, kind=kind, ref=ref)
        who = hold_member(caller=caller, ref=person)
        row, is_new = place.members.get_or_create(user_id=who.user_id)
        if is_new:
            _tell(caller, kind, place, "member_added", who.user_id)
        return queries.person_view(who, since=row.created_at), is_new


def remove_person(
    *, caller: Caller, kind: queries.Kind, ref: str, user_id: UUID
) -> queries.PersonView:
    """Take a person out, or oneself. Raises RoleNotSufficient, NotFound."""
    _check_takes_out(caller, user_id)
    with tenancy.unit():
        place = queries.find_place(caller=caller, kind=kind, ref=ref)
        who = hold_member(caller=caller, ref=str(user_id))
        row = place.members.filter(user_id=user_id).first()
        if row is None:
            raise NotFound(
                detail="This person is not a member.", hint="The list of people shows the members."
            )
        row.delete()
        _tell(caller, kind, place, "member_removed", user_id)
        live.wake_pages_of(user_id=user_id)
        return queries.person_view(who, since=row.created_at)


def _check_takes_out(caller: Caller, user_id: UUID) -> None:
    """Let a person, in person, take out themselves; everybody else must manage people."""
    if caller.user_id != user_id or not is_person(caller=caller):
        check_manages(caller=caller)


def _tell(
    caller: Caller, kind: queries.Kind, place: Project | Team, verb: str, user_id: UUID
) -> None:
    """Write to the log and to the feed of those in it, and look at places anew from now on."""
    visibility.forget()
    act, details = f"{kind}.{verb}", {"user": str(user_id)}
    audit.append(act, kind.value, str(place.id), caller=caller, details=details)
    changes.append(
        kind=act,
        object_id=place.id,
        project_id=place.id if kind is queries.Kind.PROJECT else None,
        audience=place.id,
        caller=caller,
        summary={"slug": place.slug, "name": place.name},
    )


def remove_member(*, caller: Caller, user_id: UUID, now: datetime) -> MemberView:
    """Take a member out: membership, tokens, projects and teams.

    Raises RoleNotSufficient, LastOwner, NotFound.
    """
    with tenancy.unit():
        gone = members.remove_member(caller=caller, user_id=user_id, now=now)
        _leave_places(user_id)
        return gone


def leave(*, caller: Caller, now: datetime) -> MemberView:
    """Take oneself out, in person. Raises Forbidden for credentials, LastOwner."""
    with tenancy.unit():
        gone = members.leave(caller=caller, now=now)
        _leave_places(gone.user_id)
        return gone


def _leave_places(user_id: UUID) -> None:
    ProjectMember.objects.filter(user_id=user_id).delete()
    TeamMember.objects.filter(user_id=user_id).delete()
    visibility.forget()


def create_team(*, caller: Caller, slug: str, name: str = "") -> queries.TeamView:
    """Make a team; a person who makes it is in it.

    Without a name it is called by its slug. Raises InvalidInput naming the field, SlugTaken,
    RoleNotSufficient.
    """
    check_manages(caller=caller)
    check_slug(slug=slug)
    free_texts.check(texts={"/slug": slug, "/name": name})
    with tenancy.unit():
        row = Team(slug=slug, name=identifiers.checked_name(name.strip() or slug))
        insert(row=row)
        if caller.user_id is not None:
            row.members.create(user_id=caller.user_id)
        visibility.forget()
        audit.append("team.created", "team", str(row.id), caller=caller)
        return queries.team_view(row)


def rename_team(*, caller: Caller, ref: str, name: str, if_version: int | None) -> queries.TeamView:
    """Call a team something else.

    Raises InvalidInput, PreconditionFailed, RoleNotSufficient, NotFound.
    """
    check_manages(caller=caller)
    wanted = identifiers.checked_name(name)
    free_texts.check(texts={"/name": wanted})
    with tenancy.unit():
        found = queries.find_team(caller=caller, ref=ref)
        row = Team.objects.select_for_update().get(pk=found.pk)
        check_version(row=row, if_version=if_version)
        if row.name != wanted:
            row.name, row.version = wanted, row.version + 1
            row.save(update_fields=["name", "version"])
            audit.append("team.changed", "team", str(row.id), caller=caller)
        return queries.team_view(row)


def note_agent(*, caller: Caller) -> None:
    """Append `agent.seen` for a token seen the first time in ten minutes; else do nothing.

    It belongs to the project of a token bound to one, else to the organization.
    """
    if caller.token_id is None or not caller.newly_seen:
        return
    bound = caller.bound_projects
    project_id = bound[0] if bound is not None and len(bound) == 1 else None
    with tenancy.unit():
        changes.append(
            kind="agent.seen",
            object_id=caller.token_id,
            project_id=project_id,
            audience=project_id or caller.organization_id,
            caller=caller,
            summary={"agent": caller.agent},
        )
