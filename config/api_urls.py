"""Every call of /api/v1/: what the apps declare, and the document that describes it."""

import re
from typing import Final

from django.urls import URLPattern, path, re_path

from accounts.api import devices, jobs, leaks, me, tokens
from accounts.api.endpoints import Endpoint, declared_in
from config.rest import documentation, views
from graph.api import code_index
from memory.api import (
    action_log,
    checks,
    conflicts,
    embedders,
    entities,
    events,
    experiments,
    exports,
    hooks,
    imports,
    injections,
    memories,
    methodologies,
    notes,
    phase_weights,
    project_access,
    reviews,
    rollbacks,
    search,
    sessions,
    styles,
    summaries,
    topics,
    trust,
    turns,
    usage,
)
from teams.api import audit, changes, project_settings, projects, teams

MODULES: Final = (
    projects,
    project_settings,
    project_access,
    code_index,
    teams,
    memories,
    search,
    checks,
    sessions,
    turns,
    hooks,
    injections,
    events,
    summaries,
    entities,
    imports,
    exports,
    notes,
    topics,
    trust,
    conflicts,
    action_log,
    reviews,
    methodologies,
    styles,
    embedders,
    rollbacks,
    usage,
    experiments,
    phase_weights,
    changes,
    audit,
    jobs,
    tokens,
    leaks,
    devices,
    me,
)
ENDPOINTS: Final[tuple[Endpoint, ...]] = tuple(
    endpoint for module in MODULES for endpoint in declared_in(module)
)


def _pattern(address: str) -> str:
    """Return the regular expression of a path; the slash at its end is optional."""
    return "^" + re.sub(r"{([a-z]+)}", r"(?P<\1>[^/]+)", address) + "/?$"


def _patterns() -> list[URLPattern]:
    by_path = views.views_of(endpoints=ENDPOINTS)
    fixed_first = sorted(by_path, key=lambda address: ("{" in address, address))
    return [re_path(_pattern(address), by_path[address]) for address in fixed_first]


urlpatterns: list[URLPattern] = [
    path("openapi.json", documentation.document_view(endpoints=ENDPOINTS), name="openapi"),
    *_patterns(),
]
