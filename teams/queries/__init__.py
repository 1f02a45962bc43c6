"""What pages and interfaces read of projects, of the change feed and of the audit log."""

from teams.queries.places import (
    ChangeView,
    Extraction,
    ProjectView,
    changes_since,
    extraction_of,
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
    "Extraction",
    "ProjectView",
    "changes_since",
    "extraction_of",
    "find_project",
    "latest_changes",
    "newest_change",
    "project",
    "project_view",
    "projects",
    "surroundings",
    "threshold_of",
]
