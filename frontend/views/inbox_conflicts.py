"""Conflicts in the review inbox: both sides, a verdict with its undo."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext
from django.views.decorators.http import require_POST

from accounts.errors import CairnError
from frontend import conflicts as cards
from frontend.inbox import may_decide
from frontend.views import base, conflicts, inbox
from frontend.views.base import Frame
from memory.review.actions.conflict_settle import reopen
from memory.review.actions.snooze_conflict import snooze_conflict
from memory.review.queries.conflicts import ConflictView
from memory.review.queries.reviews import DuePlace


@base.member
def item(request: HttpRequest, frame: Frame, conflict_id: UUID) -> HttpResponse:
    """Show a conflict in the pane, or settle it and show what waits next.

    Who was slower is told what somebody else did, beside the two memories as they are now.
    """
    view = conflicts.here(frame, conflict_id)
    if request.method != "POST":
        if not request.htmx:  # type: ignore[attr-defined]
            return inbox.opened_in_list(request, frame, conflict_id)
        return _pane(request, frame, conflict_id)
    try:
        conflicts.decide(frame, conflict_id, request.POST)
    except CairnError as error:
        if not request.htmx:  # type: ignore[attr-defined]
            raise
        return _pane(request, frame, conflict_id, error=error)
    place = DuePlace(since=view.found_at, item_id=view.id)
    undo_at = f"{base.address('inbox_conflict_undo', frame, view.id)}{inbox.query(request)}"
    return inbox.moved_on(
        request, frame, behind=place, say=gettext("Conflict settled."), undo_at=undo_at
    )


@base.member
def rest(request: HttpRequest, frame: Frame, conflict_id: UUID) -> HttpResponse:
    """Ask how long a conflict is to rest, or let it, and show what waits next."""
    view = conflicts.here(frame, conflict_id)
    if request.method != "POST":
        return _asked(request, view)
    until = inbox.until(request.POST.get("for", ""), frame.now)
    try:
        done = snooze_conflict(
            caller=frame.caller, conflict_id=conflict_id, until=until, now=frame.now
        )
    except CairnError as error:
        if error.status == 422:
            return _asked(request, view, error=error)
        raise
    place = DuePlace(since=view.found_at, item_id=view.id)
    undo_at = f"{base.address('inbox_undo', frame, done.review_id)}{inbox.query(request)}"
    return inbox.moved_on(request, frame, behind=place, say=gettext("Snoozed."), undo_at=undo_at)


@require_POST
@base.member
def take_back(request: HttpRequest, frame: Frame, conflict_id: UUID) -> HttpResponse:
    """Take a settlement back, and show the conflict that waits again."""
    conflicts.here(frame, conflict_id)
    reopen(caller=frame.caller, conflict_id=conflict_id, if_version=None, now=frame.now)
    return inbox.again(request, frame, conflict_id)


def _asked(
    request: HttpRequest, view: ConflictView, *, error: CairnError | None = None
) -> HttpResponse:
    context = {
        "conflict": view,
        **inbox.narrowed(request),
        "rests": inbox.rests(),
        "form": request.POST,
        "error": error,
    }
    status = 200 if error is None else error.status
    return base.dialog(request, "partials/inbox_snooze.html", context, status=status)


def _pane(
    request: HttpRequest, frame: Frame, conflict_id: UUID, *, error: CairnError | None = None
) -> HttpResponse:
    view = conflicts.here(frame, conflict_id)
    context = {
        "card": cards.of(caller=frame.caller, views=(view,))[0],
        **inbox.narrowed(request),
        "may_decide": may_decide(caller=frame.caller),
        "now": frame.now,
        "form": request.POST,
        "error": error,
    }
    status = 200 if error is None else error.status
    return base.page(request, "partials/inbox_item.html", context, status=status)
