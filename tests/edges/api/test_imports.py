"""Imports over REST: the body is the file, a job takes it in, and it is taken back."""

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
    assert (begun.status_code, begun.json()["counts"], queued) == (
        202,
        {"waiting": 2, "refused": 1},
        "queued",
    )
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
