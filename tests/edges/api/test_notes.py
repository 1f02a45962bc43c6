"""Source notes over REST: pushed by project and path, looked at line by line, removed."""

from tests.support.api import Api

TEXT = "# Mill\n\nThe gate of the mill opens at nine.\n\nThe miller has the only key to it.\n"


def pushed(api: Api, text: str = TEXT, **given: str) -> dict[str, object]:
    body = {"project": "shop", "path": "docs/mill.md", "text": text, **given}
    answer = api.call("PUT", "notes", body)
    assert answer.status_code == 200, answer.content
    result: dict[str, object] = answer.json()
    return result


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
    assert shown["text"] == TEXT
    assert [line["number"] for line in shown["lines"]] == [3, 5]
    assert gone.json() == {"stale": 2, "held": 0}
    assert api.get(f"notes/{note['id']}").status_code == 404


def test_others_do_not_find_a_note(api: Api, other_api: Api, member_api: Api) -> None:
    pushed(api, scope="personal")
    note = api.get("notes?project=shop").json()["items"][0]

    for stranger in (other_api, member_api):
        assert stranger.get(f"notes/{note['id']}").status_code == 404
        assert stranger.delete(f"notes/{note['id']}").status_code == 404
        assert stranger.get("notes?project=shop").json()["items"] == []
