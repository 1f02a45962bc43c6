"""What is given back between steps, its ledger, and pauses that hold, over REST."""

from typing import Any

import pytest

from accounts.caller import Caller
from memory.experiments.points import POINTS, Point
from memory.text import tokens
from tests.support.api import Api, agent

FILE = "src/cart/prices.py"
WARNING = "Rounding in this file is half to even, so totals differ from invoices by a cent."


def opened(api: Api, **fields: Any) -> str:
    """Open a session in the project `shop`; return its id."""
    found: str = api.post("sessions", {"project": "shop", **fields}).json()["id"]
    return found


def stepped(api: Api, session: str, step: int = 5, **fields: Any) -> Any:
    """Ask between two steps; return the body."""
    answer = api.post(f"sessions/{session}/step", {"step": step, **fields})
    assert answer.status_code == 200, answer.content
    return answer.json()


def touched(api: Api, name: str = "r") -> str:
    """Tell of a file that was read; return what is given."""
    body = {"session": name, "event": "result", "tool": "read", "arguments": {"path": FILE}}
    text: str = api.post("hooks/generic", {**body, "project": "shop"}).json().get("context", "")
    return text


def test_before_the_fifth_step_nothing_is_given_and_then_once(api: Api) -> None:
    api.remember(WARNING, related_files=[FILE])
    session = opened(api)

    early, due, again = (stepped(api, session, step, files=[FILE]) for step in (4, 5, 6))

    assert (early["text"], again["text"]) == ("", "")
    assert WARNING in due["text"]
    assert due["tokens"] == tokens.count(text=due["text"]) <= POINTS[Point.STEP].tokens


def test_without_files_those_of_the_last_events_are_meant(api: Api) -> None:
    api.remember(WARNING, related_files=[FILE])
    session = opened(api)
    call = {"sequence": 1, "kind": "tool_call", "name": "Read", "args": {"file_path": FILE}}
    api.post(f"sessions/{session}/events", {"events": [call]})

    assert WARNING in stepped(api, session)["text"]


def test_the_ledger_says_what_was_given_where_and_for_what(api: Api) -> None:
    memory = api.remember(WARNING, related_files=[FILE])
    session = opened(api)
    given = stepped(api, session, files=[FILE])

    ledger = api.get(f"sessions/{session}/injections").json()

    assert [(one["memory_id"], one["point"]) for one in ledger["items"]] == [(memory["id"], "step")]
    assert ledger["tokens"] == given["tokens"] == sum(one["tokens"] for one in ledger["items"])
    assert ledger["memories"] == 1


def test_others_have_neither_steps_nor_a_ledger_of_a_personal_session(
    api: Api, member_api: Api, other_api: Api
) -> None:
    session = opened(api)

    for stranger in (member_api, other_api):
        ask = stranger.post(f"sessions/{session}/step", {"step": 5, "files": [FILE]})
        assert ask.status_code == 404
        assert stranger.get(f"sessions/{session}/injections").status_code == 404


def test_the_ledger_of_a_shared_session_hides_what_only_its_opener_sees(
    api: Api, member_api: Api
) -> None:
    api.remember(WARNING, related_files=[FILE], scope="personal")
    session = opened(api, shared=True)
    given = stepped(api, session, files=[FILE])

    own = api.get(f"sessions/{session}/injections").json()
    theirs = member_api.get(f"sessions/{session}/injections").json()

    assert own["memories"] == len(given["memories"]) == 1
    assert theirs == {"items": [], "memories": 0, "beside": 0, "tokens": 0}


def test_a_paused_project_or_token_is_told_and_given_nothing_until_it_is_resumed(
    api: Api, member_api: Api
) -> None:
    api.remember(WARNING, related_files=[FILE])
    mine = api.get("me").json()["token_id"]

    paused = api.post("projects/shop/pause", {"paused": True}).json()
    silent = touched(api)
    still = api.get("projects/shop/pause").json()
    api.post("projects/shop/pause", {"paused": False})
    own = api.post("projects/shop/pause", {"token": mine}).json()

    assert paused == still == {"paused": True, "this_token_paused": False}
    assert own == {"paused": False, "this_token_paused": True}
    assert silent == touched(api) == ""
    assert WARNING in touched(member_api)
    api.post("projects/shop/pause", {"token": mine, "paused": False})
    assert WARNING in touched(api)


def test_all_agents_of_a_person_are_paused_and_resumed_together_or_one_by_one(
    api: Api, caller: Caller, member_api: Api
) -> None:
    api.remember(WARNING, related_files=[FILE])
    other = agent(caller)
    token = other.get("me").json()["token_id"]

    done = api.post("projects/shop/pause", {"mine": True})
    own = (api, other, agent(caller))

    assert done.json() == {"paused": False, "this_token_paused": True}
    assert [WARNING in touched(one, f"a{n}") for n, one in enumerate(own)] == [False] * 3
    assert WARNING in touched(member_api)
    api.post("projects/shop/pause", {"token": token, "paused": False})
    assert [WARNING in touched(one, f"b{n}") for n, one in enumerate(own)] == [False, True, False]
    api.post("projects/shop/pause", {"mine": True, "paused": False})
    assert [WARNING in touched(one, f"c{n}") for n, one in enumerate(own)] == [True] * 3


def test_an_agent_that_resumes_itself_resumes_no_other(api: Api, caller: Caller) -> None:
    api.remember(WARNING, related_files=[FILE])
    api.post("projects/shop/pause", {"mine": True})
    narrow = agent(caller)

    narrow.post(
        "projects/shop/pause", {"token": narrow.get("me").json()["token_id"], "paused": False}
    )

    assert touched(api, "a") == ""
    assert WARNING in touched(narrow, "b")


def test_a_pause_is_of_one_token_or_of_all_of_ones_own(api: Api) -> None:
    token = api.get("me").json()["token_id"]

    refused = api.post("projects/shop/pause", {"mine": True, "token": token})

    assert refused.status_code == 422
    assert refused.json()["errors"][0]["pointer"] == "/mine"
    assert api.get("projects/shop/pause").json()["this_token_paused"] is False


def test_a_change_of_the_project_keeps_its_pause(api: Api) -> None:
    api.post("projects/shop/pause")
    version = api.get("projects/shop").headers["ETag"]

    changed = api.patch("projects/shop", {"name": "Web shop"}, **{"If-Match": version})

    assert changed.status_code == 200
    assert api.get("projects/shop/pause").json()["paused"] is True


@pytest.mark.parametrize("body", [{}, {"token": "01936f2e-7a10-7c3e-9a53-2f8f2f3c1b11"}])
def test_a_member_pauses_neither_a_project_nor_the_token_of_somebody_else(
    member_api: Api, body: dict[str, str]
) -> None:
    assert member_api.post("projects/shop/pause", body).status_code in {403, 404}


def test_each_hook_is_switched_by_itself_and_off_stays_off(api: Api) -> None:
    api.remember(WARNING, related_files=[FILE])

    usual = api.get("projects/shop/hooks").json()
    off = api.patch("projects/shop/hooks", {"warnings": False}).json()
    silent = touched(api)
    api.patch("projects/shop/hooks", {"step_recorded": True})

    assert usual["warnings"] is usual["brief"] is True
    assert usual["step_recorded"] is usual["step_searched"] is False
    assert off == {**usual, "warnings": False}
    assert silent == touched(api) == ""
    assert api.get("projects/shop/hooks").json() == {**off, "step_recorded": True}


def test_without_briefs_the_first_prompt_is_answered_emptily(api: Api) -> None:
    api.remember(WARNING)
    asked = {"event": "prompt", "prompt": WARNING, "project": "shop"}

    told = api.post("hooks/generic", {**asked, "session": "one"}).json()
    api.patch("projects/shop/hooks", {"brief": False})
    silent = api.post("hooks/generic", {**asked, "session": "two"}).json()

    assert WARNING in told["context"]
    assert "context" not in silent


@pytest.mark.parametrize("body", [{}, {"whisper": True}, {"brief": "no"}])
def test_what_is_no_switch_of_a_hook_is_refused_and_changes_nothing(
    api: Api, body: dict[str, object]
) -> None:
    before = api.get("projects/shop/hooks").json()

    assert api.patch("projects/shop/hooks", body).status_code == 422
    assert api.get("projects/shop/hooks").json() == before


def test_a_member_switches_no_hooks_and_nobody_those_of_another_organization(
    api: Api, member_api: Api, other_api: Api
) -> None:
    refused = member_api.patch("projects/shop/hooks", {"step": False})
    api.patch("projects/shop/hooks", {"step": False})

    assert refused.status_code == 403
    assert other_api.get("projects/shop/hooks").json()["step"] is True
