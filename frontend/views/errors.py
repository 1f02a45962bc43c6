"""Pages for what went wrong: each says what failed, what to do, and the request id (spec 9.3)."""

import logging

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string

log = logging.getLogger(__name__)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Say that this is not allowed."""
    return render(request, "403.html", status=403)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Say that there is nothing here."""
    return render(request, "404.html", status=404)


def broken(request: HttpRequest) -> HttpResponse:
    """Say that the fault is ours; nothing here touches the database or the session."""
    context = {"request_id": getattr(request, "request_id", "")}
    return HttpResponse(render_to_string("500.html", context), status=500)


def csrf_failed(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Say that a form was too old or came from elsewhere."""
    log.warning("A form was refused: %s", reason)
    return render(request, "403.html", {"stale_form": True}, status=403)
