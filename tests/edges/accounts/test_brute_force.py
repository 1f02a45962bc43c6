"""Guessing is slowed over all pages, processes and addresses, whatever a caller claims."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import httpx
import pytest
from allauth.account.models import EmailAddress
from django.test import Client
from django.urls import reverse

from accounts import authentication
from accounts.authentication import GUESSES
from accounts.caller import Caller
from accounts.models import User
from tests.support.api import Api, agent, until_refused
from tests.support.live import Place, committed, running
from tests.support.people import PASSWORD

LOGIN = reverse("account_login")
WRONG = "are not correct"  # allauth's words for a password that was looked at
ALLOWED = 5  # G20
Figure = Callable[[str], None]


@pytest.fixture
def place(transactional_db: None, clean_cache: None) -> Iterator[Place]:
    """An organization that two servers see."""
    with committed(slug="guessed") as place:
        yield place


def _guess(address: str, email: str, number: int, page: str) -> bool:
    """Try a wrong password from a claimed address; say whether it was looked at."""
    claimed = {"X-Forwarded-For": f"203.0.113.{number}", "X-Real-IP": f"198.51.100.{number}"}
    with httpx.Client(base_url=address, headers=claimed, follow_redirects=True) as browser:
        browser.get(page)
        secret = browser.cookies["cairn-csrf"]
        form = {"login": email, "password": f"guess {number}", "csrfmiddlewaretoken": secret}
        named = {**form, "username": email}
        return WRONG in browser.post(page, data=named, headers={"Referer": address}).text


def _spellings(email: str) -> tuple[str, ...]:
    return (email, email.upper(), f" {email}", email.title(), f"{email}\t")


@pytest.mark.django_db(transaction=True)
@pytest.mark.goal(name="G20")
def test_an_account_is_guessed_at_five_times_by_all_nodes_together(
    place: Place, figure: Figure
) -> None:
    email = User.objects.get(pk=place.caller.user_id).email
    pages = (LOGIN, "/admin/login/?next=/admin/", f"{LOGIN}?next=/o/other/")
    with ExitStack() as stack:
        nodes = [stack.enter_context(running()) for _ in range(2)]
        with ThreadPoolExecutor(4) as pool:
            tries = [
                pool.submit(
                    _guess, nodes[n % 2], _spellings(email)[n % 5], n, pages[n % len(pages)]
                )
                for n in range(60)
            ]
            looked_at = sum(one.result() for one in tries)

    assert looked_at <= ALLOWED
    figure(f"{looked_at} of 60 passwords looked at, 2 nodes, forged addresses (≤ {ALLOWED})")


def _looked_at(client: Client, email: str, **headers: str) -> bool:
    answer = client.post(LOGIN, {"login": email, "password": "guess"}, headers=headers)
    return WRONG in answer.text


@pytest.mark.usefixtures("clean_cache")
def test_every_address_of_an_account_counts_for_it(client: Client, member: User) -> None:
    EmailAddress.objects.create(user=member, email=member.email, verified=True, primary=True)
    EmailAddress.objects.create(user=member, email="second@acme.test", verified=True)
    addresses = [member.email, "second@acme.test"] * 6

    assert sum(_looked_at(client, address) for address in addresses) <= ALLOWED


@pytest.mark.usefixtures("clean_cache")
def test_guesses_of_others_do_not_keep_an_account_out_of_its_own_browser(
    client: Client, member: User
) -> None:
    form = {"login": member.email, "password": PASSWORD}
    assert client.post(LOGIN, form).status_code == 302
    client.post(reverse("account_logout"))
    stranger, another = Client(REMOTE_ADDR="192.0.2.1"), Client(REMOTE_ADDR="192.0.2.2")
    assert sum(_looked_at(stranger, member.email) for _ in range(8)) == ALLOWED

    refused = another.post(LOGIN, form)
    own = client.post(LOGIN, form)

    assert (refused.status_code, own.status_code) == (200, 302)


@pytest.mark.usefixtures("clean_cache")
def test_a_known_browser_has_no_more_tries_and_none_at_other_accounts(
    client: Client, member: User, owner: User
) -> None:
    assert client.post(LOGIN, {"login": member.email, "password": PASSWORD}).status_code == 302
    client.post(reverse("account_logout"))
    stranger = Client(REMOTE_ADDR="192.0.2.1")
    assert sum(_looked_at(stranger, owner.email) for _ in range(8)) == ALLOWED

    assert sum(_looked_at(client, owner.email) for _ in range(2)) == 0
    assert sum(_looked_at(client, member.email) for _ in range(8)) == ALLOWED
    client.cookies["cairn-known"] = "forged"
    assert not _looked_at(client, owner.email)


@pytest.mark.usefixtures("clean_cache")
@pytest.mark.parametrize(("proxies", "claims"), [(0, "{n}.0.0.1"), (1, "{n}.0.0.1, 192.0.2.7")])
def test_a_claimed_address_gives_no_more_tries(
    db: None, settings: Any, proxies: int, claims: str
) -> None:
    settings.ALLAUTH_TRUSTED_PROXY_COUNT = proxies
    client = Client()

    tries = [
        _looked_at(client, f"nobody{n}@acme.test", X_Forwarded_For=claims.format(n=n))
        for n in range(1, 21)
    ]

    assert sum(tries) == 10  # allauth's limit of an address, a minute


@pytest.mark.usefixtures("clean_cache")
def test_the_operators_site_asks_for_no_password_itself_and_fewer_proxies_are_no_error(
    client: Client, member: User, settings: Any
) -> None:
    settings.ALLAUTH_TRUSTED_PROXY_COUNT = 3
    site = client.post("/admin/login/", {"username": member.email, "password": PASSWORD})
    is_in = "_auth_user_id" in client.session

    form = {"login": member.email, "password": PASSWORD}
    page = client.post(LOGIN, form, headers={"X-Forwarded-For": "1.2.3.4"})

    assert (site.status_code, is_in, page.status_code) == (302, False, 302)
    assert site.url.startswith(LOGIN)


@pytest.mark.usefixtures("clean_cache")
def test_guesses_and_reports_are_slowed_by_address_and_good_tokens_are_not(
    client: Client, caller: Caller
) -> None:
    good, wrong = agent(caller), Api(token="crn_pat_" + "x" * 38)

    for status, send in (
        (401, lambda n: wrong.get("me", X_Forwarded_For=f"1.1.1.{n}")),
        (404, lambda n: client.get(f"/invite/guess-{n}")),
        (202, lambda _: Api().post("tokens/leaked", {"tokens": ["x"]})),
    ):
        answers = until_refused(send, most=GUESSES)
        assert {answer.status_code for answer in answers[:GUESSES]} == {status}
        assert answers[-1].status_code == 429
        assert 0 < int(answers[-1]["Retry-After"]) <= 60
    assert good.get("me").status_code == 200


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3::4", "2001:db8:1:2::"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("fe80::1%eth0", "fe80::"),
        ("", "unknown"),
        ("' OR 1=1", "unknown"),
    ],
)
def test_an_address_is_counted_by_its_network(address: str, counted: str) -> None:
    assert authentication.network(address=address) == counted
