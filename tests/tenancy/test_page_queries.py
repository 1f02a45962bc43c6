"""Figures and previews never count or show what the caller may not see.

That nobody is answered about a project or a memory of somebody else is shown for every read path in
`test_reads`; here are the counts and neighbors that hold no text.
"""

from datetime import datetime

import pytest

from accounts.authentication import entered
from accounts.caller import Caller
from memory.injection.queries import Milestones, milestones
from memory.intake.actions.similar_memories import preview
from memory.review.queries import overview
from teams.actions import create_project
from tests.support.memories import new, stored

STATEMENT = (
    "Deploys fail on Fridays because the certificate job restarts the proxy in deploy/run.sh."
)
OWN = "My own note on the deploy in deploy/notes.md that nobody else needs."


@pytest.fixture
def shops(caller: Caller, other_caller: Caller, clean_cache: None, now: datetime) -> None:
    """A project of the same name in both organizations; only the first has memories."""
    for each in (caller, other_caller):
        with entered(each):
            create_project(caller=each, slug="shop", name="Shop", now=now)
    with entered(caller):
        stored(caller, now, STATEMENT, project="shop")


def test_nothing_of_another_organization_is_counted_or_shown(
    shops: None, caller: Caller, other_caller: Caller, now: datetime
) -> None:
    with entered(other_caller):
        view = overview.overview(caller=other_caller, project="shop", now=now)
        cards = overview.count_by_project(caller=other_caller, now=now)
        reached = milestones(caller=other_caller, project="shop")

    assert view["tally"].memories == 0
    assert (view["health"], view["attention"], view["places"]) == (None, (), ())
    assert cards == {}
    assert reached == Milestones(first_memory_at=None, last_given_at=None)


def test_personal_memories_of_others_are_not_counted(
    shops: None, caller: Caller, member_caller: Caller, now: datetime
) -> None:
    with entered(member_caller):
        before = overview.overview(caller=member_caller, project="shop", now=now)["tally"]
    with entered(caller):
        stored(caller, now, OWN, project="shop", scope="personal")

    with entered(member_caller):
        after = overview.overview(caller=member_caller, project="shop", now=now)
        cards = overview.count_by_project(caller=member_caller, now=now)

    assert after["tally"] == before
    assert [card["memories"] for card in cards.values()] == [1]
    assert "notes" not in {place["name"] for place in after["places"]}


def test_preview_shows_nothing_of_strangers_and_nothing_personal_of_colleagues(
    shops: None, caller: Caller, member_caller: Caller, other_caller: Caller, now: datetime
) -> None:
    with entered(caller):
        stored(caller, now, OWN, project="shop", scope="personal")

    def similar(who: Caller, text: str, **where: str) -> int:
        with entered(who):
            sent = new(f"{text} Always.", project="shop", **where)
            return len(preview(caller=who, new=sent, now=now).similar)

    assert similar(caller, STATEMENT) == 1
    assert similar(other_caller, STATEMENT) == 0
    assert similar(member_caller, OWN, scope="personal") == 0
