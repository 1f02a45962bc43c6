"""What was given back to sessions: the ledger."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count, Max, Min, OuterRef, Q, Subquery, Sum
from django.db.models.functions import Coalesce

from accounts import tenancy
from accounts.caller import Caller
from memory.records.queries.views import countable
from memory.sessions.models import GivenOut, Session, Stream, Turn
from memory.sessions.queries import sessions
from teams import queries as places
from teams.permissions import Act, require


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One memory that was given to a session: at which point, for how many tokens, and when.

    `outcome` is what came of it (`memory.experiments.delivery_outcomes`); empty before the end.
    `after_event` is the event behind which it was given; None where that was not kept yet. `agent`
    names the one of several agents in the session that was told; empty: the first.
    """

    memory_id: UUID
    point: str
    tokens: int
    at: datetime
    outcome: str
    after_event: int | None = None
    agent: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """What a session was given, in its order, and the tokens of what it was told beside memories.

    That is work left unfinished, files, what follows for a plan, a style: its opener's own, so
    nobody else is told even how much.
    """

    entries: tuple[Entry, ...]
    beside: int

    @property
    def memories(self) -> int:
        """How many memories were given, each counted once."""
        return len({one.memory_id for one in self.entries})

    @property
    def tokens(self) -> int:
        """The tokens of all texts that the session was given, as far as the caller may see them."""
        return self.beside + sum(one.tokens for one in self.entries)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """How far a session has come: its highest event, and the newest row of all; 0 for none."""

    event: int
    row: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """How many memories were given, for how many tokens, to how many sessions, and when."""

    memories: int
    tokens: int
    sessions: int
    first_at: datetime | None
    last_at: datetime | None


def told_in(*, session_ids: tuple[UUID, ...], agent: str = "") -> frozenset[UUID]:
    """Return the memories that an agent of a session was ever given in its parts, or that were
    withheld from the session; its first agent has no name. In a unit."""
    rows = GivenOut.all_rows.filter(Q(withheld=True) | Q(agent=agent), session_id__in=session_ids)
    return frozenset(rows.values_list("memory_id", flat=True))


def reached(*, session_id: UUID) -> Reached:
    """Return how far a held session has come, in the order in which things reached us. In a unit.

    Clients number and date what they tell; the ids of rows are ours, and grow. The newest of all
    sessions is as good as the newest of this one, which stores nothing while it is held.
    """
    event, row = (
        Session.objects.order_by()
        .filter(pk=session_id)
        .values_list(_highest(Stream.DONE), _newest())
        .get()
    )
    return Reached(event=event or 0, row=row or 0)


def entries(*, caller: Caller, session_id: UUID) -> tuple[Entry, ...]:
    """Return what a session was given, in its order, of memories that the caller may see.

    Raises NotFound also for a session not to be seen.
    """
    return ledger(caller=caller, session_id=session_id).entries


def ledger(*, caller: Caller, session_id: UUID) -> Ledger:
    """Return the ledger of a session, of memories that the caller may see.

    Raises NotFound also for a session not to be seen.
    """
    require(caller=caller, act=Act.READ)
    with tenancy.unit():
        row = sessions.find(caller=caller, session_id=session_id)
        seen = countable(caller=caller).values("id")
        found = GivenOut.objects.filter(session_id=row.id, memory_id__in=seen).order_by("at", "id")
        beside = row.heading_tokens if sessions.is_own(caller=caller, row=row) else 0
        return Ledger(entries=tuple(map(_entry, found)), beside=beside)


def in_project(*, caller: Caller, project: str) -> Sums:
    """Return what sessions of a project were given, of sessions and memories the caller may see.

    As far as the ledger reaches back. Raises NotFound for a project the caller cannot see.
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
        told = sessions.of_project(caller=caller, project_id=place.id).filter(
            sessions.own(caller=caller), heading_tokens__gt=0
        )
        beside = told.order_by().aggregate(tokens=Coalesce(Sum("heading_tokens"), 0))["tokens"]
    return Sums(**{**found, "tokens": found["tokens"] + beside})


def _entry(one: GivenOut) -> Entry:
    return Entry(
        memory_id=one.memory_id,
        point=one.point,
        tokens=one.tokens,
        at=one.at,
        outcome=one.outcome,
        after_event=one.after_event,
        agent=one.agent,
    )


def _highest(stream: Stream) -> Subquery:
    """Return the highest sequence of a stream, by the key of turns."""
    rows = Turn.all_streams.filter(session=OuterRef("pk"), stream=stream)
    return Subquery(rows.order_by("-sequence").values("sequence")[:1])


def _newest() -> Subquery:
    """Return the highest id of a turn, by the key."""
    return Subquery(Turn.all_streams.order_by("-id").values("id")[:1])
