"""What was said, over REST: page by page, and searched verbatim."""

import pytest

from tests.support.api import Api

TURNS = [{"role": "user", "text": f"The lock number {number} is advisory."} for number in range(3)]


@pytest.fixture
def session(api: Api) -> str:
    """A session in which something was said."""
    made = str(api.post("sessions", {"thread": "carts"}).json()["id"])
    api.post(f"sessions/{made}/turns", {"turns": TURNS})
    return made


def test_turns_are_read_page_by_page(api: Api, session: str) -> None:
    first = api.get(f"sessions/{session}/turns?limit=2").json()
    rest = api.get(f"sessions/{session}/turns?limit=2&cursor={first['next_cursor']}").json()

    assert [one["text"] for one in first["items"] + rest["items"]] == [one["text"] for one in TURNS]
    assert rest["next_cursor"] is None


def test_what_was_said_is_found_page_by_page(api: Api, session: str) -> None:
    first = api.get("history?query=advisory&thread=carts&limit=2").json()
    rest = api.get(
        f"history?query=advisory&thread=carts&limit=2&cursor={first['next_cursor']}"
    ).json()

    assert [one["sequence"] for one in first["items"] + rest["items"]] == [3, 2, 1]
    assert {one["session_id"] for one in first["items"]} == {session}
    assert rest["next_cursor"] is None


@pytest.mark.parametrize(
    ("asked", "status", "pointer"),
    [
        ("query=%3F%21", 422, "/query"),
        ("query=lock&how=near", 422, "/how"),
        ("query=lock&session=nonsense", 422, "/session"),
        ("thread=carts", 422, "/query"),
    ],
)
def test_a_wrong_question_is_explained(api: Api, asked: str, status: int, pointer: str) -> None:
    answer = api.get(f"history?{asked}")

    assert answer.status_code == status
    assert [one["pointer"] for one in answer.json()["errors"]] == [pointer]


def test_a_session_is_deleted_with_a_receipt(api: Api, session: str) -> None:
    answer = api.delete(f"sessions/{session}?memories=delete")

    assert answer.status_code == 200
    told = answer.json()
    assert (told["turns"], told["memories_deleted"], told["session_id"]) == (3, 0, session)
    assert api.get(f"sessions/{session}").status_code == 404
    assert api.get("history?query=advisory").json()["items"] == []
