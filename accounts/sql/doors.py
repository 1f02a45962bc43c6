"""The doors through the second wall: what may be asked before an organization is known (spec 7.1).

Each is a function of the owner's with one narrow purpose, in walls.sql.
"""

from uuid import UUID

from django.db import connection


def replay(*, organization_id: UUID) -> tuple[int, int]:
    """Bring the schema of the walled organization up to date; return steps applied and reached."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT applied, reached FROM cairn.replay(%s)", [organization_id])
        applied, reached = cursor.fetchone()
    return int(applied), int(reached)
