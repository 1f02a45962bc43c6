"""Who may call, with what; and tokens found in the open, which a report ends."""

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from django.core import mail
from django.test import Client

from accounts import tenancy, token_format
from accounts.actions import tokens as leaks
from accounts.actions.tokens import NewToken, create_token
from accounts.api.tokens import MOST
from accounts.authentication import entered
from accounts.caller import Caller
from accounts.models import Job, Organization, Token, User
from accounts.token_format import TokenKind
from config import env
from memory.secrets import scanner
from memory.secrets.findings import SecretKind
from teams.models import AuditEntry
from tests.support.api import STATEMENT, Api

pytestmark = pytest.mark.usefixtures("clean_cache")


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
    browser.force_login(owner)
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


UNKNOWN = token_format.mint(kind=TokenKind.PERSON, entropy=bytes(24)).text


@pytest.fixture
def leaked(caller: Caller) -> str:
    """A token that somebody pushed."""
    with entered(caller):
        issued = create_token(caller=caller, new=NewToken(name="laptop"), now=datetime.now(UTC))
    return issued.text


def _report(*texts: str, **headers: str) -> Any:
    return Api().post("tokens/leaked", {"tokens": list(texts)}, **headers)


@pytest.mark.parametrize("around", ["{}", 'diff --git a/.env\n+CAIRN_TOKEN="{}"  # mine\n'])
def test_a_reported_token_is_over_at_once_and_no_other(leaked: str, api: Api, around: str) -> None:
    before = Api(token=leaked).get("me").status_code

    answer = _report(around.format(leaked))

    assert (before, answer.status_code) == (200, 202)
    assert Api(token=leaked).get("me").status_code == 401
    assert api.get("me").status_code == 200


def test_the_answer_tells_nothing_and_no_credential_beside_a_report_is_looked_at(
    leaked: str,
) -> None:
    beside = [_report(UNKNOWN, Authorization=f"Bearer {text}") for text in (leaked, UNKNOWN, "x")]
    unused = Token.objects.get(name="laptop").last_used_at
    answers = [
        _report(text) for text in (leaked, leaked, UNKNOWN, "no token", leaked[:-1], "crn_pat_")
    ]

    assert ({answer.status_code for answer in beside}, unused) == ({202}, None)
    assert {(one.status_code, one.content) for one in answers} == {(202, b'{"received":1}')}
    assert len({tuple(sorted(one.headers)) for one in answers}) == 1


def test_the_owner_and_the_log_are_told_once_and_the_token_is_stored_nowhere(
    leaked: str, caller: Caller
) -> None:
    for texts in ((leaked, leaked), (leaked, UNKNOWN)):
        _report(*texts)
    job, token_id = Job.objects.get(name=leaks.TELL), Token.objects.get(name="laptop").pk

    with entered(caller):
        assert leaks.tell_owner(token_id=token_id)
        with tenancy.unit():
            (entry,) = AuditEntry.objects.filter(act="token.leaked")
            log = repr(AuditEntry.objects.values())

    (sent,) = mail.outbox
    assert (job.payload, entry.object_id) == ({"token": str(token_id)}, str(token_id))
    assert sent.to == ["owner@acme.test"]
    assert "laptop" in sent.subject
    for text in (sent.body, log, repr(list(Job.objects.values()))):
        assert leaked not in text


@pytest.mark.parametrize(
    "body", [{}, {"tokens": []}, {"tokens": ["x"] * (MOST + 1)}, {"tokens": "x"}, {"token": "x"}]
)
def test_a_report_that_cannot_be_read_is_refused(db: None, body: dict[str, Any]) -> None:
    assert Api().post("tokens/leaked", body).status_code == 422


def test_without_counting_nothing_is_reported(leaked: str, settings: Any) -> None:
    settings.CACHES = {
        "default": {**settings.CACHES["default"], "LOCATION": "redis://127.0.0.1:1/0"}
    }

    assert _report(leaked).status_code == 503
    assert Token.objects.get(name="laptop").revoked_at is None


def test_scanners_are_told_how_a_token_looks_as_the_documents_say(leaked: str) -> None:
    told = Api().get("tokens/pattern").json()
    pages = "".join(path.read_text() for path in (env.ROOT / "frontend" / "docs").glob("*.md"))

    assert re.fullmatch(told["pattern"], leaked)
    assert len(leaked) == told["length"]
    assert any(leaked.startswith(prefix) for prefix in told["prefixes"])
    assert told["report"] == "/api/v1/tokens/leaked"
    assert token_format.PUBLISHED_PATTERN in pages.replace("\\|", "|")


@pytest.mark.parametrize("kind", TokenKind)
def test_our_own_scanner_finds_what_is_published(kind: TokenKind) -> None:
    token = token_format.mint(kind=kind, entropy=bytes(range(24))).text

    for around in ("{}", "token={}", "x {} y", "a\n{}\nb", '"{}"', "https://x?t={}"):
        text = around.format(token)
        (found,) = scanner.find_secrets(text=text)

        published = re.search(token_format.PUBLISHED_PATTERN, text)
        assert published is not None
        assert found.kind == SecretKind.CAIRN_TOKEN
        assert text[found.start : found.end] == published[0]
