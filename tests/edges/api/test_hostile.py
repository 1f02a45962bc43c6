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
from config.urls import ENDPOINTS
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
    "too many keys": json.dumps(dict.fromkeys(map(str, range(2_001)), 1)).encode(),
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
    "byte order mark", "wrong types", "too many keys",
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


def test_no_body_breaks_a_call(
    api: Api, in_organization: tenancy.Tenant, subtests: pytest.Subtests
) -> None:
    before = _stored()

    for endpoint in WRITES:
        with subtests.test(endpoint.name):
            path, taken = _path(endpoint), TAKEN if endpoint.lenient else frozenset()
            answers = {
                kind: api.call(endpoint.method, path, body, If_Match="*")
                for kind, body in BODIES.items()
            }
            assert not {
                kind: one.content
                for kind, one in answers.items()
                if not (_is_refusal(one) or (kind in taken and one.status_code == 200))
            }

    assert _stored() == before


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


def test_no_query_breaks_a_call(api: Api, subtests: pytest.Subtests) -> None:
    for endpoint in READS:
        with subtests.test(endpoint.name):
            path = _path(endpoint)
            answers = {one: api.call(endpoint.method, f"{path}?{one}") for one in QUERIES}
            assert not {one: a.content for one, a in answers.items() if a.status_code >= 500}


PARTS = ("%00", "..%2f..", "%ff", "%ed%a0%80", "a" * 5_000, "'", "0", "%E2%80%AE")


def test_no_path_breaks_a_call(api: Api, subtests: pytest.Subtests) -> None:
    for endpoint in (one for one in ENDPOINTS if "{" in one.path):
        with subtests.test(endpoint.name):
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


def test_no_header_breaks_a_call(api: Api, subtests: pytest.Subtests) -> None:
    body = json.dumps(GOOD).encode()
    for kind, headers in HEADERS.items():
        with subtests.test(kind):
            answer = api.call("POST", "memories", body, **headers)

            assert answer.status_code < 500, answer.content
            is_good = answer.status_code < 300
            assert answer["Content-Type"] == ("application/json" if is_good else PROBLEM)
    for accept in ("text/html", "image/*;q=0", "x/y", "\x7f", "application/xml"):
        assert api.get("me", Accept=accept)["Content-Type"] == "application/json"


NAMED = {  # kinds of bodies, and the field at fault
    "duplicate keys": "/content", "beyond 64 bits, written short": "/attributes/n",
    "unknown field": "/no_such_field", "wrong types": "/content",
}  # fmt: skip
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


def test_of_many_faults_the_first_hundred_are_named(api: Api) -> None:
    body = dict.fromkeys((f"field{number}" for number in range(1_900)), 1)

    answer = api.post("/api/v1/search", {"query": "deploy", **body})

    assert answer.status_code == 422
    assert len(answer.json()["errors"]) == 100


def test_what_is_wrong_or_too_much_is_named(api: Api, subtests: pytest.Subtests) -> None:
    for kind, pointer in NAMED.items():
        errors = api.call("POST", "memories", BODIES[kind]).json()["errors"]
        assert pointer in [error["pointer"] for error in errors]
    for pointer, fields in LIMITS.items():
        with subtests.test(pointer):
            answer = api.post("memories", {**GOOD, **fields()})

            assert answer.status_code in {413, 422}, answer.content
            if answer.status_code == 422:
                assert pointer in [error["pointer"] for error in answer.json()["errors"]]
