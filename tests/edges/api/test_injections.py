"""What each point of a session gives over REST, once and where it is on; pauses; the ledger."""

from typing import Any

from accounts.caller import Caller
from memory.experiments.points import POINTS, Point
from memory.text import tokens
from tests.support.api import Api, agent

FILE = "src/cart/prices.py"
ROOT = "/home/ada/shop"
TASK = "clear the price cache of the cart before each test"
KNOWN = "The price cache of the cart must be cleared before each test, or totals are stale."
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


def test_from_the_fifth_step_on_it_is_given_once_and_the_ledger_says_what_and_where(
    api: Api,
) -> None:
    memory = api.remember(WARNING, related_files=[FILE])
    session = opened(api)

    early, due, again = (stepped(api, session, step, files=[FILE]) for step in (4, 5, 6))
    ledger = api.get(f"sessions/{session}/injections").json()
    elsewhere = opened(api, cwd=ROOT)
    point, *more = (
        at(api, "tool_result", elsewhere, working_files=[f"{ROOT}/{FILE}"]) for _ in range(2)
    )

    assert WARNING in point["text"]
    assert [one["text"] for one in more] == [""]
    assert (early["text"], again["text"]) == ("", "")
    assert WARNING in due["text"]
    assert due["tokens"] == tokens.count(text=due["text"]) <= POINTS[Point.STEP].tokens
    assert [(one["memory_id"], one["point"]) for one in ledger["items"]] == [(memory["id"], "step")]
    assert ledger["tokens"] == due["tokens"] == sum(one["tokens"] for one in ledger["items"])
    assert ledger["memories"] == 1


def test_others_have_neither_steps_nor_points_nor_a_ledger_of_a_personal_session(
    api: Api, member_api: Api, other_api: Api
) -> None:
    session = opened(api)
    asks = [("context", {"query": TASK, "point": one.value, "session": session}) for one in Point]
    asks.append((f"sessions/{session}/step", {"step": 5, "files": [FILE]}))

    for stranger in (member_api, other_api):
        assert {stranger.post(path, body).status_code for path, body in asks} == {404}
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


def test_nobody_is_given_what_is_not_theirs(api: Api, other_api: Api, member_api: Api) -> None:
    api.post("projects", {"slug": "vault", "name": "Vault", "open_to_all": False})
    api.remember(f"{WARNING} Mine.", related_files=[FILE], scope="personal")
    api.remember(f"{WARNING} Of the vault.", related_files=[FILE], project="vault")
    other_api.remember(f"{WARNING} Theirs.", related_files=[FILE])
    asked = {"session": "p", "event": "prompt", "prompt": WARNING, "project": "shop"}

    at_file = touched(member_api)
    at_prompt = member_api.post("hooks/generic", asked).json()
    own = touched(api)

    assert (at_file, at_prompt) == ("", {})
    assert "Mine." in own
    assert "vault" not in own
    assert "Theirs." not in own


def test_a_paused_project_or_token_is_told_and_given_nothing_until_it_is_resumed(
    api: Api, member_api: Api
) -> None:
    api.remember(WARNING, related_files=[FILE])
    mine = api.get("me").json()["token_id"]

    paused = api.post("projects/shop/pause", {"paused": True}).json()
    silent = touched(api)
    version = api.get("projects/shop").headers["ETag"]
    api.patch("projects/shop", {"name": "Web shop"}, **{"If-Match": version})
    still = api.get("projects/shop/pause").json()
    api.post("projects/shop/pause", {"paused": False})
    own = api.post("projects/shop/pause", {"token": mine}).json()

    assert paused == still == {"paused": True, "this_token_paused": False}
    assert own == {"paused": False, "this_token_paused": True}
    assert silent == touched(api) == ""
    assert WARNING in touched(member_api)
    api.post("projects/shop/pause", {"token": mine, "paused": False})
    assert WARNING in touched(api)


def test_all_agents_of_a_person_are_paused_together_and_resumed_so_or_each_by_itself(
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
    other.post("projects/shop/pause", {"token": token, "paused": False})
    assert [WARNING in touched(one, f"b{n}") for n, one in enumerate(own)] == [False, True, False]
    api.post("projects/shop/pause", {"mine": True, "paused": False})
    assert [WARNING in touched(one, f"c{n}") for n, one in enumerate(own)] == [True] * 3


def test_a_pause_is_of_one_token_or_of_all_and_only_of_what_is_ones_own(
    api: Api, member_api: Api
) -> None:
    token = api.get("me").json()["token_id"]

    refused = api.post("projects/shop/pause", {"mine": True, "token": token})

    assert refused.status_code == 422
    assert refused.json()["errors"][0]["pointer"] == "/mine"
    for body in ({}, {"token": token}):
        assert member_api.post("projects/shop/pause", body).status_code in {403, 404}
    assert api.get("projects/shop/pause").json() == {"paused": False, "this_token_paused": False}


def test_each_hook_is_switched_by_itself_by_who_may_and_off_stays_off(
    api: Api, member_api: Api, other_api: Api
) -> None:
    api.remember(WARNING, related_files=[FILE])

    usual = api.get("projects/shop/hooks").json()
    off = api.patch("projects/shop/hooks", {"warnings": False}).json()
    silent = touched(api)
    api.patch("projects/shop/hooks", {"step_recorded": True})
    for body in ({}, {"whisper": True}, {"brief": "no"}):
        assert api.patch("projects/shop/hooks", body).status_code == 422
    assert member_api.patch("projects/shop/hooks", {"step": False}).status_code == 403

    assert usual["warnings"] is usual["brief"] is True
    assert usual["step_recorded"] is usual["step_searched"] is False
    assert off == {**usual, "warnings": False}
    assert silent == touched(api) == ""
    assert api.get("projects/shop/hooks").json() == {**off, "step_recorded": True}
    assert other_api.get("projects/shop/hooks").json() == usual


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


def at_all(api: Api) -> set[tuple[str, int, int]]:
    """Ask each point of a session; return texts, numbers of memories and tokens."""
    session = opened(api)
    given = [
        at(api, point.value, session, working_files=[FILE], modules=["src/cart"]) for point in Point
    ]
    return {(one["text"], len(one["memories"]), one["tokens"]) for one in given}


def test_where_hooks_are_off_no_point_gives_anything(api: Api) -> None:
    api.remember(WARNING, related_files=[FILE])
    api.remember(KNOWN)
    off = dict.fromkeys(("brief", "prefetch", "warnings", "step", "planner"), False)
    api.patch("projects/shop/hooks", off)

    assert at_all(api) == {("", 0, 0)}


def test_no_point_gives_what_is_personal_to_somebody_else(api: Api, member_api: Api) -> None:
    modules = {"related_files": [FILE], "related_modules": ["src/cart"], "scope": "personal"}
    for type in ("gotcha", "prefetch_pattern", "dead_end"):
        api.remember(f"{KNOWN} ({type})", type=type, **modules)

    assert at_all(member_api) == {("", 0, 0)}


def test_a_point_without_a_session_is_refused_by_its_place(api: Api) -> None:
    answer = api.post("context", {"query": TASK, "point": "step"})

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "/session"


def test_between_steps_files_are_answered_first_and_entries_where_the_project_asks(
    api: Api,
) -> None:
    api.remember(WARNING, related_files=[FILE])
    api.remember(KNOWN)
    session = opened(api)
    own = api.remember("The cache of prices in the cart is mine: clear it before a test.")
    told(
        api,
        session,
        call("mcp__cairn__add_memory", content=TASK),
        call("Read", file_path=FILE),
    )

    first, usual = at(api, "step", session), at(api, "step", session)
    api.patch("projects/shop/hooks", {"step_recorded": True})
    asked, again = at(api, "step", session), at(api, "step", session)

    assert WARNING in first["text"]
    assert KNOWN not in first["text"]
    assert usual["text"] == again["text"] == ""
    assert KNOWN in asked["text"]
    assert own["content"] not in asked["text"]  # it has just stored that itself


def test_what_is_told_beside_memories_stands_in_the_ledger_of_who_was_told(
    api: Api, member_api: Api
) -> None:
    left_unfinished(api)
    session = opened(api, cwd=ROOT, shared=True)

    given, again = (at(api, "first_message", session) for _ in range(2))
    own = api.get(f"sessions/{session}/injections").json()
    theirs = member_api.get(f"sessions/{session}/injections").json()

    assert (given["work_state"]["files"], given["prefetch"]["files"]) == ([FILE], [])
    assert (again["text"], again["prefetch"], again["work_state"]) == ("", None, None)
    assert given["memories"] == own["items"] == []
    assert own["tokens"] == own["beside"] == given["tokens"] > 0
    assert (theirs["beside"], theirs["tokens"]) == (0, 0)
