"""What was said, over REST: page by page, and searched verbatim."""

import pytest

from tests.support.api import Api

TURNS = [{"role": "user", "text": f"The lock number {number} is advisory."} for number in range(3)]


def test_turns_are_read_and_found_page_by_page_and_deleted_with_a_receipt(api: Api) -> None:
    session = str(api.post("sessions", {"thread": "carts"}).json()["id"])
    api.post(f"sessions/{session}/turns", {"turns": TURNS})

    def pages(path: str) -> list[dict[str, object]]:
        first = api.get(path).json()
        rest = api.get(f"{path}&cursor={first['next_cursor']}").json()
        assert (len(first["items"]), rest["next_cursor"]) == (2, None)
        return [*first["items"], *rest["items"]]

    read = pages(f"sessions/{session}/turns?limit=2")
    found = pages("history?query=advisory&thread=carts&limit=2")
    told = api.delete(f"sessions/{session}?memories=delete")

    assert [one["text"] for one in read] == [one["text"] for one in TURNS]
    assert [(one["sequence"], one["session_id"]) for one in found] == [
        (number, session) for number in (3, 2, 1)
    ]
    receipt = told.json()
    assert (told.status_code, receipt["session_id"]) == (200, session)
    assert (receipt["turns"], receipt["memories_deleted"]) == (3, 0)
    assert api.get(f"sessions/{session}").status_code == 404
    assert api.get("history?query=advisory").json()["items"] == []


@pytest.mark.parametrize(
    ("asked", "pointer"),
    [
        ("query=%3F%21", "/query"), ("query=lock&how=near", "/how"),
        ("query=lock&session=nonsense", "/session"), ("thread=carts", "/query"),
    ],
)  # fmt: skip
def test_a_wrong_question_is_explained(api: Api, asked: str, pointer: str) -> None:
    answer = api.get(f"history?{asked}")

    assert answer.status_code == 422
    assert [one["pointer"] for one in answer.json()["errors"]] == [pointer]
