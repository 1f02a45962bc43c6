"""Every call of /api/v1/: what the apps declare, and the document that describes it."""

import re
from typing import Final

from django.urls import URLPattern, path, re_path

from accounts.api import devices, jobs, leaks, me, tokens
from accounts.api.endpoints import Endpoint, declared_in
from config.rest import documentation, views
from graph.api import code_index, files
from memory.api import (
    action_log,
    browsing,
    changing,
    checking,
    conflicts,
    embedders,
    entities,
    events,
    experiments,
    exports,
    hooks,
    imports,
    injections,
    links,
    methodologies,
    notes,
    openness,
    phase_weights,
    reading,
    reviews,
    rollbacks,
    searching,
    sessions,
    styles,
    summaries,
    topics,
    trust,
    turns,
    usage,
    writing,
)
from teams.api import audit, changes, pauses, people, projects, teams
from teams.api import experiments as project_experiments
from teams.api import hooks as project_hooks

MODULES: Final = (
    projects,
    pauses,
    project_hooks,
    project_experiments,
    openness,
    code_index,
    files,
    people,
    teams,
    writing,
    reading,
    changing,
    links,
    searching,
    checking,
    sessions,
    turns,
    hooks,
    injections,
    events,
    summaries,
    browsing,
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
