"""Imports over REST: the body is the file, a job takes it in, and it is taken back."""

from datetime import datetime

import pytest

from accounts.authentication import entered
from accounts.caller import Caller
from memory.tasks import job_handlers
from tests.support import work
from tests.support.api import Api

RULES = b"# Mill\n\nThe gate of the mill opens at nine.\n\nThe miller has the only key to it.\n"
SECRET = b"\nThe password of the mill is `hunter2Xq9!zLm4` as everybody knows.\n"
ADDRESS = "imports?project=shop&name=mill.md"


@pytest.fixture
def done(api: Api, caller: Caller) -> str:
    """The id of an import that was taken in."""
    begun = api.call("POST", ADDRESS, RULES + SECRET).json()
    with entered(caller):
        job_handlers.take_in(work.taken(begun["job_id"]))
    return str(begun["id"])


def test_a_preview_names_kind_and_place_of_a_secret_and_never_its_value(api: Api) -> None:
    answer = api.call("POST", ADDRESS.replace("?", "/preview?"), RULES + SECRET)

    assert answer.status_code == 200
    assert answer.json()["counts"] == {"added": 2, "refused": 1}
    assert b"hunter2" not in answer.content
    assert api.get("imports").json()["items"] == []


def test_an_import_is_accepted_and_told_where_it_is(api: Api) -> None:
    answer = api.call("POST", ADDRESS, RULES)

    assert answer.status_code == 202
    assert answer.json()["counts"] == {"waiting": 2}
    assert api.get(answer["Location"]).json()["state"] == "queued"


def test_each_row_has_its_outcome(api: Api, done: str) -> None:
    first = api.get(f"imports/{done}/rows?limit=2").json()
    rest = api.get(f"imports/{done}/rows?cursor={first['next_cursor']}").json()

    rows = [*first["items"], *rest["items"]]
    assert [(row["outcome"], row["line"]) for row in rows] == [
        ("added", 3),
        ("added", 5),
        ("refused", 7),
    ]
    assert rows[0]["memory"]["needs_review"] is True
    assert rest["next_cursor"] is None


def test_an_import_is_taken_back_once(api: Api, done: str) -> None:
    answer = api.post(f"imports/{done}/undo")

    assert (answer.status_code, answer.json()["archived"]) == (200, 2)
    assert api.get("memories?project=shop").json()["items"] == []
    assert api.post(f"imports/{done}/undo").status_code == 409


def test_what_cannot_be_read_is_refused_with_its_place(api: Api) -> None:
    answer = api.call("POST", "imports?project=shop&name=a.json", b"{")

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "/file"


def test_larger_than_one_body_is_taken(api: Api) -> None:
    lines = "".join(f"Shelf {number} of the mill is for flour.\n\n" for number in range(40_000))

    answer = api.call("POST", "imports/preview?project=shop&name=a.md", f"<!--{lines}-->x".encode())

    assert answer.status_code == 422
    assert "No statement" in answer.json()["detail"]


def test_others_do_not_find_an_import(
    api: Api, other_api: Api, member_api: Api, now: datetime
) -> None:
    mine = api.call("POST", f"{ADDRESS}&scope=personal", RULES).json()["id"]

    for stranger in (other_api, member_api):
        for path in ("", "/rows"):
            assert stranger.get(f"imports/{mine}{path}").status_code == 404
        for verb in ("undo", "cancel"):
            assert stranger.post(f"imports/{mine}/{verb}").status_code == 404
        assert stranger.get("imports").json()["items"] == []
