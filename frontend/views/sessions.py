"""Sessions of agents: the list, one with its turns, steps and memories, and deciding about them."""

from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from accounts import jobs, queries
from accounts.errors import InvalidInput, NotFound
from accounts.identifiers import as_uuid
from accounts.messages import message
from frontend import labels
from frontend.presenters import html, review_inbox, step_timeline
from frontend.views import base, inbox
from frontend.views.base import Frame
from memory.erasure.actions import delete_session as deletion
from memory.experiments import queries as experiments
from memory.review.actions import bulk
from memory.review.queries import inbox as reviews
from memory.review.queries.rollback_plan import may_roll_back_session
from memory.sessions import queries as sessions
from memory.sessions.actions import lifecycle

SESSIONS: Final = 30  # a page
TURNS: Final = 50  # a page
LIVE: Final = "session-head"  # what a live page asks for anew, with all but its ribbon
COUNTS: Final = ("added", "proposed", "known", "confirmed", "candidates")  # in their order
SAY: Final = {
    "keep": _("Kept."),
    "share": _("Kept and shared with the project."),
    "edit": _("Corrected."),
    "reject": _("Rejected."),
    "later": _("It waits again in a week."),
}


@base.reader
def listing(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the project's sessions that one may see, the newest first."""
    asked = request.GET.get("state", "")
    state = asked if asked in sessions.STATES else ""
    page = sessions.sessions(
        caller=frame.caller,
        project=frame.slug,
        state=state or None,
        after=_place(request.GET.get("after", "")),
        limit=SESSIONS,
    )
    last = page.next_place
    context = {
        "sessions": page.items,
        "figures": experiments.figures(
            caller=frame.caller, session_ids=tuple(one.id for one in page.items)
        ),
        "people": queries.people(caller=frame.caller, ids=(one.opened_by for one in page.items)),
        "states": tuple((name, labels.SESSION_STATES[name]) for name in sessions.STATES),
        "state": state,
        "is_live": "after" not in request.GET,  # the first session of all comes by itself too
        "next": "" if last is None else f"{last.opened_at.isoformat()}~{last.session_id}",
    }
    return base.page(request, "pages/sessions.html", context)


@base.reader
def session(request: HttpRequest, frame: Frame, session_id: UUID) -> HttpResponse:
    """Show a session: what was said, what came of it, and the job that reads it."""
    shown = _here(frame, session_id)
    page = sessions.turns(
        caller=frame.caller,
        session_id=session_id,
        after=base.number_of(request.GET.get("after", "")) or 0,
        limit=TURNS,
    )
    steps = None
    if request.headers.get("HX-Target") != LIVE:
        event = request.GET.get("event", "")
        steps = step_timeline.read(
            caller=frame.caller, session_id=session_id, event=event, now=frame.now
        )
    result = shown.result
    context = {
        "session": shown,
        "people": queries.people(caller=frame.caller, ids=(shown.opened_by,)),
        "is_own": shown.opened_by is not None and shown.opened_by == frame.caller.user_id,
        "may_delete": deletion.may_delete(caller=frame.caller, opened_by=shown.opened_by),
        "may_take_back": may_roll_back_session(caller=frame.caller, opened_by=shown.opened_by),
        "result": tuple(
            (name, int(result.get(name, 0)) + int(result.get(f"observed_{name}", 0)))
            for name in COUNTS
        ),
        "steps": steps,
        "turns": page.items,
        "next": page.next_place,
        "begins_at": page.items[0].sequence if page.items else 0,
        "summary": _summary(frame, session_id),
        "job": jobs.latest(caller=frame.caller, name=lifecycle.JOB, key=shown.id.hex),
    }
    return base.page(request, "pages/session.html", context)


@base.reader
def steps(request: HttpRequest, frame: Frame, session_id: UUID) -> HttpResponse:
    """Show the ribbon alone, or what the bar holds in which the event lies that is asked for."""
    shown = _here(frame, session_id)
    event = request.GET.get("event", "")
    timeline = step_timeline.read(
        caller=frame.caller, session_id=session_id, event=event, now=frame.now
    )
    template = "partials/steps_pane.html" if event else "partials/steps_ribbon.html"
    return base.page(request, template, {"session": shown, "steps": timeline})


@require_POST
@base.member
def end(request: HttpRequest, frame: Frame, session_id: UUID) -> HttpResponse:
    """End a session of one's own."""
    _here(frame, session_id)
    lifecycle.end_session(caller=frame.caller, session_id=session_id, now=frame.now)
    return base.moved(request, to=base.address("session", frame, session_id))


@base.member
def delete(request: HttpRequest, frame: Frame, session_id: UUID) -> HttpResponse:
    """Ask what becomes of its memories and for its short name, and delete it for good."""
    shown, sent = _here(frame, session_id), request.POST
    context = {
        "session": shown,
        "memories": sessions.count_learned(caller=frame.caller, session_id=session_id),
        "form": sent,
    }
    if request.method == "POST" and sent.get("typed", "").strip().lower() == html.short_id(
        shown.id
    ):
        is_all = sent.get("memories", "") == deletion.Fate.DELETE
        deletion.delete_session(
            caller=frame.caller,
            session_id=shown.id,
            memories=deletion.Fate.DELETE if is_all else deletion.Fate.KEEP,
            now=frame.now,
        )
        return base.moved(request, to=base.address("sessions", frame))
    if request.method == "POST":
        context["error"] = InvalidInput(
            detail="The text does not match.", hint="Type the characters shown above the field."
        )
    return base.dialog(request, "partials/session_delete.html", context)


@base.member
def decide(request: HttpRequest, frame: Frame, session_id: UUID) -> HttpResponse:
    """Ask what is right instead, or decide about one memory, several, or all that wait."""
    _here(frame, session_id)
    sent, error = request.POST, None
    if request.method == "POST":
        try:
            return _decided(request, frame, session_id)
        except InvalidInput as refused:
            if sent.get("verdict") != "edit":
                raise
            error = refused
    memory_id = as_uuid(text=(sent if error else request.GET).get("memory", ""))
    if memory_id is None:
        raise InvalidInput(detail="Choose a memory.", hint="Open the session's page again.")
    context = {
        "session_id": session_id,
        "memory": base.memory_here(frame, memory_id),
        "form": sent,
        "error": error,
    }
    return base.dialog(request, "partials/session_edit.html", context)


@require_POST
@base.member
def undo(request: HttpRequest, frame: Frame, session_id: UUID, review_id: UUID) -> HttpResponse:
    """Undo a verdict, or all that was decided with it."""
    _here(frame, session_id)
    inbox.undo_review(request, frame, review_id)
    return _show_summary(request, frame, session_id)


def _decided(request: HttpRequest, frame: Frame, session_id: UUID) -> HttpResponse:
    """Decide, and show the summary with a toast that undoes all of it where all of it can be."""
    is_all, count = request.POST.get("verdict") == "all", request.POST.get("count", "")
    done = bulk.decide_session(
        caller=frame.caller,
        session_id=session_id,
        verdicts=() if is_all else _verdicts_of(request.POST),
        save_all=is_all,
        count=_count_of(count) if is_all else None,
        now=frame.now,
    )
    decided = sum(done.decided.values())
    many = ngettext("%(count)d memory decided.", "%(count)d memories decided.", decided)
    undo_at = ""
    if len(done.reviews) == decided and len(done.decided) == 1:
        undo_at = base.address("session_undo", frame, session_id, done.reviews[0])
        undo_at += "?together" if decided > 1 else ""
    say = str(SAY[next(iter(done.decided))]) if decided == 1 else many % {"count": decided}
    return _show_summary(request, frame, session_id, say=say, undo_at=undo_at)


def _count_of(text: str) -> int:
    count = base.number_of(text)
    if count is None:
        raise InvalidInput(
            detail="The number of memories is missing.", hint="Look at the page again."
        )
    return count


def _verdicts_of(sent: QueryDict) -> tuple[bulk.SessionVerdict, ...]:
    """Return a verdict for each chosen memory. Raises InvalidInput for one that there is not."""
    verdict = sent.get("verdict", "")
    if verdict not in SAY:
        raise InvalidInput(
            detail="There is nothing to decide.",
            hint=message("Choose memories, and one of: {names}.", names=tuple(SAY)),
        )
    return tuple(
        bulk.SessionVerdict(
            memory_id=memory_id,
            verdict=verdict,
            content=sent.get("content", "").strip(),
            reason=sent.get("reason", "").strip(),
        )
        for memory_id in base.ids_of(sent.getlist("memory"))
    )


def _show_summary(
    request: HttpRequest, frame: Frame, session_id: UUID, *, say: str = "", undo_at: str = ""
) -> HttpResponse:
    """Show what the session came to as it is now, with a toast that undoes."""
    if not base.is_htmx(request):
        return HttpResponseRedirect(f"{base.address('session', frame, session_id)}#summary")
    context = {
        "session": _here(frame, session_id),
        "summary": _summary(frame, session_id),
        "moved_on": True,
    }
    response = base.page(request, "partials/summary.html", context)
    if say:
        response["HX-Trigger"] = base.toast(text=say, undo=undo_at, changed="memories")
    return base.swapped(response, into="#summary")


def _summary(frame: Frame, session_id: UUID) -> dict[str, Any]:
    """Return what a session came to: what waits first, then what was decided. Raises NotFound."""
    found = reviews.get_summary(caller=frame.caller, session_id=session_id, now=frame.now)
    items = tuple(
        (one, sessions.turn_of(source_uri=one["memory"].source_uri)) for one in found.candidates
    )
    waiting = tuple(item for item in items if item[0]["waits"])
    return {
        "waiting": waiting,
        "decided": tuple(item for item in items if not item[0]["waits"]),
        "proposals": found.proposals,
        "are_all_keepable": all(one["may_keep"] for one, _turn in waiting),
        "shown": found.shown,
        "may_decide": review_inbox.may_decide(caller=frame.caller),
        "asking": found.asking.value,
        "asked": labels.ASKED[found.asking.value],
        "again": found.again,
    }


def _here(frame: Frame, session_id: UUID) -> sessions.SessionView:
    """Return a session of the page's project. Raises NotFound for another project's."""
    found = sessions.session(caller=frame.caller, session_id=session_id)
    if found.project is None or found.project != frame.slug:
        raise NotFound(
            detail="There is no such session here.", hint="It may be in another project."
        )
    return found


def _place(text: str) -> sessions.SessionPlace | None:
    """Read where a page of the list begins; what is none starts at the beginning."""
    at, _sign, session_id = text.partition("~")
    try:
        opened_at, found = datetime.fromisoformat(at), UUID(session_id)
    except ValueError:
        return None
    is_exact = opened_at.tzinfo is not None
    return sessions.SessionPlace(opened_at=opened_at, session_id=found) if is_exact else None
