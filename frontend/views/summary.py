"""Decide on its page about what a session came to, and take that back."""

from collections.abc import Callable
from typing import Final
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_POST

from accounts.errors import InvalidInput
from accounts.identifiers import as_uuid
from accounts.messages import message
from frontend.labels.memory_labels import Name
from frontend.presenters import session_summary, toasts
from frontend.presenters.session_summary import Card
from frontend.views import base, sessions
from frontend.views.base import Frame
from frontend.views.verbs import ids_of
from memory.review.actions.bulk import OtherMemories, SessionDecided, SessionVerdict, decide_session
from memory.review.actions.verdict_undo import undo, undo_call

SAY: Final[dict[str, Name]] = {
    "keep": gettext_lazy("Kept."),
    "edit": gettext_lazy("Corrected."),
    "reject": gettext_lazy("Rejected."),
    "later": gettext_lazy("It waits again in a week."),
}
LONGEST_COUNT: Final = 9  # digits


@base.member
def decide(request: HttpRequest, frame: Frame, session_id: UUID) -> HttpResponse:
    """Ask what is right instead, or decide about one memory, several, or all that wait."""
    sessions.here(frame, session_id)
    if request.method != "POST":
        return _edit(request, frame, session_id, as_uuid(text=request.GET.get("memory", "")))
    try:
        done = _decided(request, frame, session_id)
    except InvalidInput as error:
        if request.POST.get("verdict") != "edit":
            raise
        memory_id = as_uuid(text=request.POST.get("memory", ""))
        return _edit(request, frame, session_id, memory_id, error=error)
    count = sum(done.decided.values())
    verdict = next(iter(done.decided), "keep")
    many = ngettext("%(count)d memory decided.", "%(count)d memories decided.", count)
    return _shown(
        request,
        frame,
        session_id,
        card=session_summary.card(caller=frame.caller, summary=done.summary),
        say=str(SAY[verdict]) if count == 1 else many % {"count": count},
        undo_at=_undo_at(frame, session_id, done, count),
    )


@require_POST
@base.member
def take_back(
    request: HttpRequest, frame: Frame, session_id: UUID, review_id: UUID
) -> HttpResponse:
    """Undo a verdict, or all that was decided with it."""
    sessions.here(frame, session_id)
    run: Callable[..., object] = undo_call if "together" in request.GET else undo
    run(caller=frame.caller, review_id=review_id, now=frame.now)
    return _shown(
        request,
        frame,
        session_id,
        card=session_summary.of(caller=frame.caller, session_id=session_id, now=frame.now),
        say="",
        undo_at="",
    )


def _decided(request: HttpRequest, frame: Frame, session_id: UUID) -> SessionDecided:
    sent = request.POST
    verdict = sent.get("verdict", "")
    is_all = verdict == "all"
    if not is_all and verdict not in SAY:
        raise InvalidInput(
            detail="There is nothing to decide.",
            hint=message("Choose memories, and one of: {names}.", names=tuple(SAY)),
        )
    return decide_session(
        caller=frame.caller,
        session_id=session_id,
        verdicts=()
        if is_all
        else tuple(
            SessionVerdict(
                memory_id=memory_id,
                verdict=verdict,
                content=sent.get("content", "").strip(),
                reason=sent.get("reason", "").strip(),
            )
            for memory_id in ids_of(sent.getlist("memory"))
        ),
        others=OtherMemories(count=_count(sent.get("count", ""))) if is_all else None,
        now=frame.now,
    )


def _count(text: str) -> int:
    """Read how many were counted. Raises InvalidInput for what is no number."""
    if not (text.isdecimal() and text.isascii()) or len(text) > LONGEST_COUNT:
        raise InvalidInput(
            detail="Say how many memories are decided about.", hint="Look at the page again."
        )
    return int(text)


def _undo_at(frame: Frame, session_id: UUID, done: SessionDecided, count: int) -> str:
    """Return where all of it is undone; empty where a part of it cannot be."""
    if len(done.reviews) != count or len(done.decided) != 1:
        return ""
    to = base.address("session_undo", frame, session_id, done.reviews[0])
    return f"{to}?together" if count > 1 else to


def _edit(
    request: HttpRequest,
    frame: Frame,
    session_id: UUID,
    memory_id: UUID | None,
    *,
    error: InvalidInput | None = None,
) -> HttpResponse:
    """Ask what is right instead of a memory of this project."""
    if memory_id is None:
        raise InvalidInput(detail="Choose a memory.", hint="Open the session's page again.")
    context = {
        "session_id": session_id,
        "memory": base.memory_here(frame, memory_id),
        "form": request.POST,
        "error": error,
    }
    status = 200 if error is None else error.status
    return base.dialog(request, "partials/session_edit.html", context, status=status)


def _shown(
    request: HttpRequest, frame: Frame, session_id: UUID, *, card: Card, say: str, undo_at: str
) -> HttpResponse:
    """Show the card as it is now, with a toast that undoes."""
    if not request.htmx:  # type: ignore[attr-defined]
        return HttpResponseRedirect(f"{base.address('session', frame, session_id)}#summary")
    context = {
        "session": sessions.here(frame, session_id),
        "summary": card,
        "moved_on": True,
        "now": frame.now,
    }
    response = base.page(request, "partials/summary.html", context)
    response["HX-Retarget"], response["HX-Reswap"] = "#summary", "innerHTML"
    if say:
        response["HX-Trigger"] = toasts.toast(text=say, undo=undo_at, changed="memories")
    return response
