"""How sign-up and sign-in behave: allauth's hooks.

Signing up makes a personal organization, signing in leads to one's first. Links in mails start
with the address of the installation, never with the Host header of whoever asked for the mail.
The secrets of second factors are stored encrypted, so a copy of the database does not hold them.
Attempts are counted in Redis. Without it they cannot be counted, so signing in, signing up and
resetting stop with 503 and a clear page instead of being unlimited.
"""

import logging
from collections.abc import Callable
from smtplib import SMTPException
from typing import Any, Final

from allauth.account import app_settings
from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.models import EmailAddress
from allauth.mfa.adapter import DefaultMFAAdapter
from django.conf import settings
from django.contrib import messages
from django.contrib.sites.models import Site
from django.db import IntegrityError, transaction
from django.forms import BaseForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.deprecation import MiddlewareMixin
from django.utils.translation import gettext
from redis.exceptions import RedisError

from accounts import known_browsers, live, peppers
from accounts.actions.organizations import ensure_home
from accounts.api.requests import address_of
from accounts.authentication import network
from accounts.errors import CairnError, Conflict, Unavailable
from accounts.models import User
from accounts.sessions import note_sign_in

log = logging.getLogger(__name__)

PRODUCT: Final = "Cairn"
CONFIRMATION: Final = "account/email/email_confirmation"
SIGN_IN_VIEWS: Final = "allauth."
TEMPLATES: Final = ["pages/refused.html", "accounts/refused.html"]  # the product's, else our own
RETRY_SECONDS: Final = 5
CONFIRMATION_SENT: Final = "account/messages/email_confirmation_sent.txt"
BY_MAIL: Final = frozenset({"account_reset_password", "account_reset_password_done"})


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Cairn's answers to allauth's questions."""

    def save_user(
        self, request: HttpRequest, user: User, form: BaseForm, commit: bool = True
    ) -> User:
        """Store a new person, with a personal organization.

        Raises Conflict when the address got an account since the form was checked.
        """
        try:
            with transaction.atomic():
                saved: User = super().save_user(request, user, form, commit=commit)
        except IntegrityError as error:
            raise Conflict(
                detail="An account with this address was made at the same moment.",
                hint="Sign in, or reset the password.",
            ) from error
        if commit:
            ensure_home(user_id=saved.pk, now=timezone.now())
        return saved

    def get_login_redirect_url(self, request: HttpRequest) -> str:
        """Lead to the person's first organization, making one when there is none."""
        person: Any = request.user
        home = ensure_home(user_id=person.pk, now=timezone.now())
        return f"{settings.LOGIN_REDIRECT_URL}{home.slug}/"

    def get_signup_redirect_url(self, request: HttpRequest) -> str:
        """Lead to the personal organization."""
        return self.get_login_redirect_url(request)

    def logout(self, request: HttpRequest) -> None:
        """Sign a person out, also of the pages that stay open."""
        person: Any = request.user
        super().logout(request)
        if person.pk is not None:
            live.wake_pages_of(user_id=person.pk)

    def set_password(self, user: User, password: str) -> None:
        """Set a password; it ends the other sessions, so their open pages look again."""
        super().set_password(user, password)
        live.wake_pages_of(user_id=user.pk)

    def get_client_ip(self, request: HttpRequest) -> str:
        """Return the address that limits count; what callers claim themselves does not count."""
        peer = str(request.META.get("REMOTE_ADDR", ""))
        return address_of(headers=request.headers, peer=peer)

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: Any) -> str:
        """Return what failed sign-ins are counted by: the account, however its address is written.

        One account has several addresses, and one address several spellings that the database takes
        for the same (an "i" without its dot); each would otherwise have tries of its own. A browser
        of the account has, so that nobody else's guesses keep its owner out.
        """
        address = str(credentials.get("email", "")).strip()
        owner = User.objects.filter(email__iexact=address).values_list("pk", flat=True).first()
        if owner is None:
            others = EmailAddress.objects.filter(email__iexact=address)
            owner = others.order_by("-verified", "id").values_list("user_id", flat=True).first()
        if owner is None:
            return f"address:{address.lower()}"
        browser = known_browsers.nonce_of(request=request, user_id=owner)
        return f"account:{owner}:{browser}" if browser else f"account:{owner}"

    def post_login(self, request: HttpRequest, user: User, **more: Any) -> HttpResponse:
        """Answer a sign-in, and mark the browser as one of the account's."""
        response: HttpResponse = super().post_login(request, user, **more)
        known_browsers.remember(request=request, response=response, user_id=user.pk)
        note_sign_in(
            session=request.session,
            agent=request.headers.get("User-Agent", ""),
            network=network(address=self.get_client_ip(request)),
            now=timezone.now(),
        )
        return response

    def get_reset_password_from_key_url(self, key: str) -> str:
        """Return the link of a reset mail."""
        return _at_base(self.request, super().get_reset_password_from_key_url(key))

    def get_email_confirmation_url(self, request: HttpRequest, emailconfirmation: Any) -> str:
        """Return the link of a confirmation mail."""
        return _at_base(request, super().get_email_confirmation_url(request, emailconfirmation))

    def format_email_subject(self, subject: str) -> str:
        """Return the subject as the template says it."""
        return str(subject)

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Send a mail in the product's name. Raises Unavailable when someone waits for it.

        Without a mail server none is sent: who asks for a link is told so before (`process_view`).
        """
        if not settings.SENDS_MAIL:
            return
        site = Site(name=PRODUCT, domain=settings.BASE_URL.partition("://")[2])
        try:
            super().send_mail(template_prefix, email, {**context, "current_site": site})
        except (SMTPException, OSError) as error:
            log.warning("The mail %s was not sent: %s", template_prefix, type(error).__name__)
            needed = app_settings.EmailVerificationMethod.MANDATORY
            is_optional = needed != app_settings.EMAIL_VERIFICATION
            if not is_optional or not template_prefix.startswith(CONFIRMATION):
                raise Unavailable(
                    detail="The mail could not be sent.",
                    hint="Try again in a minute; if it stays, tell whoever runs this server.",
                ) from error

    def add_message(
        self, request: HttpRequest, level: int, message_template: str = "", *more: Any, **given: Any
    ) -> None:
        """Show a message, but not that a mail is on its way where none is sent."""
        if settings.SENDS_MAIL or message_template != CONFIRMATION_SENT:
            super().add_message(request, level, message_template, *more, **given)
        elif request.method == "POST" and "action_send" in request.POST:
            messages.warning(request, gettext("This installation sends no mails."))


class SecondFactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """How second factors are stored."""

    def encrypt(self, text: str) -> str:
        """Return what is stored of a secret."""
        return peppers.cipher(purpose=peppers.SECOND_FACTORS).encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        """Return the secret of what is stored."""
        stored = encrypted_text.encode()
        return peppers.cipher(purpose=peppers.SECOND_FACTORS).decrypt(stored).decode()


def _at_base(request: HttpRequest, url: str) -> str:
    asked = request.build_absolute_uri("/").rstrip("/")
    return str(settings.BASE_URL) + url.removeprefix(asked)


class SignInGuardMiddleware(MiddlewareMixin):
    """Turn what stops a sign-in page into an answer for people."""

    get_response: Callable[[HttpRequest], HttpResponse]

    def process_view(
        self, request: HttpRequest, view: Any, arguments: Any, named: Any
    ) -> HttpResponse | None:
        """Answer who has forgotten a password where no mail can bring a link."""
        match = request.resolver_match
        if settings.SENDS_MAIL or match is None or match.url_name not in BY_MAIL:
            return None
        refused = Conflict(
            detail="This installation sends no mails.",
            hint="Ask who runs it for a link: manage.py reset_link gives one.",
        )
        return _refused(request, refused)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Answer a refusal or a missing Redis of a sign-in view; leave everything else alone."""
        match = request.resolver_match
        if match is None or not match.func.__module__.startswith(SIGN_IN_VIEWS):
            return None
        if isinstance(exception, RedisError):
            log.warning("Sign-in is closed, attempts cannot be counted: %s", exception)
            exception = Unavailable(
                detail="Signing in is not possible right now.",
                hint="The store that counts attempts is unavailable. Try again in a few seconds.",
            )
        if not isinstance(exception, CairnError):
            return None
        return _refused(request, exception)


def _refused(request: HttpRequest, error: CairnError) -> HttpResponse:
    """Return the page of a refusal."""
    response = render(request, TEMPLATES, {"error": error}, status=error.status)
    response["Cache-Control"] = "no-store"
    if isinstance(error, Unavailable):
        response["Retry-After"] = str(RETRY_SECONDS)
    return response
