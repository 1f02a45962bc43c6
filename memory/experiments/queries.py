"""What memory changed in a project, what its sessions taught, and what they did, in numbers.

Sums contain no text of sessions. Who manages the organization sees them over all sessions of the
project, personal ones too; everybody else over those that they may see. Sums over few sessions, or
over those of few people, would reveal single ones: of what the reader does not see they count only
where there are enough sessions of several people.

Numbers of a session's work are those of the session; of memories, and of the dead ends that it
entered again, only those count that the caller may see, so nobody learns from a sum that there is
one more.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from datetime import date, datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db.models import Case, Count, IntegerField, Q, Sum, TextField, Value, When
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, Coalesce

from accounts import tenancy
from accounts.caller import Caller, manages
from memory import sql_queries
from memory.customization import phases
from memory.customization import queries as definitions
from memory.experiments import phase_learning, points, uplift
from memory.experiments.figures import DeliveryOutcome
from memory.experiments.uplift import ComparedFigure, Effect, Estimate, SavedTokens, Side, Sums
from memory.records.queries.views import MemoryView, countable, to_view, views_of, visible
from memory.sessions import queries as sessions
from memory.sessions.counters import Kind
from memory.sessions.models import GivenOut, Statistic
from memory.taxonomy import MemoryType
from teams import queries as places
from teams import visibility
from teams.models import Project
from teams.permissions import Act, require

FILE: Final = "experiments/sql/session_sums.sql"
GRAPH_PART: Final = "graph_part"  # of statistics; written by the merge of the access log
WEEKLY: Final = "weekly_figures"  # of statistics; written by the weekly measurement
WEEKS_SHOWN: Final = 12  # default
REENTERED_KEY: Final = "reentered"  # in a session's `observed`
USUAL_DAYS: Final = 90  # as far as the delivery log reaches back, default
LARGEST_DAYS: Final = 365
MOST: Final = 50  # memories, those most often withheld; default
MOST_LOOKED_AT: Final = 500  # of which the caller may see some, default
LEAST_PEOPLE: Final = 3  # on either side, before a night decides about what all share; default
COUNT: Final = ""  # the figure that counts sessions
TYPES: Final = {one.value: one for one in MemoryType}


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphChanges:
    """Of rankings that gave something: in how many the graph took part."""

    searches: int
    took_part: int
    changed: int  # those of which the graph changed the first eight
    share: Estimate | None  # of the changed ones, None without any search
    is_whole: bool  # of everybody's


@dataclass(frozen=True, slots=True, kw_only=True)
class WeekFigures:
    """Of a week's sessions: those that memory helped less than it could, by what went wrong."""

    week: date  # its Monday
    sessions: int
    given: int  # sessions that were given memories
    disagreeing: int  # those of them that were given two that contradict each other
    failed: int  # sessions that met an error
    repeated: int  # those of them whose error an earlier session had met
    reentered: int  # sessions that entered a known dead end again


IN_A_WEEK: Final = tuple(one.name for one in fields(WeekFigures) if one.name != "week")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentReport:
    """What a project's groups came to; `is_whole` says whether of all sessions of the project.

    `compared` has groups against the control group.
    """

    settings: places.Experiments
    since: datetime
    is_whole: bool
    sessions: Mapping[points.Group, int]
    compared: Mapping[points.Group, tuple[ComparedFigure, ...]]
    saved: SavedTokens | None
    graph: GraphChanges
    weeks: tuple[WeekFigures, ...]  # the newest first, of sessions that the reader may see


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryEffect:
    """What a memory is worth: sessions with and without it, and the compared figures."""

    memory: MemoryView
    given: int
    withheld: int
    measures: tuple[ComparedFigure, ...]


def report(*, caller: Caller, project: str, days: int, now: datetime) -> ExperimentReport:
    """Compare the groups of a project. Raises NotFound for one the caller cannot see."""
    require(caller=caller, act=Act.READ)
    with tenancy.unit():
        place = places.find_project(caller=caller, ref=project)
        since = now - timedelta(days=days)
        rows, is_whole = _known_sums("groups", caller=caller, place=place, since=since)
        graph = _graph_changes(caller, place, since)
        weeks = _weeks(caller, place)
    sides = _add_up(rows)
    groups = {group: sides.get((group.value,), {}) for group in points.Group}
    control = groups[points.Group.CONTROL]
    return ExperimentReport(
        settings=places.experiments_in(project=place),
        since=since,
        is_whole=is_whole,
        sessions={group: sessions_of(sums=sums).count for group, sums in groups.items()},
        compared={
            group: uplift.compare_figures(given=groups[group], without=control)
            for group in (points.Group.FULL, points.Group.PASSIVE)
        },
        saved=uplift.tokens_saved(given=groups[points.Group.FULL], without=control),
        graph=graph,
        weeks=weeks,
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
        since = now - timedelta(days=days)
        rows, _ = _known_sums(
            "memories", caller=caller, place=place, since=since, most=MOST_LOOKED_AT
        )
        effects = _by_memory(rows)
        counts = {
            id: tuple(sessions_of(sums=sums).count for sums in both) for id, both in effects.items()
        }
        seen = countable(caller=caller).filter(id__in=effects).values_list("id", flat=True)
        ordered = sorted(seen, key=lambda one: (-counts[one][1], one))[:MOST]
        sight = visibility.sight_of(caller=caller)
        views = views_of(memory_ids=tuple(ordered), sight=sight, now=now) if ordered else {}
    return tuple(
        MemoryEffect(
            memory=views[one],
            given=counts[one][0],
            withheld=counts[one][1],
            measures=uplift.compare_figures(
                given=effects[one][0], without=effects[one][1], figures=uplift.HARMS
            ),
        )
        for one in ordered
        if one in views
    )


def shared_effects(*, project: Project, since: datetime) -> dict[UUID, Effect]:
    """Return the sums by which a project's own memories are demoted. In a unit.

    Of what is shared, those in which nobody alone decides.
    """
    rows = sql_queries.rows(
        "shared_memories",
        file=FILE,
        project=project.id,
        since=since,
        most=MOST_LOOKED_AT,
        openers=LEAST_PEOPLE,
    )
    return _by_memory(rows)


def sessions_of(*, sums: Sums) -> Side:
    """Return how many sessions sums are of, and of how many people."""
    return sums.get(COUNT, uplift.NOTHING)


def _weeks(caller: Caller, place: Project) -> tuple[WeekFigures, ...]:
    """Return the newest measured weeks, summed over the places the caller may see. In a unit."""
    sight = visibility.as_q(sight=visibility.sight_of(caller=caller))
    rows = Statistic.objects.filter(sight, kind=WEEKLY, project_id=place.id)
    sums = {name: Sum(Cast(KeyTextTransform(name, "counts"), IntegerField())) for name in IN_A_WEEK}
    weeks = rows.order_by("-day").values_list("day").annotate(**sums)[:WEEKS_SHOWN]
    names = ("week", *IN_A_WEEK)
    return tuple(WeekFigures(**dict(zip(names, one, strict=True))) for one in weeks)


def _graph_changes(caller: Caller, place: Project, since: datetime) -> GraphChanges:
    rows, is_whole = _known_sums("searches", caller=caller, place=place, since=since)
    searches = sum(row[-2] for row in rows)
    changed = sum(row[1] for row in rows)
    return GraphChanges(
        searches=searches,
        took_part=sum(row[0] for row in rows),
        changed=changed,
        share=uplift.share(successes=changed, trials=searches) if searches else None,
        is_whole=is_whole,
    )


def _known_sums(
    name: str, *, caller: Caller, place: Project, since: datetime, **more: Any
) -> tuple[list[tuple[Any, ...]], bool]:
    """Return the sums that the caller may know, and whether these are all of the project's.

    The last columns of each row: whether the caller sees the sessions, how many they are, and of
    how many people. In a unit.
    """
    everyone = manages(caller=caller)
    rows = sql_queries.filled(
        name,
        file=FILE,
        parts={
            "visible": visibility.as_sql(alias="s"),
            "visible_memory": visibility.as_sql(alias="m"),
        },
        project=place.id,
        since=since,
        everyone=everyone,
        **visibility.parameters(sight=visibility.sight_of(caller=caller)),
        **more,
    )
    known = [
        (*about, is_seen, count, people)
        for *about, is_seen, count, people in rows
        if is_seen or (count >= uplift.LEAST_SESSIONS and people >= LEAST_PEOPLE)
    ]
    return known, everyone and len(known) == len(rows)


def _add_up(rows: Iterable[tuple[Any, ...]]) -> dict[tuple[Any, ...], dict[str, Side]]:
    """Add up rows of figures by what stands before the figure."""
    found: dict[tuple[Any, ...], dict[str, Side]] = {}
    for *key, figure, total, squares, _, count, people in rows:
        sums = found.setdefault(tuple(key), {})
        side = Side(count=count, total=total, squares=squares, people=people)
        sums[figure] = sums.get(figure, uplift.NOTHING) + side
    return found


def _by_memory(rows: Iterable[tuple[Any, ...]]) -> dict[UUID, Effect]:
    sides = _add_up(rows)
    return {
        memory_id: (sides.get((memory_id, False), {}), sides.get((memory_id, True), {}))
        for memory_id, _ in sides
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseWeights:
    """What sessions taught since `since`, and what a person decided."""

    sessions: int  # with known outcomes
    least: int  # fewer propose nothing
    since: datetime
    is_whole: bool  # of everybody's sessions
    found: tuple[phase_learning.LearnedWeight, ...]
    proposal: str  # its name, empty: none
    own: phases.Own
    decided_at: datetime | None
    may_undo: bool  # the decision of `decided_at`


def weights_of(*, caller: Caller, project: str, now: datetime) -> PhaseWeights:
    """Return what a project's sessions taught. Raises NotFound for one the caller cannot see."""
    require(caller=caller, act=Act.READ)
    known = definitions.own_methodologies(caller=caller)
    with tenancy.unit():
        place = places.find_project(caller=caller, ref=project)
        return read_weights(caller=caller, place=place, known=known, now=now)


def read_weights(
    *, caller: Caller, place: Project, known: Mapping[str, phases.Methodology], now: datetime
) -> PhaseWeights:
    """Return it for a project's row, with the organization's own methodologies. In a unit."""
    decided = phases.read_weights(settings=place.settings)
    since = now - timedelta(days=USUAL_DAYS)
    if decided.counts_since is not None:  # no session that was given what earlier weights selected
        since = max(since, decided.counts_since)
    rows, is_whole = _known_sums("outcomes", caller=caller, place=place, since=since)
    count = 0
    outcomes: dict[tuple[phases.Phase, MemoryType], Side] = {}
    for methodology, name, type, given, used, _, number, _ in rows:
        if type is None:  # of all types: each session once
            count += number
            continue
        phase = phases.phase_of(methodology=methodology or phases.NATIVE, name=name, own=known)
        if phase is not None and type in TYPES:  # whatever a methodology calls it
            key = phase, TYPES[type]
            side = phase_learning.outcome_side(given=given, used=used)
            outcomes[key] = outcomes.get(key, uplift.NOTHING) + side
    found = phase_learning.learn_weights(outcomes=outcomes, own=decided.weights)
    is_enough = count >= phase_learning.SESSIONS_LEAST
    return PhaseWeights(
        sessions=count,
        least=phase_learning.SESSIONS_LEAST,
        since=since,
        is_whole=is_whole,
        found=found,
        proposal=phase_learning.proposal_name(found=found) if is_enough else "",
        own=decided.weights,
        decided_at=decided.decided_at,
        may_undo=decided.before is not None,
    )


@dataclass(frozen=True, slots=True)
class SessionFigures:
    """One session; steps, calls and tokens are None until it was finalized."""

    steps: int | None = None
    calls: int | None = None
    tokens: int | None = None
    outcome: str = ""
    given_tokens: int = 0  # of the memories given; to who opened it, of the text beside them too
    given: int = 0  # memories, each counted once; so are those used and wrong
    used: int = 0
    wrong: int = 0


def figures(*, caller: Caller, session_ids: tuple[UUID, ...]) -> Mapping[UUID, SessionFigures]:
    """Return the figures of sessions that the caller may see; others are left out."""
    require(caller=caller, act=Act.READ)
    with tenancy.unit():
        is_own = When(sessions.opened_by_caller(caller=caller), then="heading_tokens")
        rows = sessions.visible(caller=caller).filter(pk__in=session_ids).order_by("id")
        work = rows.values_list(
            "id",
            Cast(KeyTextTransform("steps", "observed"), IntegerField()),
            Cast(KeyTextTransform("tools", "observed"), IntegerField()),
            Cast(KeyTextTransform("tokens", "figures"), IntegerField()),
            Coalesce(KeyTextTransform("outcome", "observed"), Value(""), output_field=TextField()),
            Case(is_own, default=0),
        )
        found = {id: SessionFigures(*own) for id, *own in work}
        seen = countable(caller=caller).values("id")
        log = GivenOut.objects.filter(session_id__in=found, memory_id__in=seen).order_by()
        deliveries = log.values("session_id").annotate(
            given=Count("memory_id", distinct=True),
            cost=Coalesce(Sum("tokens"), 0),
            used=_count_memories(DeliveryOutcome.USED),
            wrong=_count_memories(DeliveryOutcome.WRONG),
        )
        for one in deliveries:
            own = found[one["session_id"]]
            found[one["session_id"]] = replace(
                own,
                given_tokens=own.given_tokens + one["cost"],
                given=one["given"],
                used=one["used"],
                wrong=one["wrong"],
            )
    return found


def _count_memories(outcome: DeliveryOutcome) -> Count:
    return Count("memory_id", filter=Q(outcome=outcome.value), distinct=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReentryCounts:
    """How many sessions entered a known dead end, and how many of them had been given it."""

    entered: int = 0
    told: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReentryView:
    """A dead end that a session entered: at which event, how, and whether it was given before."""

    memory: MemoryView
    sequence: int
    how: str
    told: bool


def reentries_of_memory(*, caller: Caller, memory_id: UUID) -> ReentryCounts:
    """Return how many sessions entered a dead end, of sessions the caller may see.

    Nothing for a memory that the caller may not see.
    """
    require(caller=caller, act=Act.READ)
    with tenancy.unit():
        if not countable(caller=caller).filter(pk=memory_id).exists():
            return ReentryCounts()
        sight = visibility.as_q(sight=visibility.sight_of(caller=caller))
        rows = Statistic.objects.filter(sight, kind=Kind.REENTRY.value, key=str(memory_id))
        counts = tuple(rows.order_by("id").values_list("counts", flat=True))
    return ReentryCounts(
        entered=sum(int(one.get("sessions", 0)) for one in counts),
        told=sum(int(one.get("told", 0)) for one in counts),
    )


def reentry_views(
    *, caller: Caller, observed: Mapping[str, Any], now: datetime
) -> tuple[ReentryView, ...]:
    """Return what a session entered, of the dead ends the caller may see. In a unit."""
    entries = tuple(observed.get(REENTERED_KEY, ()))
    rows = visible(caller=caller).filter(pk__in=[one["memory_id"] for one in entries])
    views = {str(row.id): to_view(row, now=now) for row in rows} if entries else {}
    return tuple(
        ReentryView(
            memory=views[one["memory_id"]],
            sequence=int(one["sequence"]),
            how=str(one["how"]),
            told=bool(one["told"]),
        )
        for one in entries
        if one["memory_id"] in views
    )
