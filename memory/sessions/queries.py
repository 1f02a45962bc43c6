"""Sessions, their turns and their events, as those may read them who see the session.

A caller sees their own sessions, and those shared with a project. What is read of a session in
bulk (turns, events) is bounded by a page; secrets were taken out before anything was stored.

What was said is searched verbatim: nothing is ranked and nothing is left out, whoever looks for
words gets the turns that hold them, newest first. A person remembers that something was said, and
how; `memory.search` is for meanings.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

from django.db.models import Count, Max, OuterRef, Q, QuerySet, Subquery

from accounts import queries, tenancy
from accounts.caller import Caller
from accounts.errors import Forbidden, NotFound, wrong_field
from accounts.identifiers import as_uuid
from accounts.jobs import PermanentFailure
from accounts.pages import Page, page_of
from memory import sql_queries
from memory.records.models import Memory
from memory.records.queries import views
from memory.sessions.events import from_row
from memory.sessions.models import COMPARED, OF_PROGRAM, GivenOut, Session, Turn
from memory.sessions.turns import Speaker
from memory.sessions.turns import Turn as Spoken
from memory.text.text import check_text
from teams import queries as places
from teams import visibility
from teams.permissions import Act, require

STATES: Final = ("open", "ended", "consolidated")
READ_AT_ONCE: Final = 20  # turns, so that a page that is full early has read little more
MOST_OPEN: Final = 20  # sessions of a program that are looked at for where it works; default
FILE: Final = "sessions/sql/sessions.sql"
ASKED_IN: Final = "asked_in"  # of a reflection: the part of a session whose agent was asked

# Defaults, not measured.
LARGEST_PAGE: Final = 1_000_000  # characters of a page; a turn has at most 100,000
TEXT_MOST: Final = 4_000  # characters of an event that are shown
LONGEST_QUERY: Final = 400  # characters
BEFORE: Final = 200  # characters before what was found
LONGEST_PIECE: Final = 1_200  # characters of a turn that are shown
_WORD: Final = re.compile(r"[^\W_]+")
_TURN: Final = re.compile(r"\Asession:[0-9a-f-]{36}#turn-(\d{1,10})\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionView:
    """A session; `result` says what its consolidation came to, empty before.

    `task` is what it was asked first, without secrets, once it was observed. `group` is that of a
    comparison, told once the session has ended; empty: none. `reflection` is what its agent was
    asked: when, and on which evidence; empty where it was not.
    """

    id: UUID
    project: str | None
    external_id: str
    thread: str
    scope: str
    opened_by: UUID | None
    agent: str
    source_interface: str
    type: str
    phase: str
    methodology: str
    work_unit: Mapping[str, Any]
    cwd: str
    root: str
    branch: str
    commit: str
    plan: tuple[str, ...]
    memory_eligible: bool
    models_agreed: bool
    state: str
    turns: int
    events: int
    last_sequence: int
    opened_at: datetime
    active_at: datetime
    ended_at: datetime | None
    consolidated_at: datetime | None
    finalized_at: datetime | None
    group: str
    task: str
    result: Mapping[str, Any]
    reflection: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPlace:
    """Where a page of sessions ended."""

    opened_at: datetime
    session_id: UUID


def session(*, caller: Caller, session_id: UUID) -> SessionView:
    """Return one session. Raises NotFound also for one the caller may not see."""
    require(caller=caller, act=Act.READ)
    with tenancy.unit():
        return to_view(find(caller=caller, session_id=session_id))


def sessions(
    *,
    caller: Caller,
    project: str | None,
    state: str | None,
    after: SessionPlace | None,
    limit: int,
    external_id: str | None = None,
) -> Page[SessionView, SessionPlace]:
    """Return a page of sessions, newest first. Raises NotFound for a project not to be seen."""
    require(caller=caller, act=Act.READ)
    with tenancy.unit():
        rows = visible(caller=caller)
        if project is not None:
            rows = rows.filter(project=places.find_project(caller=caller, ref=project))
        if state is not None:
            rows = rows.filter(state=state)
        if external_id is not None:
            rows = rows.filter(external_id=external_id)
        if after is not None:
            rows = rows.filter(
                Q(opened_at__lt=after.opened_at)
                | Q(opened_at=after.opened_at, id__gt=after.session_id)
            )
        here = rows.order_by("-opened_at", "id").values("id")[: limit + 1]
        page = Session.objects.filter(id__in=here).select_related("project")  # counted are these
        page = page.defer("observed")  # tens of kilobytes each, which no list tells
        found = [to_view(row) for row in _counted(page).order_by("-opened_at", "id")]
    return page_of(
        found=found,
        limit=limit,
        place=lambda last: SessionPlace(opened_at=last.opened_at, session_id=last.id),
    )


def by_methodology(*, caller: Caller, names: tuple[str, ...]) -> Mapping[str, int]:
    """Count the sessions a caller may see by their methodology, of some; none is left out."""
    require(caller=caller, act=Act.READ)
    with tenancy.unit():
        rows = visible(caller=caller).filter(methodology__in=names).order_by()
        return dict(rows.values_list("methodology").annotate(count=Count("pk")))


def pulse(*, caller: Caller, session_id: UUID) -> str:
    """Return what changes whenever a session goes on; cheap. Raises NotFound."""
    require(caller=caller, act=Act.READ)
    with tenancy.unit():
        rows = visible(caller=caller).filter(pk=session_id)
        row = rows.values_list("state", "events", "active_at").first()
        if row is None:
            raise missing()
        seen = views.countable(caller=caller).values("id")
        given = GivenOut.objects.filter(session_id=session_id, memory_id__in=seen).count()
    return f"{row[0]} {row[1]} {row[2].isoformat()} {given}"


def find(*, caller: Caller, session_id: UUID) -> Session:
    """Return the row of a session with its counts, for views. In a unit. Raises NotFound."""
    if (row := _counted(visible(caller=caller)).filter(pk=session_id).first()) is None:
        raise missing()
    return row


def hold(*, caller: Caller, session_id: UUID) -> Session:
    """Return the row of a session locked until the unit ends. Raises NotFound."""
    rows = visible(caller=caller).select_for_update(of=("self",))
    if (row := rows.filter(pk=session_id).first()) is None:
        raise missing()
    return row


def hold_own(*, caller: Caller, session_id: UUID) -> Session:
    """Return a session that the caller opened, locked. In a unit. Raises NotFound, Forbidden."""
    row = hold(caller=caller, session_id=session_id)
    if not is_own(caller=caller, row=row):
        raise Forbidden(
            detail="Somebody else opened this session.", hint="Open a session of your own."
        )
    return row


def visible(*, caller: Caller) -> QuerySet[Session]:
    """Return the sessions that the caller may see, wherever they are. In a unit."""
    seen = visibility.as_q(sight=visibility.sight_of(caller=caller))
    return Session.objects.filter(seen).select_related("project")


def of_project(*, caller: Caller, project_id: UUID | None) -> QuerySet[Session]:
    """Return the sessions of a project, or of none, that the caller may see. In a unit."""
    return visible(caller=caller).filter(project=project_id)


def opened_before(*, caller: Caller, row: Session) -> QuerySet[Session]:
    """Return the sessions of a session's project that were opened before it. In a unit."""
    rows = of_project(caller=caller, project_id=row.project_id)
    return rows.filter(Q(opened_at__lt=row.opened_at) | Q(opened_at=row.opened_at, id__lt=row.id))


def opened_by_caller(*, caller: Caller) -> Q:
    """Say which sessions a person opened, or a credential that nobody stands behind."""
    return Q(opened_by=caller.user_id) if caller.user_id else Q(token_id=caller.token_id)


def is_own(*, caller: Caller, row: Session) -> bool:
    """Say the same of one session."""
    if caller.user_id is not None:
        return row.opened_by == caller.user_id
    return row.token_id == caller.token_id


def hold_named(*, caller: Caller, external_id: str) -> Session | None:
    """Return the caller's own session of an external id, locked; None when there is none."""
    rows = visible(caller=caller).select_for_update(of=("self",))
    rows = rows.filter(opened_by_caller(caller=caller), external_id=external_id)
    return rows.order_by("opened_at", "id").first()


def running(*, caller: Caller) -> tuple[Session, ...]:
    """Return the open sessions of the caller's program, wherever they are. In a unit.

    The one in which something happened last comes first.
    """
    rows = visible(caller=caller).filter(_of_program(caller), state="open")
    return tuple(rows.order_by("-active_at", "id"))


def work_of_program(
    *, caller: Caller, project: str | None
) -> tuple[UUID, Mapping[str, str]] | None:
    """Return the last open session of the caller's program, and its unit of work.

    Of a project, where one is named; also where the program may not look any more.

    Only to leave out what the session wrote, so that nothing of it is shown. In a unit.
    """
    rows = sql_queries.rows(
        "of_program",
        file=FILE,
        person=caller.user_id,
        token=caller.token_id,
        agent=caller.agent,
        project=project,
        project_id=None if project is None else as_uuid(text=project),
        most=MOST_OPEN,
    )
    return (rows[0][0], json.loads(rows[0][1])) if rows else None


def _of_program(caller: Caller) -> Q:
    """Say which own sessions are of the caller's program; its hooks may have another token."""
    is_same = Q(token_id=caller.token_id) | Q(agent=caller.agent) & ~Q(agent="")
    return opened_by_caller(caller=caller) & is_same


def asked(*, session_id: UUID, since: datetime) -> Session | None:
    """Return a session whose agent was asked for lessons since; None for another. In a unit.

    The one of its parts in which that was, where it was full and went on.
    """
    rows = Session.objects.select_related("project").filter(reflection__isnull=False)
    row = rows.filter(pk=session_id).first()
    if row is not None and (part := (row.reflection or {}).get(ASKED_IN)):
        row = rows.filter(pk=part).first()
    asked_at = "" if row is None else str((row.reflection or {}).get("asked_at", ""))
    return row if asked_at >= since.isoformat() else None


def is_replied(*, session_id: UUID, after: int) -> bool:
    """Say whether the agent of a session spoke to its person after an event. In a unit.

    By the ids of rows, which are the server's; False where the event is not stored any more.
    """
    event = Turn.done.filter(session=session_id, sequence=after).order_by().values("pk")[:1]
    said = Turn.objects.filter(
        session=session_id, role=Speaker.ASSISTANT.value, pk__gt=Subquery(event)
    )
    return said.exists()


def spoken(*, session_id: UUID, after: int, limit: int) -> tuple[Spoken, ...]:
    """Return the turns of a session behind a sequence, in order, for extraction. In a unit."""
    rows = Turn.objects.filter(session_id=session_id, sequence__gt=after).order_by("sequence")
    return tuple(
        Spoken(
            sequence=row.sequence,
            speaker=Speaker(row.role),
            text=row.text,
            at=row.at,
            is_of_program=OF_PROGRAM in (row.body or {}),
        )
        for row in rows[:limit]
    )


def to_view(row: Session) -> SessionView:
    """Turn a counted row into what callers see; its group is told once it has ended."""
    same: dict[str, Any] = {one.name: getattr(row, one.name, None) for one in fields(SessionView)}
    is_compared = row.state != "open" and row.experiment_group in COMPARED
    same |= {
        "project": row.project.slug if row.project else None,
        "plan": tuple(row.plan or ()),
        "reflection": _own_reflection(row),
        "turns": int(getattr(row, "turn_count", 0) or 0),
        "last_sequence": int(getattr(row, "last_sequence", 0) or 0),
        "group": row.experiment_group if is_compared else "",
        "task": str((row.observed or {}).get("task", "")),
    }
    return SessionView(**same)


def _own_reflection(row: Session) -> dict[str, Any]:
    """Return what the agent was asked in this part of a session; empty for nothing."""
    asked: dict[str, Any] = row.reflection or {}
    return {} if ASKED_IN in asked else asked


def _counted(rows: QuerySet[Session]) -> QuerySet[Session]:
    """Add how many turns were said; what its agent did is counted by the session itself."""
    said = Turn.objects.filter(session=OuterRef("pk")).order_by().values("session")
    return rows.annotate(
        turn_count=Subquery(said.annotate(count=Count("pk")).values("count")),
        last_sequence=Subquery(said.annotate(last=Max("sequence")).values("last")),
    )


def missing() -> NotFound:
    """Return the refusal of a session that is not there, or not for this caller."""
    return NotFound(
        detail="There is no such session.", hint="GET /api/v1/sessions lists those you can see."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnView:
    """One turn; `masked` says how many secrets were taken out before it was stored."""

    sequence: int
    role: str
    text: str
    masked: int
    at: datetime


def turns(*, caller: Caller, session_id: UUID, after: int, limit: int) -> Page[TurnView, int]:
    """Return turns behind a sequence, fewer where they are long; the next ones are behind a place.

    Raises NotFound also for a session the caller may not see.
    """
    require(caller=caller, act=Act.READ)
    with tenancy.unit():
        row = find(caller=caller, session_id=session_id)
        rows = Turn.objects.filter(session=row, sequence__gt=after).order_by("sequence")
        items: list[TurnView] = []
        room = LARGEST_PAGE
        for turn in rows[: limit + 1].iterator(chunk_size=READ_AT_ONCE):
            if len(items) == limit or (items and len(turn.text) > room):
                return Page(items=tuple(items), next_place=items[-1].sequence)
            items.append(TurnView(**{one: getattr(turn, one) for one in TurnView.__slots__}))
            room -= len(turn.text)
    return Page(items=tuple(items), next_place=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class EventView:
    """One event; `about` is what a tool was called with, `is_cut` says that its text goes on."""

    sequence: int
    step: int
    kind: str
    name: str
    agent: str
    about: str
    text: str
    is_cut: bool
    is_error: bool
    outcome: str
    tokens: int
    files: tuple[str, ...]
    masked: int
    at: datetime


def events(
    *, caller: Caller, session_id: UUID, first: int, last: int, limit: int
) -> Page[EventView, int]:
    """Return the events from one sequence to another, both of them too.

    Raises NotFound also for a session the caller may not see.
    """
    require(caller=caller, act=Act.READ)
    with tenancy.unit():
        row = find(caller=caller, session_id=session_id)
        rows = Turn.done.filter(session=row, sequence__gte=first, sequence__lte=last)
        found = [_to_event_view(turn) for turn in rows.order_by("sequence")[: limit + 1]]
    following = next((one.sequence for one in found[limit:]), None)
    return Page(items=tuple(found[:limit]), next_place=following)


def _to_event_view(turn: Turn) -> EventView:
    event = from_row(sequence=turn.sequence, row=turn.body or {})
    given = event.arguments
    where = f"{given.path}:{given.line}" if given.path and given.line else given.path
    return EventView(
        sequence=turn.sequence,
        step=event.step,
        kind=event.kind.value,
        name=event.name,
        agent=event.agent,
        about=next(filter(None, (given.command, where, given.pattern, given.url)), ""),
        text=event.text[:TEXT_MOST],
        is_cut=len(event.text) > TEXT_MOST,
        is_error=event.is_error,
        outcome=event.outcome.value,
        tokens=event.tokens,
        files=event.files,
        masked=turn.masked,
        at=turn.at,
    )


def count_learned(*, caller: Caller, session_id: UUID) -> int:
    """Count the memories taken from a session that the caller may see."""
    with tenancy.unit():
        return views.visible(caller=caller).filter(session_id=session_id).count()


def of_session(*, rows: QuerySet[Memory], session_id: UUID) -> QuerySet[Memory]:
    """Return those of memories that a session was read for. In a unit."""
    return rows.filter(session_id=session_id).order_by("created_at", "id")


def turn_of(*, source_uri: str) -> int | None:
    """Return the turn of a session that a memory's source names; None where it names none."""
    found = _TURN.match(source_uri)
    return None if found is None else int(found.group(1))


def opener_of(*, row: Session, now: datetime) -> Caller:
    """Return who opened a session. In a unit.

    Raises PermanentFailure when they are gone, may not write or do not see its project.
    """
    beginner = queries.Initiator(
        user_id=row.opened_by,
        token_id=row.token_id,
        agent=row.agent,
        source_interface=row.source_interface,
    )
    try:
        caller = queries.caller_of(beginner=beginner, now=now)
        require(caller=caller, act=Act.WRITE)
        if row.project_id is not None:
            places.find_project(caller=caller, ref=str(row.project_id))
    except (Forbidden, NotFound) as error:
        raise PermanentFailure(error.detail, error.hint) from error
    return caller


class How(StrEnum):
    """Whether the words may stand anywhere in a turn, or exactly so beside each other."""

    WORDS = "words"
    EXACT = "exact"


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryPlace:
    """Where a page ended."""

    at: datetime
    id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryQuestion:
    """What to look for, and in which project, session, thread; said by whom."""

    query: str
    how: How = How.WORDS
    project: str | None = None
    session_id: UUID | None = None
    thread: str | None = None
    role: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryHit:
    """A turn that holds it: `text` from its character `start` on; `whole` has so many."""

    session_id: UUID
    sequence: int
    role: str
    masked: int
    at: datetime
    thread: str
    project: str | None
    agent: str
    whole: int
    start: int
    text: str


def search_history(
    *, caller: Caller, asked: HistoryQuestion, after: HistoryPlace | None, limit: int
) -> Page[HistoryHit, HistoryPlace]:
    """Return turns that hold what is asked, newest first, whatever the case of their letters.

    Raises InvalidInput for a question without a word, NotFound for a project or session that the
    caller may not see.
    """
    require(caller=caller, act=Act.READ)
    if check_text(text=asked.query):
        raise wrong_field(
            pointer="/query", detail="The text has characters that cannot be stored.", code="text"
        )
    word = _WORD.search(asked.query)
    if word is None:
        raise wrong_field(
            pointer="/query",
            detail="The query has no word in it.",
            hint="Signs alone are not looked for; name a word that stands beside them.",
            code="words",
        )
    with tenancy.unit():
        project = session_id = None
        if asked.project is not None:
            project = places.find_project(caller=caller, ref=asked.project).id
        if asked.session_id is not None:
            session_id = find(caller=caller, session_id=asked.session_id).id
        rows = sql_queries.filled(
            "history",
            file=FILE,
            parts={"visible": visibility.as_sql(alias="s")},
            query=asked.query,
            first=word.group(),
            exact=asked.how is How.EXACT,
            project=project,
            session=session_id,
            thread=asked.thread,
            role=asked.role,
            at=None if after is None else after.at,
            id=None if after is None else after.id,
            most=limit + 1,
            before=BEFORE,
            length=LONGEST_PIECE,
            **visibility.parameters(sight=visibility.sight_of(caller=caller)),
        )
    shown = tuple(
        HistoryHit(**dict(zip(HistoryHit.__slots__, row[1:], strict=True))) for row in rows[:limit]
    )
    place = HistoryPlace(at=shown[-1].at, id=rows[limit - 1][0]) if len(rows) > limit else None
    return Page(items=shown, next_place=place)
