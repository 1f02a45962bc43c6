"""How rare a word is counts where a search looks: in its projects, not in all there are (3.1)."""

from datetime import datetime
from uuid import UUID

import pytest

from accounts import tenancy
from accounts.caller import Caller
from memory.index.sql import search_rows
from memory.intake.actions.remember_all import remember_all
from memory.search.actions import search
from memory.search.request import SearchRequest
from teams.actions.projects import create_project
from tests.support.memories import new

pytestmark = pytest.mark.usefixtures("in_organization")

QUESTION = "What did Caroline say about the kiosk?"
TURNS = 60
KIOSKS = 80


def fill(caller: Caller, now: datetime, project: str, texts: tuple[str, ...]) -> tuple[UUID, ...]:
    """Store texts in a project of their own, and return their ids."""
    create_project(caller=caller, slug=project, name=project, now=now)
    told = tuple(new(text, project=project) for text in texts)
    outcomes = remember_all(caller=caller, new=told, now=now)
    assert all(one.memory is not None for one in outcomes)
    return tuple(one.memory.id for one in outcomes if one.memory)


@pytest.fixture
def kiosk(caller: Caller, now: datetime) -> UUID:
    """The only turn about a kiosk, of a project in which most begin with one name."""
    others = tuple(
        f"Caroline: the {number}. chapter of the manual is on its way to you."
        for number in range(TURNS)
    )
    first, *_ = fill(caller, now, "talks", ("Mel: the kiosk opens at nine on Sundays.", *others))
    doors = tuple(f"Door {number} of the kiosk has a lock of its own." for number in range(KIOSKS))
    fill(caller, now, "kiosks", doors)
    with tenancy.unit():
        search_rows.refresh_lexicon()
    return first


def best(caller: Caller, now: datetime, project: str | None) -> UUID:
    """Return what words alone find first."""
    request = SearchRequest(query=QUESTION, mode="keyword", threshold=0.0, project=project)
    return search(caller=caller, request=request, now=now).hits[0].memory.id


def test_a_word_that_is_common_elsewhere_alone_tells_much_in_a_project(
    caller: Caller, now: datetime, kiosk: UUID
) -> None:
    assert best(caller, now, "talks") == kiosk
    assert best(caller, now, None) != kiosk


def test_a_young_project_takes_rarity_from_what_may_be_seen(
    caller: Caller, now: datetime, kiosk: UUID
) -> None:
    texts = ("Caroline keeps the plan of the market.", "The kiosk keeps a plan of the market.")
    caroline, _ = fill(caller, now, "new", texts)  # not counted yet

    assert best(caller, now, "new") == caroline
