"""Addresses with one that breaks, for the page shown then."""

from django.http import HttpRequest, HttpResponse
from django.urls import path


def broken(request: HttpRequest) -> HttpResponse:
    """Break."""
    raise RuntimeError("broken on purpose")


urlpatterns = [path("broken", broken)]
handler500 = "frontend.views.errors.broken"
