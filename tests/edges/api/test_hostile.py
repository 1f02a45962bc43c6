"""Hostile requests against every call: never a 5xx, nothing stored, and the fault is named.

The calls are taken from the declared endpoints, so a new one is tested without being listed here.
"""

import json
import re
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest

from accounts import tenancy
from accounts.api.endpoints import Endpoint
from config.api_urls import ENDPOINTS
from memory.records.models import Memory
from teams.models import Project
from tests.support.api import STATEMENT, Api

WRITES = tuple(endpoint for endpoint in ENDPOINTS if endpoint.body is not None)
BODIES: dict[str, bytes] = {  # whole bodies; values in fields are in tests/edges/payloads
    "invalid UTF-8": b'{"content": "\xff\xfe"}',
    "NUL byte": b'{"content": "a\x00b"}',
    "duplicate keys": b'{"content": "one", "content": "two"}',
    "deep lists": b"[" * 100_000,
    "deep objects": b'{"a":' * 100_000,
    "10 MB": b'{"content": "' + b"x" * 10_000_000 + b'"}',
    "a list": b"[]",
    "a number": b"7",
    "null": b"null",
    "not JSON": b"<memory/>",
    "half JSON": b'{"content": ',
    "beyond 64 bits, written short": b'{"attributes": {"n": -1e19}}',
    "unknown field": b'{"no_such_field": 1}',
    "byte order mark": b'\xef\xbb\xbf{"content": "x"}',
    "wrong types": json.dumps(
        {"content": [], "slug": 7, "query": {}, "name": None, "memories": "all", "pinned": "yes"}
    ).encode(),
}
TAKEN = frozenset({  # by a call whose body is whatever a program sends
    "invalid UTF-8", "duplicate keys", "beyond 64 bits, written short", "unknown field",
    "byte order mark", "wrong types",
})  # fmt: skip
PROBLEM = "application/problem+json"
GOOD = {"project": "shop", "content": STATEMENT}


def _path(endpoint: Endpoint) -> str:
    return (
        endpoint.path.replace("{id}", str(uuid4()))
        .replace("{ref}", "shop")
        .replace("{harness}", "generic")
    )


def _is_refusal(answer: Any) -> bool:
    return 400 <= answer.status_code < 500 and answer["Content-Type"] == PROBLEM


def _stored() -> tuple[int, int]:
    with tenancy.unit():
        return Memory.objects.count(), Project.objects.count()


@pytest.mark.parametrize("endpoint", WRITES, ids=lambda endpoint: endpoint.name)
def test_no_body_breaks_a_call(
    api: Api, in_organization: tenancy.Tenant, endpoint: Endpoint
) -> None:
    before = _stored()

    answers = {
        kind: api.call(endpoint.method, _path(endpoint), body, If_Match="*")
        for kind, body in BODIES.items()
    }

    may_be_taken = TAKEN if endpoint.lenient else frozenset()
    assert not {
        kind: one.content
        for kind, one in answers.items()
        if not (_is_refusal(one) or (kind in may_be_taken and one.status_code == 200))
    }
    assert _stored() == before


@pytest.mark.parametrize(
    ("kind", "pointer"),
    [
        ("duplicate keys", "/content"),
        ("beyond 64 bits, written short", "/attributes/n"),
        ("unknown field", "/no_such_field"),
        ("wrong types", "/content"),
    ],
)
def test_the_fault_is_named(api: Api, kind: str, pointer: str) -> None:
    errors = api.call("POST", "memories", BODIES[kind]).json()["errors"]

    assert pointer in [error["pointer"] for error in errors]


QUERIES = (
    "limit=100000000000000000000", "limit=-1", "limit=NaN", "limit=٣", "limit=1&limit=2",
    "cursor=%00", "cursor=abc", "cursor=WyJ4Il0:forged", "cursor=" + "a" * 5_000,
    "q=%00", "q=%ff%fe", "q=%ed%a0%80", "q=is:nothing", "q=conf:>9", "q=type:x", 'q="',
    "types=poem", "status=deleted", "project=%00", "project=no-such-one", "tags=%00",
    "minimum_confidence=1e400", "minimum_confidence=nan", "files=" + "a," * 5_000,
    "after=99999999999999999999", "after=-1", "wait=31", "wait=1e3", "state=%00", "no_such=1",
    "%00=1", "reason=" + "x" * 300, "q=" + "(" * 1_000, "stale=maybe", "author=%00",
)  # fmt: skip
READS = tuple(endpoint for endpoint in ENDPOINTS if endpoint.query and endpoint.method != "POST")


@pytest.mark.parametrize("endpoint", READS, ids=lambda endpoint: endpoint.name)
def test_no_query_breaks_a_call(api: Api, endpoint: Endpoint) -> None:
    answers = {query: api.call(endpoint.method, f"{_path(endpoint)}?{query}") for query in QUERIES}

    assert not {query: one.content for query, one in answers.items() if one.status_code >= 500}


PARTS = ("%00", "..%2f..", "%ff", "%ed%a0%80", "a" * 5_000, "'", "0", "%E2%80%AE")


@pytest.mark.parametrize(
    "endpoint", [one for one in ENDPOINTS if "{" in one.path], ids=lambda endpoint: endpoint.name
)
def test_no_path_breaks_a_call(api: Api, endpoint: Endpoint) -> None:
    paths = [re.sub(r"\{(id|ref)\}", part, endpoint.path) for part in PARTS]
    body = b"{}" if endpoint.body else b""

    answers = {path: api.call(endpoint.method, path, body, If_Match="*") for path in paths}

    assert not {path: one.content for path, one in answers.items() if not _is_refusal(one)}


HEADERS: dict[str, dict[str, str]] = {
    "odd charset": {"Content_Type": "application/json; charset=klingon"},
    "UTF-16": {"Content_Type": "application/json; charset=utf-16"},
    "form": {"Content_Type": "application/x-www-form-urlencoded"},
    "multipart without boundary": {"Content_Type": "multipart/form-data"},
    "broken type": {"Content_Type": ";;;"},
    "huge length": {"Content_Length": "9" * 30},
    "If-Match": {"If_Match": "v1; DROP"},
    "long key": {"Idempotency_Key": "k" * 5_000},
    "two schemes": {"Authorization": "Bearer Bearer x"},
    "foreign host": {"Host": "evil.example"},
    "broken host": {"Host": "a b"},
}


@pytest.mark.parametrize("kind", HEADERS)
def test_no_header_breaks_a_call(api: Api, kind: str) -> None:
    body = json.dumps(GOOD).encode()

    answer = api.call("POST", "memories", body, **HEADERS[kind])

    assert answer.status_code < 500, answer.content
    assert answer["Content-Type"] == ("application/json" if answer.status_code < 300 else PROBLEM)


@pytest.mark.parametrize("accept", ["text/html", "image/*;q=0", "x/y", "\x7f", "application/xml"])
def test_any_accept_is_answered_in_json(api: Api, accept: str) -> None:
    answer = api.get("me", Accept=accept)

    assert answer["Content-Type"] == "application/json"


LIMITS: dict[str, Callable[[], dict[str, Any]]] = {
    "/tags": lambda: {"tags": [f"t{number}" for number in range(100_000)]},
    "/tags/0": lambda: {"tags": ["x" * 65]},
    "/external_id": lambda: {"external_id": "x" * 201},
    "/attributes": lambda: {"attributes": {"x": "y" * 30_000}},
    "/related_files": lambda: {"related_files": ["f"] * 65},
    "/source_line": lambda: {"source_line": 2**40},
    "/event_at": lambda: {"event_at": "9999-12-31T23:59:59-23:59"},
    "/source": lambda: {"source": "user_taught"},
}


@pytest.mark.parametrize("pointer", LIMITS)
def test_what_is_too_much_is_named(api: Api, pointer: str) -> None:
    answer = api.post("memories", {**GOOD, **LIMITS[pointer]()})

    assert answer.status_code in {413, 422}, answer.content
    if answer.status_code == 422:
        assert pointer in [error["pointer"] for error in answer.json()["errors"]]
