"""One writer at a time of what stands at a path, also where nothing stands there yet."""

from uuid import UUID

from django.db import connection


def hold(*, audience: UUID, project_id: UUID | None, path: str) -> None:
    """Wait for whoever writes at this path of a place; others wait until the unit ends. In a unit.

    A row that is not there cannot be locked; two who write the first one would.
    """
    name = f"{audience} {project_id} {path}"
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [name])
