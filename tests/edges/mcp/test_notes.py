"""The tool that hands in a document, as an agent calls it."""

import pytest

from tests.support.agents import ask
from tests.support.live import Place

pytestmark = pytest.mark.django_db

TEXT = "# Mill\n\nThe gate of the mill opens at nine.\n\nThe miller has the only key to it.\n"
LESS = TEXT.partition("\n\nThe miller")[0]
SECRET = f"{TEXT}\nThe password of the mill is `hunter2Xq9!zLm4` as everybody knows.\n"


async def test_a_document_is_followed_as_it_changes(address: str, place: Place) -> None:
    here = {"address": address, "token": place.token, "tool": "push_note", "project": "shop"}

    first = await ask(**here, path="docs/MILL.md", text=TEXT)
    again = await ask(**here, path="docs/MILL.md", text=TEXT)
    less = await ask(**here, path="docs/MILL.md", text=LESS)

    told = [one.structured_content for one in (first, again, less)]
    assert len({one["note_id"] for one in told}) == 1
    assert [one["version"] for one in told] == [1, 1, 2]
    assert [(one["added"], one["kept"], one["stale"]) for one in told] == [
        (2, 0, 0),
        (0, 2, 0),
        (0, 1, 1),
    ]


async def test_a_document_with_a_secret_is_refused_whole_and_not_repeated(
    address: str, place: Place
) -> None:
    here = {"address": address, "token": place.token, "project": "shop"}

    refused = await ask(**here, tool="push_note", path="SECRET.md", text=SECRET)

    assert refused.is_error
    assert "hunter2" not in refused.content[0].text
    assert "line 7" in refused.content[0].text


async def test_a_document_of_no_project_and_of_a_strangers_is_refused(
    address: str, place: Place, other_place: Place
) -> None:
    for token, given in (
        (place.token, {"project": "nowhere"}),
        (other_place.token, {"project": "vault"}),
        (place.token, {}),
    ):
        refused = await ask(
            address=address, token=token, tool="push_note", path="a.md", text=TEXT, **given
        )

        assert refused.is_error
        assert "mill" not in refused.content[0].text


async def test_a_reading_token_hands_in_nothing(address: str, place: Place) -> None:
    refused = await ask(
        address=address, token=place.reading_token, tool="push_note", path="a.md", text=TEXT,
        project="shop",
    )  # fmt: skip

    assert refused.is_error
    assert "write scope" in refused.content[0].text
