"""The page behind an invitation's link."""

from datetime import datetime

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone

from accounts.actions.members import accept_invitation
from accounts.audit import origin
from accounts.authentication import count_try
from accounts.errors import CairnError, NotFound
from accounts.queries.invitations import invitation_offer
from frontend.languages import speak
from frontend.views import base


def invitation(request: HttpRequest, secret: str) -> HttpResponse:
    """Show what the invitation offers; signed in with its address, accept it."""
    now = timezone.now()
    speak(request)
    try:
        offer = invitation_offer(secret=secret, now=now)
        if request.method == "POST" and request.user.is_authenticated:
            joined = accept_invitation(user_id=base.person_id(request), secret=secret, now=now)
            return HttpResponseRedirect(reverse("organization", args=(joined.slug,)))
    except NotFound:
        return _gone(request, now)
    except CairnError as error:
        return base.refusal(request=request, error=error)
    mine = getattr(request.user, "email", "").lower() == offer.email.lower()
    return base.page(request, "pages/invitation.html", {"offer": offer, "mine": mine})


def _gone(request: HttpRequest, now: datetime) -> HttpResponse:
    """Say that there is no such invitation; an address that guesses is slowed."""
    try:
        count_try(kind="invitation", address=origin().address, now=now)
    except CairnError as error:
        return base.refusal(request=request, error=error)
    return base.page(request, "pages/invitation_gone.html", {}, status=404)
