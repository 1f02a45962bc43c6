"""Figures, milestones and previews never count or show what the caller may not see."""

from datetime import UTC, datetime

import pytest

from accounts.authentication import entered
from accounts.caller import Caller
from accounts.errors import NotFound
from memory.injection.queries import Milestones, milestones
from memory.intake.actions.remember import NewMemory, remember
from memory.intake.actions.similar_memories import preview
from memory.review.queries import overview
from teams.actions import create_project

STATEMENT = (
    "Deploys fail on Fridays because the certificate job restarts the proxy in deploy/run.sh."
)


def _remember(caller: Caller, *, scope: str) -> None:
    new = NewMemory(content=STATEMENT, source="user_taught", project="shop", scope=scope)
    remember(caller=caller, new=new, now=datetime.now(UTC))


@pytest.fixture
def shops(caller: Caller, other_caller: Caller, clean_cache: None) -> None:
    """A project of the same name in both organizations; only the first has memories."""
    for each in (caller, other_caller):
        with entered(each):
            create_project(caller=each, slug="shop", name="Shop", now=datetime.now(UTC))
    with entered(caller):
        _remember(caller, scope="project")


def test_overview_counts_nothing_of_another_organization(
    shops: None, other_caller: Caller, now: datetime
) -> None:
    with entered(other_caller):
        view = overview.overview(caller=other_caller, project="shop", now=now)

    assert view["tally"].memories == 0
    assert (view["health"], view["attention"], view["places"]) == (None, (), ())


def test_personal_memories_of_others_are_not_counted(
    shops: None, caller: Caller, member_caller: Caller, now: datetime
) -> None:
    with entered(member_caller):
        before = overview.overview(caller=member_caller, project="shop", now=now)["tally"]
    with entered(caller):
        new = NewMemory(
            content="My own note on the deploy in deploy/notes.md that nobody else needs.",
            source="user_taught", project="shop", scope="personal",
        )  # fmt: skip
        remember(caller=caller, new=new, now=now)

    with entered(member_caller):
        after = overview.overview(caller=member_caller, project="shop", now=now)
        cards = overview.count_by_project(caller=member_caller, now=now)

    assert after["tally"] == before
    assert [card["memories"] for card in cards.values()] == [1]
    assert "notes" not in {place["name"] for place in after["places"]}


def test_cards_count_nothing_of_another_organization(
    shops: None, other_caller: Caller, now: datetime
) -> None:
    with entered(other_caller):
        assert overview.count_by_project(caller=other_caller, now=now) == {}


def test_project_of_another_organization_is_not_found(
    shops: None, other_caller: Caller, caller: Caller, now: datetime
) -> None:
    with entered(caller):
        create_project(caller=caller, slug="hidden", name="Hidden", now=now)

    with entered(other_caller):
        for read in (overview.overview, overview.count_project):
            with pytest.raises(NotFound):
                read(caller=other_caller, project="hidden", now=now)
        with pytest.raises(NotFound):
            milestones(caller=other_caller, project="hidden")


def test_milestones_know_nothing_of_another_organization(shops: None, other_caller: Caller) -> None:
    with entered(other_caller):
        reached = milestones(caller=other_caller, project="shop")

    assert reached == Milestones(first_memory_at=None, last_given_at=None)


def test_preview_shows_no_memory_of_another_organization(
    shops: None, other_caller: Caller, caller: Caller, now: datetime
) -> None:
    new = NewMemory(content=STATEMENT + " Always.", source="user_taught", project="shop")

    with entered(caller):
        own = preview(caller=caller, new=new, now=now)
    with entered(other_caller):
        foreign = preview(caller=other_caller, new=new, now=now)

    assert len(own.similar) == 1
    assert foreign.similar == ()


def test_preview_shows_no_personal_memory_of_a_colleague(
    shops: None, caller: Caller, member_caller: Caller, now: datetime
) -> None:
    text = "I keep forgetting that the staging database is reset each Monday morning."
    new = NewMemory(content=text, source="user_taught", project="shop", scope="personal")
    with entered(caller):
        remember(caller=caller, new=new, now=now)

    with entered(member_caller):
        seen = preview(caller=member_caller, new=new, now=now)

    assert seen.similar == ()
