"""Memories that contradict each other: the list of a project, and one to settle or reopen."""

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from django.http import HttpRequest, HttpResponse

from accounts.errors import CairnError, NotFound, wrong_field
from accounts.identifiers import as_uuid
from frontend.presenters import review_inbox
from frontend.views import base
from frontend.views.base import Frame
from memory.review.actions.settlements import Settlement, reopen, settle
from memory.review.queries import conflicts as queries
from memory.review.queries.conflicts import ConflictState, ConflictVerdict, ConflictView

PAGE_SIZE: Final = 20


@base.reader
def conflicts(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the conflicts of the project, the newest first."""
    is_settled = request.GET.get("state") == ConflictState.SETTLED
    state = ConflictState.SETTLED if is_settled else ConflictState.OPEN
    page = queries.list_conflicts(
        caller=frame.caller,
        project=frame.slug,
        state=state,
        after=as_uuid(text=request.GET.get("after", "")),
        limit=PAGE_SIZE,
        now=frame.now,
    )
    context = {
        **_open_conflicts(frame),
        "cards": review_inbox.cards(caller=frame.caller, views=page.items),
        "state": state.value,
        "next": page.next_after,
    }
    return base.page(request, "pages/conflicts.html", context)


@base.reader
def count(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show how many conflicts are open, for the live refresh."""
    return base.page(request, "partials/conflicts_count.html", _open_conflicts(frame))


@base.member
def conflict(request: HttpRequest, frame: Frame, conflict_id: UUID) -> HttpResponse:
    """Show one conflict, settle it, or take its settlement back."""
    view = here(frame, conflict_id)
    context: dict[str, Any] = {}
    if request.method == "POST":
        try:
            decide(frame, conflict_id, request.POST)
            return base.moved(request, to=base.address("conflict", frame, conflict_id))
        except CairnError as error:
            context = {"error": error, "form": request.POST}
            view = here(frame, conflict_id)
    context |= {
        **_open_conflicts(frame),
        "card": review_inbox.cards(caller=frame.caller, views=(view,))[0],
    }
    return base.page(request, "pages/conflict.html", context)


def decide(frame: Frame, conflict_id: UUID, form: Mapping[str, str]) -> None:
    """Settle or reopen. Raises what these raise, and InvalidInput without a verdict."""
    if_version = base.number_of(form.get("version", "")) or 0
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
    """Return a conflict of the page's project. Raises NotFound for another project's."""
    view = queries.get_conflict(caller=frame.caller, conflict_id=conflict_id, now=frame.now)
    if frame.project is None or view.newer.project_id != frame.project.id:
        raise NotFound(
            detail="There is no such conflict here.", hint="It may be in another project."
        )
    return view


def _open_conflicts(frame: Frame) -> dict[str, Any]:
    versions = queries.list_open_versions(caller=frame.caller, project=frame.slug)
    return {
        "section": "conflicts",
        "open": queries.count_open(caller=frame.caller, project=frame.slug),
        "standing": " ".join(versions),
    }
