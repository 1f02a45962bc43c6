"""The change feed for pages whose socket is down: the same messages, asked for."""

from django.http import HttpRequest, HttpResponse, JsonResponse

from frontend.presenters import live_messages
from frontend.views import base
from frontend.views.base import Frame


@base.member
def changes(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Give the messages after a cursor, at most one page of them."""
    after = request.GET.get("after", "")
    messages = live_messages.messages(
        caller=frame.caller,
        after=int(after) if after.isdecimal() and len(after) < live_messages.LONGEST_CURSOR else 0,
        project=request.GET.get("project") or None,
    )
    response = JsonResponse({"changes": messages})
    response["Cache-Control"] = "no-store"
    return response
