"""Whoever steals database and Redis gets nothing to come in with."""

import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest
from allauth.account.forms import default_token_generator
from allauth.account.models import EmailAddress, get_emailconfirmation_model
from allauth.mfa.adapter import get_adapter
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal import auth as totp
from allauth.socialaccount.models import SocialApp, SocialToken
from django.conf import settings
from django.core import mail
from django.test import Client
from django.urls import reverse

from accounts import queries
from accounts.actions.members import invite
from accounts.actions.tokens import NewToken, create_token
from accounts.authentication import entered
from accounts.caller import Role, TokenScope
from accounts.errors import CairnError
from accounts.models import User
from accounts.queries import invitation_offer
from accounts.sessions import SessionStore, person_of
from tests.support import dump
from tests.support.api import Api
from tests.support.live import Place, committed
from tests.support.people import PASSWORD

pytestmark = pytest.mark.django_db(transaction=True)

RESET_LINK = re.compile(r"/password/reset/key/(\w+)-([\w-]+)/")
CONFIRM_LINK = re.compile(r"/confirm-email/([\w:=-]+)/")


Secrets = dict[str, list[str]]  # everything that opens something, as its holder has it: by door


@pytest.fixture
def place(transactional_db: None, clean_cache: None) -> Iterator[Place]:
    """An organization that the dump finds committed."""
    with committed(slug="stolen") as place:
        yield place


@pytest.fixture
def secrets(place: Place, settings: pytest.FixtureRequest) -> Secrets:
    """One of everything, made as people and agents make it."""
    settings.MFA_TOTP_TOLERANCE = 1
    made = defaultdict(list, tokens=[place.token, place.reading_token])
    owner = User.objects.get(pk=place.caller.user_id)
    EmailAddress.objects.create(user=owner, email=owner.email, verified=True, primary=True)
    _make_token(made, place)
    _invite(made, place)
    _sign_up(made)
    _sign_in(made, owner.email)
    _reset(made, owner.email)  # last: signing in ends a reset link
    return made


def _make_token(made: Secrets, place: Place) -> None:
    new = NewToken(name="all", scopes=frozenset(TokenScope))
    with entered(place.caller):
        issued = create_token(caller=place.caller, new=new, now=datetime.now(UTC))
    api = Api(token=issued.text)
    answer = api.post("tokens", {"name": "kept?"}, Idempotency_Key="once")
    made["tokens"] += [api.token, answer.json()["text"]]


def _invite(made: Secrets, place: Place) -> None:
    with entered(place.caller):
        sent = invite(
            caller=place.caller, email="x@y.test", role=Role.MEMBER, now=datetime.now(UTC)
        )
    made["invitations"].append(sent.link.rpartition("/")[2])


def _reset(made: Secrets, email: str) -> None:
    browser = Client()
    browser.post(reverse("account_reset_password"), {"email": email})
    person, key = RESET_LINK.findall(mail.outbox[-1].body)[0]
    assert browser.get(f"/password/reset/key/{person}-{key}/").status_code == 302
    made["resets"].append(key)
    made["sessions"].append(browser.cookies["cairn"].value)


def _sign_up(made: Secrets) -> None:
    browser = Client()
    browser.post(reverse("account_signup"), {"email": "new@y.test", "password1": PASSWORD})
    made["confirmations"].append(CONFIRM_LINK.findall(mail.outbox[-1].body)[0])


def _sign_in(made: Secrets, email: str) -> None:
    browser = Client()
    browser.post(reverse("account_login"), {"login": email, "password": PASSWORD})
    browser.post(reverse("account_reauthenticate"), {"password": PASSWORD})
    page = browser.get(reverse("mfa_activate_totp"))
    secret = page.context["form"].secret
    code = totp.format_hotp_value(totp.hotp_value(secret, int(time.time()) // 30))
    assert browser.post(reverse("mfa_activate_totp"), {"code": code}).status_code == 302
    codes = browser.get(reverse("mfa_view_recovery_codes")).context["unused_codes"]
    made["second_factors"] += [secret, *codes]
    made["sessions"].append(browser.cookies["cairn"].value)


def _is_taken(ask: Callable[..., object], **given: str) -> bool:
    try:
        ask(**given, now=datetime.now(UTC))
    except CairnError:
        return False
    return True


def _is_session(text: str) -> bool:
    return bool(SessionStore(text).load()) or person_of(session_key=text) is not None


def _is_reset(text: str) -> bool:
    return any(default_token_generator.check_token(one, text) for one in User.objects.all())


def _is_second_factor(text: str) -> bool:
    if len(text) not in {8, 32}:  # characters of a recovery code, and of the secret
        return False
    rows = {row.type: row for row in Authenticator.objects.all()}
    secret = get_adapter().decrypt(rows["totp"].data["secret"])
    return text == secret or text in rows["recovery_codes"].wrap().get_unused_codes()


DOORS: dict[str, Callable[[str], bool]] = {
    "tokens": lambda text: _is_taken(queries.verify, text=text),
    "sessions": _is_session,
    "invitations": lambda text: _is_taken(invitation_offer, secret=text),
    "resets": _is_reset,
    "confirmations": lambda text: get_emailconfirmation_model().from_key(text) is not None,
    "second_factors": _is_second_factor,
}


@pytest.mark.goal(name="G18")
def test_no_secret_stands_in_a_dump_that_is_read_whole_and_nothing_in_it_opens_anything(
    place: Place, secrets: Secrets, figure: Callable[[str], None]
) -> None:
    assert secrets.keys() == DOORS.keys()
    for name, opens in DOORS.items():
        assert all(opens(text) for text in secrets[name]), name

    texts = dump.everything()
    tried = dump.candidates(texts=texts)
    usable = [(name, text) for name, opens in DOORS.items() for text in tried if opens(text)]

    assert usable == []
    figure(f"{len(usable)} of {len(tried):,} strings of a dump usable at {len(DOORS)} doors")
    assert str(place.caller.user_id) in repr(texts)
    assert "shop" in texts
    held = [text for of_door in secrets.values() for text in of_door]
    assert len(held) > 15
    assert [text for text in held if any(text in one for one in texts)] == []
    assert [text for text in held if text in tried] == []
    assert PASSWORD not in "".join(texts)
    assert not SocialApp.objects.exists()  # nor tokens of other services
    assert not SocialToken.objects.exists()
    assert not [
        name for name in settings.INSTALLED_APPS if name.startswith("allauth.socialaccount.p")
    ]
