"""What pages and interfaces read of projects, of the change feed and of the audit log."""

from teams.queries.places import (
    ChangeView,
    ProjectView,
    as_uuid,
    changes_since,
    find_project,
    latest_changes,
    newest_change,
    project,
    project_view,
    projects,
    surroundings,
)

__all__ = [
    "ChangeView",
    "ProjectView",
    "as_uuid",
    "changes_since",
    "find_project",
    "latest_changes",
    "newest_change",
    "project",
    "project_view",
    "projects",
    "surroundings",
]
