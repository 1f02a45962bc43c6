"""Pages for what went wrong: each says what failed, what to do, and the request id."""

import logging
import sys
from typing import Final

from django.core.exceptions import RequestDataTooBig
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from redis.exceptions import RedisError

from frontend.middleware import speak

log = logging.getLogger(__name__)

AWAY: Final = (OperationalError, InterfaceError, RedisError)
RETRY_S: Final = 5


def unreadable(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Say that what was sent is too much (413), or cannot be read (400); to htmx in a toast."""
    speak(request)
    is_too_much = isinstance(exception, RequestDataTooBig)
    template = "400_toast.html" if request.headers.get("HX-Request") else "400.html"
    status = 413 if is_too_much else 400
    context = {"is_too_much": is_too_much, "status": status}
    response = render(request, template, context, status=status)
    if template != "400.html":
        response["HX-Retarget"], response["HX-Reswap"] = "#toasts", "beforeend"
    return response


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Say that this is not allowed."""
    speak(request)
    return render(request, "403.html", status=403)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Say that there is nothing here."""
    speak(request)
    return render(request, "404.html", status=404)


def broken(request: HttpRequest) -> HttpResponse:
    """Say that the fault is ours, or that a server of ours is away (503).

    Nothing here touches the database or the session.
    """
    context = {"request_id": getattr(request, "request_id", "")}
    if not isinstance(sys.exception(), AWAY):
        return HttpResponse(render_to_string("500.html", context), status=500)
    response = HttpResponse(render_to_string("503.html", context), status=503)
    response["Retry-After"] = str(RETRY_S)
    return response


def csrf_failed(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Say that a form was too old or came from elsewhere."""
    log.warning("A form was refused: %s", reason)
    speak(request)
    return render(request, "403.html", {"stale_form": True}, status=403)
