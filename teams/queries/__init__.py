"""What pages and interfaces read of projects, of the change feed and of the audit log."""

from teams.queries.places import (
    ChangeView,
    ProjectView,
    changes_since,
    find_project,
    latest_changes,
    newest_change,
    project,
    project_view,
    projects,
    surroundings,
    threshold_of,
)

__all__ = [
    "ChangeView",
    "ProjectView",
    "changes_since",
    "find_project",
    "latest_changes",
    "newest_change",
    "project",
    "project_view",
    "projects",
    "surroundings",
    "threshold_of",
]
