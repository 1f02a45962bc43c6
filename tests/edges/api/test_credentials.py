"""Who may call: tokens in three headers, sessions with CSRF, scopes, and nobody else."""

import pytest
from django.test import Client

from accounts.models import Organization, User
from tests.support.api import STATEMENT, Api


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "Token"])
def test_a_token_is_taken_as_authorization(api: Api, scheme: str) -> None:
    answer = Api().get("me", Authorization=f"{scheme} {api.token}")

    assert answer.json()["organization"]["slug"] == "acme"


def test_a_token_is_taken_as_api_key(api: Api) -> None:
    assert Api().get("me", X_API_Key=api.token).status_code == 200


@pytest.mark.parametrize(
    "sent", ["", "Bearer nonsense", "Basic eDp5", f"Bearer crn_pat_{'x' * 38}"]
)
def test_without_a_good_token_nothing_is_answered(db: None, sent: str) -> None:
    headers = {"Authorization": sent} if sent else {}

    answer = Api().get("memories", **headers)

    assert answer.status_code == 401
    assert answer["WWW-Authenticate"].startswith("Bearer")
    assert answer.json()["hint"]


def test_a_reading_token_reads_and_searches_only(api: Api, reading_api: Api) -> None:
    api.remember()

    assert len(reading_api.get("memories").json()["items"]) == 1
    assert reading_api.post("search", {"query": "prices"}).status_code == 200
    refused = reading_api.post("memories", {"project": "shop", "content": STATEMENT})
    assert refused.status_code == 403
    assert "write scope" in refused.json()["detail"]


@pytest.fixture
def browser(owner: User) -> Client:
    """A signed-in browser that checks CSRF."""
    browser = Client(enforce_csrf_checks=True, raise_request_exception=False)
    browser.force_login(owner, backend="allauth.account.auth_backends.AuthenticationBackend")
    return browser


def test_a_session_names_its_organization(browser: Client, organization: Organization) -> None:
    unnamed = browser.get("/api/v1/me")
    named = browser.get("/api/v1/me", headers={"X-Cairn-Organization": "acme"})

    assert unnamed.status_code == 422
    assert named.json()["role"] == "owner"


def test_a_session_reaches_no_foreign_organization(
    browser: Client, other_organization: Organization
) -> None:
    foreign = browser.get("/api/v1/me", headers={"X-Cairn-Organization": "globex"})
    nowhere = browser.get("/api/v1/me", headers={"X-Cairn-Organization": "nowhere"})

    assert foreign.status_code == nowhere.status_code == 404
    assert foreign.json()["detail"] == nowhere.json()["detail"]


def test_a_session_needs_a_csrf_token_to_write(browser: Client) -> None:
    headers = {"X-Cairn-Organization": "acme"}

    answer = browser.post("/api/v1/projects", "{}", "application/json", headers=headers)

    assert answer.status_code == 403
    assert "X-CSRFToken" in answer.json()["hint"]
