"""Settings of organizations, members, tokens, preferences, projects and teams."""

import random

from django.core import mail
from django.test import Client

from accounts.authentication import entered
from accounts.caller import Caller, Role
from accounts.models import Organization, User
from accounts.queries import keep_events_days, list_tokens, members
from memory.records.queries.views import MemoryView
from teams.actions import add_person, create_project
from teams.queries import Hook, Kind, ProjectView, hooks_of, project, projects, teams
from tests.conftest import NOW
from tests.edges.pages.conftest import HTMX, remembered
from tests.edges.pages.session_pages import Pages
from tests.support import people
from tests.support.secret_kinds import filled


def _projects(caller: Caller) -> set[str]:
    with entered(caller):
        return {one.slug for one in projects(caller=caller)}


def test_new_project_is_made_and_opened_and_who_is_in_two_organizations_may_choose(
    pages: Pages, owner: User, other_organization: Organization
) -> None:
    before, form = _projects(pages.caller), {"name": "Warehouse", "slug": "warehouse"}

    response = pages.owner.post("/o/acme/projects/new", form, **HTMX)

    assert response["HX-Redirect"] == "/o/acme/p/warehouse/"
    assert (before, _projects(pages.caller)) == ({"shop"}, {"shop", "warehouse"})
    people.Membership.objects.create(organization=other_organization, user=owner, role=Role.VIEWER)
    page = pages.text("/o/")
    assert ("Acme" in page, "Globex" in page) == (True, True)


def test_an_invitation_is_mailed_and_accepted_the_role_changed_and_the_member_removed(
    pages: Pages, stranger: User
) -> None:
    links = []
    for email in ("someone@else.test", stranger.email):
        form = {"email": email, "role": "member"}
        page = pages.owner.post("/o/acme/settings/members/invite", form, **HTMX).text
        links.append("/invite/" + page.split("/invite/")[1].split("<")[0])

    refused = pages.stranger.post(links[0])
    outside = {one.email for one in members(caller=pages.caller)}
    offered = pages.stranger.get(links[1])
    accepted = pages.stranger.post(links[1])

    assert (refused.status_code, stranger.email in outside) == (404, False)
    assert len(mail.outbox) == 2
    assert b"Join Acme" in offered.content
    # with less, browsers send forms from nowhere
    assert offered["Referrer-Policy"] == "same-origin"
    assert accepted["Location"] == "/o/acme/"
    roles = [{one.email: one.role for one in members(caller=pages.caller)}]
    for form in ({"verb": "role", "role": "viewer"}, {"verb": "remove"}):
        pages.owner.post(f"/o/acme/settings/members/{stranger.id}", form)
        roles.append({one.email: one.role for one in members(caller=pages.caller)})
    held = [one.get(stranger.email) for one in roles]
    assert held == [Role.MEMBER, Role.VIEWER, None]


def test_token_is_shown_once_and_revoked_and_one_of_the_connections_fills_every_snippet(
    pages: Pages,
) -> None:
    form = {"name": "ci", "scope": ["read"], "days": "30", "tool": "api"}
    page = pages.owner.post("/o/acme/settings/tokens/new", form, **HTMX).text
    text = page.split("<pre><code>")[1].split("<")[0]
    (made,) = list_tokens(caller=pages.caller)

    listed = pages.owner.get("/o/acme/settings/tokens").text
    pages.owner.post(f"/o/acme/settings/tokens/{made.id}", {"verb": "revoke"})

    assert text.startswith("crn_pat_")
    assert text not in listed
    assert list_tokens(caller=pages.caller)[0].revoked_at is not None
    snippets = pages.owner.post(f"{pages.shop}connections/token", {"tool": "cursor"}, **HTMX).text
    assert snippets.count("crn_pat_") >= 6
    assert "YOUR_TOKEN" not in snippets


SECRET = filled(form="ghp_{A36}", draw=random.Random(7))


def test_preferences_are_kept_and_used_and_a_name_with_a_secret_comes_back_without_it(
    pages: Pages, owner: User
) -> None:
    form = {"name": "Mia", "language": "fr", "theme": "dark", "shortcuts": "on"}

    refused = pages.owner.post("/me", {**form, "name": f"Grace {SECRET} Hopper"})
    owner.refresh_from_db()
    kept = (owner.name, owner.theme)
    pages.owner.post("/me", form)
    page = pages.owner.get(pages.shop).text
    own = pages.owner.get("/me").text

    assert (refused.status_code, kept) == (422, ("Owner", ""))
    assert 'value="Grace [redacted: ' in refused.text
    assert SECRET not in refused.text
    assert '<option value="dark" selected>' in refused.text
    assert '<html lang="fr" data-theme="dark">' in page
    assert "Souvenirs" in page
    for text in ('value="Mia"', '<option value="dark" selected>', 'name="shortcuts" checked'):
        assert text in own


def test_the_front_door_leads_to_sign_in_in_a_language_of_choice(client: Client, db: None) -> None:
    elsewhere = client.post("/language", {"language": "fr", "next": "https://elsewhere.test/"})

    assert client.get("/")["Location"] == "/login/"
    assert elsewhere["Location"] == "/"
    assert "Se connecter" in client.get("/login/").text


def test_the_life_of_tokens_and_events_is_set(pages: Pages, organization: Organization) -> None:
    form = {"name": "Acme", "longest_token_days": "60", "keep_events_days": "7"}

    saved = pages.owner.post("/o/acme/settings/general", form)
    page = pages.owner.get("/o/acme/settings/general").text
    dialog = pages.owner.get("/o/acme/settings/tokens/new").text

    assert saved.status_code == 302
    assert 'value="60" selected' in dialog
    assert 'value="365"' not in dialog
    assert keep_events_days(organization_id=organization.id) == 7
    assert 'name="keep_events_days" type="number" required min="1" max="365" value="7"' in page


SETTINGS = "/o/acme/p/shop/settings"
TEAMS = "/o/acme/settings/teams"
FORM = {"name": "Web shop", "description": "Sells.", "relevance_threshold": "0.4", "version": "1"}


def here(caller: Caller, ref: str = "shop") -> ProjectView:
    """Return a project as it is now."""
    with entered(caller):
        return project(caller=caller, ref=ref)


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


def test_the_order_says_whose_threshold_it_is(pages: Pages, memory: MemoryView) -> None:
    address = "/o/acme/p/shop/memories?q=token+refresh&why=1"
    fitted = pages.owner.get(address).text
    pages.owner.post(SETTINGS, FORM)
    own = pages.owner.get(address).text

    assert [text in fitted for text in ("fitted for the embedding model", "0.40")] == [True, False]
    assert [text in own for text in ("set for this project", "at least 0.40")] == [True, True]


def test_a_project_is_closed_and_opened_and_says_why_it_cannot(
    pages: Pages,
) -> None:
    address, seen = f"{SETTINGS}/openness", [pages.member.get(pages.shop).status_code]
    for verb in ("close", "open"):
        assert pages.owner.post(address, {"verb": verb})["Location"] == SETTINGS
        seen.append(pages.member.get(pages.shop).status_code)
    remembered(pages.caller, "Amounts are integers everywhere, in cents.", scope="organization")

    answers = [one.post(address, {"verb": "close"}) for one in (pages.owner, pages.viewer)]

    assert seen == [200, 404, 200]
    assert [answer.status_code for answer in answers] == [409, 403]
    assert "shared with a team or the organization: 1." in answers[0].text
    assert here(pages.caller).open_to_all


def test_who_leaves_a_closed_project_is_led_out(pages: Pages, member: User) -> None:
    caller, vault = pages.caller, "/o/acme/p/vault/settings/people"
    with entered(caller):
        create_project(caller=caller, slug="vault", name="Vault", open_to_all=False, now=NOW)
        add_person(caller=caller, kind=Kind.PROJECT, ref="vault", person=member.email)
    form = {"verb": "remove", "person": str(member.id)}

    answer = pages.member.post(vault, form)

    assert answer["Location"] == "/o/acme/"
    assert pages.member.post(vault, form).status_code == 404


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


def test_how_conversations_are_read_and_thresholds_of_the_gates_are_saved_and_taken_back(
    pages: Pages,
) -> None:
    sent = {"version": "1", "extraction_mode": "heuristic", "max_llm_calls_per_session": "3"}
    gates = {"version": "2", "minimum_length": "40", "conflict_cosine": "0,8"}

    pages.owner.post(f"{SETTINGS}/extraction", sent)
    pages.owner.post(f"{SETTINGS}/gates", gates)
    found = here(pages.caller)
    pages.owner.post(f"{SETTINGS}/gates", {"version": "3"})
    after = here(pages.caller)

    assert (found.extraction_mode, found.max_llm_calls_per_session) == ("heuristic", 3)
    assert found.max_llm_calls_per_turn is None
    assert '<option value="heuristic" selected>' in pages.owner.get(SETTINGS).text
    assert (found.minimum_length, found.conflict_cosine) == (40, 0.8)
    assert (after.minimum_length, after.conflict_cosine) == (None, None)


ALL = (
    *("brief", "prefetch", "warnings", "step", "step_recorded", "step_searched", "planner"),
    "reflect",
)


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
