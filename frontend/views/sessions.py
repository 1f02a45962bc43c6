"""Sessions of agents: the list, and one with its turns, steps and memories."""

from datetime import datetime
from typing import Final
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST

from accounts.errors import InvalidInput, NotFound
from accounts.queries import jobs
from accounts.queries.directory import people
from frontend.labels import memory_labels
from frontend.presenters import session_summary, step_timeline
from frontend.templatetags.cairn import short_id
from frontend.views import base
from frontend.views.base import Frame
from memory.experiments.queries import session_figures
from memory.observer.actions.delete_session import Fate, delete_session, may_delete
from memory.review.rollback.selection import may_roll_back_session
from memory.sessions.actions import end_session as close
from memory.sessions.actions.end_session import end_session
from memory.sessions.queries import sessions
from memory.sessions.queries import sessions as learned
from memory.sessions.queries import sessions as said
from memory.sessions.queries.sessions import STATES, SessionPlace, SessionView

SHOWN: Final = 30  # sessions a page
TURNS: Final = 50  # turns a page
LONGEST_NUMBER: Final = 10  # digits that no sequence has
LIVE: Final = "session-head"  # what a live page asks for anew, with all but its ribbon
COUNTS: Final = ("added", "known", "confirmed", "candidates")  # of a result, in this order


@base.reader
def listing(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the project's sessions that one may see, the newest first."""
    state = request.GET.get("state", "")
    page = sessions.sessions(
        caller=frame.caller,
        project=_slug(frame),
        state=state if state in STATES else None,
        after=_place(request.GET.get("after", "")),
        limit=SHOWN,
    )
    last = page.next_place
    context = {
        "section": "sessions",
        "sessions": page.items,
        "figures": session_figures.figures(
            caller=frame.caller, session_ids=tuple(one.id for one in page.items)
        ),
        "people": _people(frame, *page.items),
        "states": tuple((name, memory_labels.SESSION_STATES[name]) for name in STATES),
        "state": state if state in STATES else "",
        "is_live": "after" not in request.GET,  # the first session of all comes by itself too
        "next": "" if last is None else f"{last.opened_at.isoformat()}~{last.session_id}",
        "now": frame.now,
    }
    return base.page(request, "pages/sessions.html", context)


@base.reader
def one(request: HttpRequest, frame: Frame, session_id: UUID) -> HttpResponse:
    """Show a session: what was said, what came of it, and the job that reads it."""
    session = here(frame, session_id)
    after = request.GET.get("after", "")
    is_number = after.isdecimal() and len(after) < LONGEST_NUMBER
    page = said.turns(
        caller=frame.caller,
        session_id=session_id,
        after=int(after) if is_number else 0,
        limit=TURNS,
    )
    context = {
        "section": "sessions",
        "session": session,
        "people": _people(frame, session),
        "is_own": is_own(frame, session),
        "may_delete": may_delete(caller=frame.caller, opened_by=session.opened_by),
        "may_take_back": may_roll_back_session(caller=frame.caller, opened_by=session.opened_by),
        "result": tuple((name, _count(session, name)) for name in COUNTS),
        "steps": _steps(request, frame, session_id),
        "turns": page.items,
        "next": page.next_after,
        "begins_at": page.items[0].sequence if page.items else 0,
        "summary": session_summary.of(caller=frame.caller, session_id=session_id, now=frame.now),
        "job": jobs.latest(caller=frame.caller, name=close.JOB, key=session.id.hex),
        "now": frame.now,
    }
    return base.page(request, "pages/session.html", context)


@require_POST
@base.member
def end(request: HttpRequest, frame: Frame, session_id: UUID) -> HttpResponse:
    """End a session of one's own."""
    here(frame, session_id)
    end_session(caller=frame.caller, session_id=session_id, now=frame.now)
    return base.moved(request, to=base.address("session", frame, session_id))


@base.member
def delete(request: HttpRequest, frame: Frame, session_id: UUID) -> HttpResponse:
    """Ask what becomes of its memories and for its short name, and delete it for good."""
    session = here(frame, session_id)
    context = {
        "session": session,
        "memories": learned.count_learned(caller=frame.caller, session_id=session_id),
        "form": request.POST,
    }
    if request.method != "POST":
        return base.dialog(request, "partials/session_delete.html", context)
    try:
        _delete(request, frame, session)
    except InvalidInput as error:
        failed = {**context, "error": error}
        return base.dialog(request, "partials/session_delete.html", failed, status=error.status)
    return base.moved(request, to=base.address("sessions", frame))


def _steps(request: HttpRequest, frame: Frame, session_id: UUID) -> step_timeline.Page | None:
    """Return the ribbon; None where a live page asks for what stands around it alone."""
    if request.headers.get("HX-Target") == LIVE:
        return None
    event = request.GET.get("event", "")
    return step_timeline.of(caller=frame.caller, session_id=session_id, event=event, now=frame.now)


def _count(session: SessionView, name: str) -> int:
    """Count what came of its turns and of what its agent did."""
    return sum(int(session.result.get(key, 0)) for key in (name, f"observed_{name}"))


def _delete(request: HttpRequest, frame: Frame, session: SessionView) -> None:
    if request.POST.get("typed", "").strip().lower() != short_id(session.id):
        raise InvalidInput(
            detail="That is not what was to be typed.", hint="Type the signs that stand above it."
        )
    fate = request.POST.get("memories", "")
    delete_session(
        caller=frame.caller,
        session_id=session.id,
        memories=Fate.DELETE if fate == Fate.DELETE else Fate.KEEP,
        now=frame.now,
    )


def here(frame: Frame, session_id: UUID) -> SessionView:
    """Return a session of the page's project. Raises NotFound for another place's."""
    session = sessions.session(caller=frame.caller, session_id=session_id)
    if session.project is None or session.project != _slug(frame):
        raise NotFound(
            detail="There is no such session here.", hint="It may be in another project."
        )
    return session


def is_own(frame: Frame, session: SessionView) -> bool:
    """Say whether who looks has opened it."""
    return session.opened_by is not None and session.opened_by == frame.caller.user_id


def _people(frame: Frame, *shown: SessionView) -> dict[UUID, str]:
    ids = {one.opened_by for one in shown if one.opened_by is not None}
    return dict(people(caller=frame.caller, ids=ids))


def _place(text: str) -> SessionPlace | None:
    """Read where a page begins; what is none starts at the beginning."""
    moment, _, session_id = text.partition("~")
    try:
        opened_at = datetime.fromisoformat(moment)
        place = SessionPlace(opened_at=opened_at, session_id=UUID(session_id))
    except ValueError:
        return None
    return place if opened_at.tzinfo is not None else None


def _slug(frame: Frame) -> str:
    return frame.project.slug if frame.project else ""


@base.reader
def steps(request: HttpRequest, frame: Frame, session_id: UUID) -> HttpResponse:
    """Show the ribbon alone, or what the bar holds in which the event lies that is asked for."""
    session = here(frame, session_id)
    event = request.GET.get("event", "")
    shown = step_timeline.of(caller=frame.caller, session_id=session_id, event=event, now=frame.now)
    template = "partials/steps_pane.html" if event else "partials/steps_ribbon.html"
    context = {"session": session, "steps": shown, "now": frame.now}
    return base.page(request, template, context)
