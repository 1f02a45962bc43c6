"""What each point of a session gives over REST: once, within its tokens, where it is on."""

from itertools import product
from typing import Any

import pytest

from memory.experiments.points import POINTS, Point
from memory.text import tokens
from tests.support.api import Api

FILE = "src/cart/prices.py"
WARNING = "Rounding in this file is half to even, so totals differ from invoices by a cent."
ROOT = "/home/ada/shop"
TASK = "clear the price cache of the cart before each test"
KNOWN = "The price cache of the cart must be cleared before each test, or totals are stale."


def opened(api: Api, **fields: Any) -> str:
    """Open a session in the project `shop`; return its id."""
    found: str = api.post("sessions", {"project": "shop", **fields}).json()["id"]
    return found


def at(api: Api, point: str, session: str, **fields: Any) -> Any:
    """Ask what a point gives; return the body."""
    body = {"query": TASK, "point": point, "session": session, **fields}
    answer = api.post("context", body)
    assert answer.status_code == 200, answer.content
    return answer.json()


def told(api: Api, session: str, *events: dict[str, Any]) -> None:
    """Append events to a session, numbered from 1."""
    rows = [{"sequence": place, **event} for place, event in enumerate(events, start=1)]
    assert api.post(f"sessions/{session}/events", {"events": rows}).status_code == 200


def left_unfinished(api: Api, **fields: Any) -> None:
    """Run a session that edits the file and is given up."""
    session = opened(api, cwd=ROOT, **fields)
    edit = call("Edit", file_path=f"{ROOT}/{FILE}")
    end = {"kind": "session_complete", "outcome": "abandoned"}
    told(api, session, {"kind": "prompt", "text": TASK}, edit, end)
    api.post(f"sessions/{session}/end")


def call(name: str, **arguments: Any) -> dict[str, Any]:
    """Return the event of a tool's call."""
    return {"kind": "tool_call", "name": name, "step": 6, "args": arguments}


def test_the_system_prompt_is_given_one_brief(api: Api) -> None:
    memory = api.remember(KNOWN)
    session = opened(api)

    first = at(api, "system_prompt", session)
    again = at(api, "system_prompt", session)

    assert KNOWN in first["text"]
    assert [one["id"] for one in first["memories"]] == [memory["id"]]
    assert (again["text"], again["memories"]) == ("", [])
    assert api.get(f"sessions/{session}/injections").json()["memories"] == 1


def test_a_tool_result_is_given_the_warnings_of_its_files_once(api: Api) -> None:
    api.remember(WARNING, related_files=[FILE])
    session = opened(api, cwd="/home/ada/shop")

    first = at(api, "tool_result", session, working_files=[f"/home/ada/shop/{FILE}"])
    again = at(api, "step", session, working_files=[FILE])

    assert WARNING in first["text"]
    assert first["tokens"] == tokens.count(text=first["text"])
    assert first["tokens"] <= POINTS[Point.TOOL_RESULT].tokens
    assert again["text"] == ""


def test_the_first_message_is_told_unfinished_work_once(api: Api) -> None:
    left_unfinished(api, branch="fix/cache")
    session = opened(api, cwd=ROOT, branch="fix/cache")

    first, *again = (at(api, "first_message", session, modules=["src/cart"]) for _ in range(3))

    assert first["work_state"]["files"] == [FILE]
    assert FILE in first["text"]
    assert [(one["text"], one.get("prefetch"), one.get("work_state")) for one in again] == [
        ("", None, None),
        ("", None, None),
    ]


def at_all(api: Api) -> set[tuple[str, int, int]]:
    """Ask each point of a session; return texts, numbers of memories and tokens."""
    session = opened(api)
    given = [
        at(api, point.value, session, working_files=[FILE], modules=["src/cart"]) for point in Point
    ]
    return {(one["text"], len(one["memories"]), one["tokens"]) for one in given}


@pytest.mark.parametrize("is_paused", [True, False])
def test_where_hooks_are_off_or_paused_no_point_gives_anything(api: Api, is_paused: bool) -> None:
    api.remember(WARNING, related_files=[FILE])
    api.remember(KNOWN)
    off = dict.fromkeys(("brief", "prefetch", "warnings", "step", "planner"), False)
    if is_paused:
        api.post("projects/shop/pause")
    else:
        api.patch("projects/shop/hooks", off)

    assert at_all(api) == {("", 0, 0)}


def test_a_point_of_somebody_elses_session_is_not_there(
    api: Api, member_api: Api, other_api: Api
) -> None:
    session = opened(api)

    for stranger, point in product((member_api, other_api), Point):
        body = {"query": TASK, "point": point.value, "session": session}
        assert stranger.post("context", body).status_code == 404


def test_no_point_gives_what_is_personal_to_somebody_else(api: Api, member_api: Api) -> None:
    modules = {"related_files": [FILE], "related_modules": ["src/cart"], "scope": "personal"}
    for type in ("gotcha", "prefetch_pattern", "dead_end"):
        api.remember(f"{KNOWN} ({type})", type=type, **modules)

    assert at_all(member_api) == {("", 0, 0)}


def test_a_point_without_a_session_is_refused_by_its_place(api: Api) -> None:
    answer = api.post("context", {"query": TASK, "point": "step"})

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "/session"


def test_between_steps_a_recorded_entry_is_answered_where_the_project_asks(api: Api) -> None:
    api.remember(KNOWN)
    session = opened(api)
    told(api, session, call("mcp__cairn__add_memory", content=TASK))

    usual = at(api, "step", session)
    api.patch("projects/shop/hooks", {"step_recorded": True})
    asked = at(api, "step", session)
    again = at(api, "step", session)

    assert usual["text"] == again["text"] == ""
    assert KNOWN in asked["text"]
    assert asked["tokens"] <= POINTS[Point.STEP].tokens


def test_an_agent_is_not_told_what_it_has_just_stored(api: Api) -> None:
    api.patch("projects/shop/hooks", {"step_recorded": True})
    session = opened(api)
    api.remember(KNOWN)
    told(api, session, call("mcp__cairn__add_memory", content=KNOWN))

    assert at(api, "step", session)["text"] == ""


def test_between_steps_searches_are_answered_where_the_project_asks(api: Api) -> None:
    api.remember(KNOWN)
    session = opened(api)
    searches = ("invoice", r"price\s+cache", "cart.*totals")
    told(api, session, *(call("Grep", pattern=one) for one in searches))

    usual = at(api, "step", session)
    api.patch("projects/shop/hooks", {"step_searched": True})
    asked = at(api, "step", session)

    assert usual["text"] == ""
    assert KNOWN in asked["text"]


def test_files_come_before_entries_and_entries_before_searches(api: Api) -> None:
    api.patch("projects/shop/hooks", {"step_recorded": True, "step_searched": True})
    api.remember(WARNING, related_files=[FILE])
    api.remember(KNOWN)
    session = opened(api)
    told(
        api,
        session,
        call("Grep", pattern="price cache"),
        call("mcp__cairn__add_memory", content=TASK),
        call("Read", file_path=FILE),
    )

    first, second = at(api, "step", session), at(api, "step", session)

    assert WARNING in first["text"]
    assert KNOWN not in first["text"]
    assert KNOWN in second["text"]


def test_what_is_told_beside_memories_stands_in_the_ledger_of_who_was_told(
    api: Api, member_api: Api
) -> None:
    left_unfinished(api)
    session = opened(api, cwd=ROOT, shared=True)

    given = at(api, "first_message", session)
    own = api.get(f"sessions/{session}/injections").json()
    theirs = member_api.get(f"sessions/{session}/injections").json()

    assert given["memories"] == own["items"] == []
    assert own["tokens"] == own["beside"] == given["tokens"] > 0
    assert (theirs["beside"], theirs["tokens"]) == (0, 0)
