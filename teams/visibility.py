"""What a caller may see: one predicate, as a queryset filter and as SQL, used by every read.

Each row that can be read carries an audience: the id of the person (personal scope), project, team
or organization that may see it. A caller has a set of audiences, so visibility is one comparison,
`audience = ANY(…)`, in both forms, and in the functions that subjects keep in `sql/functions.sql`.
A credential bound to projects narrows it further. Owners and admins reach every project, but what a
team shares only as its members, and nobody but the author reaches what is personal.
"""

import json
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Q

from accounts import tenancy
from accounts.caller import Caller, Role, is_person

# Every read starts with this: the projects and teams someone belongs to, in one statement, with
# what those projects set that are named.
AUDIENCES = """
    SELECT p.id, p.slug, CASE WHEN ARRAY[p.slug, p.id::text] && %(refs)s THEN p.settings END
    FROM teams_project AS p
    WHERE %(all)s OR p.open_to_all OR EXISTS (
        SELECT FROM teams_projectmember AS m WHERE m.project_id = p.id AND m.user_id = %(user)s)
    UNION ALL SELECT t.team_id, NULL, NULL FROM teams_teammember AS t WHERE t.user_id = %(user)s
    ORDER BY 1
"""

SEES_ALL_PROJECTS = frozenset({Role.OWNER, Role.ADMIN})


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """The audiences a caller belongs to, and the projects its credential is bound to.

    `person`, `token` and `is_program` say whose sight it is; nothing is narrowed by them.
    """

    audiences: tuple[UUID, ...]
    bound_projects: tuple[UUID, ...] | None
    person: UUID | None = None
    token: UUID | None = None
    is_program: bool = False


def sight_of(*, caller: Caller, refs: tuple[str, ...] = ()) -> Sight:
    """Return what the caller may see now, read once in a unit of the caller's organization.

    `refs` name projects whose settings `settings_of` returns then without asking again.
    """
    memo = tenancy.memo()
    who = (caller.user_id, caller.token_id, caller.organization_id, caller.role)
    key = (Sight, *who, caller.bound_projects, is_person(caller=caller))
    if key not in memo:
        sight, settings = _read_sight(caller, refs)
        memo[key] = sight
        memo |= {(Sight, sight, ref): one for ref, one in settings.items()}
    found: Sight = memo[key]
    return found


def settings_of(*, sight: Sight, ref: str) -> tuple[UUID, dict[str, Any]] | None:
    """Return id and settings of a visible project that was named when the sight was read."""
    found: tuple[UUID, dict[str, Any]] | None = tenancy.memo().get((Sight, sight, ref))
    return found


def forget() -> None:
    """Read sights anew in this unit: somebody's places have changed in it."""
    memo = tenancy.memo()
    for key in [key for key in memo if key[0] is Sight]:
        del memo[key]


def as_q(*, sight: Sight) -> Q:
    """Return the predicate for a queryset whose rows have `audience` and `project_id`."""
    visible = Q(audience__in=sight.audiences)
    if sight.bound_projects is not None:
        visible &= Q(project_id__in=sight.bound_projects)
    return visible


def as_sql(*, alias: str) -> str:
    """Return the same predicate over %(audiences)s and %(bound)s for a row called `alias`."""
    return (
        f"({alias}.audience = ANY(%(audiences)s::uuid[])"
        f" AND (%(bound)s::uuid[] IS NULL OR {alias}.project_id = ANY(%(bound)s::uuid[])))"
    )


def parameters(*, sight: Sight) -> dict[str, Any]:
    """Return the parameters of `as_sql`."""
    bound = None if sight.bound_projects is None else list(sight.bound_projects)
    return {"audiences": list(sight.audiences), "bound": bound}


def projects_q(*, sight: Sight) -> Q:
    """Return the predicate for the projects themselves."""
    visible = Q(id__in=sight.audiences)
    if sight.bound_projects is not None:
        visible &= Q(id__in=sight.bound_projects)
    return visible


def _read_sight(
    caller: Caller, refs: tuple[str, ...]
) -> tuple[Sight, dict[str, tuple[UUID, dict[str, Any]]]]:
    audiences = [caller.organization_id]
    if caller.user_id is not None:
        audiences.append(caller.user_id)
    everything, bound = caller.role in SEES_ALL_PROJECTS, caller.bound_projects
    with connection.cursor() as cursor:
        named: dict[str, Any] = {"refs": list(refs), "all": everything, "user": caller.user_id}
        cursor.execute(AUDIENCES, named)
        rows = cursor.fetchall()
    audiences.extend(row[0] for row in rows)
    projects = [row for row in rows if row[2] and (bound is None or row[0] in bound)]
    sight = Sight(
        audiences=tuple(audiences),
        bound_projects=caller.bound_projects,
        person=caller.user_id,
        token=caller.token_id,
        is_program=not is_person(caller=caller),
    )
    settings = {slug: (id, json.loads(own)) for id, slug, own in projects}
    return sight, settings | {str(id): settings[slug] for id, slug, _ in projects}
