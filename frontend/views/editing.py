"""Dialogs that change a memory: correct it, archive it, bring an old version back."""

from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from accounts import free_texts
from accounts.errors import CairnError
from frontend.labels import memory_labels
from frontend.views import base, inbox
from frontend.views.base import Frame
from frontend.views.verbs import changed
from memory.intake.actions.revise import revise
from memory.records.actions import archive as archive_memory
from memory.records.queries import memories
from memory.records.queries.memories import LinkView
from memory.records.queries.views import MemoryView
from memory.review.actions.corrections import Correction, edit
from memory.taxonomy import LinkKind, Scope
from teams.permissions import Act, allows

OFFERED_SCOPES = (Scope.PERSONAL.value, Scope.PROJECT.value, Scope.ORGANIZATION.value)


@base.member
def correct(request: HttpRequest, frame: Frame, memory_id: UUID) -> HttpResponse:
    """Show the correction dialog, and correct: the new memory takes the old one's place."""
    old = base.memory_here(frame, memory_id)
    context = {
        "memory": old,
        "kinds": memory_labels.CORRECTIONS,
        "scopes": _scopes(old),
        "affected": _derived(frame, old),
        "form": request.POST,
        "query": request.GET.urlencode(),
    }
    if request.method != "POST":
        return base.dialog(request, "partials/correct.html", context)
    try:
        corrected = edit(
            caller=frame.caller,
            memory_id=memory_id,
            correction=Correction(
                content=request.POST.get("content", "").replace("\r\n", "\n").strip(),
                kind=request.POST.get("kind", ""),
                reason=request.POST.get("reason", "").strip(),
                scope=request.POST.get("scope") or None,
            ),
            now=frame.now,
        )
    except CairnError as error:
        return base.dialog(
            request, "partials/correct.html", {**context, "error": error}, status=error.status
        )
    memory = corrected.outcome.memory
    if memory is None:
        raise Http404
    say = _("Corrected. The old text is kept.")
    if frame.project is not None and "inbox" in request.GET:
        return inbox.after(request, frame, old, say=say, review_id=corrected.review_id)
    return changed(request, frame, memory, say=say)


@require_POST
@base.member
def difference(request: HttpRequest, frame: Frame, memory_id: UUID) -> HttpResponse:
    """Show what the correction dialog's text changes, while it is typed."""
    old = base.memory_here(frame, memory_id)
    new = free_texts.masked(text=request.POST.get("content", "").replace("\r\n", "\n"))
    return base.page(request, "partials/difference.html", {"old": old.content, "new": new})


@base.member
def archive(request: HttpRequest, frame: Frame, memory_id: UUID) -> HttpResponse:
    """Ask why, and archive; the toast offers to restore to whoever may."""
    memory = base.memory_here(frame, memory_id)
    if request.method != "POST":
        return base.dialog(request, "partials/archive.html", {"memory": memory})
    memory = archive_memory(
        caller=frame.caller,
        memory_id=memory_id,
        reason=request.POST.get("reason", "").strip(),
        if_version=None,
        now=frame.now,
    )
    undo = base.address("verb", frame, memory.id, "restore") if _may_restore(frame, memory) else ""
    return changed(request, frame, memory, say=_("Archived."), undo=undo)


@require_POST
@base.member
def restore_version(
    request: HttpRequest, frame: Frame, memory_id: UUID, number: int
) -> HttpResponse:
    """Make an old version's text the present one; the present one stays in the history."""
    base.memory_here(frame, memory_id)
    history = memories.history(caller=frame.caller, memory_id=memory_id)
    wanted = next((view for view in history if view.number == number), None)
    if wanted is None:
        raise Http404
    memory = revise(
        caller=frame.caller,
        memory_id=memory_id,
        changes={"content": wanted.content, "reason": f"restored version {number}"},
        if_version=history[0].number,
        now=frame.now,
    )
    return changed(request, frame, memory, say=_("The earlier text is back."))


def _scopes(memory: MemoryView) -> tuple[tuple[str, memory_labels.Name], ...]:
    """Return the scopes that a correction offers: its own first, then those of everybody."""
    offered = dict.fromkeys((memory.scope, *OFFERED_SCOPES))
    if not memory.project_slug:
        offered.pop(Scope.PROJECT.value, None)
    return tuple((name, memory_labels.SCOPES[name]) for name in offered)


def _derived(frame: Frame, memory: MemoryView) -> tuple[LinkView, ...]:
    """Return the visible memories that were derived from one; they rest on what is wrong."""
    links = memories.links(caller=frame.caller, memory_id=memory.id)
    return tuple(one for one in links if one.kind == LinkKind.DERIVE and not one.outgoing)


def _may_restore(frame: Frame, memory: MemoryView) -> bool:
    is_own = memory.author_user == frame.caller.user_id
    return is_own or allows(role=frame.caller.role, act=Act.RESTORE)
