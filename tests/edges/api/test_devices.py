"""Programs without a browser: codes, a person's decision, one token (RFC 8628)."""

from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client

from accounts import tenancy
from accounts.authentication import GUESSES, entered
from accounts.caller import Caller, Role
from accounts.models import Membership, Organization, Token, User
from frontend.views.devices import TRIES
from teams.actions import create_project
from teams.models import AuditEntry
from tests.conftest import NOW
from tests.support.api import Api, until_refused

pytestmark = pytest.mark.usefixtures("clean_cache", "organization")


@pytest.fixture
def browser(owner: User) -> Client:
    """The owner's browser."""
    client = Client(raise_request_exception=False)
    client.force_login(owner)
    return client


def _asked(name: str = "cairn on laptop") -> dict[str, Any]:
    return dict(Api().post("device/code", {"client": name}).json())


def _fetch(codes: dict[str, Any]) -> Any:
    return Api().post("device/token", {"device_code": codes["device_code"]})


def _approve(browser: Client, codes: dict[str, Any], **form: Any) -> Any:
    sent = {"code": codes["user_code"], "org": "acme", "verb": "approve", "scope": ["read"], **form}
    return browser.post("/device", sent)


def test_codes_are_given_as_the_rfc_says_and_their_program_waits_and_slows_down() -> None:
    codes = _asked()
    told = [_fetch(codes).json()["code"] for _ in range(3)]

    assert (codes["expires_in"], codes["interval"]) == (600, 5)
    assert codes["verification_uri"].endswith("/device")
    assert codes["verification_uri_complete"].endswith(f"/device?code={codes['user_code']}")
    assert len(codes["device_code"]) > 40
    assert told == ["authorization_pending", "slow_down", "slow_down"]


def test_who_was_approved_fetches_a_token_once_and_again_as_long_as_the_answer_was_lost(
    browser: Client, owner: User
) -> None:
    codes = _asked()
    page = browser.get("/device", {"code": codes["user_code"].lower().replace("-", " ")})
    assert b"cairn on laptop" in page.content
    assert codes["user_code"] in page.content.decode()
    assert page["Referrer-Policy"] == "same-origin"  # with less, browsers send forms from nowhere

    assert _approve(browser, codes, scope=["read", "write"]).status_code == 200
    lost, fetched = (_fetch(codes).json() for _ in range(2))
    unheld = Api(token=lost["access_token"]).get("me")
    me = Api(token=fetched["access_token"]).get("me").json()
    again = _fetch(codes)

    assert (me["organization"]["slug"], me["scopes"]) == ("acme", ["read", "write"])
    assert (fetched["token_type"], fetched["scope"]) == ("Bearer", "read write")
    assert (again.status_code, again.json()["code"]) == (400, "expired_token")
    assert (unheld.status_code, Token.objects.filter(user=owner).count()) == (401, 1)


def test_who_was_refused_is_told_so_and_stays_refused(browser: Client) -> None:
    codes = _asked()

    page = browser.post("/device", {"code": codes["user_code"], "verb": "refuse"})

    assert page.status_code == 200
    assert _fetch(codes).json()["code"] == "access_denied"
    assert _approve(browser, codes).status_code == 409
    assert _fetch(codes).json()["code"] == "access_denied"


def test_a_code_that_nobody_gave_out_or_whose_token_ended_is_expired(
    browser: Client, owner: User
) -> None:
    codes = _asked()
    _approve(browser, codes)
    _fetch(codes)
    Token.objects.filter(user=owner).update(revoked_at=NOW)
    revoked = _fetch(codes)
    cache.clear()

    answers = [revoked, _fetch(codes), _fetch({"device_code": "x" * 43})]

    assert {(one.status_code, one.json()["code"]) for one in answers} == {(400, "expired_token")}


def test_neither_a_link_nor_another_site_nor_somebody_who_is_not_signed_in_decides(
    browser: Client, owner: User
) -> None:
    codes = _asked()
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(owner)

    for verb in ("approve", "refuse"):
        browser.get("/device", {"code": codes["user_code"], "org": "acme", "verb": verb})
    forged, nobody = _approve(strict, codes), Client().get("/device", {"code": "BCDF-GHJK"})

    assert (forged.status_code, nobody.status_code) == (403, 302)
    assert nobody["Location"].startswith("/login/?next=/device%3Fcode")
    assert _fetch(codes).json()["code"] == "authorization_pending"


def test_no_more_is_lent_than_the_person_has_and_chose(
    browser: Client, other_organization: Organization, caller: Caller
) -> None:
    with entered(caller):
        made = [create_project(caller=caller, slug=one, name=one, now=NOW) for one in ("a", "b")]
    codes = _asked()

    foreign = _approve(browser, codes, org=other_organization.slug)
    unknown = _approve(browser, codes, project=["of-somebody-else"])
    nothing = _approve(browser, codes, scope=[])
    pending = _fetch(codes).json()["code"]
    chosen = _approve(browser, codes, project=["b"])

    assert [one.status_code for one in (foreign, unknown, nothing)] == [404, 422, 422]
    assert other_organization.name not in foreign.content.decode()
    assert (pending, chosen.status_code) == ("authorization_pending", 200)
    me = Api(token=_fetch(codes).json()["access_token"]).get("me").json()
    assert me["projects"] == [str(made[1].id)]


def test_who_left_or_may_less_than_at_approval_has_lent_nothing(
    browser: Client, owner: User, organization: Organization
) -> None:
    membership = Membership.objects.filter(user=owner, organization=organization)
    narrowed, gone = _asked(), _asked()
    for codes in (narrowed, gone):
        _approve(browser, codes, scope=["write"])

    membership.update(role=Role.VIEWER)
    told = [_fetch(narrowed).json()["code"]]
    membership.delete()
    told.append(_fetch(gone).json()["code"])

    assert told == ["access_denied", "access_denied"]
    assert not Token.objects.filter(user=owner).exists()


def test_a_person_guesses_codes_a_few_times_a_minute_from_everywhere_and_then_in_vain(
    browser: Client,
) -> None:
    codes = _asked()
    answers = [
        browser.get("/device", {"code": "BCDFGHJK"}, REMOTE_ADDR=f"203.0.113.{number}").status_code
        for number in range(2 * TRIES + 1)  # a minute may end between two
    ]

    right = browser.get("/device", {"code": codes["user_code"]})
    approved = _approve(browser, codes)

    assert answers[:TRIES] == [404] * TRIES
    assert set(answers) == {404, 429}
    assert (right.status_code, approved.status_code) == (429, 429)
    assert b"cairn on laptop" not in right.content
    assert _fetch(codes).json()["code"] == "authorization_pending"


def test_what_a_program_calls_itself_is_looked_at_and_who_asks_without_end_is_slowed() -> None:
    names = ("", "   ", "x" * 81, "a\u202eb", "password=hunter2-is-my-secret")

    refused = {Api().post("device/code", {"client": name}).status_code for name in names}
    asked = until_refused(lambda _: Api().post("device/code", {"client": "x"}), most=GUESSES)

    assert refused == {422}
    assert {one.status_code for one in asked} == {200, 429}


def test_no_code_lies_in_the_store_or_the_log_which_tells_who_approved_and_what_was_made(
    browser: Client, caller: Caller, in_organization: object
) -> None:
    codes = _asked()
    _approve(browser, codes)
    client = cache._cache.get_client(write=False)  # type: ignore[attr-defined]
    held = b"".join(key + (client.get(key) or b"") for key in client.keys("*device*"))
    _fetch(codes)

    with tenancy.unit():
        entries = list(AuditEntry.objects.filter(object_type="token").order_by("number"))

    assert b"cairn on laptop" in held
    for secret in (codes["device_code"], codes["user_code"], codes["user_code"].replace("-", "")):
        assert secret.encode() not in held
        assert secret not in repr([vars(one) for one in entries])
    told = [(one.act, one.surface, one.actor_user) for one in entries]
    assert told == [
        ("token.approved", "page", caller.user_id),
        ("token.created", "rest", caller.user_id),
    ]
    assert len({one.object_id for one in entries}) == 1
