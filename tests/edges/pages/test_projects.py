"""Settings of a project: gates, extraction, hooks, people; and teams, on pages."""

from collections.abc import Callable

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


def test_settings_of_a_project_are_saved(owner_pages: Client, shop: str, caller: Caller) -> None:
    answer = owner_pages.post(SETTINGS, FORM)
    shown = owner_pages.get(SETTINGS).content.decode()

    assert answer["Location"] == SETTINGS
    changed = here(caller)
    assert (changed.name, changed.description) == ("Web shop", "Sells.")
    assert changed.relevance_threshold == 0.4
    assert 'value="0.4"' in shown


@pytest.mark.parametrize(
    ("field", "text", "status"),
    [
        ("name", "", 422), ("relevance_threshold", "1.5", 422), ("relevance_threshold", "nan", 422),
        ("relevance_threshold", "much", 422), ("version", "7", 412), ("version", "", 412),
    ],
)  # fmt: skip
def test_what_cannot_be_saved_stays_in_the_form(
    owner_pages: Client, shop: str, caller: Caller, field: str, text: str, status: int
) -> None:
    answer = owner_pages.post(SETTINGS, {**FORM, "description": "Kept here.", field: text})

    assert answer.status_code == status
    assert b'role="alert"' in answer.content
    assert b"Kept here." in answer.content
    assert here(caller).version == 1


@pytest.mark.parametrize(("text", "days"), [("7", 7), ("", None), ("30", 30)])
def test_a_project_says_how_long_it_is_kept_what_agents_did(
    owner_pages: Client, shop: str, caller: Caller, text: str, days: int | None
) -> None:
    answer = owner_pages.post(SETTINGS, {**FORM, "keep_events_days": text})
    shown = owner_pages.get(SETTINGS).content.decode()

    assert answer["Location"] == SETTINGS
    assert here(caller).keep_events_days == days
    assert f'aria-describedby="events-days-help" value="{text}"' in shown


def test_the_order_says_whose_threshold_it_is(owner_pages: Client, memory: MemoryView) -> None:
    address = "/o/acme/p/shop/memories?q=token+refresh&why=1"
    fitted = owner_pages.get(address).content.decode()
    owner_pages.post(SETTINGS, FORM)
    own = owner_pages.get(address).content.decode()

    assert [text in fitted for text in ("fitted for the embedding model", "0.40")] == [True, False]
    assert [text in own for text in ("set for this project", "at least 0.40")] == [True, True]


def test_a_project_is_closed_and_opened(
    owner_pages: Client, member_pages: Client, shop: str, caller: Caller
) -> None:
    seen = [member_pages.get(shop).status_code]
    for verb in ("close", "open"):
        answer = owner_pages.post(f"{SETTINGS}/openness", {"verb": verb})
        assert answer["Location"] == SETTINGS
        seen.append(member_pages.get(shop).status_code)

    assert seen == [200, 404, 200]


def test_a_project_that_cannot_be_closed_says_why(
    owner_pages: Client, viewer_pages: Client, shop: str, caller: Caller
) -> None:
    remembered(caller, "Amounts are integers everywhere, in cents.", scope="organization")

    answers = [
        pages.post(f"{SETTINGS}/openness", {"verb": verb})
        for pages, verb in ((owner_pages, "close"), (owner_pages, "lock"), (viewer_pages, "close"))
    ]

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


@pytest.mark.parametrize(
    ("form", "status"),
    [
        ({"verb": "add", "person": "stranger@globex.test"}, 404),
        ({"verb": "remove", "person": "nobody"}, 422),
        ({"verb": "promote", "person": "member@acme.test"}, 422),
    ],
)
def test_a_person_who_cannot_be_added_is_explained(
    owner_pages: Client, core: TeamView, stranger: User, form: dict[str, str], status: int
) -> None:
    for address in (f"{SETTINGS}/people", f"{TEAMS}/{core.id}/people"):
        answer = owner_pages.post(address, form)

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


@pytest.mark.parametrize(
    ("form", "status"),
    [({"name": "Core", "slug": "core"}, 409), ({"name": "Core", "slug": "Core!"}, 422)],
)
def test_a_team_that_cannot_be_made_is_explained(
    owner_pages: Client, core: TeamView, form: dict[str, str], status: int
) -> None:
    answer = owner_pages.post(TEAMS, form)

    assert answer.status_code == status
    assert b'role="alert"' in answer.content


def test_others_make_no_team_and_see_none(
    viewer_pages: Client, organization: Organization, core: TeamView
) -> None:
    page = viewer_pages.get(TEAMS).content.decode()

    assert "You are in no team." in page
    assert "core" not in page.partition("<main")[2]
    assert viewer_pages.post(TEAMS, {"name": "Ops", "slug": "ops"}).status_code == 403
    for address in (f"{TEAMS}/{core.id}", f"{TEAMS}/{core.id}/people"):
        assert viewer_pages.post(address, {"name": "Mine", "version": "1"}).status_code == 404


EXTRACTION = f"{SETTINGS}/extraction"


def test_how_conversations_are_read_is_saved(
    owner_pages: Client, caller: Caller, shop: str
) -> None:
    sent = {"version": "1", "extraction_mode": "heuristic", "max_llm_calls_per_session": "3"}

    answer = owner_pages.post(EXTRACTION, sent)

    found = here(caller)
    assert answer.status_code == 302
    assert (found.extraction_mode, found.max_llm_calls_per_session) == ("heuristic", 3)
    assert found.max_llm_calls_per_turn is None
    shown = owner_pages.get(SETTINGS).content.decode()
    assert '<option value="heuristic" selected>' in shown


def test_what_is_no_number_is_refused_where_it_stands(
    owner_pages: Client, caller: Caller, shop: str
) -> None:
    sent = {"version": "1", "max_llm_calls_per_turn": "many", "extraction_mode": "heuristic"}

    answer = owner_pages.post(EXTRACTION, sent)

    assert answer.status_code == 422
    assert "This is not a number." in answer.content.decode()
    assert 'value="many"' in answer.content.decode()
    assert here(caller).extraction_mode is None


ALL = ("brief", "prefetch", "warnings", "step", "step_recorded", "step_searched", "planner")


def settings_page(client: Client, shop: str) -> str:
    """Return the text of the settings_page."""
    response = client.get(f"{shop}settings")
    assert response.status_code == 200
    return response.content.decode()


def hooks_on(caller: Caller) -> set[Hook]:
    """Return the hooks that are hooks_on."""
    with entered(caller):
        return {hook for hook, is_on in hooks_of(caller=caller, ref="shop").items() if is_on}


def ticked(text: str) -> set[str]:
    """Return the hooks that are ticked."""
    return {name for name in ALL if f'id="hook-{name}" name="on" value="{name}" checked' in text}


def test_hooks_are_switched_on_the_page_and_stay(
    owner_pages: Client, shop: str, caller: Caller
) -> None:
    usual = ticked(settings_page(owner_pages, shop))

    answer = owner_pages.post(f"{shop}settings/hooks", {"on": ["brief", "step_searched"]})

    assert usual == set(ALL) - {"step_recorded", "step_searched"}
    assert answer.status_code in {200, 204, 302}
    assert ticked(settings_page(owner_pages, shop)) == {"brief", "step_searched"}
    assert hooks_on(caller) == {Hook.BRIEF, Hook.STEP_SEARCHED}


def test_a_member_sees_the_switches_and_changes_none(
    shop: str, member: User, signed_in: Callable[[User], Client], caller: Caller
) -> None:
    client = signed_in(member)

    before, answer = (
        settings_page(client, shop),
        client.post(f"{shop}settings/hooks", {"on": "step"}),
    )

    assert '<fieldset class="field" disabled>' in before
    assert answer.status_code == 403
    assert Hook.BRIEF in hooks_on(caller)


def test_thresholds_of_the_gates_are_saved_and_taken_back(
    owner_pages: Client, shop: str, caller: Caller
) -> None:
    owner_pages.post(
        f"{SETTINGS}/gates", {"minimum_length": "40", "conflict_cosine": "0,8", "version": "1"}
    )

    assert (here(caller).minimum_length, here(caller).conflict_cosine) == (40, 0.8)
    owner_pages.post(f"{SETTINGS}/gates", {"version": "2"})
    assert (here(caller).minimum_length, here(caller).conflict_cosine) == (None, None)


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("minimum_length", "20.5"),
        ("near_duplicate_cosine", "0.1"),
        ("conflict_cosine", "nan"),
        ("novelty_cosine", "much"),
    ],
)
def test_thresholds_out_of_bounds_stay_in_the_form(
    owner_pages: Client, shop: str, caller: Caller, field: str, text: str
) -> None:
    answer = owner_pages.post(f"{SETTINGS}/gates", {field: text, "version": "1"})

    assert answer.status_code == 422
    assert f'value="{text}"' in answer.content.decode()
    assert getattr(here(caller), field) is None
