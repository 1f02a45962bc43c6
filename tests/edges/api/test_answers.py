"""What every answer has: problem documents, limits, a document, a bounded cost."""

import itertools
import logging
import re

import pytest
from django.contrib.staticfiles import finders
from django.db import connection
from django.test.utils import CaptureQueriesContext

from config.telemetry import LineFormatter
from tests.support.api import STATEMENT, Api


def test_an_error_is_a_problem_document(api: Api) -> None:
    for method, path, status, code in (
        ("GET", "nothing", 404, "not_found"),
        ("GET", "/api/v2/", 404, "not_found"),
        ("PUT", "memories", 405, "method_not_allowed"),
        ("GET", "memories/not-an-id", 404, "not_found"),
        ("GET", "projects/nowhere", 404, "not_found"),
        ("GET", "memories?limit=0", 422, "invalid_input"),
        ("GET", "memories?colour=red", 422, "invalid_input"),
    ):
        answer = api.call(method, path)
        problem = answer.json()
        assert (answer.status_code, problem["status"]) == (status, status)
        assert answer["Content-Type"] == "application/problem+json"
        assert problem["type"] == f"/docs/errors/#{code}"
        assert problem["hint"]
        assert problem["request_id"] == answer["X-Request-Id"]
        assert int(answer["Content-Length"]) == len(answer.content)


def test_a_refusal_is_in_english_and_names_the_gate_and_what_would_pass(api: Api) -> None:
    sent = {"content": "ok", "project": "shop"}

    answer = api.post("memories", sent, Accept_Language="fr")

    problem = answer.json()
    assert (answer.status_code, answer["Content-Type"]) == (422, "application/problem+json")
    assert problem["detail"] == "The content has 2 characters; 20 are the least."
    assert (problem["title"], problem["gate"]) == ("Not stored", "length")
    assert problem["hint"]


def test_a_request_id_given_is_kept_and_logged_and_a_wrong_one_replaced(
    api: Api, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, logger="django.request")
    caplog.handler.setFormatter(LineFormatter())

    kept = api.get("nothing-here", X_Request_Id="build-42")
    replaced = api.get("me", X_Request_Id="<script>")

    assert kept["X-Request-Id"] == "build-42"
    assert "[build-42]: Not Found: unmatched" in caplog.text
    assert len(replaced["X-Request-Id"]) == 32


def test_all_faults_of_a_body_are_told_together_and_allowed_fields_named(api: Api) -> None:
    sent = {"content": 7, "type": "Poem", "tags": ["x", 3], "confidence": 2, "colour": "red"}

    answer = api.post("memories", sent)

    faults = {one["pointer"]: one["detail"] for one in answer.json()["errors"]}
    assert answer.status_code == 422
    assert list(faults) == ["/content", "/type", "/tags/1", "/confidence", "/colour"]
    assert "related_files" in faults["/colour"]


def test_headers_say_limits_which_a_check_uses_by_its_size_and_methods(api: Api) -> None:
    first, second = api.get("me"), api.get("me")
    plans = ("1. Measure.", f"1. Measure.{' ' * 40_000}")
    checked = [api.post("checks/plan", {"project": "shop", "plan": plan}) for plan in plans]

    left = [int(answer["RateLimit-Remaining"]) for answer in (first, second, *checked)]
    assert [before - after for before, after in itertools.pairwise(left)] == [1, 1, 3]
    assert int(first["RateLimit-Reset"]) <= 60
    assert api.call("PUT", "search", {})["Allow"] == "POST"


def test_the_document_needs_no_token_and_its_page_loads_only_our_own_files(db: None) -> None:
    document, answer = Api().get("openapi.json"), Api().get("/docs/api")

    page = answer.content.decode()
    addresses = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert (document.status_code, answer.status_code) == (200, 200)
    assert document.json()["openapi"] == "3.1.0"
    assert "/api/v1/search" in document.json()["paths"]
    assert all(address.startswith("/static/") for address in addresses)
    assert all(finders.find(address.removeprefix("/static/")) for address in addresses)
    nonce = re.findall(r'nonce="([^"]+)"', page)[0]
    assert f"'nonce-{nonce}'" in answer["Content-Security-Policy"]


COSTS = {
    "me": ("GET", "me", None, 1),
    "search": ("POST", "search", {"query": "cached prices", "project": "shop"}, 14),
    "list": ("GET", "memories?project=shop", None, 10),  # one of them for the other sides
    "projects": ("GET", "projects", None, 7),
    "changes": ("GET", "changes?after=0", None, 7),
    "jobs": ("GET", "jobs", None, 6),
    "remember": ("POST", "memories", {"project": "shop", "content": f"{STATEMENT} Twice."}, 35),
}


def test_a_call_costs_no_more_statements(api: Api) -> None:
    api.remember()
    api.call("GET", "me")

    for name, (method, path, body, most) in COSTS.items():
        with CaptureQueriesContext(connection) as queries:
            answer = api.call(method, path, body)
        told = [query["sql"][:100] for query in queries.captured_queries]
        assert answer.status_code < 300
        assert len(told) <= most, "\n".join((name, *told))
