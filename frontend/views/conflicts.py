"""Memories that contradict each other, on their own page and in the inbox."""

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext
from django.views.decorators.http import require_POST

from accounts.errors import CairnError, NotFound, wrong_field
from accounts.identifiers import as_uuid
from frontend.presenters import conflict_card
from frontend.presenters.review_inbox import may_decide
from frontend.views import base, inbox
from frontend.views.base import Frame
from memory.review.actions.settlements import Settlement, reopen, settle, snooze_conflict
from memory.review.conflict_rules import ConflictVerdict
from memory.review.queries import conflicts as queries
from memory.review.queries.conflicts import ConflictState, ConflictView
from memory.review.queries.inbox import InboxPosition

LIST: Final = "pages/conflicts.html"
ONE: Final = "pages/conflict.html"
PAGE_SIZE: Final = 20
LARGEST_VERSION: Final = 9  # digits


@base.reader
def conflicts(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the conflicts of the project, the newest first."""
    state = (
        ConflictState.SETTLED
        if request.GET.get("state") == ConflictState.SETTLED
        else ConflictState.OPEN
    )
    page = queries.list_conflicts(
        caller=frame.caller,
        project=_slug(frame),
        state=state,
        after=as_uuid(text=request.GET.get("after", "")),
        limit=PAGE_SIZE,
        now=frame.now,
    )
    context = {
        **_around(frame),
        "cards": conflict_card.of(caller=frame.caller, views=page.items),
        "state": state.value,
        "next": page.next_after,
    }
    return base.page(request, LIST, context)


@base.reader
def count(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show how many conflicts are open, for the live refresh."""
    return base.page(request, "partials/conflicts_count.html", _around(frame))


@base.member
def conflict(request: HttpRequest, frame: Frame, conflict_id: UUID) -> HttpResponse:
    """Show one conflict, settle it, or take its settlement back."""
    view = here(frame, conflict_id)
    if request.method != "POST":
        return base.page(request, ONE, _of_one(frame, view))
    try:
        decide(frame, conflict_id, request.POST)
    except CairnError as error:
        context = _of_one(frame, here(frame, conflict_id))
        given = {**context, "error": error, "form": request.POST}
        return base.page(request, ONE, given, status=error.status)
    return base.moved(request, to=base.address("conflict", frame, conflict_id))


def decide(frame: Frame, conflict_id: UUID, form: Mapping[str, str]) -> None:
    """Settle or reopen. Raises what these raise, and InvalidInput without a verdict."""
    version = form.get("version", "")
    if_version = int(version) if version.isdecimal() and len(version) <= LARGEST_VERSION else 0
    verdict = form.get("verdict", "")
    if verdict == "reopen":
        reopen(caller=frame.caller, conflict_id=conflict_id, if_version=if_version, now=frame.now)
        return
    if verdict not in set(ConflictVerdict):
        raise wrong_field(
            pointer="/verdict",
            detail="Choose what is kept.",
            hint="One of them, both, or a text of your own.",
            code="choice",
        )
    settlement = Settlement(
        verdict=ConflictVerdict(verdict),
        reason=form.get("reason", "").strip(),
        content=form.get("content", "").replace("\r\n", "\n").strip(),
        if_version=if_version,
    )
    settle(caller=frame.caller, conflict_id=conflict_id, settlement=settlement, now=frame.now)


def here(frame: Frame, conflict_id: UUID) -> ConflictView:
    """Return a conflict of the page's project. Raises NotFound for another place's."""
    view = queries.get_conflict(caller=frame.caller, conflict_id=conflict_id, now=frame.now)
    if frame.project is None or view.newer.project_id != frame.project.id:
        raise NotFound(
            detail="There is no such conflict here.", hint="It may be in another project."
        )
    return view


def _of_one(frame: Frame, view: ConflictView) -> dict[str, Any]:
    return {**_around(frame), "card": conflict_card.of(caller=frame.caller, views=(view,))[0]}


def _around(frame: Frame) -> dict[str, Any]:
    slug = _slug(frame)
    return {
        "section": "conflicts",
        "open": queries.count_open(caller=frame.caller, project=slug),
        "standing": " ".join(queries.list_open_versions(caller=frame.caller, project=slug)),
        "now": frame.now,
    }


def _slug(frame: Frame) -> str:
    return frame.project.slug if frame.project else ""


@base.member
def inbox_item(request: HttpRequest, frame: Frame, conflict_id: UUID) -> HttpResponse:
    """Show a conflict in the pane, or settle it and show what waits next.

    Who was slower is told what somebody else did, beside the two memories as they are now.
    """
    view = here(frame, conflict_id)
    if request.method != "POST":
        if not request.htmx:  # type: ignore[attr-defined]
            return inbox.opened_in_list(request, frame, conflict_id)
        return _pane(request, frame, conflict_id)
    try:
        decide(frame, conflict_id, request.POST)
    except CairnError as error:
        if not request.htmx:  # type: ignore[attr-defined]
            raise
        return _pane(request, frame, conflict_id, error=error)
    place = InboxPosition(since=view.found_at, item_id=view.id)
    undo_at = f"{base.address('inbox_conflict_undo', frame, view.id)}{inbox.query(request)}"
    return inbox.moved_on(
        request, frame, behind=place, say=gettext("Conflict settled."), undo_at=undo_at
    )


@base.member
def rest_conflict(request: HttpRequest, frame: Frame, conflict_id: UUID) -> HttpResponse:
    """Ask how long a conflict is to rest, or let it, and show what waits next."""
    view = here(frame, conflict_id)
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
    place = InboxPosition(since=view.found_at, item_id=view.id)
    undo_at = f"{base.address('inbox_undo', frame, done.review_id)}{inbox.query(request)}"
    return inbox.moved_on(request, frame, behind=place, say=gettext("Snoozed."), undo_at=undo_at)


@require_POST
@base.member
def undo_verdict(request: HttpRequest, frame: Frame, conflict_id: UUID) -> HttpResponse:
    """Take a settlement back, and show the conflict that waits again."""
    here(frame, conflict_id)
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
    view = here(frame, conflict_id)
    context = {
        "card": conflict_card.of(caller=frame.caller, views=(view,))[0],
        **inbox.narrowed(request),
        "may_decide": may_decide(caller=frame.caller),
        "now": frame.now,
        "form": request.POST,
        "error": error,
    }
    status = 200 if error is None else error.status
    return base.page(request, "partials/inbox_item.html", context, status=status)
