"""Memories that contradict each other, side by side, and what a person decides."""

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from django.http import HttpRequest, HttpResponse

from accounts.errors import CairnError, NotFound, wrong_field
from accounts.identifiers import as_uuid
from frontend import conflicts as cards
from frontend.views import base
from frontend.views.base import Frame
from memory.review.actions.conflict_settle import Settlement, reopen, settle
from memory.review.conflict_rules import Verdict
from memory.review.queries import conflicts as queries
from memory.review.queries.conflicts import ConflictView, State

LIST: Final = "pages/conflicts.html"
ONE: Final = "pages/conflict.html"
PAGE_SIZE: Final = 20
LARGEST_VERSION: Final = 9  # digits


@base.reader
def conflicts(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the conflicts of the project, the newest first."""
    state = State.SETTLED if request.GET.get("state") == State.SETTLED else State.OPEN
    page = queries.page(
        caller=frame.caller,
        project=_slug(frame),
        state=state,
        after=as_uuid(text=request.GET.get("after", "")),
        limit=PAGE_SIZE,
        now=frame.now,
    )
    context = {
        **_around(frame),
        "cards": cards.of(caller=frame.caller, views=page.items),
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
    if verdict not in set(Verdict):
        raise wrong_field(
            pointer="/verdict",
            detail="Choose what is kept.",
            hint="One of them, both, or a text of your own.",
            code="choice",
        )
    settlement = Settlement(
        verdict=Verdict(verdict),
        reason=form.get("reason", "").strip(),
        content=form.get("content", "").replace("\r\n", "\n").strip(),
        if_version=if_version,
    )
    settle(caller=frame.caller, conflict_id=conflict_id, settlement=settlement, now=frame.now)


def here(frame: Frame, conflict_id: UUID) -> ConflictView:
    """Return a conflict of the page's project. Raises NotFound for another place's."""
    view = queries.conflict(caller=frame.caller, conflict_id=conflict_id, now=frame.now)
    if frame.project is None or view.newer.project_id != frame.project.id:
        raise NotFound(
            detail="There is no such conflict here.", hint="It may be in another project."
        )
    return view


def _of_one(frame: Frame, view: ConflictView) -> dict[str, Any]:
    return {**_around(frame), "card": cards.of(caller=frame.caller, views=(view,))[0]}


def _around(frame: Frame) -> dict[str, Any]:
    slug = _slug(frame)
    return {
        "section": "conflicts",
        "open": queries.count_open(caller=frame.caller, project=slug),
        "standing": " ".join(queries.standing(caller=frame.caller, project=slug)),
        "now": frame.now,
    }


def _slug(frame: Frame) -> str:
    return frame.project.slug if frame.project else ""
