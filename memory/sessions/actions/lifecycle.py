"""Open sessions of agents, end them, and forget what is past its time.

A session is found again by its external id. Every ending, that of a silent session too, sets the
state and queues the job that takes what is worth keeping.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F, Func, JSONField, Q, Value

from accounts import free_texts, jobs, tenancy
from accounts.caller import Caller
from accounts.errors import wrong_field
from accounts.messages import message
from accounts.queries import keep_events_days
from memory.sessions import queries as sessions
from memory.sessions.actions import trust
from memory.sessions.models import GivenOut, Session, Stream, Turn
from memory.taxonomy import Scope
from memory.text.text import check_text
from teams import audit
from teams import queries as places
from teams.errors import NotBoundToProject
from teams.models import Project
from teams.permissions import Act, require

JOB: Final = "memory.consolidate"
MOST_AT_ONCE: Final = 500  # sessions that end together, so that it never takes long
IDLE_MINUTES: Final = 60  # after which a silent session has ended; not measured
LONGEST_HOURS: Final = 24  # that a session goes on before it is decided about; not measured
OF_EVENTS: Final = (Stream.DONE, Stream.CHECKPOINT)
KEEP_GIVEN_DAYS: Final = 90  # that somebody was given a memory; not measured
LONGEST: Final[Mapping[str, int]] = {  # characters, the columns'
    "external_id": 200,
    "thread": 200,
    "type": 40,
    "phase": 20,
    "methodology": 40,
    "agent": 120,
    "cwd": 400,
    "root": 400,
    "branch": 200,
    "commit": 64,
}
TRANSCRIBED: Final = ("claude-code/", "codex/")  # names of sessions that hooks and transcripts tell
MOST_STEPS: Final = 200  # of a plan; default, not measured
UNIT_PARTS: Final = ("methodology", "hierarchy", "label")
LONGEST_PART: Final = 200  # characters of a part or a step; default, not measured


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSession:
    """What somebody wants to open. `shared` lets the members of its project see it."""

    project: str | None = None
    external_id: str = ""
    thread: str = ""
    type: str = ""
    phase: str = ""
    methodology: str = ""
    agent: str = ""
    cwd: str = ""
    root: str = ""
    branch: str = ""
    commit: str = ""
    plan: tuple[str, ...] = ()
    work_unit: Mapping[str, str] = field(default_factory=dict)
    shared: bool = False
    memory_eligible: bool = True
    models_agreed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedSession:
    """The session, and whether it is new."""

    session: sessions.SessionView
    is_new: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """The row of a session, and whether it is new."""

    row: Session
    is_new: bool


def open_session(*, caller: Caller, new: NewSession, now: datetime) -> OpenedSession:
    """Open a session; the one of the same external id is found instead.

    Open ones of the same agent and credential in the project end by it. Raises InvalidInput naming
    the field, NotFound for a project the caller cannot see, NotBoundToProject.
    """
    require(caller=caller, act=Act.WRITE)
    check(new=new)
    try:
        with tenancy.unit(), transaction.atomic():
            return _opened(caller, new, now)
    except IntegrityError:  # somebody opened it between our look and our write: find it
        with tenancy.unit():
            return _opened(caller, new, now)


def _opened(caller: Caller, new: NewSession, now: datetime) -> OpenedSession:
    placed = place_session(caller=caller, new=new, now=now)
    if placed.is_new:
        ended = close_others(caller=caller, row=placed.row, now=now)
        audit.append(
            "session.opened",
            "session",
            str(placed.row.id),
            caller=caller,
            details={"ended": ended} if ended else None,
        )
    found = sessions.find(caller=caller, session_id=placed.row.id)
    return OpenedSession(session=sessions.to_view(found), is_new=placed.is_new)


def place_session(*, caller: Caller, new: NewSession, now: datetime) -> Placed:
    """Find the session of an external id, locked, or make one. In a unit.

    Raises NotFound for a project the caller cannot see, NotBoundToProject, InvalidInput.
    """
    project = places.find_project(caller=caller, ref=new.project) if new.project else None
    own = _own_of_program(caller, new)
    if own is not None:
        return Placed(row=own, is_new=False)
    if project is None and caller.bound_projects is not None:
        raise NotBoundToProject(
            detail="This token is bound to projects; it opens no session outside of them.",
            hint="Name one of its projects in “project”.",
        )
    audience = _audience(caller, new, project)
    if new.external_id:
        rows = Session.objects.select_for_update().filter(audience=audience, project=project)
        known = rows.filter(external_id=new.external_id).first()
        if known is not None:
            return Placed(row=known, is_new=False)
    texts = {name: getattr(new, name) for name in LONGEST}
    row = Session.objects.create(
        **{**texts, "agent": new.agent or caller.agent},
        project=project,
        audience=audience,
        scope=(Scope.PROJECT if new.shared else Scope.PERSONAL).value,
        work_unit=dict(new.work_unit),
        opened_by=caller.user_id,
        token_id=caller.token_id,
        plan=list(new.plan),
        source_interface=caller.source_interface,
        memory_eligible=new.memory_eligible,
        models_agreed=new.models_agreed,
        opened_at=now,
        active_at=now,
    )
    trust.raise_trust(caller=caller, project_id=row.project_id, now=now)
    return Placed(row=row, is_new=True)


def _own_of_program(caller: Caller, new: NewSession) -> Session | None:
    """Return the caller's own session of that name: hooks may have opened it in another project."""
    if not new.external_id.startswith(TRANSCRIBED):
        return None
    return sessions.hold_named(caller=caller, external_id=new.external_id)


def _audience(caller: Caller, new: NewSession, project: Project | None) -> UUID:
    if new.shared and project is not None:
        return project.id
    if new.shared:
        detail = "A shared session needs the project it is shared with."
        raise wrong_field(pointer="/project", detail=detail, code="scope")
    if caller.user_id is None:
        detail = "This credential belongs to no person; its sessions are shared."
        raise wrong_field(pointer="/shared", detail=detail, code="scope")
    return caller.user_id


def check(*, new: NewSession) -> None:
    """Check the texts of a new session. Raises InvalidInput naming the field."""
    texts = {f"/{name}": (getattr(new, name), longest) for name, longest in LONGEST.items()}
    for name, text in new.work_unit.items():
        if name not in UNIT_PARTS:
            detail = message("Name of a unit of work: {names}.", names=UNIT_PARTS)
            raise wrong_field(pointer="/work_unit", detail=detail, code="unknown")
        if not isinstance(text, str):
            raise wrong_field(
                pointer=f"/work_unit/{name}", detail="This must be text.", code="type"
            )
        texts[f"/work_unit/{name}"] = text, LONGEST_PART
    if len(new.plan) > MOST_STEPS:
        detail = message("A plan has at most {most} steps.", most=MOST_STEPS)
        raise wrong_field(pointer="/plan", detail=detail, code="too_many")
    texts |= {f"/plan/{place}": (step, LONGEST_PART) for place, step in enumerate(new.plan)}
    for pointer, (text, longest) in texts.items():
        check_field(pointer=pointer, text=text, longest=longest)
    free_texts.check(texts={pointer: text for pointer, (text, _) in texts.items() if text})


def check_field(*, pointer: str, text: str, longest: int) -> None:
    """Check that a text can be stored. Raises InvalidInput naming the field."""
    if check_text(text=text):
        raise wrong_field(
            pointer=pointer,
            detail="The text has characters that cannot be stored.",
            code="text",
        )
    if len(text) > longest:
        detail = message("Use at most {most} characters.", most=longest)
        raise wrong_field(pointer=pointer, detail=detail, code="length")


def close(*, rows: Iterable[Session], now: datetime) -> tuple[UUID | None, ...]:
    """End locked sessions; return the job that consolidates each. In a unit.

    None is queued for a session that is not to be kept.
    """
    queued: list[UUID | None] = []
    for row in rows:
        row.state, row.ended_at = "ended", now
        row.save(update_fields=["state", "ended_at"])
        job_id = None
        if row.memory_eligible:
            payload, creator = {"ids": [str(row.id)]}, row.opened_by or row.token_id
            job_id = jobs.enqueue(JOB, payload=payload, key=row.id.hex, created_by=creator)
        queued.append(job_id)
    return tuple(queued)


def close_others(*, caller: Caller, row: Session, now: datetime) -> int:
    """End the other open sessions of the same agent and credential there; return how many.

    Not where the agent tells its ends itself: two windows of a program work beside each other.
    """
    same = Session.objects.select_for_update().filter(
        state="open",
        audience=row.audience,
        project=row.project,
        agent=row.agent,
        token_id=caller.token_id,
        opened_by=caller.user_id,
    )
    return len(close(rows=same.exclude(pk=row.pk).order_by("id")[:MOST_AT_ONCE], now=now))


def end_session(
    *, caller: Caller, session_id: UUID, now: datetime
) -> tuple[sessions.SessionView, UUID | None]:
    """End a session and queue its consolidation in the same unit; ended once, it stays ended.

    Return it with its job; None where one waits already, and for a session that is not to be kept.
    Raises NotFound, and Forbidden for a session that somebody else opened.
    """
    require(caller=caller, act=Act.WRITE)
    with tenancy.unit():
        row = sessions.hold_own(caller=caller, session_id=session_id)
        job_id = close(rows=(row,), now=now)[0] if row.state == "open" else None
        audit.append("session.ended", "session", str(row.id), caller=caller)
        return sessions.to_view(sessions.find(caller=caller, session_id=session_id)), job_id


def end_idle(*, now: datetime) -> int:
    """End the entered organization's sessions that have been silent; return how many.

    One that is busy day and night ends once a day too, so that what it showed is decided about; it
    goes on with its next event, as any session that ended.
    """
    silent = Q(active_at__lt=now - timedelta(minutes=IDLE_MINUTES))
    old = now - timedelta(hours=LONGEST_HOURS)
    is_due = Q(consolidated_at__isnull=True) | Q(consolidated_at__lt=old)
    is_long = is_due & Q(opened_at__lt=old, memory_eligible=True)
    with tenancy.unit():
        rows = Session.objects.select_for_update(skip_locked=True).filter(
            silent | is_long, state="open"
        )
        rows = rows.order_by("active_at", "id")[:MOST_AT_ONCE]
        return len(close(rows=rows, now=now))


def forget(*, now: datetime) -> int:
    """Delete turns that nothing will be taken from, and old notes of what was given out to whom.

    Turns are kept for some days after the last one, or after the end of what was not consolidated;
    what was done for as many as the organization says, or as its project does, if fewer.
    """
    said = _is_past(now - timedelta(days=settings.KEEP_TURNS_DAYS)) & Q(stream=Stream.SAID)
    longest = keep_events_days(organization_id=tenancy.current().organization_id)
    with tenancy.unit():
        own = places.events_days_by_project()  # a project may keep what was done for fewer days
        past = _is_past(now - timedelta(days=longest))
        for days in sorted({days for days in own.values() if days < longest}):
            named = tuple(id for id, its in own.items() if its == days)
            past |= Q(session__project__in=named) & _is_past(now - timedelta(days=days))
        done = past & Q(stream__in=OF_EVENTS)
        events = Turn.all_streams.filter(done).order_by().values("session")
        asked = Session.objects.filter(reflection__has_key="asked_at", pk__in=events)
        asked.update(reflection=_without_lessons())  # they quote what is forgotten
        turns, _ = Turn.all_streams.filter(said | done).delete()
        old = now - timedelta(days=KEEP_GIVEN_DAYS)
        given, _ = GivenOut.all_rows.filter(at__lt=old).delete()
        Session.objects.filter(heading_tokens__gt=0, active_at__lt=old).update(heading_tokens=0)
    return turns + given


def _without_lessons() -> Func:
    """Return what was asked of an agent, when, and no more about what."""
    path, none = Value(["lessons"]), Value([], output_field=JSONField())
    return Func(F("reflection"), path, none, function="jsonb_set", output_field=JSONField())


def _is_past(old: datetime) -> Q:
    """Say of which sessions nothing is taken any more since a moment.

    One that is still “ended” so long after is not to be kept, or its job has failed.
    """
    return Q(session__state="consolidated", session__active_at__lt=old) | Q(
        session__state="ended", session__ended_at__lt=old
    )
