"""The table of all read paths, and who sees what of the places that they are asked about."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from memory.customization import custom_type_rules
from memory.injection.queries import milestones, reflection_totals
from memory.intake.actions.similar_memories import preview
from memory.records.filters import Filters
from memory.records.models import Memory
from memory.records.queries import memories
from memory.review.queries import inbox, overview
from memory.search import queries as search_queries
from memory.search.actions import lay_out, search
from memory.search.context import ContextRequest, context
from memory.search.entity_profile import about, list_things
from memory.search.lookups import Closeness, match, recall, similar, timeline
from memory.search.query import understand
from memory.search.ranking import Evidence
from memory.search.request import Narrowing, SearchRequest
from teams import visibility
from teams.queries import changes_since, latest_changes, newest_change, projects, surroundings
from teams.queries import project as project_of_teams
from tests.support.memories import new

SEEN = {  # who sees the memories of which places
    "owner": {"public", "closed", "personal", "team", "everyone"},
    "member": {"public", "everyone"},
    "agent of the member": {"public", "everyone"},
    "bound to the open project": {"public", "personal", "team"},  # of its owner, in there
    "bound to nothing": set(),
    "service token": {"public", "everyone"},
    "admin": {"public", "closed", "everyone"},
    "stranger": set(),
}
EVERYTHING = Filters(status=("active", "superseded", "archived"))


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Who can ask, and what there is: the ids of memories and projects by place."""

    callers: dict[str, Caller]
    memory_ids: dict[str, UUID]
    project_ids: dict[str, UUID]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """One question: who asks, about what, when."""

    caller: Caller
    memory_id: UUID
    project: str
    now: datetime


Read = Callable[[Asking], Any]


def beside(asking: Asking, project_id: UUID) -> dict[str, int]:
    """Return what stands beside a page of a project."""
    return overview.count_for_frame(caller=asking.caller, project_id=project_id, now=asking.now)


def _count_by_custom_type(asking: Asking) -> Any:
    """Count while every memory is of one custom type."""
    with tenancy.unit():
        Memory.objects.update(tags=[custom_type_rules.mark(name="canary")])
    return memories.count_by_custom_type(caller=asking.caller, names=("canary",))


def _asked(project: str | None) -> SearchRequest:
    return SearchRequest(query="canary", threshold=0.0, limit=100, project=project)


def _narrowed(project: str | None) -> Narrowing:
    return Narrowing(project=project, limit=100)


NARROWED: dict[str, Callable[[Asking, str | None], Any]] = {  # of everything, and of one project
    "context.context": lambda a, project: context(
        caller=a.caller, request=ContextRequest(search=_asked(project)), now=a.now
    ),
    "entities.about": lambda a, project: about(
        caller=a.caller, name="canary", type=None, narrowing=_narrowed(project), now=a.now
    ),
    "entities.known": lambda a, project: list_things(
        caller=a.caller, begins="", type=None, narrowing=_narrowed(project), after=None, limit=100
    ),
    "match.match": lambda a, project: match(
        caller=a.caller, pattern="canary", narrowing=_narrowed(project), now=a.now
    ),
    "memories.page": lambda a, project: memories.page(
        caller=a.caller,
        filters=replace(EVERYTHING, project=project),
        cursor=None,
        limit=200,
        now=a.now,
    ),
    "places.changes_since": lambda a, project: changes_since(
        caller=a.caller, after=0, limit=500, project=project
    ),
    "places.newest_change": lambda a, project: newest_change(caller=a.caller, project=project),
    "recall.recall": lambda a, project: recall(
        caller=a.caller,
        path="canary/cage.py",
        closeness=Closeness.FOLDER,
        narrowing=_narrowed(project),
        now=a.now,
    ),
    "search.search": lambda a, project: search(caller=a.caller, request=_asked(project), now=a.now),
    "timeline.timeline": lambda a, project: timeline(
        caller=a.caller,
        narrowing=Narrowing(projects=() if project is None else (project,)),
        after=None,
        limit=100,
        now=a.now,
    ),
}
ABOUT_ALL: dict[str, Read] = {
    **{name: partial(read, project=None) for name, read in NARROWED.items()},
    "memories.count_by_custom_type": _count_by_custom_type,
    "memories.count": lambda a: memories.count(caller=a.caller, filters=EVERYTHING),
    "lay_out.lay_out": lambda a: lay_out(caller=a.caller, request=_asked(None), now=a.now),
    "reviews.counts": lambda a: _of_waiting(
        lambda: inbox.count_waiting(caller=a.caller, project=None, now=a.now)
    ),
    "reviews.page": lambda a: _of_waiting(
        lambda: inbox.list_waiting(
            caller=a.caller, project=None, group=None, after=None, limit=100, now=a.now
        )
    ),
    "reviews.decided": lambda a: inbox.count_decided(caller=a.caller, project=None, now=a.now),
    "overview.count_for_frame": lambda a: beside(a, a.memory_id),
    "overview.count_by_project": lambda a: overview.count_by_project(caller=a.caller, now=a.now),
    "places.projects": lambda a: projects(caller=a.caller),
    "places.surroundings": lambda a: surroundings(caller=a.caller),
    "places.latest_changes": lambda a: latest_changes(caller=a.caller, limit=500),
}
ABOUT_A_MEMORY: dict[str, Read] = {
    "memories.get": lambda a: memories.get(caller=a.caller, memory_id=a.memory_id, now=a.now),
    "reviews.item": lambda a: inbox.waiting_memory(
        caller=a.caller, memory_id=a.memory_id, now=a.now
    ),
    "memories.get_together": lambda a: memories.get_together(
        caller=a.caller, memory_id=a.memory_id, now=a.now
    ),
    "memories.sides": lambda a: memories.sides(
        caller=a.caller,
        memory=memories.get(caller=a.caller, memory_id=a.memory_id, now=a.now),
    ),
    "memories.history": lambda a: memories.history(caller=a.caller, memory_id=a.memory_id),
    "memories.links": lambda a: memories.links(caller=a.caller, memory_id=a.memory_id),
    "similar.similar": lambda a: similar(
        caller=a.caller, memory_id=a.memory_id, narrowing=Narrowing(limit=100), now=a.now
    ),
}


def _of_waiting(read: Callable[[], Any]) -> Any:
    """Read while every memory waits for review."""
    with tenancy.unit():
        Memory.objects.update(needs_review=True)
    return read()


def _evidence(a: Asking) -> dict[UUID, Evidence]:
    with tenancy.unit():
        return search_queries.read_evidence(
            memory_ids=(a.memory_id,),
            sight=visibility.sight_of(caller=a.caller),
            asked=understand(text="canary"),
            with_text=True,
            now=a.now,
        )


ABOUT_SOME_IDS: dict[str, Read] = {
    "memories.by_ids": lambda a: memories.by_ids(
        caller=a.caller, memory_ids=(a.memory_id,), now=a.now
    ),
    "evidence.read_evidence": _evidence,
}


def _in_one(read: Callable[[Asking, str | None], Any]) -> Read:
    return lambda asking: read(asking, asking.project)


ABOUT_A_PROJECT: dict[str, Read] = {
    **{f"{name} in one": _in_one(read) for name, read in NARROWED.items()},
    "injection.milestones": lambda a: milestones(caller=a.caller, project=a.project),
    "injection.reflection_totals": lambda a: reflection_totals(caller=a.caller, project=a.project),
    "overview.overview": lambda a: overview.overview(caller=a.caller, project=a.project, now=a.now),
    "overview.count_project": lambda a: overview.count_project(
        caller=a.caller, project=a.project, now=a.now
    ),
    "places.project": lambda a: project_of_teams(caller=a.caller, ref=a.project),
    "preview.preview": lambda a: preview(
        caller=a.caller, new=new("A canary that sings.", project=a.project), now=a.now
    ),
}
READS = {**ABOUT_ALL, **ABOUT_A_MEMORY, **ABOUT_SOME_IDS, **ABOUT_A_PROJECT}
COMPLETE = {  # reads that tell of every memory, text or citation
    "context.context",
    "entities.known",
    "entities.about",
    "lay_out.lay_out",
    "match.match",
    "memories.page",
    "recall.recall",
    "reviews.page",
    "timeline.timeline",
    "places.changes_since",
    "places.latest_changes",
    "search.search",
}
INTERNAL = {  # rows for actions inside a unit; what returns them is in the table
    "audit.has_acted",  # whether the caller did something, once they may see the object
    "injection.injection_bar",  # about a memory that the caller was given
    "injection.stated_rules",  # ids of one's own, given after the visibility of all that is given
    "memories.find_memory",
    "memories.lock_memory",
    "memories.memories_of_topic",  # tests/tenancy/test_topics.py
    "memories.matching",  # for exports, which are asked for as every other surface is
    "places.find_project",
    "places.find_place",
    "places.find_team",
    "places.check_unbound",
    "places.people_in",  # people, teams and settings: tests/integration/teams
    "places.teams",
    "places.team",
    "places.experiments_of",
    "places.hooks_of",
    "places.pauses_of",
    "injection.delivery_log",  # of one session: tests/edges/api/test_injections.py
    "injection.project_totals",  # sums: tests/edges/pages/test_connections.py
    "audit.append",  # writes
    "audit.page",  # ids of everything, for managers alone
}
