"""Memories that contradict each other, side by side, and what a person decides (spec 7.3, 9.2)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy

from accounts.caller import Caller
from accounts.errors import CairnError, NotFound, wrong_field
from accounts.identifiers import as_uuid
from accounts.queries import people
from frontend.views import base
from frontend.views.base import Frame
from frontend.words import Name
from memory.actions.settle import Settlement, Verdict, may_settle, reopen, settle
from memory.queries import conflicts as queries
from memory.queries import overview
from memory.queries.conflicts import ConflictView, State
from memory.queries.views import MemoryView

LIST: Final = "pages/conflicts.html"
ONE: Final = "pages/conflict.html"
PAGE_SIZE: Final = 20
LARGEST_VERSION: Final = 9  # digits
CAUSES: Final[Mapping[str, Name]] = {
    "equal": gettext_lazy("Both have the same standing."),
    "outranked": gettext_lazy(
        "The newer one comes from an agent, the older one from somebody above it."
    ),
    "protected": gettext_lazy("The older one is protected, so no agent replaces it."),
    "elsewhere": gettext_lazy("One of them is yours alone, others see the other one."),
    "older": gettext_lazy("The one that came later tells of an earlier time."),
    "unreviewed": gettext_lazy("The newer one still waits for review."),
    "share": gettext_lazy("The call that brought it had replaced its share already."),
}
VERDICTS: Final[Mapping[str, Name]] = {
    Verdict.KEEP_OLDER.value: gettext_lazy("Keep the older one"),
    Verdict.KEEP_NEWER.value: gettext_lazy("Keep the newer one"),
    Verdict.BOTH.value: gettext_lazy("Both are true, each in its own case"),
    Verdict.EDIT.value: gettext_lazy("Neither: write what is right"),
}
ENDED: Final[Mapping[str, Name]] = {
    Verdict.KEEP_OLDER.value: gettext_lazy("The older one was kept."),
    Verdict.KEEP_NEWER.value: gettext_lazy("The newer one was kept."),
    Verdict.BOTH.value: gettext_lazy("Both are true, each in its own case."),
    Verdict.EDIT.value: gettext_lazy("Another text took the place of both."),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A conflict as its page shows it: who wrote what, why a person decides, and what they may."""

    view: ConflictView
    older_by: str
    newer_by: str
    settled_by: str
    cause: Name
    verdicts: tuple[tuple[str, Name], ...]
    ended: Name


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
        "cards": _cards(frame.caller, page.items),
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
    view = _here(frame, conflict_id)
    if request.method != "POST":
        return base.page(request, ONE, _of_one(frame, view))
    try:
        _decide(frame, conflict_id, request.POST)
    except CairnError as error:
        context = _of_one(frame, _here(frame, conflict_id))
        given = {**context, "error": error, "form": request.POST}
        return base.page(request, ONE, given, status=error.status)
    return base.moved(request, to=base.address("conflict", frame, conflict_id))


def _decide(frame: Frame, conflict_id: UUID, form: Mapping[str, str]) -> None:
    """Settle or reopen. Raises what these raise, and InvalidInput without a verdict."""
    version = form.get("version", "")
    if_version = int(version) if version.isdecimal() and len(version) <= LARGEST_VERSION else 0
    verdict = form.get("verdict", "")
    if verdict == "reopen":
        reopen(caller=frame.caller, conflict_id=conflict_id, if_version=if_version, now=frame.now)
        return
    if verdict not in VERDICTS:
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


def _here(frame: Frame, conflict_id: UUID) -> ConflictView:
    view = queries.conflict(caller=frame.caller, conflict_id=conflict_id, now=frame.now)
    if frame.project is None or view.newer.project_id != frame.project.id:
        raise NotFound(
            detail="There is no such conflict here.", hint="It may be in another project."
        )
    return view


def _of_one(frame: Frame, view: ConflictView) -> dict[str, Any]:
    return {**_around(frame), "card": _cards(frame.caller, (view,))[0]}


def _around(frame: Frame) -> dict[str, Any]:
    slug = _slug(frame)
    return {
        "section": "conflicts",
        "open": queries.count_open(caller=frame.caller, project=slug),
        "tally": overview.tally(caller=frame.caller, project=slug, now=frame.now),
        "now": frame.now,
    }


def _cards(caller: Caller, views: tuple[ConflictView, ...]) -> tuple[Card, ...]:
    ids = {
        id
        for view in views
        for id in (view.older.author_user, view.newer.author_user, view.settled_by)
        if id is not None
    }
    names = people(caller=caller, ids=ids) if ids else {}
    return tuple(_card(caller, view, names) for view in views)


def _card(caller: Caller, view: ConflictView, names: Mapping[UUID, str]) -> Card:
    sides = (view.older, view.newer)
    wrote = (_wrote(caller, view.older), _wrote(caller, view.newer))
    allowed = may_settle(caller=caller, wrote=wrote)
    return Card(
        view=view,
        older_by=_by(sides[0], names),
        newer_by=_by(sides[1], names),
        settled_by=names.get(view.settled_by, "") if view.settled_by else "",
        cause=CAUSES.get(view.cause, view.cause),
        verdicts=tuple((one.value, VERDICTS[one.value]) for one in allowed),
        ended=ENDED.get(view.verdict, ""),
    )


def _wrote(caller: Caller, memory: MemoryView) -> bool:
    return caller.user_id is not None and memory.author_user == caller.user_id


def _by(memory: MemoryView, names: Mapping[UUID, str]) -> str:
    person = names.get(memory.author_user, "") if memory.author_user else ""
    return " · ".join(part for part in (memory.author_agent, person) if part)


def _slug(frame: Frame) -> str:
    return frame.project.slug if frame.project else ""
