"""The review inbox: what waits, and the verdicts with their undo; and conflicts beside it."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from accounts.errors import CairnError, InvalidInput, NotFound, wrong_field
from accounts.identifiers import as_uuid
from frontend import labels
from frontend.presenters import review_inbox
from frontend.presenters.review_inbox import InboxFilter
from frontend.views import base, documents
from frontend.views.base import Frame
from memory.documents.queries import imported_memories
from memory.records.actions import MOST_IN_BULK, DecidedMemory, VerbDetails
from memory.records.queries.pending import Group
from memory.records.queries.views import MemoryView
from memory.review.actions import bulk as bulk_actions
from memory.review.actions import settlements, verdicts
from memory.review.queries import conflicts as conflict_queries
from memory.review.queries.conflicts import ConflictState, ConflictVerdict, ConflictView
from memory.review.queries.inbox import InboxPosition

CONFLICTS: Final = 20  # a page
SNOOZE_DAYS: Final = {"day": 1, "week": 7, "month": 30}
AT_ONCE: Final = frozenset({"keep", "share"})  # verdicts that need nothing more
SAY: Final = {
    "keep": _("Kept."),
    "share": _("Kept and shared with the project."),
    "reject": _("Rejected."),
    "merge": _("Merged."),
    "snooze": _("Snoozed."),
}


@base.reader
def page(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the inbox."""
    peek = as_uuid(text=request.GET.get("peek", ""))
    return _show(request, frame, "pages/inbox.html", peek=peek)


@base.reader
def rows(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the list alone, for the live refresh."""
    return _show(request, frame, "partials/inbox_rows.html")


@base.reader
def groups(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the groups with their counts alone, for the live refresh."""
    return _show(request, frame, "partials/inbox_groups.html")


@base.reader
def item(request: HttpRequest, frame: Frame, memory_id: UUID) -> HttpResponse:
    """Show one memory: for htmx the pane, else the page with it open."""
    base.memory_here(frame, memory_id)
    if not base.is_htmx(request):
        return _to_page(request, frame, peek=memory_id)
    context = {
        "opened": review_inbox.opened(caller=frame.caller, memory_id=memory_id, now=frame.now),
        **_filter(request, frame).context(),
        "may_decide": review_inbox.may_decide(caller=frame.caller),
    }
    return base.page(request, "partials/inbox_item.html", context)


@base.member
def verdict(request: HttpRequest, frame: Frame, memory_id: UUID, verb: str) -> HttpResponse:
    """Ask what a verdict needs, or decide, and show the next item."""
    if verb not in SAY or (request.method != "POST" and verb in AT_ONCE):
        raise Http404
    memory = base.memory_here(frame, memory_id)
    context: dict[str, object] = {}
    if request.method == "POST":
        try:
            decided = _decide(request, frame, memory_id, verb)
            review_id = decided.review_id
            return answer_verdict(request, frame, memory, say=str(SAY[verb]), review_id=review_id)
        except CairnError as error:
            if verb in AT_ONCE or error.status != 422:
                raise
            context = {"error": error}
    context |= {
        "memory": memory,
        "opened": review_inbox.opened(caller=frame.caller, memory_id=memory.id, now=frame.now),
        **_filter(request, frame).context(),
        "rests": labels.RESTS.items(),
        "form": request.POST,
    }
    return base.dialog(request, f"partials/inbox_{verb}.html", context)


def _decide(request: HttpRequest, frame: Frame, memory_id: UUID, verb: str) -> DecidedMemory:
    sent, caller, now = request.POST, frame.caller, frame.now
    if verb in AT_ONCE:
        decide = verdicts.share if verb == "share" else verdicts.keep
        return decide(caller=caller, memory_id=memory_id, now=now)
    if verb == "reject":
        reason = sent.get("reason", "").strip()
        return verdicts.reject(caller=caller, memory_id=memory_id, reason=reason, now=now)
    if verb == "snooze":
        until = _snoozed_until(sent.get("for", ""), now)
        return verdicts.snooze(caller=caller, memory_id=memory_id, until=until, now=now)
    chosen = base.ids_of(sent.getlist("into")[:1])
    if not chosen:
        raise InvalidInput(
            detail="Pick the memory to merge into.", hint="One that says the same, of this list."
        )
    return verdicts.merge(caller=caller, memory_id=memory_id, into=chosen[0], now=now)


@base.member
def bulk(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Decide about a selection, or about a whole group once its count is typed."""
    narrowed, sent = _filter(request, frame), request.POST
    if request.method != "POST":
        total = review_inbox.count_decidable(
            caller=frame.caller, project=frame.slug, narrowed=narrowed, now=frame.now
        )
        context = {"count": min(total, MOST_IN_BULK), "total": total, **narrowed.context()}
        return base.dialog(request, "partials/inbox_bulk.html", context)
    chosen: tuple[UUID, ...] | bulk_actions.WaitingGroup
    if "whole" in sent:
        count = base.number_of(sent.get("count", ""))
        if count is None:
            raise InvalidInput(
                detail="Type the number of memories.", hint="The dialog shows the number."
            )
        chosen = bulk_actions.WaitingGroup(
            project=frame.slug,
            group=narrowed.group,
            count=count,
            imported=imported_memories(caller=frame.caller, batch_id=narrowed.batch),
        )
    else:
        chosen = base.ids_of(sent.getlist("memory"))
        base.check_here(frame, chosen)
    until = _snoozed_until(sent.get("for", "week"), frame.now)
    done = bulk_actions.decide_bulk(
        caller=frame.caller,
        verb=sent.get("verb", ""),
        chosen=chosen,
        details=VerbDetails(reason=sent.get("reason", "").strip(), until=until),
        now=frame.now,
    )
    say = ngettext("%(count)d memory decided.", "%(count)d memories decided.", len(done))
    return answer_verdict(
        request,
        frame,
        done[-1].memory,
        say=say % {"count": len(done)},
        review_id=done[0].review_id,
        undo_all=True,
    )


@require_POST
@base.member
def undo(request: HttpRequest, frame: Frame, review_id: UUID) -> HttpResponse:
    """Undo a verdict or all that was decided with it, and show what waits again."""
    done = undo_review(request, frame, review_id)
    return _show_again(request, frame, done.conflict_id or done.memory.id)


@base.member
def conflict_item(request: HttpRequest, frame: Frame, conflict_id: UUID) -> HttpResponse:
    """Show a conflict in the pane, or settle it and show what waits next.

    Who was slower is told what somebody else did, beside the two memories as they are now.
    """
    view = _conflict_here(frame, conflict_id)
    context: dict[str, object] = {}
    if request.method == "POST":
        try:
            _settle(frame, conflict_id, request.POST)
            place = InboxPosition(since=view.found_at, item_id=view.id)
            undo_at = base.address("inbox_conflict_undo", frame, view.id)
            say = gettext("Conflict settled.")
            return _show_next(request, frame, behind=place, say=say, undo_at=undo_at)
        except CairnError as error:
            if not base.is_htmx(request):
                raise
            context = {"error": error}
            view = _conflict_here(frame, conflict_id)
    elif not base.is_htmx(request):
        return _to_page(request, frame, peek=conflict_id)
    context |= {
        "card": review_inbox.cards(caller=frame.caller, views=(view,))[0],
        **_filter(request, frame).context(),
        "may_decide": review_inbox.may_decide(caller=frame.caller),
        "form": request.POST,
    }
    return base.page(request, "partials/inbox_item.html", context)


@base.member
def snooze_conflict(request: HttpRequest, frame: Frame, conflict_id: UUID) -> HttpResponse:
    """Ask how long a conflict is to rest, or let it, and show what waits next."""
    view = _conflict_here(frame, conflict_id)
    context: dict[str, object] = {}
    if request.method == "POST":
        until = _snoozed_until(request.POST.get("for", ""), frame.now)
        try:
            done = settlements.snooze_conflict(
                caller=frame.caller, conflict_id=conflict_id, until=until, now=frame.now
            )
            place = InboxPosition(since=view.found_at, item_id=view.id)
            undo_at = base.address("inbox_undo", frame, done.review_id)
            say = gettext("Snoozed.")
            return _show_next(request, frame, behind=place, say=say, undo_at=undo_at)
        except CairnError as error:
            if error.status != 422:
                raise
            context = {"error": error}
    context |= {
        "conflict": view,
        **_filter(request, frame).context(),
        "rests": labels.RESTS.items(),
        "form": request.POST,
    }
    return base.dialog(request, "partials/inbox_snooze.html", context)


@require_POST
@base.member
def undo_settlement(request: HttpRequest, frame: Frame, conflict_id: UUID) -> HttpResponse:
    """Take a settlement back, and show the conflict that waits again."""
    _conflict_here(frame, conflict_id)
    settlements.reopen(caller=frame.caller, conflict_id=conflict_id, if_version=None, now=frame.now)
    return _show_again(request, frame, conflict_id)


def undo_review(request: HttpRequest, frame: Frame, review_id: UUID) -> DecidedMemory:
    """Undo a verdict or all that was decided with it; return the first that waits again."""
    if "together" in request.GET:
        return verdicts.undo_call(caller=frame.caller, review_id=review_id, now=frame.now)[0]
    return verdicts.undo(caller=frame.caller, review_id=review_id, now=frame.now)


def answer_verdict(
    request: HttpRequest,
    frame: Frame,
    memory: MemoryView,
    *,
    say: str,
    review_id: UUID | None,
    undo_all: bool = False,
) -> HttpResponse:
    """Answer a verdict: the next item, the list without it, and a toast that undoes it."""
    undo_at = "" if review_id is None else base.address("inbox_undo", frame, review_id)
    place = InboxPosition(since=memory.created_at, item_id=memory.id)
    return _show_next(request, frame, behind=place, say=say, undo_at=undo_at, undo_all=undo_all)


def _show_next(
    request: HttpRequest,
    frame: Frame,
    *,
    behind: InboxPosition,
    say: str,
    undo_at: str,
    undo_all: bool = False,
) -> HttpResponse:
    """Show what stands behind what was decided, with a toast that undoes it."""
    if not base.is_htmx(request):
        return _to_page(request, frame)
    if undo_at:
        undo_at += _query(request, frame) + ("&together" if undo_all else "")
    response = _show(request, frame, "partials/inbox_after.html", behind=behind)
    response["HX-Trigger"] = base.toast(text=say, undo=undo_at, changed="memories")
    return base.swapped(response, into="#inspector")


def _show_again(request: HttpRequest, frame: Frame, item_id: UUID) -> HttpResponse:
    """Show what waits again, open."""
    if not base.is_htmx(request):
        return _to_page(request, frame, peek=item_id)
    return _show(request, frame, "partials/inbox_after.html", peek=item_id)


def _show(
    request: HttpRequest,
    frame: Frame,
    template: str,
    *,
    peek: UUID | None = None,
    behind: InboxPosition | None = None,
) -> HttpResponse:
    shown: UUID | ConflictView | None = None
    if peek is not None:
        try:
            shown = _conflict_here(frame, peek)
        except NotFound:
            shown = base.memory_here(frame, peek).id
    read = review_inbox.read(
        caller=frame.caller,
        project=frame.slug,
        narrowed=_filter(request, frame),
        peek=shown,
        behind=behind,
        now=frame.now,
    )
    return base.page(request, template, read)


def _to_page(request: HttpRequest, frame: Frame, *, peek: UUID | None = None) -> HttpResponse:
    """Send the browser to the inbox, with an item open if one is named."""
    opened = f"&peek={peek}" if peek else ""
    return HttpResponseRedirect(f"{base.address('inbox', frame)}{_query(request, frame)}{opened}")


def _filter(request: HttpRequest, frame: Frame) -> InboxFilter:
    """Read to what the page is narrowed. Raises NotFound for another project's import."""
    group = request.GET.get("group", "") or request.POST.get("group", "")
    batch = as_uuid(text=request.GET.get("import", ""))
    if batch is not None:
        documents.find_import(frame, batch)
    rows = base.number_of(request.GET.get("rows", ""), digits=4) or 0
    return InboxFilter(
        group=Group(group) if group in set(Group) else None,
        batch=batch,
        rows=min(rows, review_inbox.ROWS_MOST),
    )


def _query(request: HttpRequest, frame: Frame) -> str:
    return f"?{_filter(request, frame).query}"


def _snoozed_until(text: str, now: datetime) -> datetime:
    """Return the end of a snooze, now for one that is none."""
    return now + timedelta(days=SNOOZE_DAYS.get(text, 0))


@base.reader
def conflicts(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the conflicts of the project, the newest first."""
    is_settled = request.GET.get("state") == ConflictState.SETTLED
    state = ConflictState.SETTLED if is_settled else ConflictState.OPEN
    page = conflict_queries.list_conflicts(
        caller=frame.caller,
        project=frame.slug,
        state=state,
        after=as_uuid(text=request.GET.get("after", "")),
        limit=CONFLICTS,
        now=frame.now,
    )
    context = {
        **_open_conflicts(frame),
        "cards": review_inbox.cards(caller=frame.caller, views=page.items),
        "state": state.value,
        "next": page.next_place,
    }
    return base.page(request, "pages/conflicts.html", context)


@base.reader
def conflicts_count(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show how many conflicts are open, for the live refresh."""
    return base.page(request, "partials/conflicts_count.html", _open_conflicts(frame))


@base.member
def conflict(request: HttpRequest, frame: Frame, conflict_id: UUID) -> HttpResponse:
    """Show one conflict, settle it, or take its settlement back."""
    view = _conflict_here(frame, conflict_id)
    context: dict[str, Any] = {}
    if request.method == "POST":
        try:
            _settle(frame, conflict_id, request.POST)
            return base.moved(request, to=base.address("conflict", frame, conflict_id))
        except CairnError as error:
            context = {"error": error, "form": request.POST}
            view = _conflict_here(frame, conflict_id)
    context |= {
        **_open_conflicts(frame),
        "card": review_inbox.cards(caller=frame.caller, views=(view,))[0],
    }
    return base.page(request, "pages/conflict.html", context)


def _settle(frame: Frame, conflict_id: UUID, form: Mapping[str, str]) -> None:
    """Settle or reopen. Raises what these raise, and InvalidInput without a verdict."""
    if_version = base.number_of(form.get("version", "")) or 0
    verdict = form.get("verdict", "")
    if verdict == "reopen":
        settlements.reopen(
            caller=frame.caller, conflict_id=conflict_id, if_version=if_version, now=frame.now
        )
        return
    if verdict not in set(ConflictVerdict):
        raise wrong_field(
            pointer="/verdict",
            detail="Choose what is kept.",
            hint="One of them, both, or a text of your own.",
            code="choice",
        )
    settlement = settlements.Settlement(
        verdict=ConflictVerdict(verdict),
        reason=form.get("reason", "").strip(),
        content=form.get("content", "").replace("\r\n", "\n").strip(),
        if_version=if_version,
    )
    settlements.settle(
        caller=frame.caller, conflict_id=conflict_id, settlement=settlement, now=frame.now
    )


def _conflict_here(frame: Frame, conflict_id: UUID) -> ConflictView:
    """Return a conflict of the page's project. Raises NotFound for another project's."""
    view = conflict_queries.get_conflict(
        caller=frame.caller, conflict_id=conflict_id, now=frame.now
    )
    if view.newer.project_id != frame.project_id:
        raise NotFound(
            detail="There is no such conflict here.", hint="It may be in another project."
        )
    return view


def _open_conflicts(frame: Frame) -> dict[str, Any]:
    versions = conflict_queries.list_open_versions(caller=frame.caller, project=frame.slug)
    return {
        "open": conflict_queries.count_open(caller=frame.caller, project=frame.slug),
        "standing": " ".join(versions),
    }
