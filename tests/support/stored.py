"""How much is stored: one number a table, to see that what was refused left nothing behind."""

from django.db import connection

from accounts import tenancy
from accounts.models import Invitation, Job, Membership, Organization, Token, User
from memory.documents.models import Import, ImportRow, NoteVersion
from memory.records.models import Memory, MemoryLink, MemoryVersion
from teams.models import AuditEntry, Change, Project, ProjectMember

TABLES = (
    Memory, MemoryVersion, MemoryLink, Import, ImportRow, NoteVersion, AuditEntry, Change, Project,
    ProjectMember, Invitation, Job, Membership, Organization, Token, User,
)  # fmt: skip
SEEN = "WHERE kind NOT LIKE 'agent.%'"  # that an agent is there is told every now and then
COUNTS = ", ".join(
    f'(SELECT count(*) FROM "{table._meta.db_table}" {SEEN if table is Change else ""})'
    for table in TABLES
)


def rows() -> dict[str, int]:
    """Return the rows of each table that the entered organization sees."""
    with tenancy.unit(), connection.cursor() as cursor:
        cursor.execute(f"SELECT {COUNTS}")
        counts = cursor.fetchone() or ()
    return {table.__name__: count for table, count in zip(TABLES, counts, strict=True)}
