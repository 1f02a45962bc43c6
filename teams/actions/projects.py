"""Create a project (spec 7.1)."""

import re
from datetime import datetime

from django.db import IntegrityError, transaction

from accounts import names, tenancy
from accounts.caller import Caller
from accounts.errors import wrong_field
from accounts.sentences import sentence
from teams import audit, changes, visibility
from teams.errors import NotBoundToProject, SlugTaken
from teams.models import Project, ProjectMember
from teams.permissions import require
from teams.queries import ProjectView, project_view
from teams.roles import Act

DESCRIPTION_LENGTH = 400  # characters, the column's
SLUG = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?\Z")


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
    _check_unbound(caller)
    _check_slug(slug)
    _check_description(description)
    with tenancy.unit():
        row = Project(
            slug=slug,
            name=names.checked_name(name.strip() or slug),
            description=description,
            open_to_all=open_to_all,
            created_by=caller.user_id,
            created_at=now,
        )
        _insert(row)
        if caller.user_id is not None:
            ProjectMember.objects.create(project=row, user_id=caller.user_id)
        visibility.forget()
        audit.append(
            act="project.created", object_type="project", object_id=str(row.id), caller=caller
        )
        changes.append(
            kind="project.created",
            object_id=row.id,
            project_id=row.id,
            audience=row.id,
            caller=caller,
            summary={"slug": slug, "name": row.name},
        )
        return project_view(row)


def _check_unbound(caller: Caller) -> None:
    if caller.bound_projects is None:
        return
    raise NotBoundToProject(
        detail="This token is bound to projects and makes no others.",
        hint="Create the project in the dashboard, or with a token that is bound to none.",
    )


def _check_slug(slug: str) -> None:
    if SLUG.match(slug):
        return
    raise wrong_field(
        pointer="/slug",
        detail=sentence("{slug!r} cannot be the short name of a project.", slug=slug),
        hint="Use 1 to 64 lower-case letters, digits and inner hyphens.",
        code="slug",
    )


def _check_description(description: str) -> None:
    if len(description) > DESCRIPTION_LENGTH:
        detail = sentence("The description has at most {most} characters.", most=DESCRIPTION_LENGTH)
        raise wrong_field(pointer="/description", detail=detail, code="length")


def _insert(row: Project) -> None:
    try:
        with transaction.atomic():
            row.save(force_insert=True)
    except IntegrityError as error:
        raise SlugTaken(
            detail=sentence("There is a project {slug!r} already.", slug=row.slug),
            hint="Choose another short name.",
        ) from error
