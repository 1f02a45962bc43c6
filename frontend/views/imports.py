"""Importing files: hand them in, see what they would do, take them in and back."""

from collections.abc import Callable, Mapping
from typing import Final
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from accounts.errors import CairnError, InvalidInput, NotFound, TooLarge
from accounts.messages import message
from frontend.labels import memory_labels
from frontend.presenters import review_inbox
from frontend.views import base
from frontend.views.base import Frame
from memory.documents.actions.import_batches import begin_import, cancel_import, retry_import
from memory.documents.actions.import_undo import undo_import
from memory.documents.actions.uploads import LARGEST_UPLOAD, Upload, preview_import
from memory.documents.queries import imports as queries
from memory.documents.queries.imports import ImportView
from memory.records.actions import MOST_IN_BULK, VerbDetails
from memory.records.queries.pending import Group
from memory.review.actions.bulk import WaitingGroup, decide_bulk
from memory.review.actions.verdict_undo import undo_call
from memory.review.queries import inbox as reviews

SHOWN = 30  # imports a page
ROWS_SHOWN = 300  # rows of a preview; each can be left out
ROWS = 100  # rows of an import a page
LONGEST_NUMBER = 10  # digits that no number of a row has
SCOPES = ("project", "personal")
UNDER_WAY = frozenset({"queued", "running"})


@base.member
def imports(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show imports and the form; take files in that were handed over."""
    if request.method != "POST":
        return _page(request, frame)
    try:
        view = begin_import(caller=frame.caller, upload=_upload(request, frame), now=frame.now)
    except CairnError as error:
        return _page(request, frame, error=error, status=error.status)
    return base.moved(request, to=base.address("import", frame, view.id))


@require_POST
@base.member
def look(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Say what files would do, row by row."""
    try:
        seen = preview_import(caller=frame.caller, upload=_upload(request, frame))
    except CairnError as error:
        if error.status == NotFound.status:
            raise
        return base.page(request, "partials/import_preview.html", {"error": error})
    rows = seen.rows[:ROWS_SHOWN]
    context = {
        "seen": seen,
        "rows": rows,
        "more": len(seen.rows) - len(rows),
        "offered": ",".join(str(row.number) for row in rows if row.outcome != "refused"),
        "counts": _counts(seen.counts),
    }
    return base.page(request, "partials/import_preview.html", context)


@base.member
def one(request: HttpRequest, frame: Frame, import_id: UUID) -> HttpResponse:
    """Show an import: how far it is, and what became of each row."""
    return _one(request, frame, import_id)


@require_POST
@base.member
def change(request: HttpRequest, frame: Frame, import_id: UUID) -> HttpResponse:
    """Undo an import, cancel it, try it again, or decide about what waits of it for review."""
    here(frame, import_id)
    run = VERBS.get(request.POST.get("verb", ""))
    try:
        if run is None:
            raise InvalidInput(detail="There is no such verb.", hint="Reload the page.")
        after = run(request, frame, import_id)
    except CairnError as error:
        return _one(request, frame, import_id, error=error, status=error.status)
    return base.moved(request, to=f"{base.address('import', frame, import_id)}{after}")


def _undo(request: HttpRequest, frame: Frame, import_id: UUID) -> str:
    undo_import(caller=frame.caller, batch_id=import_id, now=frame.now)
    return ""


def _cancel(request: HttpRequest, frame: Frame, import_id: UUID) -> str:
    cancel_import(caller=frame.caller, batch_id=import_id, now=frame.now)
    return ""


def _retry(request: HttpRequest, frame: Frame, import_id: UUID) -> str:
    retry_import(caller=frame.caller, batch_id=import_id, now=frame.now)
    return ""


def _decide(request: HttpRequest, frame: Frame, import_id: UUID) -> str:
    """Keep or reject what waits; the page says then how to take that back."""
    (count,) = _numbers([request.POST.get("count", "")]) or {0}
    done = decide_bulk(
        caller=frame.caller,
        verb=request.POST["verb"],
        chosen=WaitingGroup(
            project=None,
            group=None,
            count=count,
            imported=queries.imported_memories(caller=frame.caller, batch_id=import_id),
        ),
        details=VerbDetails(reason=request.POST.get("reason", "").strip()),
        now=frame.now,
    )
    return f"?decided={done[0].review_id}"


def _take_back(request: HttpRequest, frame: Frame, import_id: UUID) -> str:
    review_id = _after(request.POST.get("review", ""))
    if review_id is None:
        raise InvalidInput(detail="There is no such verdict of yours.", hint="Reload the page.")
    undo_call(caller=frame.caller, review_id=review_id, now=frame.now)
    return ""


VERBS: Final[Mapping[str, Callable[[HttpRequest, Frame, UUID], str]]] = {
    "undo": _undo,
    "cancel": _cancel,
    "retry": _retry,
    "keep": _decide,
    "reject": _decide,
    "take_back": _take_back,
}


def form() -> dict[str, object]:
    """Return what the form offers: who may see it, and how much may be handed over."""
    return {
        "scopes": tuple((name, memory_labels.SCOPES[name]) for name in SCOPES),
        "largest": LARGEST_UPLOAD // 1_048_576,
    }


def _page(
    request: HttpRequest, frame: Frame, *, status: int = 200, **extra: object
) -> HttpResponse:
    after = _after(request.GET.get("after", ""))
    project = frame.project.slug if frame.project else ""
    page = queries.list_imports(
        caller=frame.caller, project=project, after=after, limit=SHOWN, now=frame.now
    )
    context = {
        "section": "memories",
        "now": frame.now,
        "imports": page.items,
        "next": page.next_after,
        **form(),
        **extra,
    }
    return base.page(request, "pages/imports.html", context, status=status)


def _one(
    request: HttpRequest, frame: Frame, import_id: UUID, *, status: int = 200, **extra: object
) -> HttpResponse:
    view = here(frame, import_id)
    start = request.GET.get("after", "")
    imported = queries.imported_memories(caller=frame.caller, batch_id=import_id)
    waits = reviews.count_waiting(
        caller=frame.caller, project=None, imported=imported, now=frame.now
    )
    rows = queries.list_rows(
        caller=frame.caller,
        batch_id=import_id,
        after=int(start) if start.isdecimal() and len(start) < LONGEST_NUMBER else 0,
        limit=ROWS,
        now=frame.now,
    )
    context = {
        "section": "memories",
        "now": frame.now,
        "batch": view,
        "is_under_way": view.state in UNDER_WAY,
        "done": view.total - view.counts.get("waiting", 0),
        "counts": _counts(view.counts),
        "rows": rows,
        "next": rows[-1].number if len(rows) == ROWS else None,
        "to_review": waits.total,
        "at_once": min(waits.total - waits.by_group[Group.CONFLICTS], MOST_IN_BULK),
        "may_decide": review_inbox.may_decide(caller=frame.caller),
        "decided": _after(request.GET.get("decided", "")),
        **extra,
    }
    return base.page(request, "pages/import.html", context, status=status)


def here(frame: Frame, import_id: UUID) -> ImportView:
    """Return an import of the page's project. Raises NotFound for another place's."""
    view = queries.get_import(caller=frame.caller, batch_id=import_id, now=frame.now)
    if frame.project is None or view.project_id != frame.project.id:
        raise NotFound(detail="There is no such import.", hint="It may be another project's.")
    return view


def _upload(request: HttpRequest, frame: Frame) -> Upload:
    """Return what was handed over. Raises TooLarge before anything is read."""
    files = request.FILES.getlist("file")
    size = sum(file.size or 0 for file in files)
    if size > LARGEST_UPLOAD:
        raise TooLarge(
            detail=message("{size} bytes in {count} files.", size=size, count=len(files)),
            hint=message("Hand over at most {most} bytes.", most=LARGEST_UPLOAD),
        )
    handed = [(file.name or "upload", file.read()) for file in files]
    pasted = request.POST.get("pasted", "")
    if pasted.strip():
        handed.append((_("pasted.md"), pasted.encode()))
    offered = _numbers(request.POST.get("offered", "").split(","))
    kept = _numbers(request.POST.getlist("keep"))
    return Upload(
        files=tuple(handed),
        project=frame.project.slug if frame.project else None,
        scope=request.POST.get("scope") or None,
        left_out=frozenset(offered - kept),
    )


def _numbers(texts: list[str]) -> set[int]:
    """Return the numbers of rows; what is longer than any is none."""
    return {int(one) for one in texts if one.isdecimal() and len(one) < LONGEST_NUMBER}


def _counts(counts: object) -> tuple[tuple[str, int], ...]:
    found = dict(counts) if isinstance(counts, dict) else {}
    return tuple((name, found[name]) for name in memory_labels.IMPORTED if found.get(name))


def _after(text: str) -> UUID | None:
    try:
        return UUID(text) if text else None
    except ValueError:
        return None
