"""Conflicts in the review inbox: both sides, a verdict with its undo (spec 9.1, 9.2)."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext
from django.views.decorators.http import require_POST

from accounts.errors import CairnError
from frontend import conflicts as cards
from frontend.views import base, conflicts, inbox
from frontend.views.base import Frame
from memory.actions.settle import reopen
from memory.queries.reviews import DuePlace


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


@require_POST
@base.member
def take_back(request: HttpRequest, frame: Frame, conflict_id: UUID) -> HttpResponse:
    """Take a settlement back, and show the conflict that waits again."""
    conflicts.here(frame, conflict_id)
    reopen(caller=frame.caller, conflict_id=conflict_id, if_version=None, now=frame.now)
    return inbox.again(request, frame, conflict_id)


def _pane(
    request: HttpRequest, frame: Frame, conflict_id: UUID, *, error: CairnError | None = None
) -> HttpResponse:
    view = conflicts.here(frame, conflict_id)
    context = {
        "card": cards.of(caller=frame.caller, views=(view,))[0],
        "group": inbox.group_text(request),
        "now": frame.now,
        "form": request.POST,
        "error": error,
    }
    status = 200 if error is None else error.status
    return base.page(request, "partials/inbox_item.html", context, status=status)
