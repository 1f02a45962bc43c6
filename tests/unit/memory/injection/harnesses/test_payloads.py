"""Payloads of agents' programs, read alike: whose session, what happened, which file."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.injection import harnesses as payloads
from memory.injection.harnesses import ADAPTERS, Harness, HookEvent, Meaning
from memory.sessions import reducers

PAYLOADS: dict[str, Any] = json.loads((Path(__file__).parent / "payloads.json").read_text())
MEANINGS = {
    **dict.fromkeys(("read", "search", "edit", "helped", "fail"), Meaning.ANSWERED),
    "open": Meaning.OPENED,
    "prompt": Meaning.PROMPTED,
    "reply": Meaning.REPLIED,
    "end": Meaning.ENDED,
    "unknown": Meaning.OTHER,
}
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=12,
)
NAMES = st.sampled_from(
    sorted({name for rows in PAYLOADS.values() for row in rows.values() for name in row})
)


def heard(harness: str, event: str, **more: object) -> HookEvent:
    """Read one of the payloads, with other fields."""
    rows = PAYLOADS[harness]
    payload = {**rows["fields"], **rows[event], **more}
    return payloads.read_payload(adapter=ADAPTERS[Harness(harness)], payload=payload)


@pytest.mark.parametrize("harness", sorted(PAYLOADS))
def test_events_mean_what_they_are_whoever_says_so(harness: str) -> None:
    events = {name: heard(harness, name) for name in PAYLOADS[harness] if name != "fields"}

    assert {name: one.meaning for name, one in events.items()} == {
        name: MEANINGS[name] for name in events
    }
    assert {(one.session, one.folder) for one in events.values()} == {("run-1", "/home/ada/shop")}
    assert events["read"].files == ("src/cart/prices.py",)
    assert (events["prompt"].files, events["prompt"].prompt) == ((), "Clear the price cache.")
    assert "reply" not in events or events["reply"].message == "Done."


@pytest.mark.parametrize("harness", sorted(PAYLOADS))
def test_a_call_that_failed_is_heard_as_failed_or_by_its_text(harness: str) -> None:
    (call,) = heard(harness, "fail").calls

    assert call.is_error is (harness != "codex")
    assert "assert 1 == 2" in call.result
    assert call.arguments["command"] == "pytest -q"
    assert harness != "codex" or reducers.says_failure(text=call.result, is_test=True)


def test_of_a_result_its_text_is_heard_and_of_an_edit_no_source() -> None:
    results = {
        "read": "from cart import store\n", "helped": "cart", "edit": "",
        "search": "src/cart/prices.py\nsrc/cart/till.py",
    }  # fmt: skip
    for event, said in results.items():
        (call,) = heard("claude-code", event).calls
        assert call.result == said


def test_what_a_subagent_does_is_its_own() -> None:
    helped, edited = (
        payloads.event_rows(event=heard("claude-code", event)) for event in ("helped", "edit")
    )

    assert {row["agent"] for row in helped} == {"ad43e5bde5c1024f8"}
    assert not any("agent" in row for row in edited)


def test_a_batch_names_every_file_that_it_touched() -> None:
    calls = [
        {"tool_name": "Read", "tool_input": {"file_path": f"/home/ada/shop/{name}.py"}}
        for name in "ab"
    ]
    found = heard("claude-code", "read", hook_event_name="PostToolBatch", tool_calls=calls)

    assert found.files == ("a.py", "b.py")


def test_a_patch_names_its_files() -> None:
    patch = "*** Begin Patch\n*** Update File: src/a.py\n@@\n-x\n+y\n*** Add File: b.py\n"
    given = {"command": patch}

    found = heard("codex", "read", tool_name="apply_patch", tool_input=given)

    call, result = payloads.event_rows(event=found)
    assert found.files == ("src/a.py", "b.py")
    assert call["files"] == ["src/a.py", "b.py"]
    assert "duration_ms" not in result


def test_how_long_a_call_took_is_told_where_a_program_says_it() -> None:
    for harness, took in {"claude-code": 10, "cursor": 12, "cline": 3}.items():
        rows = payloads.event_rows(event=heard(harness, "read"))
        assert rows[-1]["duration_ms"] == took


def test_an_event_is_named_from_outside_where_the_payload_names_none() -> None:
    found = payloads.read_payload(
        adapter=ADAPTERS[Harness.COPILOT],
        payload={"sessionId": "r", "prompt": "Go."},
        event="userPromptSubmitted",
    )

    assert found.meaning is Meaning.PROMPTED
    assert set(PAYLOADS) == set(Harness) == set(ADAPTERS)  # each program has payloads here


@given(st.sampled_from(list(Harness)), st.dictionaries(NAMES | st.text(max_size=8), ANYTHING))
def test_nothing_is_raised_whatever_is_sent(harness: Harness, payload: dict[str, Any]) -> None:
    found = payloads.read_payload(adapter=ADAPTERS[harness], payload=payload)

    assert len(found.files) <= payloads.FILES_MOST
    assert len(found.session) <= payloads.SESSION_MOST


HOOK_SPECIFIC = {"hookEventName": "E", "additionalContext": "Know this."}


@pytest.mark.parametrize(
    ("harness", "told", "silent"),
    [
        ("claude-code", {"hookSpecificOutput": HOOK_SPECIFIC}, {}),
        ("codex", {"hookSpecificOutput": HOOK_SPECIFIC}, {}),
        ("cursor", {"additional_context": "Know this."}, {}),
        ("copilot", {"additionalContext": "Know this."}, {}),
        ("cline", {"cancel": False, "contextModification": "Know this."}, {"cancel": False}),
        ("generic", {"context": "Know this."}, {}),
    ],
)
def test_each_has_its_own_shape(harness: str, told: dict[str, Any], silent: dict[str, Any]) -> None:
    adapter = ADAPTERS[Harness(harness)]

    assert payloads.answer(adapter=adapter, event="E", text="Know this.") == told
    assert payloads.answer(adapter=adapter, event="E", text="") == silent


def test_an_agent_that_stops_is_asked_in_its_programs_own_way_unless_it_goes_on_already() -> None:
    block = {"decision": "block", "reason": "Why?"}
    for harness, event, answer in (
        ("claude-code", "Stop", block),
        ("codex", "Stop", block),
        ("copilot", "agentStop", block),
        ("cursor", "stop", {"followup_message": "Why?"}),
    ):
        stops = heard(harness, "unknown", hook_event_name=event)
        goes_on = heard(harness, "unknown", hook_event_name=event, stop_hook_active=True)
        adapter = ADAPTERS[Harness(harness)]
        assert (stops.can_be_asked, goes_on.can_be_asked) == (True, False)
        assert payloads.question(adapter=adapter, text="Why?") == answer
    stopped = heard("cursor", "unknown", hook_event_name="stop", status="aborted")
    follows = heard("cursor", "unknown", hook_event_name="stop", loop_count=1)
    assert [stopped.can_be_asked, follows.can_be_asked] == [False, False]
    assert not any(
        heard(harness, event).can_be_asked
        for harness in PAYLOADS
        for event in ("open", "prompt", "read", "fail", "end")
    )
