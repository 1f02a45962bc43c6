"""The index of a project's code over REST: manifest, missing files, progress, what is refused."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Lock
from typing import Any

import pytest
from django.db import connection

from accounts.authentication import entered
from accounts.caller import Caller
from graph.index import parser_process
from graph.index.queries import State
from tests.support import coding
from tests.support.api import Api
from tests.support.coding import CART, FILES, SHOP, digest

ADDRESS = "projects/shop/index"


def _manifest(files: Mapping[str, str] = FILES) -> dict[str, Any]:
    return {
        "files": [
            {"path": path, "hash": digest(text), "size": len(text)} for path, text in files.items()
        ]
    }


def _files(run: str, files: Mapping[str, str] = FILES) -> dict[str, Any]:
    sent = [{"path": path, "hash": digest(text), "text": text} for path, text in files.items()]
    return {"run": run, "files": sent}


@pytest.fixture
def run(api: Api) -> str:
    """The run of a manifest that was taken."""
    return str(api.post(ADDRESS, _manifest()).json()["run"])


def test_code_is_announced_sent_and_listed_and_the_cursor_of_a_file_that_is_gone_refused(
    api: Api,
) -> None:
    announced = api.post(ADDRESS, _manifest())
    told = announced.json()
    sent = api.post(f"{ADDRESS}/files", _files(told["run"]))
    taken = sent.json()
    first = api.get("projects/shop/files?limit=1").json()
    rest = api.get(f"projects/shop/files?limit=1&cursor={first['next_cursor']}").json()
    found = api.get("projects/shop/symbols?file=shop/shop.py").json()

    assert announced.status_code == 200
    assert (told["missing"], told["gone"], told["kept"]) == (list(FILES), 0, 0)
    assert told["index"]["state"] == "receiving"
    assert sent.status_code == 202
    assert (taken["indexed"], taken["known"], taken["refused"]) == (2, 0, [])
    assert taken["index"]["state"] == "resolving"
    assert api.get(sent["Location"]).json() == taken["index"]
    assert api.get(f"jobs/{taken['job_id']}").json()["name"] == "graph.resolve"
    assert [one["path"] for one in (*first["items"], *rest["items"])] == list(FILES)
    assert rest["next_cursor"] is None
    assert found["file"]["hash"] == digest(SHOP)
    assert [one["qualified"] for one in found["items"]] == ["Shop", "Shop.checkout"]
    api.post(ADDRESS, {"files": []})
    gone = api.get(f"projects/shop/files?cursor={first['next_cursor']}")
    assert (gone.status_code, gone.json()["errors"][0]["pointer"]) == (422, "/cursor")


def refused(answer: Any) -> tuple[int, list[str]]:
    """Return the status of a refusal with a hint, and the places that it names."""
    problem = answer.json()
    assert problem["hint"]
    return answer.status_code, [fault["pointer"] for fault in problem["errors"]]


def test_a_manifest_that_is_wrong_is_refused_with_its_place(api: Api) -> None:
    good: dict[str, Any] = {"path": "a.py", "hash": digest(CART), "size": 1}
    for wrong, status, pointer in (
        ({"path": "../a.py"}, 422, "/files/0/path"),
        ({"path": ""}, 422, "/files/0/path"),
        ({"hash": "x" * 64}, 422, "/files/0/hash"),
        ({"size": 1_048_577}, 422, "/files/0/size"),
        ({"mode": "x"}, 422, "/files/0/mode"),
    ):
        answer = api.post(ADDRESS, {"files": [{**good, **wrong}]})
        assert refused(answer) == (status, [pointer])
    twice = refused(api.post(ADDRESS, {"files": [good, good]}))
    assert twice == (422, ["/files/0/path", "/files/1/path"])
    assert api.get(ADDRESS).json()["state"] == "empty"


def test_a_file_that_is_wrong_is_refused_with_its_place(api: Api, run: str) -> None:
    good: dict[str, Any] = {"path": "shop/cart.py", "hash": digest(CART), "text": CART}
    for wrong, pointer, status in (
        ({"hash": digest(SHOP)}, "/files/0/hash", 422),
        ({"text": None}, "/files/0/text", 422),
        ({"base64": "eA=="}, "/files/0/text", 422),
        ({"text": None, "base64": "%%%"}, "/files/0/base64", 422),
        ({"text": "\u20ac" * 1_000_000}, "/files/0/text", 413),
    ):
        answer = api.post(f"{ADDRESS}/files", {"run": run, "files": [{**good, **wrong}]})
        assert refused(answer) == (status, [pointer])
    assert api.get(ADDRESS).json()["files_done"] == 0


def test_what_is_too_large_is_told_what_to_do(api: Api, run: str) -> None:
    files = [
        {"path": "shop/cart.py", "hash": digest(CART), "text": "x" * 1_000_000} for _ in range(9)
    ]

    sent = api.post(f"{ADDRESS}/files", {"run": run, "files": files})
    manifest = api.post(ADDRESS, {"files": [], "more": "x" * 25_165_824})

    assert (sent.status_code, manifest.status_code) == (413, 413)
    assert sent.json()["hint"] == "Send fewer files in a call."
    assert manifest.json()["hint"].startswith("A manifest is whole: name fewer files")


def test_a_manifest_of_fifty_thousand_files_fits(api: Api) -> None:
    names = (f"{number:05d}/{'a' * 90}.py" for number in range(50_000))
    files = [{"path": name, "hash": digest(CART), "size": 1} for name in names]
    at_fault = [*files[:-1], {"path": "../a.py", "hash": digest(CART), "size": 1}]

    answer = api.post(ADDRESS, {"files": at_fault})

    assert len(json.dumps({"files": files})) > 8 * 1_048_576
    assert [fault["pointer"] for fault in answer.json()["errors"]] == ["/files/49999/path"]


def test_files_count_by_their_size_as_calls(api: Api, run: str) -> None:
    small = {"path": "shop/cart.py", "hash": digest(CART), "text": CART}
    text = "#" * 200_000
    large = {"path": "shop/shop.py", "hash": digest(text), "text": text}

    left = [
        int(api.post(f"{ADDRESS}/files", {"run": run, "files": [one]})["RateLimit-Remaining"])
        for one in (small, large)
    ]

    assert left[0] - left[1] == 13


def test_a_call_that_has_to_come_again_is_told_when(api: Api, caller: Caller, run: str) -> None:
    api.post(ADDRESS, _manifest())
    older = api.post(f"{ADDRESS}/files", _files(run))
    run = str(api.post(ADDRESS, _manifest()).json()["run"])
    with entered(caller), parser_process.READING.hold(), parser_process.READING.hold():
        held = api.post(f"{ADDRESS}/files", _files(run))

    assert (older.status_code, older.json()["code"]) == (409, "index_running")
    assert "again" in older.json()["hint"]
    assert (held.status_code, held["Retry-After"]) == (429, "5")
    assert api.post(f"{ADDRESS}/files", _files(run)).json()["waiting"] == []


@dataclass(slots=True)
class Noting:
    """A lock that notes whether who takes it holds a connection to the database."""

    held: list[bool] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)

    def acquire(self, *, timeout: float) -> bool:
        """Take the lock."""
        self.held.append(connection.connection is not None)
        return self._lock.acquire(timeout=timeout)

    def release(self) -> None:
        """Let the lock go."""
        self._lock.release()


@pytest.mark.django_db(transaction=True)
def test_no_connection_is_held_while_files_are_parsed(
    api: Api, caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, now = Noting(), datetime.now(UTC)
    monkeypatch.setattr(parser_process.PARSER, "_lock", lock)

    with entered(caller):
        taken = coding.send(caller, now, coding.announce(caller, now))

    assert (taken.indexed, taken.index.state) == (2, State.RESOLVING)
    assert lock.held == [False, False]


def test_it_takes_the_scope_index(reading_api: Api, member_api: Api) -> None:
    answers = [one.post(ADDRESS, _manifest()) for one in (reading_api, member_api)]

    assert [one.status_code for one in answers] == [403, 403]
    assert reading_api.get(ADDRESS).json()["state"] == "empty"
