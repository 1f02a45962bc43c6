"""Models of places, people's parts in them, and what happened (tenant schema)."""

from teams.models.places import Project, ProjectMember, Team, TeamMember
from teams.models.records import AuditEntry, Change, IdempotencyKey

__all__ = [
    "AuditEntry",
    "Change",
    "IdempotencyKey",
    "Project",
    "ProjectMember",
    "Team",
    "TeamMember",
]
