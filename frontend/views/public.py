"""Pages outside of any organization: the front door, the documentation, an invitation's link."""

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone

from accounts.actions.members import accept_invitation
from accounts.audit import origin
from accounts.authentication import count_try
from accounts.errors import CairnError, NotFound
from accounts.queries import invitation_offer
from frontend.middleware import speak
from frontend.presenters import doc_pages
from frontend.views import base


def home(request: HttpRequest) -> HttpResponse:
    """Send people on: signed in to their organizations, else to the sign-in page."""
    name = "organizations" if request.user.is_authenticated else "account_login"
    return HttpResponseRedirect(reverse(name))


def document(request: HttpRequest, name: str = "") -> HttpResponse:
    """Show a page of the documentation, the first one without a name."""
    pages = doc_pages.pages()
    found = next((one for one in pages if not name or one.name == name), None)
    if found is None:
        raise Http404
    speak(request)
    return render(request, "pages/document.html", {"page": found, "pages": pages})


def invitation(request: HttpRequest, secret: str) -> HttpResponse:
    """Show what the invitation offers; signed in with its address, accept it.

    An address that guesses secrets is slowed.
    """
    now = timezone.now()
    speak(request)
    try:
        offer = invitation_offer(secret=secret, now=now)
        if request.method == "POST" and request.user.is_authenticated:
            joined = accept_invitation(user_id=base.person_id(request), secret=secret, now=now)
            return HttpResponseRedirect(reverse("organization", args=(joined.slug,)))
    except NotFound:
        try:
            count_try(kind="invitation", address=origin().address, now=now)
        except CairnError as error:
            return base.refusal(request=request, error=error)
        return base.page(request, "pages/invitation_gone.html", {}, status=404)
    except CairnError as error:
        return base.refusal(request=request, error=error)
    mine = getattr(request.user, "email", "").lower() == offer.email.lower()
    return base.page(request, "pages/invitation.html", {"offer": offer, "mine": mine})
