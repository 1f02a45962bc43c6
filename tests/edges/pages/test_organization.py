"""Organizations, projects, members, invitations, tokens and preferences on pages."""

import random

import pytest
from django.core import mail
from django.test import Client

from accounts.authentication import entered
from accounts.caller import Caller, Role
from accounts.models import Organization, User
from accounts.queries import keep_events_days, list_tokens, members
from teams.queries import projects
from tests.edges.pages.conftest import HTMX
from tests.support import people
from tests.support.secret_kinds import filled

SETTINGS = "/o/acme/settings/"


def _projects(caller: Caller) -> set[str]:
    with entered(caller):
        return {one.slug for one in projects(caller=caller)}


def test_new_project_is_made_and_opened_and_a_wrong_name_explained_in_the_dialog(
    owner_pages: Client, shop: str, caller: Caller
) -> None:
    for slug in ("Shop!", "", "shop", "a" * 65):
        wrong = owner_pages.post("/o/acme/projects/new", {"name": "Shop", "slug": slug}, **HTMX)
        assert wrong.status_code in {409, 422}
        assert b'role="alert"' in wrong.content
    before, form = _projects(caller), {"name": "Warehouse", "slug": "warehouse"}

    response = owner_pages.post("/o/acme/projects/new", form, **HTMX)

    assert response["HX-Redirect"] == "/o/acme/p/warehouse/"
    assert (before, _projects(caller)) == ({"shop"}, {"shop", "warehouse"})


def test_invitation_is_mailed_and_its_link_accepted_by_whom_it_is_for(
    owner_pages: Client, shop: str, caller: Caller, stranger_pages: Client, stranger: User
) -> None:
    links = []
    for email in ("someone@else.test", stranger.email):
        form = {"email": email, "role": "member"}
        page = owner_pages.post(f"{SETTINGS}members/invite", form, **HTMX).content.decode()
        links.append("/invite/" + page.split("/invite/")[1].split("<")[0])

    refused = stranger_pages.post(links[0])
    outside = {one.email for one in members(caller=caller)}
    offered = stranger_pages.get(links[1])
    accepted = stranger_pages.post(links[1])

    assert (refused.status_code, stranger.email in outside) == (404, False)
    assert len(mail.outbox) == 2
    assert b"Join Acme" in offered.content
    # with less, browsers send forms from nowhere
    assert offered["Referrer-Policy"] == "same-origin"
    assert accepted["Location"] == "/o/acme/"
    assert stranger.email in {one.email for one in members(caller=caller)}


def test_role_can_be_changed_and_a_member_removed(
    owner_pages: Client, shop: str, caller: Caller, member: User
) -> None:
    address = f"{SETTINGS}members/{member.id}"

    owner_pages.post(address, {"verb": "role", "role": "viewer"})
    changed = {one.user_id: one.role for one in members(caller=caller)}
    owner_pages.post(address, {"verb": "remove"})

    assert changed[member.id] is Role.VIEWER
    assert member.id not in {one.user_id for one in members(caller=caller)}


def test_token_is_shown_once_and_can_be_revoked_and_a_wrong_one_is_explained(
    owner_pages: Client, shop: str, caller: Caller
) -> None:
    for wrong in (
        {"name": "", "scope": ["read"]},
        {"name": "x", "scope": [], "days": "9"},
        {"name": "x", "scope": ["read"], "days": "9999"},
    ):
        assert owner_pages.post(f"{SETTINGS}tokens/new", wrong, **HTMX).status_code == 422
    assert list_tokens(caller=caller) == ()
    form = {"name": "ci", "scope": ["read"], "days": "30", "tool": "api"}
    page = owner_pages.post(f"{SETTINGS}tokens/new", form, **HTMX).content.decode()
    text = page.split("<pre><code>")[1].split("<")[0]
    (made,) = list_tokens(caller=caller)

    listed = owner_pages.get(f"{SETTINGS}tokens").content.decode()
    owner_pages.post(f"{SETTINGS}tokens/{made.id}", {"verb": "revoke"})

    assert text.startswith("crn_pat_")
    assert text not in listed
    assert list_tokens(caller=caller)[0].revoked_at is not None


def test_connection_token_fills_every_snippet(owner_pages: Client, shop: str) -> None:
    response = owner_pages.post(f"{shop}connections/token", {"tool": "cursor"}, **HTMX)
    page = response.content.decode()

    assert page.count("crn_pat_") >= 6
    assert "YOUR_TOKEN" not in page


def test_preferences_are_kept_and_used_and_wrong_ones_change_nothing(
    owner_pages: Client, shop: str, owner: User
) -> None:
    for wrong in ({"language": "xx"}, {"theme": "pink"}, {"name": "a" * 101}):
        assert owner_pages.post("/me", wrong).status_code == 422
    owner.refresh_from_db()
    assert (owner.language, owner.theme) == ("", "")
    form = {"name": "Mia", "language": "fr", "theme": "dark", "shortcuts": "on"}

    owner_pages.post("/me", form)
    page = owner_pages.get(shop).content.decode()
    own = owner_pages.get("/me").content.decode()

    assert '<html lang="fr" data-theme="dark">' in page
    assert "Souvenirs" in page
    for text in ('value="Mia"', '<option value="dark" selected>', 'name="shortcuts" checked'):
        assert text in own


def test_the_front_door_leads_to_sign_in_in_a_language_of_choice(client: Client, db: None) -> None:
    elsewhere = client.post("/language", {"language": "fr", "next": "https://elsewhere.test/"})

    assert client.get("/")["Location"] == "/login/"
    assert elsewhere["Location"] == "/"
    assert "Se connecter" in client.get("/login/").content.decode()


def test_person_of_two_organizations_may_choose(
    owner_pages: Client, owner: User, other_organization: Organization
) -> None:
    people.Membership.objects.create(organization=other_organization, user=owner, role=Role.VIEWER)

    page = owner_pages.get("/o/").content.decode()

    assert "Acme" in page
    assert "Globex" in page


def test_the_life_of_tokens_and_events_is_set_in_the_settings(
    owner_pages: Client, organization: Organization, shop: str
) -> None:
    for days in ("0", "366", "-1", "many", "9" * 30):
        wrong = {"name": "Acme", "keep_events_days": days}
        refused = owner_pages.post("/o/acme/settings/general", wrong)
        assert refused.status_code == 422
        assert "Events are kept 1 to 365 days." in refused.text
    form = {"name": "Acme", "longest_token_days": "60", "keep_events_days": "7"}

    saved = owner_pages.post("/o/acme/settings/general", form)
    page = owner_pages.get("/o/acme/settings/general").text
    dialog = owner_pages.get("/o/acme/settings/tokens/new").text

    assert saved.status_code == 302
    assert 'value="60" selected' in dialog
    assert 'value="365"' not in dialog
    assert keep_events_days(organization_id=organization.id) == 7
    assert 'name="keep_events_days" type="number" required min="1" max="365" value="7"' in page


SECRET = filled(form="ghp_{A36}", draw=random.Random(7))


@pytest.mark.usefixtures("shop")
def test_a_name_with_a_secret_comes_back_without_it(owner_pages: Client, owner: User) -> None:
    sent = {"name": f"Grace {SECRET} Hopper", "language": "fr", "theme": "dark"}

    answer = owner_pages.post("/me", sent)

    page = answer.content.decode()
    owner.refresh_from_db()
    assert answer.status_code == 422
    assert 'value="Grace [redacted: ' in page
    assert SECRET not in page
    assert '<option value="dark" selected>' in page
    assert (owner.name, owner.theme) == ("Owner", "")
