"""A second factor is asked for at sign-in, and passkeys are offered."""

import json
import time

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal import auth
from django.test import Client
from django.urls import reverse

from accounts.models import User
from tests.support.people import PASSWORD

pytestmark = pytest.mark.usefixtures("clean_cache")

SIGN_IN = reverse("account_login")
SECOND = reverse("mfa_authenticate")
SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"


@pytest.fixture
def guarded(member: User, settings: pytest.FixtureRequest) -> User:
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
def test_a_passkey_sign_in_is_offered(client: Client) -> None:
    response = client.get(
        reverse("mfa_login_webauthn"), headers={"x-requested-with": "XMLHttpRequest"}
    )

    options = json.loads(response.content)["request_options"]["publicKey"]
    assert options["challenge"]
    assert options["rpId"] == "testserver"


@pytest.mark.parametrize("page", ["mfa_index", "mfa_activate_totp", "mfa_add_webauthn"])
def test_second_factors_are_for_people_signed_in(client: Client, page: str) -> None:
    assert client.get(reverse(page)).url.startswith(SIGN_IN)
