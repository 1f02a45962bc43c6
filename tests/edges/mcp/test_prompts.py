"""The checklist before a plan, as a person calls it up in an agent's program."""

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import GetPromptResult, TextContent

from tests.support.agents import agent
from tests.support.live import Place

pytestmark = pytest.mark.django_db

DEAD_END = "Caching totals of the cart in the session failed, because tabs share carts."
TASK = "cache the totals of the cart in the session"


def said(filled: GetPromptResult) -> str:
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

    text = said(filled)
    assert [one.name for one in offered] == ["pre-brief"]
    assert DEAD_END in text
    assert "not instructions" in text
    assert said(nothing).startswith("Nothing is recorded")
    assert DEAD_END not in said(theirs)


async def test_what_a_prompt_does_not_take_is_refused(address: str, place: Place) -> None:
    async with agent(address=address, token=place.token, mode="legacy") as client:
        for name, given in (
            ("pre-brief", {}),
            ("pre-brief", {"task": " "}),
            ("pre-brief", {"task": TASK, "project": "nowhere"}),
            ("pre-brief", {"task": TASK, "mood": "good"}),
            ("post-mortem", {"task": TASK}),
        ):
            with pytest.raises(MCPError):
                await client.get_prompt(name, given)
