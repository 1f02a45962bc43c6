"""Addresses with one that breaks, for the page shown then."""

from django.db import OperationalError
from django.http import HttpRequest, HttpResponse
from django.urls import path


def broken(request: HttpRequest) -> HttpResponse:
    """Break."""
    raise RuntimeError("broken on purpose")


def away(request: HttpRequest) -> HttpResponse:
    """Fail as when the database is away."""
    raise OperationalError("the database is away, on purpose")


urlpatterns = [path("broken", broken), path("away", away)]
handler500 = "frontend.views.errors.broken"
