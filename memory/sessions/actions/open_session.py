"""Open a session of an agent, or find the one that is open under its external id."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db import IntegrityError, transaction

from accounts import free_texts, tenancy
from accounts.caller import Caller
from accounts.errors import wrong_field
from accounts.messages import message
from memory.sessions import queries as sessions
from memory.sessions.actions import end_session, trust
from memory.sessions.models import Session
from memory.sessions.queries import SessionView
from memory.taxonomy import Scope
from memory.text.text import check_text
from teams import audit
from teams import queries as places
from teams.errors import NotBoundToProject
from teams.models import Project
from teams.permissions import Act, require

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

    session: SessionView
    is_new: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """The row of a session, whether it is new, and how many others ended by it."""

    row: Session
    is_new: bool
    ended: int


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
        audit.append(
            act="session.opened",
            object_type="session",
            object_id=str(placed.row.id),
            caller=caller,
            details={"ended": placed.ended} if placed.ended else None,
        )
    found = sessions.find(caller=caller, session_id=placed.row.id)
    return OpenedSession(session=sessions.to_view(found), is_new=placed.is_new)


def place_session(
    *, caller: Caller, new: NewSession, now: datetime, ends_others: bool = True
) -> Placed:
    """Find the session of an external id, locked, or make one; end others of the agent. In a unit.

    `ends_others` is false where the agent tells its ends itself: two windows of a program work
    beside each other. Raises NotFound for a project the caller cannot see, NotBoundToProject,
    InvalidInput.
    """
    project = _project(caller, new)
    audience = _audience(caller, new, project)
    if new.external_id:
        rows = Session.objects.select_for_update().filter(audience=audience, project=project)
        known = rows.filter(external_id=new.external_id).first()
        if known is not None:
            return Placed(row=known, is_new=False, ended=0)
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
    ended = end_session.close_others(caller=caller, row=row, now=now) if ends_others else 0
    return Placed(row=row, is_new=True, ended=ended)


def _project(caller: Caller, new: NewSession) -> Project | None:
    if new.project:
        return places.find_project(caller=caller, ref=new.project)
    if caller.bound_projects is None:
        return None
    raise NotBoundToProject(
        detail="This token is bound to projects; it opens no session outside of them.",
        hint="Name one of its projects in “project”.",
    )


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
    texts = {f"/{name}": getattr(new, name) for name in LONGEST if getattr(new, name)}
    for pointer, text in texts.items():
        _check_text(pointer, text, LONGEST[pointer[1:]])
    for name, text in new.work_unit.items():
        if name not in UNIT_PARTS:
            detail = message("Name of a unit of work: {names}.", names=UNIT_PARTS)
            raise wrong_field(pointer="/work_unit", detail=detail, code="unknown")
        if not isinstance(text, str):
            raise wrong_field(
                pointer=f"/work_unit/{name}", detail="This must be text.", code="type"
            )
        _check_text(f"/work_unit/{name}", text, LONGEST_PART)
        texts[f"/work_unit/{name}"] = text
    if len(new.plan) > MOST_STEPS:
        detail = message("A plan has at most {most} steps.", most=MOST_STEPS)
        raise wrong_field(pointer="/plan", detail=detail, code="too_many")
    for place, step in enumerate(new.plan):
        _check_text(f"/plan/{place}", step, LONGEST_PART)
        texts[f"/plan/{place}"] = step
    free_texts.check(texts=texts)


def _check_text(pointer: str, text: str, longest: int) -> None:
    if check_text(text=text):
        raise wrong_field(
            pointer=pointer, detail="The text has characters that cannot be stored.", code="text"
        )
    if len(text) > longest:
        detail = message("Use at most {most} characters.", most=longest)
        raise wrong_field(pointer=pointer, detail=detail, code="length")
