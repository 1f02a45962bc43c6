"""What memory changed in a project, group against group and memory by memory.

Sums contain no text of sessions. Who manages the organization sees them over all sessions of
the project, personal ones too; everybody else over those that they may see. Sums over few sessions,
or over those of few people, would reveal single ones: of sessions that the reader does not see they
count only where enough sessions of several people have a figure.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from accounts.rights import manages
from memory.experiments import intervals, uplift
from memory.experiments.figures import Figure
from memory.experiments.intervals import LEAST_SESSIONS, Share, Side
from memory.experiments.points import Group
from memory.experiments.sql import session_sums
from memory.experiments.sql.session_sums import FigureSum, MemorySum, SessionFilter
from memory.experiments.uplift import ComparedFigure, SavedTokens, Sums
from memory.records.queries.views import MemoryView, countable, views_of
from teams import queries as places
from teams import visibility
from teams.models import Project
from teams.permissions import Act, require
from teams.queries import Experiments, experiments_in

USUAL_DAYS: Final = 90  # as far as the delivery log reaches back, default
LARGEST_DAYS: Final = 365
MOST: Final = 50  # memories, those most often withheld; default
MOST_LOOKED_AT: Final = 500  # of which the caller may see some, default
LEAST_PEOPLE: Final = 3  # on either side, before a night decides about what all share; default
COUNT: Final = ""  # the figure that counts sessions


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupComparison:
    """A group against the control group."""

    group: Group
    measures: tuple[ComparedFigure, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphChanges:
    """Of rankings that gave something: in how many the graph took part, or changed the first eight.

    `share` is that of the changed ones, None without any; `is_whole` says whether of everybody's.
    """

    searches: int
    took_part: int
    share: Share | None
    is_whole: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentReport:
    """What a project's groups came to; `is_whole` says whether of all sessions of the project."""

    settings: Experiments
    since: datetime
    is_whole: bool
    sessions: Mapping[Group, int]
    compared: tuple[GroupComparison, ...]
    saved: SavedTokens | None
    graph: GraphChanges


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryEffect:
    """What a memory is worth: sessions with and without it, and the compared figures."""

    memory: MemoryView
    given: int
    withheld: int
    measures: tuple[ComparedFigure, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySides:
    """The sums of a memory: sessions with it, and those without; of how many people."""

    given: Sums
    without: Sums
    given_count: int
    without_count: int
    given_people: int = 0
    without_people: int = 0


def report(*, caller: Caller, project: str, days: int, now: datetime) -> ExperimentReport:
    """Compare the groups of a project. Raises NotFound for one the caller cannot see."""
    require(caller=caller, act=Act.READ)
    with tenancy.unit():
        place = places.find_project(caller=caller, ref=project)
        chosen = _filter(caller, place, now - timedelta(days=days))
        by_group: dict[Group, dict[str, Side]] = {group: {} for group in Group}
        graph = _graph_changes(chosen)
        found = session_sums.groups(sessions=chosen)
        for group, one in found:
            if _may_show(one):
                sides = by_group[Group(group)]
                sides[one.figure] = sides.get(one.figure, uplift.NOTHING) + one.side
    sums = {group: _figures(sides) for group, sides in by_group.items()}
    control = sums[Group.CONTROL]
    return ExperimentReport(
        settings=experiments_in(project=place),
        since=chosen.since,
        is_whole=chosen.everyone and all(_may_show(one) for _, one in found),
        sessions={group: _count(sides) for group, sides in by_group.items()},
        compared=tuple(
            GroupComparison(
                group=group, measures=uplift.compare_figures(given=sums[group], without=control)
            )
            for group in (Group.FULL, Group.PASSIVE)
        ),
        saved=uplift.tokens_saved(given=sums[Group.FULL], without=control),
        graph=graph,
    )


def memory_effects(
    *, caller: Caller, project: str, days: int, now: datetime
) -> tuple[MemoryEffect, ...]:
    """Return the memories that are withheld from some, most often first, with what they are worth.

    Of those that the caller may see. Raises NotFound for a project the caller cannot see.
    """
    require(caller=caller, act=Act.READ)
    with tenancy.unit():
        place = places.find_project(caller=caller, ref=project)
        chosen = _filter(caller, place, now - timedelta(days=days))
        found = _by_memory(session_sums.memories(sessions=chosen, most=MOST_LOOKED_AT))
        seen = set(countable(caller=caller).filter(id__in=found).values_list("id", flat=True))
        ordered = sorted(seen, key=lambda one: (-found[one].without_count, one))[:MOST]
        sight = visibility.sight_of(caller=caller)
        views = views_of(memory_ids=tuple(ordered), sight=sight, now=now) if ordered else {}
    return tuple(
        MemoryEffect(
            memory=views[one],
            given=found[one].given_count,
            withheld=found[one].without_count,
            measures=uplift.compare_figures(
                given=found[one].given, without=found[one].without, figures=uplift.HARMS
            ),
        )
        for one in ordered
        if one in views
    )


def shared_memories(*, project: Project, since: datetime) -> dict[UUID, MemorySides]:
    """Return the sums by which a project's own memories are demoted. In a unit.

    Of what is shared, those in which nobody alone decides.
    """
    return _by_memory(
        session_sums.shared_memories(
            project_id=project.id, since=since, most=MOST_LOOKED_AT, openers=LEAST_PEOPLE
        )
    )


def _by_memory(sums: tuple[MemorySum, ...]) -> dict[UUID, MemorySides]:
    sides: dict[UUID, dict[bool, dict[str, Side]]] = {}
    people: dict[tuple[UUID, bool], int] = {}
    for memory_id, withheld, one in sums:
        if not _may_show(one):
            continue
        both = sides.setdefault(memory_id, {True: {}, False: {}})
        both[withheld][one.figure] = both[withheld].get(one.figure, uplift.NOTHING) + one.side
        if one.figure == COUNT:
            people.setdefault((memory_id, withheld), one.people)
    return {
        memory_id: MemorySides(
            given=_figures(both[False]),
            without=_figures(both[True]),
            given_count=_count(both[False]),
            without_count=_count(both[True]),
            given_people=people.get((memory_id, False), 0),
            without_people=people.get((memory_id, True), 0),
        )
        for memory_id, both in sides.items()
    }


def _graph_changes(sessions: SessionFilter) -> GraphChanges:
    found = session_sums.searches(sessions=sessions)
    kept = tuple(one for one in found if one.is_seen or are_many(one.searches, one.people))
    searches = sum(one.searches for one in kept)
    changed = sum(one.changed for one in kept)
    return GraphChanges(
        searches=searches,
        took_part=sum(one.took_part for one in kept),
        share=intervals.share(successes=changed, trials=searches) if searches else None,
        is_whole=sessions.everyone and len(kept) == len(found),
    )


def _may_show(one: FigureSum) -> bool:
    """Say whether sums may be shown: of sessions of others only where they reveal nobody's."""
    return one.is_seen or are_many(one.side.count, one.people)


def are_many(count: int, people: int) -> bool:
    """Say whether so many of so many people reveal nobody's alone."""
    return count >= LEAST_SESSIONS and people >= LEAST_PEOPLE


def _filter(caller: Caller, place: Project, since: datetime) -> SessionFilter:
    sight = visibility.sight_of(caller=caller)
    everyone = manages(caller=caller)
    return SessionFilter(project_id=place.id, since=since, sight=sight, everyone=everyone)


def _figures(sides: Mapping[str, Side]) -> dict[Figure, Side]:
    return {figure: sides[figure.value] for figure in Figure if figure.value in sides}


def _count(sides: Mapping[str, Side]) -> int:
    return sides.get(COUNT, uplift.NOTHING).count
