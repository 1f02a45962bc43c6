"""Signing up gives a home, signing in leads there, a second factor is asked for."""

import re
import time
from urllib.parse import urlsplit

import pytest
from allauth.account.forms import SignupForm
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal import auth
from django.conf import LazySettings
from django.core import mail
from django.core.cache import cache
from django.test import Client, RequestFactory
from django.urls import reverse

from accounts.errors import Conflict
from accounts.models import Membership, Organization, SessionRow, User
from accounts.queries import organizations_of
from tests.support.people import PASSWORD

pytestmark = pytest.mark.usefixtures("clean_cache")

SIGN_UP = reverse("account_signup")
SIGN_IN = reverse("account_login")
RESET = reverse("account_reset_password")
BASE = "https://cairn.example.test"
NEW = {"email": "Grace@example.test", "password1": "a compiler, please"}


@pytest.mark.django_db
def test_signing_up_makes_a_personal_organization(client: Client) -> None:
    response = client.post(SIGN_UP, NEW)

    user = User.objects.get(email="grace@example.test")
    (home,) = organizations_of(user_id=user.id)
    assert (response.status_code, response.url) == (302, "/o/grace/")
    assert (home.slug, home.personal, home.role) == ("grace", True, "owner")
    assert client.session["_auth_user_id"] == str(user.id)


def test_an_address_taken_meanwhile_is_a_conflict(rf: RequestFactory, db: None) -> None:
    form = SignupForm(NEW)
    assert form.is_valid()
    User.objects.create_user(NEW["email"], PASSWORD)

    with pytest.raises(Conflict):
        form.save(rf.post(SIGN_UP, NEW))

    assert not Organization.objects.exists()


def test_an_address_with_an_account_is_not_told(
    client: Client, owner: User, settings: LazySettings
) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    known = client.post(SIGN_UP, {**NEW, "email": owner.email})
    unknown = client.post(SIGN_UP, NEW)

    assert (known.status_code, known.url) == (unknown.status_code, unknown.url)
    assert "_auth_user_id" not in client.session
    assert [sent.to for sent in mail.outbox] == [[owner.email], [NEW["email"].lower()]]


def test_signing_in_leads_to_an_organization_which_is_made_where_all_are_lost_until_inactive(
    client: Client, member: User
) -> None:
    form = {"login": member.email.upper(), "password": PASSWORD}
    first = client.post(SIGN_IN, form)
    client.logout()
    Membership.objects.filter(user=member).delete()
    lost = client.post(SIGN_IN, form)

    assert (first.status_code, first.url, lost.url) == (302, "/o/acme/", "/o/member/")
    User.objects.filter(pk=member.pk).update(is_active=False)
    inactive = client.get(reverse("account_email"))
    assert urlsplit(inactive.url).path == SIGN_IN


@pytest.mark.usefixtures("db")
def test_too_many_tries_are_told_in_a_page_of_ours_and_belong_to_no_organization(
    client: Client,
) -> None:
    answers = [
        client.post(SIGN_IN, {"login": f"nobody{number}@acme.test", "password": "guess"})
        for number in range(31)
    ]

    assert answers[-1].status_code == 429
    assert "Too many attempts" in answers[-1].text
    keys = [key for key in cache._cache.get_client().keys("*") if b"allauth" in key]
    assert keys
    assert all(b":t:" not in key for key in keys)


def test_without_redis_sign_in_is_closed_and_who_is_signed_in_stays(
    client: Client, member: User, settings: LazySettings
) -> None:
    away = {**settings.CACHES["default"], "LOCATION": "redis://127.0.0.1:1/0"}
    settings.CACHES = {"default": away}
    form = {"login": member.email, "password": PASSWORD, "email": member.email}

    for path in (SIGN_IN, SIGN_UP, RESET):
        response = client.post(path, {**form, "password1": "a compiler, please"})
        assert (path, response.status_code, response["Retry-After"]) == (path, 503, "5")
        assert "_auth_user_id" not in client.session
    assert mail.outbox == []
    client.force_login(member)
    assert client.get(SIGN_IN).url == "/o/acme/"


def test_links_in_mails_ignore_the_host_header(
    client: Client, member: User, settings: LazySettings
) -> None:
    settings.BASE_URL = BASE

    client.post(RESET, {"email": member.email}, headers={"host": "localhost"})
    client.post(SIGN_UP, NEW, headers={"host": "localhost"})

    reset, confirmation = mail.outbox
    assert f"{BASE}{RESET}key/" in reset.body
    assert "localhost" not in reset.body
    assert "example.com" not in reset.body + reset.subject
    assert f"{BASE}{reverse('account_email_verification_sent')}" in confirmation.body


def test_without_a_mail_server_one_can_sign_up_and_nobody_waits_in_vain_for_a_mail(
    client: Client, member: User, settings: LazySettings
) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    optional = client.post(SIGN_UP, NEW)
    client.logout()
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    mandatory = client.post(SIGN_UP, {**NEW, "email": "ada@example.test"})
    reset = client.post(RESET, {"email": member.email})

    assert optional.url == "/o/grace/"
    assert (mandatory.status_code, reset.status_code) == (503, 503)


SECOND = reverse("mfa_authenticate")
SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"


@pytest.fixture
def guarded(member: User, settings: LazySettings) -> User:
    settings.MFA_TOTP_TOLERANCE = 1
    auth.TOTP.activate(member, SECRET)
    return member


def code() -> str:
    return auth.format_hotp_value(auth.hotp_value(SECRET, int(time.time()) // 30))


def test_the_password_alone_does_not_sign_in_and_the_code_does(
    client: Client, guarded: User
) -> None:
    first = client.post(SIGN_IN, {"login": guarded.email, "password": PASSWORD})
    is_in = "_auth_user_id" in client.session

    second = client.post(SECOND, {"code": code()})

    assert (first.url, is_in, second.url) == (SECOND, False, "/o/acme/")
    assert client.session["_auth_user_id"] == str(guarded.id)
    stored = Authenticator.objects.values_list("data", flat=True).get(type="totp")
    assert SECRET not in repr(stored)


def test_codes_are_not_guessed(client: Client, guarded: User) -> None:
    client.post(SIGN_IN, {"login": guarded.email, "password": PASSWORD})
    for number in range(5):
        client.post(SECOND, {"code": f"00000{number}"})

    client.post(SECOND, {"code": code()})

    assert "_auth_user_id" not in client.session


@pytest.mark.django_db
def test_a_passkey_sign_in_is_offered_and_second_factors_are_for_people_signed_in(
    client: Client,
) -> None:
    response = client.get(
        reverse("mfa_login_webauthn"), headers={"x-requested-with": "XMLHttpRequest"}
    )

    options = response.json()["request_options"]["publicKey"]
    assert options["challenge"]
    assert options["rpId"] == "testserver"
    for page in ("mfa_index", "mfa_activate_totp", "mfa_add_webauthn"):
        assert client.get(reverse(page)).url.startswith(SIGN_IN)


FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


def signed_in(person: User, address: str) -> Client:
    """Return a browser that a person has signed in with."""
    browser = Client(REMOTE_ADDR=address, headers={"User-Agent": FIREFOX})
    answer = browser.post(SIGN_IN, {"login": person.email, "password": PASSWORD})
    assert answer.status_code == 302
    return browser


def test_a_person_sees_where_they_are_signed_in_and_ends_what_is_not_theirs(
    member: User, owner: User
) -> None:
    here, there = signed_in(member, "192.0.2.1"), signed_in(member, "198.51.100.9")
    stranger = signed_in(owner, "203.0.113.5")

    page = here.get("/me").content.decode()
    (ref,) = re.findall(r'name="ref" value="([0-9a-f]{16})"', page)
    ended_by_stranger = stranger.post("/me/sessions", {"ref": ref})
    still_there = there.get("/me")
    ended = here.post("/me/sessions", {"ref": ref})

    assert page.count("Firefox · Linux") >= 2
    assert "198.51.100." in page
    assert "203.0.113." not in page
    assert (ended_by_stranger.status_code, still_there.status_code) == (302, 200)
    assert ended.status_code == 302
    assert there.get("/me").status_code == 302
    assert (here.get("/me").status_code, stranger.get("/me").status_code) == (200, 200)


def test_all_other_browsers_are_signed_out_at_once(member: User, owner: User) -> None:
    here, *others = (signed_in(member, f"192.0.2.{number}") for number in range(1, 4))
    stranger = signed_in(owner, "203.0.113.5")

    here.post("/me/sessions", {"others": "1"})

    assert [one.get("/me").status_code for one in others] == [302, 302]
    assert (here.get("/me").status_code, stranger.get("/me").status_code) == (200, 200)


def test_a_browser_that_signed_in_before_rows_said_whose_they_are_is_listed_and_ended(
    member: User,
) -> None:
    here, old = signed_in(member, "192.0.2.1"), signed_in(member, "192.0.2.2")
    SessionRow.objects.filter(user_id=member.pk).update(user_id=None)

    assert old.get("/me").status_code == 200
    here.post("/me/sessions", {"others": "1"})

    assert old.get("/me").status_code == 302
