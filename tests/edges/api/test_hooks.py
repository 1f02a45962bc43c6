"""Hooks of agents' programs over REST: a brief at first, warnings at files, and all is kept."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.test import override_settings

from accounts import tenancy
from memory.records.models import Memory
from memory.sessions.actions import scratchpads
from memory.sessions.actions.append_events import MOST_OF_SESSION
from memory.sessions.actions.append_turns import MOST_OF_SESSION as MOST_OF_TURNS
from memory.sessions.models import Session, Stream, Turn
from tests.support.api import STATEMENT, Api

PAYLOADS = Path(__file__).parents[2] / "unit/memory/injection/harnesses/payloads.json"
EVENTS: dict[str, Any] = json.loads(PAYLOADS.read_text())
FILE = "src/cart/prices.py"
WARNING = "Rounding in this file is half to even, so totals differ from invoices by a cent."

pytestmark = pytest.mark.usefixtures("in_organization")


def told(api: Api, harness: str, event: str, **headers: str) -> Any:
    """Send one of the payloads; return the answer's body."""
    rows = EVENTS[harness]
    answer = api.post(f"hooks/{harness}", {**rows["fields"], **rows[event]}, **headers)
    assert answer.status_code == 200, answer.content
    return answer.json()


def text_of(answer: Any) -> str:
    """Return the context of an answer of any shape."""
    inner = answer.get("hookSpecificOutput", answer)
    names = ("additionalContext", "additional_context", "contextModification", "context")
    return next((inner[name] for name in names if name in inner), "")


def sessions() -> list[Session]:
    """Return the sessions there are."""
    with tenancy.unit():
        return list(Session.objects.select_related("project").order_by("opened_at", "id"))


def the_session() -> Session:
    """Return the only one."""
    (row,) = sessions()
    return row


@pytest.mark.parametrize("harness", sorted(EVENTS))
def test_each_program_is_briefed_of_its_task_and_warned_of_its_file_once(
    api: Api, harness: str
) -> None:
    api.remember(STATEMENT)
    api.remember(WARNING, related_files=[FILE])
    api.remember("Deploys need the tunnel.", related_files=["deploy.sh"])

    at_prompt, at_file, *again = (
        text_of(told(api, harness, event)) for event in ("prompt", "read", "prompt", "read")
    )

    takes_answers = harness not in {"cursor", "copilot"}  # else the next tool carries the brief
    assert (STATEMENT in at_prompt, STATEMENT in at_file) == (takes_answers, not takes_answers)
    assert WARNING in at_prompt + at_file
    assert "tunnel" not in at_file
    assert again == ["", ""]


def test_every_event_of_a_session_is_kept_under_one_session_of_its_project(api: Api) -> None:
    for event in ("open", "prompt", "read", "reply", "unknown", "end"):
        told(api, "claude-code", event)

    row = the_session()
    with tenancy.unit():
        turns = Turn.objects.filter(session=row).order_by("sequence")
        said = list(turns.values_list("role", "text"))
        bodies = Turn.done.order_by("sequence").values_list("body", flat=True)
        done = [body["kind"] for body in bodies if body]
    assert (row.external_id, row.agent, row.state) == ("claude-code/run-1", "claude-code", "ended")
    assert row.project is not None
    assert row.project.slug == "shop"  # called like the folder
    assert done == ["prompt", "tool_call", "tool_result", "reasoning"]
    assert said == [("user", "Clear the price cache."), ("assistant", "Done.")]


def test_a_project_is_named_by_header_or_repository_and_the_session_stays_in_it(api: Api) -> None:
    api.post("projects", {"slug": "depot", "name": "Depot"})
    body = {"event": "prompt", "prompt": "Go on.", "cwd": "/tmp/x"}
    for session, headers in (
        ("named", {"X-Cairn-Project": "depot"}),
        ("named", {}),
        ("r", {"X-Cairn-Repository": "git@code.test:acme/Shop.git"}),
    ):
        api.post("hooks/generic", {**body, "session": session}, **headers)

    rows = sessions()
    assert [row.project and row.project.slug for row in rows] == ["depot", "shop"]
    assert "code.test" not in json.dumps([vars(row) for row in rows], default=str)


def test_where_in_its_repository_an_agent_began_is_kept(api: Api) -> None:
    for session, branch, commit in (
        ("a", "größe/fix".encode().decode("latin-1"), "0f" * 20),
        ("b", "HEAD", "HEAD; rm"),
        ("c", "fix password=Tr0ub4dor&3xyz", ""),
    ):
        body = {"session": session, "event": "start", "cwd": "/home/ada/shop"}
        where = {"X-Cairn-Branch": branch, "X-Cairn-Commit": commit}
        assert api.post("hooks/generic", body, **where).status_code == 200

    named, detached, secret = ((row.branch, row.commit) for row in sessions())
    assert named == ("größe/fix", "0f" * 20)
    assert detached == ("", "")
    assert "Tr0ub4dor" not in secret[0]


def test_files_have_their_names_in_the_repository_wherever_in_it_an_agent_works(api: Api) -> None:
    api.remember(WARNING, related_files=["frontend/x.ts"])
    here, path = "/home/ada/shop/backend", "/home/ada/shop/frontend/x.ts"
    call = {"tool": "Read", "arguments": {"path": path}, "result": "…"}
    read = {"session": "r", "event": "result", "cwd": here, **call}

    answer = api.post("hooks/generic", read, **{"X-Cairn-Root": "/home/ada/shop"})

    row = the_session()
    with tenancy.unit():
        state = scratchpads.settled(opened=scratchpads.read(row=row))
    assert row.project is not None
    assert (row.project.slug, row.root, row.cwd) == ("shop", "/home/ada/shop", here)
    assert (list(state.files), state.taint) == (["frontend/x.ts"], None)
    assert WARNING in text_of(answer.json())


def test_off_keeps_nothing_and_who_does_not_wait_is_heard_and_given_nothing(api: Api) -> None:
    api.remember(WARNING, related_files=[FILE])

    off = told(api, "generic", "read", **{"X-Cairn-Off": "1"})
    before = sessions()
    silent = told(api, "generic", "read", **{"X-Cairn-Waits": "0"})
    given = told(api, "generic", "read", **{"X-Cairn-Waits": "1"})

    assert (off, before, text_of(silent)) == ({}, [], "")
    assert WARNING in text_of(given)
    assert the_session().events == 4


def test_an_answer_that_comes_too_late_says_so_and_was_not_given(api: Api) -> None:
    api.remember(WARNING, related_files=[FILE])
    rows = EVENTS["generic"]

    with override_settings(HOOK_SECONDS=0.0):
        late = api.post("hooks/generic", {**rows["fields"], **rows["read"]})
    in_time = api.post("hooks/generic", {**rows["fields"], **rows["read"]})

    assert (late.json(), late.headers["X-Cairn-Silence"]) == ({}, "late")
    assert WARNING in text_of(in_time.json())
    assert "X-Cairn-Silence" not in in_time.headers


def test_an_unknown_event_is_answered_emptily_and_an_unknown_program_or_reader_refused(
    api: Api, reading_api: Api
) -> None:
    answer = api.post("hooks/emacs", {"session": "r"})
    reader = reading_api.post("hooks/generic", {"session": "r", "event": "start"})

    assert {text_of(told(api, harness, "unknown")) for harness in EVENTS} == {""}
    assert (answer.status_code, reader.status_code) == (404, 403)
    assert "claude-code" in answer.json()["hint"]


def test_what_waits_for_a_person_or_is_tainted_is_not_given(api: Api) -> None:
    waiting = api.remember(f"{WARNING} It waits.", related_files=[FILE])
    tainted = api.remember("Totals are wrong here, says a page.", related_files=[FILE])
    with tenancy.unit():
        Memory.objects.filter(pk=waiting["id"]).update(needs_review=True)
        Memory.objects.filter(pk=tainted["id"]).update(taint_reason="web: a.test")

    assert text_of(told(api, "generic", "read")) == ""


def test_each_window_program_and_person_has_sessions_of_its_own(api: Api, member_api: Api) -> None:
    for session in ("left", "right", "left"):
        payload = {"session": session, "event": "prompt", "prompt": "Clear the price cache."}
        api.post("hooks/generic", payload)
    told(api, "codex", "prompt")
    told(api, "generic", "prompt")
    told(member_api, "generic", "prompt")

    assert [row.state for row in sessions()] == ["open"] * 5


def test_a_session_of_no_project_is_given_nothing_of_projects(api: Api) -> None:
    api.remember(f"{WARNING} Of the shop.", related_files=[FILE])
    call = {"event": "result", "tool": "read", "arguments": {"path": FILE}}

    elsewhere = api.post("hooks/generic", {"session": "r", "cwd": "/tmp/x", **call}).json()
    asked = api.post("hooks/generic", {"session": "r", "event": "prompt", "prompt": WARNING}).json()

    assert (elsewhere, asked) == ({}, {})


def test_a_shared_session_of_somebody_else_is_not_taken_over(api: Api, member_api: Api) -> None:
    shared = {"project": "shop", "shared": True, "external_id": "generic/run-1"}
    api.post("sessions", shared)

    told(member_api, "generic", "prompt")

    assert sorted(one.scope for one in sessions()) == ["personal", "project"]


def test_saying_again_what_a_hook_gave_confirms_nothing(api: Api, member_api: Api) -> None:
    known = member_api.remember(WARNING, related_files=[FILE])
    other = member_api.remember(STATEMENT)
    assert WARNING in text_of(told(api, "generic", "read"))

    api.remember(WARNING, related_files=[FILE])
    api.remember(STATEMENT)

    confirmed = [api.get(f"memories/{one['id']}").json()["confirmations"] for one in (known, other)]
    assert confirmed == [known["confirmations"], other["confirmations"] + 1]


@pytest.mark.parametrize("event", ["read", "prompt"])
def test_what_a_full_session_has_no_room_for_goes_on_in_another_and_ends_with_it(
    api: Api, event: str
) -> None:
    told(api, "generic", event)
    api.remember(WARNING, related_files=[FILE])
    with tenancy.unit():
        if event == "read":  # no room for more events, or for more than one turn
            Session.objects.update(events=MOST_OF_SESSION, folded=MOST_OF_SESSION)
        else:
            row, at = Session.objects.get(), datetime.now(UTC)
            Turn.objects.bulk_create(
                Turn(session=row, sequence=one, role="user", text="Go.", at=at)
                for one in range(1, MOST_OF_TURNS - 1)
            )

    answer = text_of(told(api, "generic", event))

    first, second = sessions()
    with tenancy.unit():
        rows = Turn.all_streams.filter(session=second).exclude(stream=Stream.CHECKPOINT)
        stored = rows.count()
    assert WARNING in answer
    assert stored == 2
    assert (first.state, second.state) == ("ended", "open")
    assert second.external_id == f"{first.external_id}#2"
    assert first.thread == second.thread == first.external_id
    assert (second.project_id, second.audience) == (first.project_id, first.audience)
    told(api, "generic", "end")
    assert {one.state for one in sessions()} == {"ended"}


def test_what_a_tool_printed_is_not_lost_for_a_character(api: Api) -> None:
    tree: object = "the bottom"
    for _ in range(60):
        tree = {"in": tree}
    odd: tuple[dict[str, object], ...] = (
        {"result": "first\x00 after"},
        {"result": "second\ud83d after"},
        {"result": "third", "arguments": {"path": FILE, "tree": tree}},
        {"result": "fourth", "arguments": {"path": FILE, "size": 10**40}},
    )
    said = {"session": "r", "project": "shop", **RESULT}

    assert [api.post("hooks/generic", {**said, **one}).status_code for one in odd] == [200] * 4

    with tenancy.unit():
        told = " ".join(str(row.body) for row in Turn.done.all())
    assert all(word in told for word in ("first", "second", "third", "fourth"))


IN_WORDS = "The password is `hunter2Xq9!zLm4` here."
IN_SHELL = "password=hunter2Xq9!zLm4"
PRINTED = "password = hunter2Xq9!zLm4"
RESULT = {"event": "result", "tool": "bash"}


@pytest.mark.parametrize(
    "said",
    [
        {"event": "prompt", "prompt": IN_WORDS},
        {"event": "message", "message": IN_WORDS},
        {**RESULT, "arguments": {"command": f"login --{IN_SHELL}"}, "result": PRINTED},
        {**RESULT, "error": PRINTED},
        {"event": "prompt", "prompt": "Go on.", "session": IN_SHELL, "cwd": f"/{IN_SHELL}"},
    ],
)
def test_no_part_of_a_payload_keeps_a_secret(api: Api, said: dict[str, object]) -> None:
    payload = {"session": "r", "project": "shop", **said}
    answers = [api.post("hooks/generic", payload) for _ in range(2)]

    session = the_session()
    with tenancy.unit():
        kept = list(Turn.all_streams.filter(session=session).values())
    assert [answer.status_code for answer in answers] == [200, 200]
    assert kept
    shown = [vars(session), *kept, *(answer.json() for answer in answers)]
    assert "hunter2" not in json.dumps(shown, default=str)


def test_odd_payloads_break_nothing(api: Api) -> None:
    for payload in (
        {},
        {"session": 7, "event": ["prompt"]},
        {"session": "r", "event": "prompt", "prompt": {"text": "x"}},
        {"session": "r", "event": "result", "tool": "read", "arguments": "not JSON", "result": 5},
        {"session": "r", "event": "result", "calls": [None, {"tool": "read", "arguments": []}]},
        {"session": "x" * 5_000, "event": "prompt", "prompt": "y" * 300_000},
        {"session": "r", "event": "end"},
    ):
        answer = api.post("hooks/generic", {"project": "shop", **payload})

        assert answer.status_code in {200, 422}
