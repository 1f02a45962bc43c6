"""Requests that fail on the way: what is sent again, with what, and what never is."""

import pytest

from memory.client.api import Client
from memory.client.configuration import Connection
from memory.client.errors import NOT_FOUND, Problem, Unreachable
from tests.support.scripted import Answer, Served

MEMORY = {"outcome": "added", "memory": {"id": "1", "content": "x"}}
BUSY: Answer = (429, {"Retry-After": "7"}, {"title": "Too many", "code": "rate_limited"})
GONE: Answer = (502, {}, "<html>")


def test_write_waits_as_long_as_it_is_told_and_is_sent_again_under_one_key(served: Served) -> None:
    script = served(BUSY, GONE, (201, {}, MEMORY))

    with script.client() as client:
        done = client.add(content="Deploys need the VPN.")

    assert done["outcome"] == "added"
    assert script.pauses == [7.0, 1.0]
    keys = {headers["Idempotency-Key"] for _, headers in script.sent}
    assert (len(script.sent), len(keys)) == (3, 1)


def test_a_second_write_has_a_key_of_its_own_and_waits_for_the_first(served: Served) -> None:
    running: Answer = (409, {}, {"code": "still_running", "title": "Still running"})
    script = served((201, {}, MEMORY), running, (201, {}, MEMORY))

    with script.client() as client:
        client.add(content="Deploys need the VPN.")
        client.add(content="Deploys need the VPN.")

    keys = [headers["Idempotency-Key"] for _, headers in script.sent]
    assert keys[0] != keys[1] == keys[2]


@pytest.mark.parametrize(
    ("answer", "is_upload", "pauses"),
    [
        (GONE, True, []),  # it may have arrived
        (BUSY, False, [7.0] * 4),  # asked five times and then believed
        ((302, {"Location": "http://127.0.0.1:9"}, {}), False, []),  # the token goes nowhere else
    ],
    ids=["upload", "busy", "redirect"],
)
def test_what_a_server_answers_is_believed(
    served: Served, answer: Answer, is_upload: bool, pauses: list[float]
) -> None:
    script = served(answer)

    with script.client() as client, pytest.raises(Problem) as raised:
        client.begin_import(name="CLAUDE.md", data=b"# Rules") if is_upload else client.me()

    assert raised.value.status == answer[0]
    assert (script.pauses, len(script.sent)) == (pauses, len(pauses) + 1)


def test_problem_tells_all_that_the_server_said(served: Served) -> None:
    document = {
        "detail": "There is no project atlantis.",
        "hint": "GET /projects lists them.",
        "code": "not_found",
        "request_id": "r-1",
        "errors": [{"pointer": "/project", "detail": "unknown"}],
    }
    script = served((404, {}, document))

    with script.client() as client, pytest.raises(Problem) as raised:
        client.search(query="prices", project="atlantis")

    problem = raised.value
    assert (problem.detail, problem.hint) == (document["detail"], document["hint"])
    assert (problem.request_id, problem.faults[0].pointer) == ("r-1", "/project")
    assert (problem.exit_code, problem.command) == (NOT_FOUND, "cairn status")


def test_pages_are_read_only_as_far_as_somebody_reads(served: Served) -> None:
    first = {"items": [{"id": "1"}, {"id": "2"}], "next_cursor": "c-1"}
    script = served((200, {}, first), (200, {}, {"items": [{"id": "3"}], "next_cursor": None}))

    with script.client() as client:
        found = client.memories()
        ids = [next(found).id]
        asked = len(script.sent)
        ids += [memory.id for memory in found]

    assert (asked, len(script.sent), ids) == (1, 2, ["1", "2", "3"])
    assert "cursor=c-1" in script.sent[1][0]


def test_export_is_waited_for_as_long_as_a_file_may_take_to_be_written(served: Served) -> None:
    script = served((200, {}, {}), (200, {}, {}))
    waits: list[float] = []
    with script.client() as client:
        hooks = client._http.event_hooks
        hooks["request"].append(lambda sent: waits.append(sent.extensions["timeout"]["read"]))
        client._http.event_hooks = hooks

        client.me()
        with client.export(form="json") as parts:
            assert b"".join(parts) == b"{}"

    assert waits == [60.0, 1_800.0]


def test_nobody_there_is_said_after_three_tries() -> None:
    pauses: list[float] = []
    connection = Connection(url="http://127.0.0.1:9", token="t-1")

    with Client(connection=connection, pause=pauses.append) as client, pytest.raises(Unreachable):
        client.me()

    assert pauses == [0.5, 1.0]
