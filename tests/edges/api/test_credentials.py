"""Who may call: tokens in three headers, sessions with CSRF, scopes, and nobody else."""

import pytest
from django.test import Client

from accounts.models import Organization, User
from tests.support.api import STATEMENT, Api


def test_a_token_is_taken_as_authorization_and_as_api_key_and_without_nothing_is_answered(
    api: Api,
) -> None:
    for scheme in ("Bearer", "bearer", "Token"):
        answer = Api().get("me", Authorization=f"{scheme} {api.token}")
        assert answer.json()["organization"]["slug"] == "acme"
    assert Api().get("me", X_API_Key=api.token).status_code == 200
    for sent in ("", "Bearer nonsense", "Basic eDp5", f"Bearer crn_pat_{'x' * 38}"):
        answer = Api().get("memories", **({"Authorization": sent} if sent else {}))
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


def test_a_session_names_its_organization_and_writes_with_a_csrf_token(
    browser: Client, organization: Organization, other_organization: Organization
) -> None:
    own = {"X-Cairn-Organization": "acme"}
    unnamed, named, foreign, nowhere = (
        browser.get("/api/v1/me", headers=headers)
        for headers in ({}, own, *({"X-Cairn-Organization": one} for one in ("globex", "no")))
    )
    write = browser.post("/api/v1/projects", "{}", "application/json", headers=own)

    assert (unnamed.status_code, named.json()["role"]) == (422, "owner")
    assert foreign.status_code == nowhere.status_code == 404
    assert foreign.json()["detail"] == nowhere.json()["detail"]
    assert write.status_code == 403
    assert "X-CSRFToken" in write.json()["hint"]
