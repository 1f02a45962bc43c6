"""Links of a memory: one is taken back on its page, and put back by the toast."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from accounts.errors import InvalidInput
from frontend.views import base
from frontend.views.base import Frame
from frontend.views.verbs import changed, ids_of
from memory.review.actions.verdict_undo import undo
from memory.review.actions.verdicts import MemoryEdge, unlink
from memory.taxonomy import LinkKind


@require_POST
@base.member
def take_back(request: HttpRequest, frame: Frame, memory_id: UUID) -> HttpResponse:
    """Take a link away, and show the memory without it."""
    base.memory_here(frame, memory_id)
    done = unlink(caller=frame.caller, memory_id=memory_id, edge=_edge(request), now=frame.now)
    undo_at = base.address("relink", frame, memory_id, done.review_id)
    return changed(request, frame, done.memory, say=_("Link taken back."), undo=undo_at)


@require_POST
@base.member
def put_back(request: HttpRequest, frame: Frame, memory_id: UUID, review_id: UUID) -> HttpResponse:
    """Put the link back as it was."""
    base.memory_here(frame, memory_id)
    undo(caller=frame.caller, review_id=review_id, now=frame.now)
    memory = base.memory_here(frame, memory_id)
    return changed(request, frame, memory, say=_("The link is back."))


def _edge(request: HttpRequest) -> MemoryEdge:
    kind, others = request.POST.get("kind", ""), ids_of(request.POST.getlist("other")[:1])
    if kind not in set(LinkKind) or not others:
        raise InvalidInput(detail="There is no such link.", hint="Reload the page.")
    return MemoryEdge(
        other_id=others[0], kind=LinkKind(kind), outgoing=request.POST.get("outgoing") == "1"
    )
