"""What each point of a session gives over REST, by trust; pauses; the ledger."""

from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from accounts import tenancy
from accounts.authentication import entered
from accounts.caller import Caller
from memory.experiments.points import POINTS, Point
from memory.index import queries as index_queries
from memory.records.models import Memory
from memory.text import tokens
from teams.trust import TrustLevel
from tests.support.api import Api, agent
from tests.support.trusting import stand

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
    return heard(api, name, event="result", tool="read", arguments={"path": FILE})


def heard(api: Api, name: str, **event: Any) -> str:
    """Tell of an event of a session of the project; return what is given."""
    answer = api.post("hooks/generic", {"session": name, "project": "shop", **event})
    return str(answer.json().get("context", ""))


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
        assert {stranger.post(*one).status_code for one in asks} == {404}
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

    at_file = touched(member_api)
    at_prompt = heard(member_api, "p", event="prompt", prompt=WARNING)
    own = touched(api)

    assert (at_file, at_prompt) == ("", "")
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


def test_context_has_one_shape_at_every_point_and_needs_no_question(api: Api) -> None:
    api.remember(WARNING, related_files=[FILE])
    asked = {"working_files": [FILE], "modules": ["src/cart"]}
    session = opened(api)

    nothing = api.post("context", {"project": "shop"})
    given = [
        api.post("context", {"point": one.value, "session": session, **asked}) for one in Point
    ]
    packed = api.post("context", {"project": "shop", **asked}).json()

    assert nothing.status_code == 422
    assert nothing.json()["errors"][0]["pointer"] == "/query"
    assert {one.status_code for one in given} == {200}
    answers = [packed, *(one.json() for one in given)]
    assert {frozenset(one) for one in answers} == {frozenset(packed)}
    assert len({frozenset(memory) for one in answers for memory in one["memories"]}) == 1
    assert [one["memory"]["content"] for one in packed["memories"]] == [WARNING]
    assert any(one["memories"] for one in answers[1:])


def told(api: Api, session: str, *events: dict[str, Any]) -> None:
    """Append events to a session, numbered from 1."""
    rows = [{"sequence": place, **event} for place, event in enumerate(events, start=1)]
    assert api.post(f"sessions/{session}/events", {"events": rows}).status_code == 200


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


def test_no_point_gives_anything_without_a_session_personal_to_another_or_where_hooks_are_off(
    api: Api, member_api: Api
) -> None:
    modules = {"related_files": [FILE], "related_modules": ["src/cart"], "scope": "personal"}
    for type in ("gotcha", "prefetch_pattern", "dead_end"):
        api.remember(f"{KNOWN} ({type})", type=type, **modules)
    personal = at_all(member_api)
    api.remember(WARNING, related_files=[FILE])
    api.remember(KNOWN)
    off = dict.fromkeys(("brief", "prefetch", "warnings", "step", "planner"), False)
    api.patch("projects/shop/hooks", off)

    nowhere = api.post("context", {"query": TASK, "point": "step"})

    assert personal == at_all(api) == {("", 0, 0)}
    assert nowhere.status_code == 422
    assert nowhere.json()["errors"][0]["pointer"] == "/session"


def test_between_steps_files_are_answered_first_and_entries_where_the_project_asks(
    api: Api,
) -> None:
    api.remember(WARNING, related_files=[FILE])
    api.remember(KNOWN)
    session = opened(api)
    own = api.remember("The cache of prices in the cart is mine: clear it before a test.")
    stored = call("mcp__cairn__add_memory", content=TASK)
    told(api, session, stored, call("Read", file_path=FILE))

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
    before, end = opened(api, cwd=ROOT), {"kind": "session_complete", "outcome": "abandoned"}
    edit = call("Edit", file_path=f"{ROOT}/{FILE}")
    told(api, before, {"kind": "prompt", "text": TASK}, edit, end)
    api.post(f"sessions/{before}/end")
    session = opened(api, cwd=ROOT, shared=True)

    given, again = (at(api, "first_message", session) for _ in range(2))
    own = api.get(f"sessions/{session}/injections").json()
    theirs = member_api.get(f"sessions/{session}/injections").json()

    assert (given["work_state"]["files"], given["prefetch"]["files"]) == ([FILE], [])
    assert (again["text"], again["prefetch"], again["work_state"]) == ("", None, None)
    assert given["memories"] == own["items"] == []
    assert own["tokens"] == own["beside"] == given["tokens"] > 0
    assert (theirs["beside"], theirs["tokens"]) == (0, 0)


def test_it_says_where_one_stands_and_what_is_missing_and_tells_nobody_else(
    api: Api, member_api: Api, member_caller: Caller, now: datetime
) -> None:
    with entered(member_caller):
        stand(member_caller, "shop", TrustLevel.CONFIDENT, now)

    found, theirs = (one.get("projects/shop/trust").json() for one in (api, member_api))
    told = api.get("audit").content.decode()

    assert (found["level"], found["injects_from_confidence"], found["asking"]) == (
        "cautious", 0.8, "each",
    )  # fmt: skip
    assert (found["next"]["sessions_to_go"], found["next"]["confirmations_to_go"]) == (3, 1)
    assert found["open_to"] == ["cautious", "autonomous"]
    assert (theirs["level"], "confident" in told) == ("confident", False)


def test_a_token_lowers_its_persons_level_and_does_not_raise_it(
    member_api: Api, member_caller: Caller, now: datetime
) -> None:
    with entered(member_caller):
        stand(member_caller, "shop", TrustLevel.CONFIDENT, now)

    lowered = member_api.call("PUT", "projects/shop/trust", {"level": "standard"})
    raised = member_api.call("PUT", "projects/shop/trust", {"level": "confident"})

    assert (lowered.status_code, raised.status_code) == (200, 403)
    assert lowered.json()["is_chosen"] is True
    assert raised.json()["hint"]
    for body in ({}, {"level": "boundless"}, {"level": 2}, {"levels": "cautious"}):
        answer = member_api.call("PUT", "projects/shop/trust", body)
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["pointer"].startswith("/level")


def test_a_brief_gives_from_the_confidence_of_the_level_and_never_what_is_tainted_or_waits(
    api: Api, caller: Caller, now: datetime
) -> None:
    id = api.remember(WARNING)["id"]
    sure = {"confidence": 0.99}
    for level, least in ((TrustLevel.CAUTIOUS, 0.80), (TrustLevel.AUTONOMOUS, 0.45)):
        with entered(caller):
            stand(caller, "shop", level, now)

        assert WARNING not in briefed(api, caller, id, confidence=least - 0.01)
        assert WARNING in briefed(api, caller, id, confidence=least)
        assert WARNING not in briefed(api, caller, id, **sure, taint_reason="web: evil.example")
        assert WARNING not in briefed(api, caller, id, **sure, needs_review=True)


def briefed(api: Api, caller: Caller, memory_id: str, **fields: object) -> str:
    """Change a memory, begin a session about it, and return what its agent is given."""
    fields = {"taint_reason": "", "needs_review": False, **fields}
    with entered(caller), tenancy.unit():
        Memory.objects.filter(pk=memory_id).update(**fields)
        index_queries.sync_filters(memory_ids=(UUID(memory_id),))
    return heard(api, str(uuid4()), event="prompt", prompt=WARNING)
