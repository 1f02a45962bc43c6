"""Every error is a problem document with a stable type, a hint and the request's id."""

import logging

import pytest

from config.telemetry import LineFormatter
from tests.support.api import STATEMENT, Api


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "nothing", 404, "not_found"),
        ("GET", "/api/v2/", 404, "not_found"),
        ("PUT", "memories", 405, "method_not_allowed"),
        ("GET", "memories/not-an-id", 404, "not_found"),
        ("GET", "projects/nowhere", 404, "not_found"),
        ("GET", "memories?limit=0", 422, "invalid_input"),
        ("GET", "memories?colour=red", 422, "invalid_input"),
    ],
)
def test_an_error_is_a_problem_document(
    api: Api, method: str, path: str, status: int, code: str
) -> None:
    answer = api.call(method, path)

    problem = answer.json()
    assert (answer.status_code, problem["status"]) == (status, status)
    assert answer["Content-Type"] == "application/problem+json"
    assert problem["type"] == f"/docs/errors/#{code}"
    assert problem["hint"]
    assert problem["request_id"] == answer["X-Request-Id"]
    assert int(answer["Content-Length"]) == len(answer.content)


def test_a_request_id_given_is_kept_and_a_wrong_one_replaced(api: Api) -> None:
    kept = api.get("me", X_Request_Id="build-42")
    replaced = api.get("me", X_Request_Id="<script>")

    assert kept["X-Request-Id"] == "build-42"
    assert len(replaced["X-Request-Id"]) == 32


def test_what_is_logged_for_a_request_carries_its_id(
    api: Api, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, logger="django.request")
    caplog.handler.setFormatter(LineFormatter())

    api.get("nothing-here", X_Request_Id="build-42")

    assert "[build-42]: Not Found: /api/v1/nothing-here" in caplog.text


def test_an_unknown_field_is_refused_with_the_allowed_ones(api: Api) -> None:
    answer = api.post("memories", {"project": "shop", "content": STATEMENT, "colour": "red"})

    fault = answer.json()["errors"][0]
    assert answer.status_code == 422
    assert fault["pointer"] == "/colour"
    assert "related_files" in fault["detail"]


def test_all_faults_of_a_body_are_told_together(api: Api) -> None:
    sent = {"content": 7, "type": "Poem", "tags": ["x", 3], "confidence": 2}

    errors = api.post("memories", sent).json()["errors"]

    assert [one["pointer"] for one in errors] == ["/content", "/type", "/tags/1", "/confidence"]


def test_an_allowed_method_is_named(api: Api) -> None:
    answer = api.call("PUT", "search", {})

    assert answer["Allow"] == "POST"


def test_limits_are_said_in_headers(api: Api) -> None:
    first, second = api.get("me"), api.get("me")

    assert int(second["RateLimit-Remaining"]) == int(first["RateLimit-Remaining"]) - 1
    assert int(first["RateLimit-Reset"]) <= 60


def test_a_check_counts_by_its_size(api: Api) -> None:
    before = int(api.get("me")["RateLimit-Remaining"])

    small = api.post("checks/plan", {"project": "shop", "plan": "1. Measure."})
    large = api.post("checks/plan", {"project": "shop", "plan": f"1. Measure.{' ' * 40_000}"})

    left = [int(answer["RateLimit-Remaining"]) for answer in (small, large)]
    assert [before - left[0], left[0] - left[1]] == [1, 3]


def test_programs_are_refused_in_english_whatever_language_they_ask_for(api: Api) -> None:
    sent = {"content": "ok", "project": "shop"}

    problem = api.post("memories", sent, Accept_Language="fr").json()

    assert problem["detail"] == "The content has 2 characters; 20 are the least."
    assert problem["title"] == "Not stored"
