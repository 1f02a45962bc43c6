"""Who sees which projects and teams of one organization: its settings in the organization's schema.

They are memberships too, so they stay as they are today when the schema of a backup takes the place
of the one that exists, or as a receipt knows them. A project is open to all only where it was open
both in the backup and today: what was closed at either time was not written for everybody.
"""

from typing import Any, Final
from uuid import UUID

import psycopg
from psycopg import sql
from pydantic import BaseModel, ConfigDict

LOCK: Final = """
LOCK TABLE {schema}.teams_project, {schema}.teams_projectmember, {schema}.teams_teammember
"""
OPEN: Final = "SELECT id FROM {}.teams_project WHERE open_to_all ORDER BY id"
CLOSE: Final = """
UPDATE {}.teams_project SET open_to_all = false WHERE open_to_all AND id <> ALL (%s::uuid[])
"""
MEMBERS: Final = "SELECT {group}, user_id FROM {members} ORDER BY 1, 2"
REMOVE: Final = """
DELETE FROM {members} WHERE ({group}, user_id) NOT IN (SELECT * FROM unnest(%s::uuid[], %s::uuid[]))
"""
ADD: Final = """
INSERT INTO {members} ({group}, user_id, created_at)
SELECT today.id, today.user_id, now()
FROM unnest(%s::uuid[], %s::uuid[]) AS today (id, user_id) JOIN {groups} AS g ON g.id = today.id
ON CONFLICT DO NOTHING
"""


class Access(BaseModel):
    """The projects that are open to all, and who is in which project and team: pairs of ids."""

    model_config = ConfigDict(frozen=True)
    open_projects: tuple[UUID, ...] = ()
    project_members: tuple[tuple[UUID, UUID], ...] = ()
    team_members: tuple[tuple[UUID, UUID], ...] = ()


def read_access(*, line: psycopg.Connection[Any], schema: str) -> Access:
    """Return who sees what in an organization's schema."""
    opened = line.execute(sql.SQL(OPEN).format(sql.Identifier(schema))).fetchall()
    return Access(
        open_projects=tuple(id for (id,) in opened),
        project_members=tuple(line.execute(_of(MEMBERS, schema, "project")).fetchall()),
        team_members=tuple(line.execute(_of(MEMBERS, schema, "team")).fetchall()),
    )


def lock_access(*, line: psycopg.Connection[Any], schema: str) -> None:
    """Let nobody change who sees what until the transaction ends."""
    line.execute(sql.SQL(LOCK).format(schema=sql.Identifier(schema)))


def apply_access(*, line: psycopg.Connection[Any], schema: str, access: Access) -> None:
    """Let the people of `access` see what is in a schema, and nobody else."""
    line.execute(sql.SQL(CLOSE).format(sql.Identifier(schema)), [list(access.open_projects)])
    for kind, members in (("project", access.project_members), ("team", access.team_members)):
        pairs = [[group for group, _ in members], [person for _, person in members]]
        for statement in (REMOVE, ADD):
            line.execute(_of(statement, schema, kind), pairs)


def _of(statement: str, schema: str, kind: str) -> sql.Composed:
    return sql.SQL(statement).format(
        group=sql.Identifier(f"{kind}_id"),
        groups=sql.Identifier(schema, f"teams_{kind}"),
        members=sql.Identifier(schema, f"teams_{kind}member"),
    )
