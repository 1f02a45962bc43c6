"""The front door: sign in, or go on to one's organization."""

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse


def home(request: HttpRequest) -> HttpResponse:
    """Send people on: signed in to their organizations, else to the sign-in page."""
    name = "organizations" if request.user.is_authenticated else "account_login"
    return HttpResponseRedirect(reverse(name))
