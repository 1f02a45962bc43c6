"""Tools and prompts as an agent meets them: the official client, in both eras of the protocol."""

from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from asgiref.sync import sync_to_async
from django.db import connections
from mcp.shared.exceptions import MCPError
from mcp_types import GetPromptResult, TextContent

from accounts.authentication import entered
from memory.customization.actions import Course, define_methodology
from memory.customization.custom_type_rules import OwnType
from memory.mcp.server import TOOLS
from memory.taxonomy import MemoryType
from tests.support.agents import agent, ask
from tests.support.live import Place

pytestmark = pytest.mark.django_db

ERAS = ("legacy", "2026-07-28", "auto")
STATEMENT = "The payment worker retries {} times before it gives up and pages someone."


def _define(place: Place, own: OwnType) -> None:
    with entered(place.caller):
        course = Course(types=(own,))
        define_methodology(
            caller=place.caller,
            name="agile",
            phases={"doing": "implement"},
            course=course,
            now=datetime.now(tz=UTC),
        )
    connections.close_all()  # this thread's own


@pytest.mark.parametrize("mode", ERAS)
async def test_an_agent_finds_a_few_tools_with_all_annotations(
    address: str, place: Place, mode: str
) -> None:
    async with agent(address=address, token=place.token, mode=mode) as client:
        tools = (await client.list_tools()).tools

    names = [tool.name for tool in tools]
    assert names == list(TOOLS)
    assert all(tool.output_schema and len(tool.description or "") < 400 for tool in tools)
    writing = [tool.name for tool in tools if not tool.annotations.read_only_hint]
    assert writing == ["add_memory", "extract_from_conversation", "push_note"]
    assert not any(tool.annotations.open_world_hint for tool in tools)


@pytest.mark.parametrize("mode", ERAS)
async def test_what_an_agent_adds_it_finds_again(address: str, place: Place, mode: str) -> None:
    content = STATEMENT.format(mode)

    async with agent(address=address, token=place.token, mode=mode) as client:
        added = await client.call_tool("add_memory", {"content": content, "project": "shop"})
        known = added.structured_content["memory"]
        wanted = {"query": content, "project": "shop"}
        found = await client.call_tool("search", wanted)
        ended = await client.call_tool("search", {**wanted, "states": ["archived"]})
        read = await client.call_tool("get", {"id": known["id"]})
        recent = await client.call_tool("list_recent", {"project": "shop", "limit": 1})

    assert known["id"] in [one["id"] for one in found.structured_content["results"]]
    assert ended.structured_content["results"] == []
    assert "not instructions" in found.structured_content["notice"]
    assert read.structured_content["memory"]["content"] == content
    assert recent.structured_content["results"][0]["id"] == known["id"]


async def test_a_reading_token_is_offered_no_writing_tool(address: str, place: Place) -> None:
    async with agent(address=address, token=place.reading_token, mode="legacy") as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        result = await client.call_tool("add_memory", {"content": STATEMENT})

    assert "add_memory" not in names
    assert result.is_error
    assert "write scope" in result.content[0].text


async def test_a_type_of_a_methodology_is_added_and_found(address: str, place: Place) -> None:
    story = OwnType(name="agent-wish", base=MemoryType.REQUIREMENT, says="What an agent needs.")
    await sync_to_async(_define)(place, story)
    given = {"content": STATEMENT.format("three"), "project": "shop"}

    async with agent(address=address, token=place.token, mode="legacy") as client:
        added = await client.call_tool("add_memory", {**given, "type": "agent-wish"})
        wanted = {"query": given["content"], "types": ["agent-wish"], "project": "shop"}
        found = await client.call_tool("search", wanted)
        recent = await client.call_tool("list_recent", {"types": ["agent-wish"]})

    memory = added.structured_content["memory"]
    assert (memory["type"], memory["own_type"], memory["tags"]) == ("requirement", "agent-wish", [])
    for answer in (found, recent):
        assert [one["id"] for one in answer.structured_content["results"]] == [memory["id"]]


async def test_a_list_sent_as_text_is_taken_for_a_list_and_the_address_names_the_project(
    address: str, place: Place
) -> None:
    given = {"content": STATEMENT.format("five"), "tags": '["pay"]'}

    result = await ask(
        address=address, token=place.token, tool="add_memory", suffix="?project=shop", **given
    )

    memory = result.structured_content["memory"]
    assert (memory["tags"], memory["project"]) == (["pay"], "shop")


REFUSED: tuple[tuple[str, dict[str, object], str], ...] = (
    ("add_memory", {"content": "short"}, "20"),
    ("add_memory", {"content": STATEMENT, "colour": "red"}, "No such field"),
    ("add_memory", {"content": STATEMENT, "type": "user-story"}, "gotcha"),
    ("search", {"query": "x", "types": ["user-story"]}, "gotcha"),
    ("search", {"query": "x", "limit": 10**6}, "at most 50"),
    ("search", {"query": "x", "project": "nowhere"}, "no project"),
    ("search", {"query": "x", "states": ["asleep"]}, "archived"),
    ("search", {"query": "x", "mode": "pattern", "states": ["any"]}, "what is live"),
    ("search_history", {"query": "?!"}, "The query has no word in it."),
    ("get", {"id": "not-an-id"}, "UUID"),
    ("forget_everything", {}, "no tool"),
)


NO_PROMPTS: tuple[tuple[str, dict[str, str]], ...] = (
    ("pre-brief", {}),
    ("pre-brief", {"task": " "}),
    ("pre-brief", {"task": "Paint the gate.", "project": "nowhere"}),
    ("pre-brief", {"task": "Paint the gate.", "mood": "good"}),
    ("post-mortem", {"task": "Paint the gate."}),
)


async def test_a_refusal_tells_the_agent_what_to_do_and_a_wrong_prompt_is_none(
    address: str, place: Place
) -> None:
    async with agent(address=address, token=place.token, mode="legacy") as client:
        for tool, given, says in REFUSED:
            result = await client.call_tool(tool, given)

            assert result.is_error
            assert says in result.content[0].text
        for name, asked in NO_PROMPTS:
            with pytest.raises(MCPError):
                await client.get_prompt(name, asked)


TURNS = [
    {"role": "user", "text": "Which lock keeps two carts apart?"},
    {"role": "assistant", "text": "The advisory lock, taken by the hash of the cart."},
]


async def test_an_agent_finds_what_was_said_and_others_do_not(
    address: str, place: Place, other_place: Place
) -> None:
    here = {"address": address, "token": place.token}
    taken = await ask(**here, tool="extract_from_conversation", turns=TURNS, project="shop")

    found = await ask(**here, tool="search_history", query="LOCK", limit=1)
    exact = await ask(**here, tool="search_history", query="hash of the cart", how="exact")
    there = await ask(address=address, token=other_place.token, tool="search_history", query="lock")

    first = found.structured_content["said"][0]
    assert first["session_id"] == taken.structured_content["session_id"]
    assert found.structured_content["has_more"] is True
    assert [one["sequence"] for one in exact.structured_content["said"]] == [2]
    assert (there.structured_content["said"], there.structured_content["has_more"]) == ([], False)


TEXT = "# Mill\n\nThe gate of the mill opens at nine.\n\nThe miller has the only key to it.\n"
LESS = TEXT.partition("\n\nThe miller")[0]
SECRET = f"{TEXT}\nThe password of the mill is `hunter2Xq9!zLm4` as everybody knows.\n"


async def test_a_document_is_followed_as_it_changes_and_refused_with_a_secret_or_elsewhere(
    address: str, place: Place, other_place: Place
) -> None:
    here = {"address": address, "token": place.token, "tool": "push_note", "project": "shop"}

    first = await ask(**here, path="docs/MILL.md", text=TEXT)
    again = await ask(**here, path="docs/MILL.md", text=TEXT)
    less = await ask(**here, path="docs/MILL.md", text=LESS)

    told = [one.structured_content for one in (first, again, less)]
    assert len({one["note_id"] for one in told}) == 1
    assert [one["version"] for one in told] == [1, 1, 2]
    assert [(one["added"], one["kept"], one["stale"]) for one in told] == [
        (2, 0, 0), (0, 2, 0), (0, 1, 1),
    ]  # fmt: skip
    said = []
    for token, given in (
        (place.token, {"project": "shop", "text": SECRET}),
        (place.token, {"project": "nowhere"}),
        (other_place.token, {"project": "vault"}),
        (place.token, {}),
    ):
        sent = {"path": "a.md", "text": TEXT, **given}
        refused = await ask(address=address, token=token, tool="push_note", **sent)
        assert refused.is_error
        said.append(refused.content[0].text)

    assert "line 7" in said[0]
    assert [text for text in said if "hunter2" in text or "miller" in text] == []


NAMED = ("The `ConnectionBroker` waits for a lock.", "The `ConectionBroker` is slow at night.")


async def test_close_names_are_told_when_they_are_asked_for(
    address: str, place: Place, other_place: Place
) -> None:
    here = {"address": address, "token": place.token}
    for text in NAMED:
        await ask(**here, tool="add_memory", content=text, project="shop")

    name = {"tool": "get_entity_info", "name": "ConnectionBroker"}
    plain = await ask(**here, **name)
    asked = await ask(**here, **name, close=True)
    there = await ask(address=address, token=other_place.token, **name, close=True)

    assert plain.structured_content["close"] == []
    assert asked.structured_content["close"] == [
        {"name": "ConectionBroker", "memories": 1, "reason": "misspelled"}
    ]
    assert (there.structured_content["entity"], there.structured_content["close"]) == (None, [])


NO_UPSTREAM = "Exit code 128\nfatal: The current branch tax has no upstream branch."
LESSON = "A new branch of the shop is pushed with git push -u origin BRANCH, or git refuses it."
DEAD_END = "Caching totals of the cart in the session failed, because tabs share carts."
TASK = "cache the totals of the cart in the session"


def text_of(filled: GetPromptResult) -> str:
    """Return the text of a filled prompt."""
    content = filled.messages[0].content
    assert isinstance(content, TextContent)
    return content.text


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_a_checklist_holds_what_failed_before_and_nothing_of_others(
    address: str, place: Place, other_place: Place, mode: str
) -> None:
    async with agent(address=address, token=place.token, mode=mode) as client:
        memory = {"content": DEAD_END, "project": "shop", "type": "dead_end"}
        await client.call_tool("add_memory", memory)
        offered = (await client.list_prompts()).prompts
        filled = await client.get_prompt("pre-brief", {"task": TASK, "project": "shop"})
        nothing = await client.get_prompt("pre-brief", {"task": "paint the west gate green"})
    async with agent(address=address, token=other_place.token, mode=mode) as client:
        theirs = await client.get_prompt("pre-brief", {"task": TASK})

    text = text_of(filled)
    assert [one.name for one in offered] == ["pre-brief", "reflect"]
    assert DEAD_END in text
    assert "not instructions" in text
    assert text_of(nothing).startswith("Nothing is recorded")
    assert DEAD_END not in text_of(theirs)


def _push(address: str, token: str, **event: Any) -> dict[str, Any]:
    """Report an event of a program's session; return what it is answered."""
    told = httpx.post(
        f"{address}/api/v1/hooks/codex",
        headers={"Authorization": f"Bearer {token}", "X-Cairn-Project": "shop"},
        json={"session_id": "run-push", "cwd": "/home/ana/shop", **event},
    )
    answer: dict[str, Any] = told.json()
    return answer


async def test_an_agent_is_asked_once_by_its_hook_and_by_a_prompt_and_its_answer_is_evidenced(
    address: str, place: Place, other_place: Place
) -> None:
    for command, came in (("git push", NO_UPSTREAM), ("git push -u origin tax", "done")):
        _push(
            address,
            place.token,
            hook_event_name="PostToolUse",
            tool_name="Bash",
            tool_input={"command": command},
            tool_response=came,
        )

    asked = _push(address, place.token, hook_event_name="Stop", last_assistant_message="Done.")
    again = _push(address, place.token, hook_event_name="Stop", last_assistant_message="Done.")
    async with agent(address=address, token=place.token, mode="legacy") as client:
        prompt = await client.get_prompt("reflect", {"project": "shop"})
        added = await client.call_tool("add_memory", {"content": LESSON, "project": "shop"})
    async with agent(address=address, token=other_place.token, mode="legacy") as client:
        theirs = await client.get_prompt("reflect", {})

    assert asked["decision"] == "block"
    assert "no upstream branch" in asked["reason"]
    assert again == {}
    assert text_of(prompt) == asked["reason"]
    assert added.structured_content is not None
    assert added.structured_content["memory"]["verification"] == "evidenced"
    assert text_of(theirs).startswith("Nothing in your running session")
