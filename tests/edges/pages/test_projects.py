"""Settings of a project: gates, extraction, hooks, people; and teams, on pages."""

import pytest
from django.test import Client

from accounts.authentication import entered
from accounts.caller import Caller
from accounts.models import User
from memory.records.queries.views import MemoryView
from teams.actions import add_person, create_project, create_team
from teams.queries import Hook, Kind, ProjectView, TeamView, hooks_of, project, teams
from tests.conftest import NOW
from tests.edges.pages.conftest import remembered
from tests.edges.pages.session_pages import Pages

SETTINGS = "/o/acme/p/shop/settings"
TEAMS = "/o/acme/settings/teams"
FORM = {"name": "Web shop", "description": "Sells.", "relevance_threshold": "0.4", "version": "1"}


def here(caller: Caller, ref: str = "shop") -> ProjectView:
    """Return a project as it is now."""
    with entered(caller):
        return project(caller=caller, ref=ref)


@pytest.fixture
def vault(caller: Caller, shop: str) -> str:
    """The settings of a closed project."""
    with entered(caller):
        create_project(caller=caller, slug="vault", name="Vault", open_to_all=False, now=NOW)
    return "/o/acme/p/vault/settings"


@pytest.fixture
def core(caller: Caller, shop: str) -> TeamView:
    """A team of the owner's."""
    with entered(caller):
        return create_team(caller=caller, slug="core", name="Core")


def test_settings_of_a_project_are_saved(pages: Pages) -> None:
    answers = [
        pages.owner.post(SETTINGS, {**FORM, "keep_events_days": days, "version": version})
        for days, version in (("", "1"), ("7", "2"))
    ]
    shown = pages.owner.get(SETTINGS).text

    changed = here(pages.caller)
    assert [answer["Location"] for answer in answers] == [SETTINGS] * 2
    assert (changed.name, changed.description) == ("Web shop", "Sells.")
    assert (changed.relevance_threshold, changed.keep_events_days) == (0.4, 7)
    assert 'value="0.4"' in shown
    assert 'aria-describedby="events-days-help" value="7"' in shown


def test_the_order_says_whose_threshold_it_is(owner_pages: Client, memory: MemoryView) -> None:
    address = "/o/acme/p/shop/memories?q=token+refresh&why=1"
    fitted = owner_pages.get(address).text
    owner_pages.post(SETTINGS, FORM)
    own = owner_pages.get(address).text

    assert [text in fitted for text in ("fitted for the embedding model", "0.40")] == [True, False]
    assert [text in own for text in ("set for this project", "at least 0.40")] == [True, True]


def test_a_project_is_closed_and_opened_and_says_why_it_cannot(
    owner_pages: Client, member_pages: Client, viewer_pages: Client, shop: str, caller: Caller
) -> None:
    address, seen = f"{SETTINGS}/openness", [member_pages.get(shop).status_code]
    for verb in ("close", "open"):
        assert owner_pages.post(address, {"verb": verb})["Location"] == SETTINGS
        seen.append(member_pages.get(shop).status_code)
    remembered(caller, "Amounts are integers everywhere, in cents.", scope="organization")

    answers = [
        pages.post(address, {"verb": verb})
        for pages, verb in ((owner_pages, "close"), (owner_pages, "lock"), (viewer_pages, "close"))
    ]

    assert seen == [200, 404, 200]
    assert [answer.status_code for answer in answers] == [409, 422, 403]
    assert "shared with a team or the organization: 1." in answers[0].text
    assert here(caller).open_to_all


def test_who_leaves_a_closed_project_is_led_out(pages: Pages, vault: str, member: User) -> None:
    with entered(pages.caller):
        add_person(caller=pages.caller, kind=Kind.PROJECT, ref="vault", person=member.email)
    form = {"verb": "remove", "person": str(member.id)}

    answer = pages.member.post(f"{vault}/people", form)

    assert answer["Location"] == "/o/acme/"
    assert pages.member.post(f"{vault}/people", form).status_code == 404


def test_a_team_is_made_renamed_and_filled(pages: Pages, member: User) -> None:
    made = pages.owner.post(TEAMS, {"name": "Payments", "slug": "payments"})
    address = made["Location"]
    pages.owner.post(address, {"name": "Payments & billing", "version": "1"})
    hidden = pages.member.get(address).status_code
    pages.owner.post(f"{address}/people", {"verb": "add", "person": member.email})

    assert hidden == 404
    assert "Payments &amp; billing" in pages.member.get(TEAMS).text
    assert pages.member.get(address).status_code == 200
    left = pages.member.post(f"{address}/people", {"verb": "remove", "person": str(member.id)})
    assert left["Location"] == TEAMS
    with entered(pages.caller):
        assert [team.slug for team in teams(caller=pages.caller)] == ["payments"]


EXTRACTION = f"{SETTINGS}/extraction"


def test_how_conversations_are_read_is_saved(pages: Pages) -> None:
    sent = {"version": "1", "extraction_mode": "heuristic", "max_llm_calls_per_session": "3"}

    pages.owner.post(EXTRACTION, sent)

    found = here(pages.caller)
    assert (found.extraction_mode, found.max_llm_calls_per_session) == ("heuristic", 3)
    assert found.max_llm_calls_per_turn is None
    assert '<option value="heuristic" selected>' in pages.owner.get(SETTINGS).text


ALL = ("brief", "prefetch", "warnings", "step", "step_recorded", "step_searched", "planner")


def ticked(text: str) -> set[str]:
    """Return the hooks that are ticked."""
    return {name for name in ALL if f'id="hook-{name}" name="on" value="{name}" checked' in text}


def test_hooks_are_switched_on_the_page_by_who_may(pages: Pages) -> None:
    usual, seen = (pages.owner.get(SETTINGS).text, pages.member.get(SETTINGS).text)

    refused = pages.member.post(f"{SETTINGS}/hooks", {"on": "step"})
    pages.owner.post(f"{SETTINGS}/hooks", {"on": ["brief", "step_searched"]})

    assert ticked(usual) == set(ALL) - {"step_recorded", "step_searched"}
    assert '<fieldset class="field" disabled>' in seen
    assert refused.status_code == 403
    assert ticked(pages.owner.get(SETTINGS).text) == {"brief", "step_searched"}
    with entered(pages.caller):
        on = {hook for hook, is_on in hooks_of(caller=pages.caller, ref="shop").items() if is_on}
    assert on == {Hook.BRIEF, Hook.STEP_SEARCHED}


def test_thresholds_of_the_gates_are_saved_and_taken_back(pages: Pages) -> None:
    def now() -> tuple[int | None, float | None]:
        return here(pages.caller).minimum_length, here(pages.caller).conflict_cosine

    form = {"minimum_length": "40", "conflict_cosine": "0,8", "version": "1"}
    pages.owner.post(f"{SETTINGS}/gates", form)
    assert now() == (40, 0.8)
    pages.owner.post(f"{SETTINGS}/gates", {"version": "2"})
    assert now() == (None, None)
