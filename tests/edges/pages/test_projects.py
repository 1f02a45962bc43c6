"""Settings of a project: gates, extraction, hooks, people; and teams, on pages."""

import pytest
from django.test import Client

from accounts.authentication import entered
from accounts.caller import Caller
from accounts.models import Organization, User
from memory.records.queries.views import MemoryView
from teams.actions import add_person, create_project, create_team
from teams.queries import Hook, Kind, ProjectView, TeamView, hooks_of, project, teams
from tests.conftest import NOW
from tests.edges.pages.conftest import remembered

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


def test_settings_of_a_project_are_saved_and_what_cannot_be_stays_in_the_form(
    owner_pages: Client, shop: str, caller: Caller
) -> None:
    for field, text, status in (
        ("name", "", 422), ("relevance_threshold", "1.5", 422), ("relevance_threshold", "nan", 422),
        ("relevance_threshold", "much", 422), ("version", "7", 412), ("version", "", 412),
    ):  # fmt: skip
        answer = owner_pages.post(SETTINGS, {**FORM, "description": "Kept here.", field: text})
        assert answer.status_code == status
        assert b'role="alert"' in answer.content
        assert b"Kept here." in answer.content
    assert here(caller).version == 1
    answers = [
        owner_pages.post(SETTINGS, {**FORM, "keep_events_days": days, "version": version})
        for days, version in (("", "1"), ("7", "2"))
    ]
    shown = owner_pages.get(SETTINGS).content.decode()

    changed = here(caller)
    assert [answer["Location"] for answer in answers] == [SETTINGS] * 2
    assert (changed.name, changed.description) == ("Web shop", "Sells.")
    assert (changed.relevance_threshold, changed.keep_events_days) == (0.4, 7)
    assert 'value="0.4"' in shown
    assert 'aria-describedby="events-days-help" value="7"' in shown


def test_the_order_says_whose_threshold_it_is(owner_pages: Client, memory: MemoryView) -> None:
    address = "/o/acme/p/shop/memories?q=token+refresh&why=1"
    fitted = owner_pages.get(address).content.decode()
    owner_pages.post(SETTINGS, FORM)
    own = owner_pages.get(address).content.decode()

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
    assert "shared with a team or the organization: 1." in answers[0].content.decode()
    assert here(caller).open_to_all


def test_who_leaves_a_closed_project_is_led_out_of_it(
    caller: Caller, member_pages: Client, vault: str, member: User
) -> None:
    with entered(caller):
        add_person(caller=caller, kind=Kind.PROJECT, ref="vault", person=member.email)
    form = {"verb": "remove", "person": str(member.id)}

    answer = member_pages.post(f"{vault}/people", form)

    assert answer["Location"] == "/o/acme/"
    assert member_pages.post(f"{vault}/people", form).status_code == 404


def test_a_person_who_cannot_be_added_is_explained(
    owner_pages: Client, core: TeamView, stranger: User
) -> None:
    for address in (f"{SETTINGS}/people", f"{TEAMS}/{core.id}/people"):
        for verb, person, status in (
            ("add", "stranger@globex.test", 404),
            ("remove", "nobody", 422),
            ("promote", "member@acme.test", 422),
        ):
            answer = owner_pages.post(address, {"verb": verb, "person": person})
            assert answer.status_code == status
            assert b'role="alert"' in answer.content


def test_a_team_is_made_renamed_and_filled(
    owner_pages: Client, member_pages: Client, shop: str, caller: Caller, member: User
) -> None:
    made = owner_pages.post(TEAMS, {"name": "Payments", "slug": "payments"})
    address = made["Location"]
    owner_pages.post(address, {"name": "Payments & billing", "version": "1"})
    hidden = member_pages.get(address).status_code
    owner_pages.post(f"{address}/people", {"verb": "add", "person": member.email})

    assert hidden == 404
    assert "Payments &amp; billing" in member_pages.get(TEAMS).content.decode()
    assert member_pages.get(address).status_code == 200
    left = member_pages.post(f"{address}/people", {"verb": "remove", "person": str(member.id)})
    assert left["Location"] == TEAMS
    with entered(caller):
        assert [team.slug for team in teams(caller=caller)] == ["payments"]


def test_a_team_that_cannot_be_made_is_explained_and_others_make_none(
    owner_pages: Client, viewer_pages: Client, organization: Organization, core: TeamView
) -> None:
    for form, status in (
        ({"name": "Core", "slug": "core"}, 409),
        ({"name": "Core", "slug": "Core!"}, 422),
    ):
        answer = owner_pages.post(TEAMS, form)
        assert answer.status_code == status
        assert b'role="alert"' in answer.content
    page = viewer_pages.get(TEAMS).content.decode()
    assert "You are in no team." in page
    assert "core" not in page.partition("<main")[2]
    assert viewer_pages.post(TEAMS, {"name": "Ops", "slug": "ops"}).status_code == 403
    for address in (f"{TEAMS}/{core.id}", f"{TEAMS}/{core.id}/people"):
        assert viewer_pages.post(address, {"name": "Mine", "version": "1"}).status_code == 404


EXTRACTION = f"{SETTINGS}/extraction"


def test_how_conversations_are_read_is_saved_and_no_number_refused_where_it_stands(
    owner_pages: Client, caller: Caller, shop: str
) -> None:
    sent = {"version": "1", "extraction_mode": "heuristic", "max_llm_calls_per_session": "3"}

    wrong = owner_pages.post(EXTRACTION, {**sent, "max_llm_calls_per_turn": "many"})
    before = here(caller).extraction_mode
    answer = owner_pages.post(EXTRACTION, sent)

    found = here(caller)
    assert (wrong.status_code, before, answer.status_code) == (422, None, 302)
    for text in ("This is not a number.", 'value="many"'):
        assert text in wrong.content.decode()
    assert (found.extraction_mode, found.max_llm_calls_per_session) == ("heuristic", 3)
    assert found.max_llm_calls_per_turn is None
    assert '<option value="heuristic" selected>' in owner_pages.get(SETTINGS).content.decode()


ALL = ("brief", "prefetch", "warnings", "step", "step_recorded", "step_searched", "planner")


def ticked(text: str) -> set[str]:
    """Return the hooks that are ticked."""
    return {name for name in ALL if f'id="hook-{name}" name="on" value="{name}" checked' in text}


def test_hooks_are_switched_on_the_page_by_who_may(
    owner_pages: Client, member_pages: Client, shop: str, caller: Caller
) -> None:
    usual, seen = (owner_pages.get(SETTINGS).text, member_pages.get(SETTINGS).text)

    refused = member_pages.post(f"{SETTINGS}/hooks", {"on": "step"})
    owner_pages.post(f"{SETTINGS}/hooks", {"on": ["brief", "step_searched"]})

    assert ticked(usual) == set(ALL) - {"step_recorded", "step_searched"}
    assert '<fieldset class="field" disabled>' in seen
    assert refused.status_code == 403
    assert ticked(owner_pages.get(SETTINGS).text) == {"brief", "step_searched"}
    with entered(caller):
        on = {hook for hook, is_on in hooks_of(caller=caller, ref="shop").items() if is_on}
    assert on == {Hook.BRIEF, Hook.STEP_SEARCHED}


def test_thresholds_of_the_gates_are_saved_and_taken_back_and_stay_in_the_form(
    owner_pages: Client, shop: str, caller: Caller
) -> None:
    def now() -> tuple[int | None, float | None]:
        return here(caller).minimum_length, here(caller).conflict_cosine

    for field, text in (
        ("minimum_length", "20.5"),
        ("near_duplicate_cosine", "0.1"),
        ("conflict_cosine", "nan"),
        ("novelty_cosine", "much"),
    ):
        answer = owner_pages.post(f"{SETTINGS}/gates", {field: text, "version": "1"})
        assert answer.status_code == 422
        assert f'value="{text}"' in answer.content.decode()
    assert (now(), here(caller).version) == ((None, None), 1)
    form = {"minimum_length": "40", "conflict_cosine": "0,8", "version": "1"}
    owner_pages.post(f"{SETTINGS}/gates", form)
    assert now() == (40, 0.8)
    owner_pages.post(f"{SETTINGS}/gates", {"version": "2"})
    assert now() == (None, None)
