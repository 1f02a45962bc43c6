"""The index of a project's code over REST: manifest, missing files, progress, what is refused."""

import base64
import hashlib
import json
from collections.abc import Mapping
from typing import Any

import pytest

from accounts.authentication import entered
from accounts.caller import Caller
from graph.index import parser_process
from tests.support.api import Api
from tests.support.coding import CART, FILES, SHOP, digest

ADDRESS = "projects/shop/index"
LATIN = "# caf\u00e9\n".encode("latin-1")


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


def test_code_is_announced_sent_and_listed(api: Api) -> None:
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


def test_the_cursor_of_a_file_that_is_gone_is_refused(api: Api, run: str) -> None:
    cursor = api.get("projects/shop/files?limit=1").json()["next_cursor"]
    api.post(ADDRESS, {"files": []})

    answer = api.get(f"projects/shop/files?cursor={cursor}")

    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/cursor")


def test_a_text_that_is_not_utf8_comes_as_base64(api: Api) -> None:
    digested = hashlib.sha256(LATIN).hexdigest()
    file = {"path": "a.py", "hash": digested, "size": len(LATIN)}
    run = api.post(ADDRESS, {"files": [file]}).json()["run"]
    coded = base64.b64encode(LATIN).decode()

    answer = api.post(
        f"{ADDRESS}/files",
        {"run": run, "files": [{"path": "a.py", "hash": digested, "base64": coded}]},
    )

    assert (answer.status_code, answer.json()["indexed"]) == (202, 1)


@pytest.mark.parametrize(
    ("file", "pointer"),
    [
        ({"path": "../a.py"}, "/files/0/path"),
        ({"path": ""}, "/files/0/path"),
        ({"hash": "x" * 64}, "/files/0/hash"),
        ({"size": 1_048_577}, "/files/0/size"),
        ({"mode": "x"}, "/files/0/mode"),
    ],
)
def test_a_manifest_that_is_wrong_is_refused_with_its_place(
    api: Api, file: dict[str, Any], pointer: str
) -> None:
    good = {"path": "a.py", "hash": digest(CART), "size": 1}

    answer = api.post(ADDRESS, {"files": [{**good, **file}]})
    twice = api.post(ADDRESS, {"files": [good, good]}).json()["errors"]

    problem = answer.json()
    assert [fault["pointer"] for fault in twice] == ["/files/0/path", "/files/1/path"]
    assert answer.status_code in {400, 422}
    assert [fault["pointer"] for fault in problem["errors"]] == [pointer]
    assert problem["hint"]
    assert api.get(ADDRESS).json()["state"] == "empty"


@pytest.mark.parametrize(
    ("file", "pointer", "status"),
    [
        ({"hash": digest(SHOP)}, "/files/0/hash", 422),
        ({"text": None}, "/files/0/text", 422),
        ({"base64": "eA=="}, "/files/0/text", 422),
        ({"text": None, "base64": "%%%"}, "/files/0/base64", 422),
        ({"text": "\u20ac" * 1_000_000}, "/files/0/text", 413),
    ],
)
def test_a_file_that_is_wrong_is_refused_with_its_place(
    api: Api, run: str, file: dict[str, Any], pointer: str, status: int
) -> None:
    good = {"path": "shop/cart.py", "hash": digest(CART), "text": CART}

    answer = api.post(f"{ADDRESS}/files", {"run": run, "files": [{**good, **file}]})

    problem = answer.json()
    assert answer.status_code == status
    assert [fault["pointer"] for fault in problem["errors"]] == [pointer]
    assert problem["hint"]
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


def test_it_takes_the_scope_index(reading_api: Api, member_api: Api) -> None:
    answers = [one.post(ADDRESS, _manifest()) for one in (reading_api, member_api)]

    assert [one.status_code for one in answers] == [403, 403]
    assert reading_api.get(ADDRESS).json()["state"] == "empty"
