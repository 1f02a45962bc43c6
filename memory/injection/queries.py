"""Reads of the delivery log, and how far an agent's connection has come."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db.models import Count, Max, Min, OuterRef, Q, Subquery, Sum
from django.db.models.functions import Coalesce

from accounts import tenancy
from accounts.caller import Caller
from memory.customization.queries import trust_level_of
from memory.injection.eligibility import Bar, bar_at_any_point, bar_of
from memory.intake.echoes_and_alarms import ALARM, ALARM_BURST, ALARM_DOMINANT
from memory.records.queries.views import MemoryView, countable, visible
from memory.sessions import queries as sessions
from memory.sessions.models import GivenOut, Session, Statistic, Stream, Turn
from memory.taxonomy import PERSON, STATED_BY, MemoryType, SourceInterface, Status
from teams import queries as places
from teams.permissions import Act, require
from teams.trust import level_row

RULES_AT_START: Final = (MemoryType.REQUIREMENT.value, MemoryType.PREFERENCE.value)
PEOPLE_AND_FILES: Final = (SourceInterface.DASHBOARD.value, SourceInterface.IMPORT.value)
ANSWER_URI: Final = r"^session:[0-9a-f-]{36}#event-"  # of what an agent answers its question with


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryEntry:
    """One memory that was delivered to a session: at which point, for how many tokens, and when.

    `outcome` is what came of it (`memory.experiments.figures`); empty before the end.
    `after_event` is the last event before it, None where none was stored. `agent` names a subagent,
    empty for the first agent.
    """

    memory_id: UUID
    point: str
    tokens: int
    at: datetime
    outcome: str
    after_event: int | None = None
    agent: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryLog:
    """The entries of a session in their order, and the tokens of text beside memories.

    That text is unfinished work, files, advice for a plan, a style: only the person who opened the
    session sees even its tokens.
    """

    entries: tuple[DeliveryEntry, ...]
    beside: int

    @property
    def memories(self) -> int:
        """How many memories were delivered, each counted once."""
        return len({one.memory_id for one in self.entries})

    @property
    def tokens(self) -> int:
        """The tokens of all texts delivered to the session, as far as the caller may see them."""
        return self.beside + sum(one.tokens for one in self.entries)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryTotals:
    """How many memories were delivered, for how many tokens, to how many sessions, and when."""

    memories: int
    tokens: int
    sessions: int
    first_at: datetime | None
    last_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Milestones:
    """When agents first stored a memory in a project, and when one was last delivered."""

    first_memory_at: datetime | None
    last_given_at: datetime | None


def logged_memories(*, session_ids: tuple[UUID, ...], agent: str = "") -> frozenset[UUID]:
    """Return the memories that an agent of a session was ever given in its parts, or that were
    withheld from the session; its first agent has no name. In a unit."""
    rows = GivenOut.all_rows.filter(Q(withheld=True) | Q(agent=agent), session_id__in=session_ids)
    return frozenset(rows.values_list("memory_id", flat=True))


def eligible(
    *, views: Mapping[UUID, MemoryView], reader: UUID | None, project_id: UUID | None, least: float
) -> dict[UUID, MemoryView]:
    """Return what of some memories may be given unasked to a reader's agent in a project.

    In a unit. Alarms are asked for where something is unreviewed, which is seldom.
    """
    found = {
        one: view
        for one, view in views.items()
        if bar_of(view=view, reader=reader, project_id=project_id, least=least) is None
    }
    unreviewed = [str(one) for one, view in found.items() if view.needs_review]
    held = _alarmed(unreviewed) if unreviewed else frozenset()
    return {one: view for one, view in found.items() if str(one) not in held}


def stated_rules(*, caller: Caller, project_id: UUID | None, limit: int) -> tuple[UUID, ...]:
    """Return the newest rules that a person stated in sessions of a project and that wait. In a
    unit.

    Those that somebody kept are found like any memory. By the index memory_review.
    """
    rows = countable(caller=caller).filter(
        project=project_id,
        needs_review=True,
        status=Status.ACTIVE.value,
        author_user=caller.user_id,
        type__in=RULES_AT_START,
        attributes__contains={STATED_BY: PERSON},
        taint_reason="",
    )
    return tuple(rows.order_by("-created_at", "id").values_list("id", flat=True)[:limit])


def injection_bar(*, caller: Caller, memory: MemoryView) -> Bar | None:
    """Return why a memory is not given to the caller's agents in its project; None where it is.

    At some points it may be given all the same: `UNSURE_AT_FILES` says so.
    """
    with tenancy.unit():
        level = trust_level_of(caller=caller, project_id=memory.project_id)
        least = level_row(level=level).injects_from_confidence
        bar = bar_at_any_point(
            view=memory, reader=caller.user_id, project_id=memory.project_id, least=least
        )
        is_held = bar is None and memory.needs_review and bool(_alarmed([str(memory.id)]))
    return Bar.ALARM if is_held else bar


def _alarmed(memory_ids: Collection[str]) -> frozenset[str]:
    """Return those that an alarm was raised about as one of many, or as given too often."""
    rows = Statistic.objects.filter(kind=ALARM, key__in=memory_ids).order_by()
    many = frozenset({ALARM_BURST, ALARM_DOMINANT})
    return frozenset(key for key, counts in rows.values_list("key", "counts") if many & set(counts))


def last_stored(*, session_id: UUID) -> tuple[int, int]:
    """Return the highest event of a locked session and the newest row of all; 0 for none. In a
    unit.

    Clients number and date what they send; the ids of rows are the server's, and grow. The newest
    row of all sessions does as well as that of this one, which stores nothing while it is locked.
    """
    events = Turn.all_streams.filter(session=OuterRef("pk"), stream=Stream.DONE)
    event, row = (
        Session.objects.order_by()
        .filter(pk=session_id)
        .values_list(
            Subquery(events.order_by("-sequence").values("sequence")[:1]),
            Subquery(Turn.all_streams.order_by("-id").values("id")[:1]),
        )
        .get()
    )
    return event or 0, row or 0


def delivery_log(*, caller: Caller, session_id: UUID) -> DeliveryLog:
    """Return what a session was given, of memories that the caller may see.

    Raises NotFound also for a session not to be seen.
    """
    require(caller=caller, act=Act.READ)
    with tenancy.unit():
        row = sessions.find(caller=caller, session_id=session_id)
        seen = countable(caller=caller).values("id")
        found = GivenOut.objects.filter(session_id=row.id, memory_id__in=seen).order_by("at", "id")
        beside = row.heading_tokens if sessions.is_own(caller=caller, row=row) else 0
        names = tuple(one.name for one in fields(DeliveryEntry))
        entries = tuple(DeliveryEntry(**one) for one in found.values(*names))
        return DeliveryLog(entries=entries, beside=beside)


def project_totals(*, caller: Caller, project: str) -> DeliveryTotals:
    """Return what sessions of a project were given, of sessions and memories the caller may see.

    As far as the log reaches back. Raises NotFound for a project the caller cannot see.
    """
    require(caller=caller, act=Act.READ)
    with tenancy.unit():
        place = places.find_project(caller=caller, ref=project)
        mine = sessions.of_project(caller=caller, project_id=place.id).values("id")
        seen = countable(caller=caller).values("id")
        found = GivenOut.objects.filter(session_id__in=mine, memory_id__in=seen).aggregate(
            memories=Count("pk"),
            tokens=Coalesce(Sum("tokens"), 0),
            sessions=Count("session_id", distinct=True),
            first_at=Min("at"),
            last_at=Max("at"),
        )
        own = sessions.of_project(caller=caller, project_id=place.id).filter(
            sessions.opened_by_caller(caller=caller), heading_tokens__gt=0
        )
        beside = own.order_by().aggregate(tokens=Coalesce(Sum("heading_tokens"), 0))["tokens"]
    return DeliveryTotals(**{**found, "tokens": found["tokens"] + beside})


def milestones(*, caller: Caller, project: str) -> Milestones:
    """Return the milestones of a project. Raises NotFound for one the caller cannot see."""
    with tenancy.unit():
        place = places.find_project(caller=caller, ref=project)
        found = (
            visible(caller=caller)
            .filter(project_id=place.id)
            .aggregate(
                first=Min("created_at", filter=~Q(source_interface__in=PEOPLE_AND_FILES)),
                given=Max("memoryusage__last_given_at"),
            )
        )
    return Milestones(first_memory_at=found["first"], last_given_at=found["given"])


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectionTotals:
    """In how many sessions agents were asked for lessons, and in how many of them they gave some.

    `memories` counts those, `kept` the ones that a person has verified since.
    """

    asked: int
    answered: int
    memories: int
    kept: int


def reflection_totals(*, caller: Caller, project: str) -> ReflectionTotals:
    """Return what came of asking agents in a project, as far as the caller may see it.

    Raises NotFound for a project the caller cannot see.
    """
    require(caller=caller, act=Act.READ)
    with tenancy.unit():
        place = places.find_project(caller=caller, ref=project)
        mine = sessions.of_project(caller=caller, project_id=place.id)
        asked = mine.filter(reflection__isnull=False).order_by()
        answers = countable(caller=caller).filter(
            session_id__in=asked.values("id"), source_uri__regex=ANSWER_URI
        )
        found = answers.aggregate(
            answered=Count("session_id", distinct=True),
            memories=Count("pk"),
            kept=Count("pk", filter=Q(user_verified=True)),
        )
        once = asked.filter(reflection__has_key="asked_at")  # not once more for each part
        return ReflectionTotals(asked=once.count(), **found)
