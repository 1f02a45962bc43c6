"""Hooks, watching and replaying the same work are one session, in which nothing stands twice."""

from datetime import timedelta
from typing import Any, Final

import pytest

from accounts import tenancy
from memory.injection.actions.external_binding import Whereabouts
from memory.injection.actions.hooks import follow_agent
from memory.injection.harnesses import ADAPTERS, Harness, read_payload
from memory.observer.actions.session_findings import observe
from memory.sessions import reducers
from memory.sessions.actions import hook_rows, scratchpads
from memory.sessions.actions.append_events import append_events
from memory.sessions.actions.append_turns import NewTurn, append_turns
from memory.sessions.actions.lifecycle import NewSession, open_session
from memory.sessions.models import Session, Turn
from teams.actions import create_project
from tests.support.agent_runs import Shop

NAME: Final = "claude-code/run-1"
PUSH: Final = "fatal: no upstream"
Rows = tuple[dict[str, Any], ...]


def told(shop: Shop, **payload: Any) -> None:
    """Let a hook of the member's agent tell something, a second after the last."""
    shop.now += timedelta(seconds=1)
    fields = {"session_id": "run-1", "cwd": "/home/ana/store", **payload}
    follow_agent(
        caller=shop.agent,
        event=read_payload(adapter=ADAPTERS[Harness.CLAUDE_CODE], payload=fields),
        whereabouts=Whereabouts(),
        now=shop.now,
    )


def prompted(shop: Shop, text: str) -> None:
    """Let the hook tell a prompt."""
    told(shop, hook_event_name="UserPromptSubmit", prompt=text)


def ran(shop: Shop, call: str, command: str, error: str = "") -> None:
    """Let the hook tell a command."""
    came = {"error": error} if error else {"tool_response": "ok"}
    told(
        shop,
        hook_event_name="PostToolUseFailure" if error else "PostToolUse",
        tool_name="Bash",
        tool_input={"command": command},
        tool_use_id=call,
        **came,
    )


def replied(shop: Shop) -> None:
    """Let the hook tell that the agent stops."""
    told(shop, hook_event_name="Stop", last_assistant_message="Pushed.")


def line(number: int) -> int:
    """Return the first number of a line of a transcript."""
    return number * 128


EVENTS: Final[Rows] = (
    {"sequence": line(1) + 1, "kind": "prompt", "text": "Push it."},
    {"sequence": line(2) + 1, "kind": "reasoning", "text": "I was wrong about the remote."},
    {"sequence": line(3) + 1, "kind": "tool_call", "name": "Bash", "call": "t1",
     "args": {"command": "git push"}},
    {"sequence": line(4) + 1, "kind": "tool_result", "call": "t1", "text": PUSH, "is_error": True},
    {"sequence": line(5) + 1, "kind": "tool_call", "name": "Bash", "call": "t2",
     "args": {"command": "git push -u origin x"}},
    {"sequence": line(6) + 1, "kind": "tool_result", "call": "t2", "text": "done"},
    {"sequence": line(7) + 1, "kind": "reasoning", "text": "Pushed."},
)  # fmt: skip
TURNS: Final = (
    NewTurn(role="user", text="Push it.", sequence=line(1) + 1),
    NewTurn(role="assistant", text="I was wrong about the remote.", sequence=line(2) + 1),
    NewTurn(role="assistant", text="Pushed.", sequence=line(7) + 1),
)


def transcribed(shop: Shop, events: Rows = EVENTS, turns: tuple[NewTurn, ...] = TURNS) -> Session:
    """Send a transcript of the same work to another project, as the client does."""
    new = NewSession(external_id=NAME, project="depot", agent="claude-code transcript")
    opened = open_session(caller=shop.agent, new=new, now=shop.now).session
    of: dict[str, Any] = {"caller": shop.agent, "session_id": opened.id, "now": shop.now}
    if turns:
        append_turns(**of, turns=turns)
    append_events(**of, events=events)
    with tenancy.unit():
        return Session.objects.get(pk=opened.id)


def hooked(shop: Shop) -> None:
    """Let hooks tell the same work."""
    prompted(shop, "Push it.")
    ran(shop, "t1", "git push", error=PUSH)
    ran(shop, "t2", "git push -u origin x")
    replied(shop)


@pytest.fixture(autouse=True)
def depot(shop: Shop) -> None:
    """A second project, to which transcripts are sent."""
    create_project(caller=shop.owner, slug="depot", name="Depot", now=shop.now)


def stored(stream: str) -> list[int]:
    """Return the numbers of the rows of a stream, of all sessions."""
    with tenancy.unit():
        rows = Turn.done if stream == "done" else Turn.objects
        return list(rows.order_by("sequence").values_list("sequence", flat=True))


@pytest.mark.parametrize("order", ["hooks first", "transcript first", "side by side"])
def test_what_hooks_and_a_transcript_tell_is_one_session_in_the_transcripts_order(
    shop: Shop, order: str
) -> None:
    if order == "hooks first":
        hooked(shop)
        row = transcribed(shop)
    elif order == "transcript first":
        transcribed(shop)
        hooked(shop)
    else:
        prompted(shop, "Push it.")
        ran(shop, "t1", "git push", error=PUSH)
        transcribed(shop, EVENTS[:4], TURNS[:2])
        ran(shop, "t2", "git push -u origin x")
        replied(shop)
        transcribed(shop)
    transcribed(shop)  # sent again, it changes nothing

    with tenancy.unit():
        row = Session.objects.select_related("project").get()
        scratchpad = scratchpads.settled(opened=scratchpads.read(row=row))
    assert stored("done") == [one["sequence"] for one in EVENTS]
    assert stored("said") == [one.sequence for one in TURNS]
    assert row.events == len(EVENTS)
    assert row.external_id == NAME
    assert [one.is_error for one in scratchpad.deeds.values()] == [True, False]
    assert scratchpad.prompts == 1


def test_unread_turns_that_move_before_what_was_read_are_read(shop: Shop) -> None:
    hooked(shop)
    with tenancy.unit():
        Session.objects.update(taken_through=stored("said")[0])

    row = transcribed(shop, (), TURNS[::2])

    assert row.taken_through == TURNS[2].sequence - 1


def test_what_hooks_tell_next_comes_behind_the_transcript_and_is_kept(shop: Shop) -> None:
    hooked(shop)
    transcribed(shop)
    prompted(shop, "Push it.")
    shop.now += timedelta(seconds=hook_rows.LATE_SECONDS)
    prompted(shop, "Push it.")

    numbers = stored("said")

    assert numbers[:3] == [one.sequence for one in TURNS]
    assert [hook_rows.is_of_hooks(sequence=one) for one in numbers[3:]] == [True]


def test_what_a_subagent_told_last_is_known_whatever_its_block(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hook_rows, "TOLD_LAST", 2)
    for block, call in ((2, "t1"), (1, "t2")):
        first = reducers.FIRST_BLOCK + block * reducers.BLOCK
        shop.now += timedelta(seconds=1)
        transcribed(
            shop,
            ({"sequence": first + 1, "kind": "tool_call", "name": "Bash", "call": call,
              "args": {"command": "git push"}},
             {"sequence": first + 2, "kind": "tool_result", "call": call, "text": "ok"}),
            (),
        )  # fmt: skip
    before = stored("done")

    ran(shop, "t2", "git push")

    assert stored("done") == before


def test_another_persons_session_of_the_same_name_is_not_joined(shop: Shop) -> None:
    hooked(shop)
    new = NewSession(external_id=NAME, project=shop.slug, shared=True)

    theirs = open_session(caller=shop.program, new=new, now=shop.now)
    mine = open_session(caller=shop.agent, new=new, now=shop.now)

    assert theirs.is_new
    assert not mine.is_new
    assert mine.session.id != theirs.session.id
    assert mine.session.scope == "personal"


def test_no_other_call_of_the_same_name_erases_outside_content(shop: Shop) -> None:
    fields = {"tool_name": "WebFetch", "tool_input": {"url": "https://evil.example"}}
    told(shop, hook_event_name="PostToolUse", tool_use_id="t1", tool_response="…", **fields)
    reads = {"kind": "tool_call", "name": "Read", "call": "t1", "args": {"path": "a.py"}}

    row = transcribed(shop, ({"sequence": line(1), **reads},), ())

    with tenancy.unit():
        scratchpad = scratchpads.settled(opened=scratchpads.read(row=row))
    assert scratchpad.taint_reason == "web: evil.example"


def test_what_hooks_told_is_folded_once_when_it_was_looked_at_before_its_lines_came(
    shop: Shop,
) -> None:
    def lines(first: int, end: int) -> Rows:
        return tuple(
            {"sequence": line(place), "kind": "tool_call", "name": "Bash", "call": f"c{place}",
             "args": {"command": "git push"}}
            for place in range(first, end)
        )  # fmt: skip

    many, calls = reducers.PENDING_MOST + 6, 5
    row = transcribed(shop, lines(1, many), ())
    for place in range(many, many + calls):
        ran(shop, f"c{place}", "git push")
    observe(session_id=row.id, now=shop.now)
    transcribed(shop, lines(many, many + calls), ())

    with tenancy.unit():
        whole = scratchpads.settled(opened=scratchpads.read(row=row))
        Turn.checkpoints.all().delete()
        anew = scratchpads.settled(opened=scratchpads.read(row=row))
    assert whole == anew


def test_a_long_session_that_stops_often_is_folded_in_steps_linear_in_its_events(
    shop: Shop,
) -> None:
    stops, calls, read = 12, 10, 0
    for stop in range(1, stops + 1):  # hooks tell first, the transcript at each stop
        lines: list[dict[str, Any]] = []
        for place in range(calls):
            call = {"sequence": line(100 * stop + 2 * place), "call": f"s{stop}-{place}"}
            ran(shop, call["call"], "git push", error=PUSH)
            lines += (
                {**call, "kind": "tool_call", "name": "Bash", "args": {"command": "git push"}},
                {**call, "sequence": call["sequence"] + 128, "kind": "tool_result", "text": PUSH,
                 "is_error": True},
            )  # fmt: skip
        row = transcribed(shop, tuple(lines), ())
        prompted(shop, f"Go on with step {stop}.")
        read += observe(session_id=row.id, now=shop.now)["events"]

    with tenancy.unit():
        whole = scratchpads.settled(opened=scratchpads.read(row=row))
        Turn.checkpoints.all().delete()
        anew = scratchpads.settled(opened=scratchpads.read(row=row))
    assert whole == anew
    assert len(whole.deeds) == stops * calls
    assert read <= stops * (2 * calls + stops)  # what came since, and prompts it did not tell yet
