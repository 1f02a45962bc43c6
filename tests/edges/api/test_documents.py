"""Imports and source notes over REST: taken in, looked at row by row, taken back."""

from typing import Any

from accounts.authentication import entered
from accounts.caller import Caller
from memory.tasks import job_handlers
from tests.support import work
from tests.support.api import Api

RULES = b"# Mill\n\nThe gate of the mill opens at nine.\n\nThe miller has the only key to it.\n"
SECRET = b"\nThe password of the mill is `hunter2Xq9!zLm4` as everybody knows.\n"
ADDRESS = "imports?project=shop&name=mill.md"


def test_a_preview_stores_nothing_and_an_import_is_told_row_by_row_and_taken_back_once(
    api: Api, caller: Caller
) -> None:
    preview = api.call("POST", ADDRESS.replace("?", "/preview?"), RULES + SECRET)
    before = api.get("imports").json()["items"]
    begun = api.call("POST", ADDRESS, RULES + SECRET)
    queued = api.get(begun["Location"]).json()["state"]
    with entered(caller):
        job_handlers.take_in(work.taken(begun.json()["job_id"]))
    here = f"imports/{begun.json()['id']}"
    first = api.get(f"{here}/rows?limit=2").json()
    rest = api.get(f"{here}/rows?cursor={first['next_cursor']}").json()
    undone, again = api.post(f"{here}/undo"), api.post(f"{here}/undo")

    assert (preview.status_code, before) == (200, [])
    assert preview.json()["counts"] == {"added": 2, "refused": 1}
    assert b"hunter2" not in preview.content + begun.content
    assert (begun.status_code, queued) == (202, "queued")
    assert begun.json()["counts"] == {"waiting": 2, "refused": 1}
    rows = [*first["items"], *rest["items"]]
    assert [(row["outcome"], row["line"]) for row in rows] == [
        ("added", 3), ("added", 5), ("refused", 7),
    ]  # fmt: skip
    assert rows[0]["memory"]["needs_review"] is True
    assert rest["next_cursor"] is None
    assert (undone.status_code, undone.json()["archived"], again.status_code) == (200, 2, 409)
    assert api.get("memories?project=shop").json()["items"] == []


def test_what_cannot_be_read_is_refused_with_its_place_and_larger_than_one_body_is_taken(
    api: Api,
) -> None:
    lines = "".join(f"Shelf {number} of the mill is for flour.\n\n" for number in range(40_000))

    unread = api.call("POST", "imports?project=shop&name=a.json", b"{")
    large = api.call("POST", "imports/preview?project=shop&name=a.md", f"<!--{lines}-->x".encode())

    assert (unread.status_code, large.status_code) == (422, 422)
    assert unread.json()["errors"][0]["pointer"] == "/file"
    assert "No statement" in large.json()["detail"]


def pushed(api: Api, **given: str) -> dict[str, Any]:
    body = {"project": "shop", "path": "docs/mill.md", "text": RULES.decode(), **given}
    answer = api.call("PUT", "notes", body)
    assert answer.status_code == 200, answer.content
    return dict(answer.json())


def test_a_note_is_pushed_looked_at_and_removed_and_one_with_a_secret_refused(api: Api) -> None:
    secret = {"project": "shop", "path": "a.md", "text": "The password is `hunter2Xq9!zLm4` here."}

    refused = api.call("PUT", "notes", secret)
    first = pushed(api)
    note = api.get("notes?project=shop").json()["items"][0]

    shown = api.get(f"notes/{note['id']}").json()
    gone = api.delete(f"notes/{note['id']}")

    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/text")
    assert b"hunter2" not in refused.content
    assert (first["added"], first["stale"]) == (2, 0)
    assert shown["text"] == RULES.decode()
    assert [line["number"] for line in shown["lines"]] == [3, 5]
    assert gone.json() == {"stale": 2, "held": 0}
    assert api.get(f"notes/{note['id']}").status_code == 404


def test_others_do_not_find_a_note(api: Api, other_api: Api, member_api: Api) -> None:
    pushed(api, scope="personal")
    address = f"notes/{api.get('notes?project=shop').json()['items'][0]['id']}"

    for stranger in (other_api, member_api):
        assert stranger.get(address).status_code == stranger.delete(address).status_code == 404
        assert stranger.get("notes?project=shop").json()["items"] == []
