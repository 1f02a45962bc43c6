"""Deleting for good: who asks types the short name first, and is shown what went."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from accounts.errors import InvalidInput
from frontend.presenters import html
from frontend.views import base
from frontend.views.base import Frame
from memory.erasure.actions.erase_memory import erase_memory


@base.member
def erase(request: HttpRequest, frame: Frame, memory_id: UUID) -> HttpResponse:
    """Ask for its short name, and delete a memory for good."""
    view = base.memory_here(frame, memory_id)
    context: dict[str, object] = {"memory": view, "form": request.POST}
    typed = request.POST.get("typed", "").strip().lower()
    if request.method != "POST":
        return base.dialog(request, "partials/erase.html", context)
    if typed != html.short_id(view.id):
        context["error"] = InvalidInput(
            detail="The text does not match.", hint="Type the characters shown above the field."
        )
        return base.dialog(request, "partials/erase.html", context)
    receipt = erase_memory(caller=frame.caller, memory_id=memory_id, if_version=None, now=frame.now)
    context["receipt"] = receipt
    context["back"] = base.address("memories", frame) if frame.project else reverse("organizations")
    return base.dialog(request, "partials/erased.html", context)
