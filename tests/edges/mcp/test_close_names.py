"""The tool about a name says on demand what is most likely the same thing."""

import pytest

from tests.support.agents import ask
from tests.support.live import Place

pytestmark = pytest.mark.django_db

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
