"""Every call of /api/v1/: what the apps declare, and the document that describes it."""

import re
from typing import Final

from django.urls import URLPattern, path, re_path

from accounts.api import devices, jobs, leaks, me, tokens
from accounts.api.endpoints import Endpoint
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

ENDPOINTS: Final[tuple[Endpoint, ...]] = (
    *projects.ENDPOINTS,
    *pauses.ENDPOINTS,
    *project_hooks.ENDPOINTS,
    *project_experiments.ENDPOINTS,
    *openness.ENDPOINTS,
    *code_index.ENDPOINTS,
    *files.ENDPOINTS,
    *people.ENDPOINTS,
    *teams.ENDPOINTS,
    *writing.ENDPOINTS,
    *reading.ENDPOINTS,
    *changing.ENDPOINTS,
    *links.ENDPOINTS,
    *searching.ENDPOINTS,
    *checking.ENDPOINTS,
    *sessions.ENDPOINTS,
    *turns.ENDPOINTS,
    *hooks.ENDPOINTS,
    *injections.ENDPOINTS,
    *events.ENDPOINTS,
    *summaries.ENDPOINTS,
    *browsing.ENDPOINTS,
    *entities.ENDPOINTS,
    *imports.ENDPOINTS,
    *exports.ENDPOINTS,
    *notes.ENDPOINTS,
    *topics.ENDPOINTS,
    *trust.ENDPOINTS,
    *conflicts.ENDPOINTS,
    *action_log.ENDPOINTS,
    *reviews.ENDPOINTS,
    *methodologies.ENDPOINTS,
    *styles.ENDPOINTS,
    *embedders.ENDPOINTS,
    *rollbacks.ENDPOINTS,
    *usage.ENDPOINTS,
    *experiments.ENDPOINTS,
    *phase_weights.ENDPOINTS,
    *changes.ENDPOINTS,
    *audit.ENDPOINTS,
    *jobs.ENDPOINTS,
    *tokens.ENDPOINTS,
    *leaks.ENDPOINTS,
    *devices.ENDPOINTS,
    *me.ENDPOINTS,
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
