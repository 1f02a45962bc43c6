"""The tool that searches what was said, as an agent calls it."""

import pytest

from tests.support.agents import ask
from tests.support.live import Place

pytestmark = pytest.mark.django_db

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


async def test_a_question_without_a_word_is_explained(address: str, place: Place) -> None:
    refused = await ask(address=address, token=place.token, tool="search_history", query="?!")

    assert refused.is_error
    assert "The query has no word in it." in refused.content[0].text
