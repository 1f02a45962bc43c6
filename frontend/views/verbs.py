"""The verbs of a memory: confirm, pin, unpin, restore; and the same for a selection."""

from collections.abc import Callable, Mapping
from typing import Final
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_POST

from accounts.errors import InvalidInput
from frontend.labels.memory_labels import Name
from frontend.presenters import memory_detail, toasts
from frontend.views import base
from frontend.views.base import Frame
from memory.records.actions import change_in_bulk, confirm, pin, restore
from memory.records.queries.views import MemoryView

Verb = Callable[[Frame, UUID], MemoryView]


def _confirm(frame: Frame, memory_id: UUID) -> MemoryView:
    return confirm(caller=frame.caller, memory_id=memory_id, now=frame.now)


def _pin(frame: Frame, memory_id: UUID) -> MemoryView:
    return pin(caller=frame.caller, memory_id=memory_id, pinned=True, now=frame.now)


def _unpin(frame: Frame, memory_id: UUID) -> MemoryView:
    return pin(caller=frame.caller, memory_id=memory_id, pinned=False, now=frame.now)


def _restore(frame: Frame, memory_id: UUID) -> MemoryView:
    return restore(caller=frame.caller, memory_id=memory_id, now=frame.now)


VERBS: Final[Mapping[str, tuple[Verb, Name]]] = {
    "confirm": (_confirm, gettext_lazy("Confirmed.")),
    "pin": (_pin, gettext_lazy("Pinned.")),
    "unpin": (_unpin, gettext_lazy("Unpinned.")),
    "restore": (_restore, gettext_lazy("Restored.")),
}


@require_POST
@base.member
def verb(request: HttpRequest, frame: Frame, memory_id: UUID, verb: str) -> HttpResponse:
    """Do one verb, and show the memory as it is now."""
    if verb not in VERBS:
        raise Http404
    act, say = VERBS[verb]
    base.memory_here(frame, memory_id)
    return changed(request, frame, act(frame, memory_id), say=str(say))


@require_POST
@base.member
def bulk(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Do one verb to every selected memory: to all of them or, when one refuses, to none."""
    chosen = ids_of(request.POST.getlist("memory"))
    base.check_here(frame, chosen)
    done = change_in_bulk(
        caller=frame.caller,
        verb=request.POST.get("verb", ""),
        memory_ids=chosen,
        now=frame.now,
    )
    say = ngettext("%(count)d memory done.", "%(count)d memories done.", done)
    to = base.address("memories", frame)
    return base.done(request, to=to, say=say % {"count": done}, changed="memories")


def changed(
    request: HttpRequest, frame: Frame, memory: MemoryView, *, say: str, undo: str = ""
) -> HttpResponse:
    """Answer a change of one memory: its inspector anew, and a toast."""
    if not request.htmx:  # type: ignore[attr-defined]
        return HttpResponseRedirect(base.address("memory", frame, memory.id))
    inspected = memory_detail.inspect(memory=memory, caller=frame.caller, now=frame.now)
    response = base.page(
        request, "partials/inspector.html", {"inspected": inspected, "now": frame.now}
    )
    response["HX-Retarget"], response["HX-Reswap"] = "#inspector", "innerHTML"
    response["HX-Trigger"] = toasts.toast(text=say, undo=undo, changed="memories")
    return response


def ids_of(texts: list[str]) -> tuple[UUID, ...]:
    """Return the ids that a form names. Raises InvalidInput."""
    try:
        return tuple(UUID(text) for text in texts)
    except ValueError as error:
        raise InvalidInput(
            detail="A selected memory has no valid id.", hint="Reload the list and try again."
        ) from error
