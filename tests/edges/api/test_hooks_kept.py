"""What hooks tell is kept whole: beyond the room of a session, without secrets, in odd shapes."""

import json

import pytest

from accounts import tenancy
from memory.sessions.actions.append_events import MOST_OF_SESSION
from memory.sessions.actions.append_turns import MOST_OF_SESSION as MOST_OF_TURNS
from memory.sessions.models import Session, Turn
from tests.edges.api.test_hooks import FILE, WARNING, text_of, the_session, told
from tests.support.api import Api


def test_what_is_said_is_kept_when_there_is_no_room_for_events(
    api: Api, in_organization: object
) -> None:
    told(api, "generic", "prompt")
    api.remember(WARNING, related_files=[FILE])
    with tenancy.unit():
        Session.objects.update(events=MOST_OF_SESSION, folded=MOST_OF_SESSION)

    answer = text_of(told(api, "generic", "read"))
    told(api, "generic", "prompt")

    assert WARNING in answer
    with tenancy.unit():
        assert Turn.objects.count() == 2


def test_what_a_full_session_has_no_room_for_goes_on_in_another_of_its_thread(
    api: Api, in_organization: object
) -> None:
    told(api, "generic", "read")
    full = the_session()
    with tenancy.unit():
        Session.objects.update(events=MOST_OF_SESSION, folded=MOST_OF_SESSION)

    for _ in range(2):
        told(api, "generic", "read")

    with tenancy.unit():
        first, second = Session.objects.order_by("opened_at", "id")
        stored = Turn.done.filter(session=second).count()
    assert (first.id, first.state, second.state) == (full.id, "ended", "open")
    assert second.external_id == f"{first.external_id}#2"
    assert first.thread == second.thread == first.external_id
    assert (second.project_id, second.audience) == (first.project_id, first.audience)
    assert stored == second.events == 4


def test_a_session_that_is_full_of_turns_goes_on_in_another(
    api: Api, in_organization: object
) -> None:
    told(api, "generic", "prompt")
    with tenancy.unit():
        Turn.objects.update(sequence=MOST_OF_TURNS - 1)

    told(api, "generic", "prompt")

    with tenancy.unit():
        first, second = Session.objects.order_by("opened_at", "id")
        said = [Turn.objects.filter(session=one).count() for one in (first, second)]
    assert (first.state, second.state, said) == ("ended", "open", [1, 1])
    assert second.external_id == f"{first.external_id}#2"


def deep(levels: int) -> object:
    """Return an object that is nested so deep."""
    value: object = "the bottom"
    for _ in range(levels):
        value = {"in": value}
    return value


@pytest.mark.parametrize(
    "odd",
    [
        {"result": "before\x00 after"},
        {"result": "before\ud83d after"},
        {"result": "before", "arguments": {"path": FILE, "tree": deep(60)}},
        {"result": "before", "arguments": {"path": FILE, "size": 10**40}},
    ],
)
def test_what_a_tool_printed_is_not_lost_for_a_character(
    api: Api, in_organization: object, odd: dict[str, object]
) -> None:
    said = {"session": "r", "project": "shop", "event": "result", "tool": "bash", **odd}

    assert api.post("hooks/generic", said).status_code == 200

    with tenancy.unit():
        told = [str(row.body) for row in Turn.done.all()]
    assert any("before" in one for one in told)


@pytest.mark.parametrize(
    "said",
    [
        {"event": "message", "message": "The password is `hunter2Xq9!zLm4` here."},
        {
            "event": "result",
            "tool": "bash",
            "arguments": {"command": "login --password=hunter2Xq9!zLm4"},
            "result": "password = hunter2Xq9!zLm4",
        },
        {"event": "result", "tool": "bash", "error": "password = hunter2Xq9!zLm4"},
    ],
)
def test_no_part_of_a_payload_keeps_a_secret(
    api: Api, in_organization: object, said: dict[str, object]
) -> None:
    answer = api.post("hooks/generic", {"session": "r", "project": "shop", **said})

    with tenancy.unit():
        kept = list(Turn.all_streams.values())
    assert answer.status_code == 200
    assert kept
    assert "hunter2" not in json.dumps([*kept, answer.json()], default=str)


@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"session": 7, "event": ["prompt"]},
        {"session": "r", "event": "prompt", "prompt": {"text": "x"}},
        {"session": "r", "event": "result", "tool": "read", "arguments": "not JSON", "result": 5},
        {"session": "r", "event": "result", "calls": [None, {"tool": "read", "arguments": []}]},
        {"session": "x" * 5_000, "event": "prompt", "prompt": "y" * 300_000},
        {"session": "r", "event": "end"},
    ],
)
def test_odd_payloads_break_nothing(api: Api, payload: dict[str, object]) -> None:
    answer = api.post("hooks/generic", {"project": "shop", **payload})

    assert answer.status_code in {200, 422}
