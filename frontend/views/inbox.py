"""The review inbox: what waits, one item, and the verdicts with their undo."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import urlencode
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_POST

from accounts.errors import CairnError, InvalidInput, NotFound
from accounts.identifiers import as_uuid
from frontend.labels import memory_labels
from frontend.labels.memory_labels import Name
from frontend.presenters import review_inbox, toasts
from frontend.presenters.review_inbox import Batch, Inbox
from frontend.views import base, conflicts
from frontend.views.base import Frame
from frontend.views.imports import here as batch_here
from frontend.views.verbs import ids_of
from memory.documents.queries import imports
from memory.records.actions import MOST_IN_BULK, VerbDetails
from memory.records.queries.pending import Group
from memory.records.queries.views import MemoryView
from memory.records.verdict_log import DecidedMemory
from memory.review.actions.bulk import WaitingGroup, decide_bulk
from memory.review.actions.verdict_undo import undo, undo_call
from memory.review.actions.verdicts import keep, merge, reject, snooze
from memory.review.queries.conflicts import ConflictView
from memory.review.queries.inbox import InboxPosition, WaitingSession, waiting_sessions

Verb = Callable[[HttpRequest, Frame, UUID], DecidedMemory]
SESSIONS: Final = 6  # of which something waits, beside the list
BATCHES: Final = 12  # imports beside the list
REST_DAYS: Final[Mapping[str, int]] = {"day": 1, "week": 7, "month": 30}


def _keep(request: HttpRequest, frame: Frame, memory_id: UUID) -> DecidedMemory:
    return keep(caller=frame.caller, memory_id=memory_id, now=frame.now)


def _reject(request: HttpRequest, frame: Frame, memory_id: UUID) -> DecidedMemory:
    reason = request.POST.get("reason", "").strip()
    return reject(caller=frame.caller, memory_id=memory_id, reason=reason, now=frame.now)


def _merge(request: HttpRequest, frame: Frame, memory_id: UUID) -> DecidedMemory:
    chosen = ids_of(request.POST.getlist("into")[:1])
    if not chosen:
        raise InvalidInput(
            detail="Pick the memory to merge into.", hint="One that says the same, of this list."
        )
    return merge(caller=frame.caller, memory_id=memory_id, into=chosen[0], now=frame.now)


def _snooze(request: HttpRequest, frame: Frame, memory_id: UUID) -> DecidedMemory:
    end = until(request.POST.get("for", ""), frame.now)
    return snooze(caller=frame.caller, memory_id=memory_id, until=end, now=frame.now)


VERBS: Final[Mapping[str, tuple[Verb, Name]]] = {
    "keep": (_keep, gettext_lazy("Kept.")),
    "reject": (_reject, gettext_lazy("Rejected.")),
    "merge": (_merge, gettext_lazy("Merged.")),
    "snooze": (_snooze, gettext_lazy("Snoozed.")),
}
DIALOGS: Final = frozenset({"reject", "merge", "snooze"})


@base.reader
def page(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the inbox."""
    return base.page(request, "pages/inbox.html", _context(request, frame, peek=_peek(request)))


@base.reader
def rows(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the list alone, for the live refresh."""
    return base.page(request, "partials/inbox_rows.html", _context(request, frame, peek=None))


@base.reader
def groups(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the groups with their counts alone, for the live refresh."""
    return base.page(request, "partials/inbox_groups.html", _context(request, frame, peek=None))


@base.reader
def item(request: HttpRequest, frame: Frame, memory_id: UUID) -> HttpResponse:
    """Show one item: for htmx the pane, else the page with it open."""
    _here(frame, memory_id)
    if not request.htmx:  # type: ignore[attr-defined]
        return opened_in_list(request, frame, memory_id)
    opened = review_inbox.opened(caller=frame.caller, memory_id=memory_id, now=frame.now)
    context = {"opened": opened, **narrowed(request), "now": frame.now,
               "may_decide": review_inbox.may_decide(caller=frame.caller)}  # fmt: skip
    return base.page(request, "partials/inbox_item.html", context)


@base.member
def verdict(request: HttpRequest, frame: Frame, memory_id: UUID, verb: str) -> HttpResponse:
    """Ask what a verdict needs, or decide, and show the next item."""
    if verb not in VERBS or (request.method != "POST" and verb not in DIALOGS):
        raise Http404
    memory = _here(frame, memory_id)
    if request.method != "POST":
        return _asked(request, frame, memory, verb)
    run, say = VERBS[verb]
    try:
        decided = run(request, frame, memory_id)
    except CairnError as error:
        if verb in DIALOGS and error.status == 422:
            return _asked(request, frame, memory, verb, error=error)
        raise
    return after(request, frame, memory, say=str(say), review_id=decided.review_id)


@base.member
def bulk(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Decide about a selection, or about a whole group once its count is typed."""
    if request.method != "POST":
        count = review_inbox.waiting(
            caller=frame.caller,
            project=_slug(frame),
            group=review_inbox.group_named(group_text(request)),
            batch=_batch(request, frame),
            now=frame.now,
        )
        context = {
            "count": min(count, MOST_IN_BULK),
            "total": count,
            **narrowed(request),
            "form": request.GET,
        }
        return base.dialog(request, "partials/inbox_bulk.html", context)
    sent = request.POST
    is_whole = "whole" in sent
    chosen = _whole(request, frame) if is_whole else ids_of(sent.getlist("memory"))
    if not isinstance(chosen, WaitingGroup):
        base.check_here(frame, chosen)
    done = decide_bulk(
        caller=frame.caller,
        verb=sent.get("verb", ""),
        chosen=chosen,
        details=VerbDetails(
            reason=sent.get("reason", "").strip(), until=until(sent.get("for", "week"), frame.now)
        ),
        now=frame.now,
    )
    say = ngettext("%(count)d memory decided.", "%(count)d memories decided.", len(done))
    return after(
        request,
        frame,
        done[-1].memory,
        say=say % {"count": len(done)},
        review_id=done[0].review_id,
        together=True,
    )


@require_POST
@base.member
def take_back(request: HttpRequest, frame: Frame, review_id: UUID) -> HttpResponse:
    """Undo a verdict, and show what waits again."""
    run = undo_call if "together" in request.GET else _undo_one
    done = run(caller=frame.caller, review_id=review_id, now=frame.now)
    return again(request, frame, done[0].conflict_id or done[0].memory.id)


def after(
    request: HttpRequest,
    frame: Frame,
    memory: MemoryView,
    *,
    say: str,
    review_id: UUID | None,
    together: bool = False,
) -> HttpResponse:
    """Answer a verdict: the next item, the list without it, and a toast that undoes it."""
    to = "" if review_id is None else base.address("inbox_undo", frame, review_id)
    undo_at = f"{to}{query(request)}{'&together' if together else ''}" if to else ""
    place = InboxPosition(since=memory.created_at, item_id=memory.id)
    return moved_on(request, frame, behind=place, say=say, undo_at=undo_at)


def moved_on(
    request: HttpRequest, frame: Frame, *, behind: InboxPosition, say: str, undo_at: str
) -> HttpResponse:
    """Show what stands behind what was decided, with a toast that undoes it."""
    if not request.htmx:  # type: ignore[attr-defined]
        return HttpResponseRedirect(_address(request, frame, peek=None))
    context = _context(request, frame, peek=None, behind=behind)
    response = base.page(request, "partials/inbox_after.html", context)
    response["HX-Retarget"], response["HX-Reswap"] = "#inspector", "innerHTML"
    response["HX-Trigger"] = toasts.toast(text=say, undo=undo_at, changed="memories")
    return response


def again(request: HttpRequest, frame: Frame, item_id: UUID) -> HttpResponse:
    """Show what waits again, open."""
    if not request.htmx:  # type: ignore[attr-defined]
        return opened_in_list(request, frame, item_id)
    context = _context(request, frame, peek=item_id)
    return base.page(request, "partials/inbox_after.html", context)


def opened_in_list(request: HttpRequest, frame: Frame, item_id: UUID) -> HttpResponse:
    """Send the browser to the inbox with an item open."""
    return HttpResponseRedirect(_address(request, frame, peek=item_id))


def _undo_one(*, caller: object, review_id: UUID, now: datetime) -> tuple[DecidedMemory, ...]:
    return (undo(caller=caller, review_id=review_id, now=now),)  # type: ignore[arg-type]


def _context(
    request: HttpRequest, frame: Frame, *, peek: UUID | None, behind: InboxPosition | None = None
) -> dict[str, object]:
    shown = _read(request, frame, None if peek is None else _found(frame, peek))
    if behind is not None:
        following = review_inbox.next_of(inbox=shown, after=behind)
        if following is not None:
            shown = _read(request, frame, following.conflict or following.memory.id)
    return {
        "section": "inbox",
        "inbox": shown,
        "opened": shown.opened,
        "card": shown.card,
        "may_decide": shown.may_decide,
        **narrowed(request),
        "batches": _batches(frame, shown),
        "of_sessions": _of_sessions(frame, shown),
        "now": frame.now,
    }


def _of_sessions(frame: Frame, shown: Inbox) -> tuple[WaitingSession, ...]:
    """Return the newest sessions of which something waits; each is decided about on its page."""
    if shown.batch is not None or not shown.counts.total:
        return ()
    return waiting_sessions(
        caller=frame.caller, project=_slug(frame), limit=SESSIONS, now=frame.now
    )


def _batches(frame: Frame, shown: Inbox) -> tuple[Batch, ...]:
    """Return the newest imports of which something waits, and the one that is shown."""
    if shown.group is not Group.IMPORTS and shown.batch is None:
        return ()
    found = imports.list_waiting_imports(
        caller=frame.caller, project=_slug(frame), limit=BATCHES, now=frame.now
    )
    batches = tuple(Batch(view=view, count=count) for view, count in found)
    if shown.batch is None or any(one.view.id == shown.batch for one in batches):
        return batches
    view = imports.get_import(caller=frame.caller, batch_id=shown.batch, now=frame.now)
    return (Batch(view=view, count=shown.counts.total), *batches)


def _read(request: HttpRequest, frame: Frame, peek: UUID | ConflictView | None) -> Inbox:
    return review_inbox.read(
        caller=frame.caller,
        project=_slug(frame),
        group=review_inbox.group_named(group_text(request)),
        batch=_batch(request, frame),
        peek=peek,
        most=rows_text(request) or review_inbox.PAGE_SIZE,
        now=frame.now,
    )


def _asked(
    request: HttpRequest,
    frame: Frame,
    memory: MemoryView,
    verb: str,
    *,
    error: CairnError | None = None,
) -> HttpResponse:
    opened = review_inbox.opened(caller=frame.caller, memory_id=memory.id, now=frame.now)
    context = {
        "memory": memory,
        "opened": opened,
        **narrowed(request),
        "rests": rests(),
        "form": request.POST,
        "error": error,
    }
    status = 200 if error is None else error.status
    return base.dialog(request, f"partials/inbox_{verb}.html", context, status=status)


def _whole(request: HttpRequest, frame: Frame) -> WaitingGroup:
    typed = request.POST.get("count", "").strip()
    if not typed.isdecimal() or len(typed) > 9:
        raise InvalidInput(
            detail="Type how many memories are decided about.",
            hint="The number that the dialog says.",
        )
    group = review_inbox.group_named(group_text(request))
    batch = _batch(request, frame)
    return WaitingGroup(
        project=_slug(frame),
        group=group,
        count=int(typed),
        imported=imports.imported_memories(caller=frame.caller, batch_id=batch),
    )


def rests() -> tuple[tuple[str, Name], ...]:
    """Return for how long something may be snoozed, in words."""
    return tuple((name, memory_labels.RESTS[name]) for name in REST_DAYS)


def until(text: str, now: datetime) -> datetime:
    """Return the end of a snooze, now for one that is none."""
    return now + timedelta(days=REST_DAYS.get(text, 0))


def _found(frame: Frame, item_id: UUID) -> UUID | ConflictView:
    """Return the conflict of an id, or the id of a memory. Raises NotFound."""
    try:
        return conflicts.here(frame, item_id)
    except NotFound:
        return _here(frame, item_id).id


def _here(frame: Frame, memory_id: UUID) -> MemoryView:
    return base.memory_here(frame, memory_id)


def _peek(request: HttpRequest) -> UUID | None:
    try:
        return UUID(request.GET.get("peek", ""))
    except ValueError:
        return None


def group_text(request: HttpRequest) -> str:
    """Return the group that the page is narrowed to, empty for all of them."""
    named = review_inbox.group_named(request.GET.get("group", "") or request.POST.get("group", ""))
    return "" if named is None else named.value


def rows_text(request: HttpRequest) -> int:
    """Return how many rows the page is to show, 0 for as many as at first."""
    text = request.GET.get("rows", "")
    is_number = text.isascii() and text.isdecimal() and len(text) < len("10000")
    return min(int(text), review_inbox.ROWS_MOST) if is_number else 0


def _address(request: HttpRequest, frame: Frame, *, peek: UUID | None) -> str:
    opened = f"&peek={peek}" if peek else ""
    return f"{base.address('inbox', frame)}{query(request)}{opened}"


def query(request: HttpRequest) -> str:
    """Return the end of an address that keeps the group and the import."""
    return f"?{narrowed(request)['kept']}"


def narrowed(request: HttpRequest) -> dict[str, str]:
    """Return how the page is narrowed, for templates; `kept` goes into every address of it."""
    group, batch = group_text(request), as_uuid(text=request.GET.get("import", ""))
    kept = {"group": group} | ({"import": str(batch)} if batch else {})
    shown = rows_text(request)
    kept |= {"rows": str(shown)} if shown else {}
    return {"group": group, "batch": str(batch or ""), "kept": urlencode(kept)}


def _batch(request: HttpRequest, frame: Frame) -> UUID | None:
    """Return the import that the page is narrowed to. Raises NotFound for another place's."""
    batch_id = as_uuid(text=request.GET.get("import", ""))
    if batch_id is not None:
        batch_here(frame, batch_id)
    return batch_id


def _slug(frame: Frame) -> str:
    return frame.project.slug if frame.project else ""
