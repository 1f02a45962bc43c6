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
from tests.edges.pages.session_pages import Pages
from tests.support import people
from tests.support.secret_kinds import filled

SETTINGS = "/o/acme/settings/"


def _projects(caller: Caller) -> set[str]:
    with entered(caller):
        return {one.slug for one in projects(caller=caller)}


def test_new_project_is_made_and_opened(pages: Pages) -> None:
    before, form = _projects(pages.caller), {"name": "Warehouse", "slug": "warehouse"}

    response = pages.owner.post("/o/acme/projects/new", form, **HTMX)

    assert response["HX-Redirect"] == "/o/acme/p/warehouse/"
    assert (before, _projects(pages.caller)) == ({"shop"}, {"shop", "warehouse"})


def test_an_invitation_is_mailed_and_accepted(pages: Pages, stranger: User) -> None:
    links = []
    for email in ("someone@else.test", stranger.email):
        form = {"email": email, "role": "member"}
        page = pages.owner.post(f"{SETTINGS}members/invite", form, **HTMX).text
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
    assert stranger.email in {one.email for one in members(caller=pages.caller)}


def test_role_can_be_changed_and_a_member_removed(pages: Pages, member: User) -> None:
    address = f"{SETTINGS}members/{member.id}"

    pages.owner.post(address, {"verb": "role", "role": "viewer"})
    changed = {one.user_id: one.role for one in members(caller=pages.caller)}
    pages.owner.post(address, {"verb": "remove"})

    assert changed[member.id] is Role.VIEWER
    assert member.id not in {one.user_id for one in members(caller=pages.caller)}


def test_token_is_shown_once_and_can_be_revoked(pages: Pages) -> None:
    form = {"name": "ci", "scope": ["read"], "days": "30", "tool": "api"}
    page = pages.owner.post(f"{SETTINGS}tokens/new", form, **HTMX).text
    text = page.split("<pre><code>")[1].split("<")[0]
    (made,) = list_tokens(caller=pages.caller)

    listed = pages.owner.get(f"{SETTINGS}tokens").text
    pages.owner.post(f"{SETTINGS}tokens/{made.id}", {"verb": "revoke"})

    assert text.startswith("crn_pat_")
    assert text not in listed
    assert list_tokens(caller=pages.caller)[0].revoked_at is not None


def test_connection_token_fills_every_snippet(pages: Pages) -> None:
    response = pages.owner.post(f"{pages.shop}connections/token", {"tool": "cursor"}, **HTMX)
    page = response.text

    assert page.count("crn_pat_") >= 6
    assert "YOUR_TOKEN" not in page


def test_preferences_are_kept_and_used(pages: Pages) -> None:
    form = {"name": "Mia", "language": "fr", "theme": "dark", "shortcuts": "on"}

    pages.owner.post("/me", form)
    page = pages.owner.get(pages.shop).text
    own = pages.owner.get("/me").text

    assert '<html lang="fr" data-theme="dark">' in page
    assert "Souvenirs" in page
    for text in ('value="Mia"', '<option value="dark" selected>', 'name="shortcuts" checked'):
        assert text in own


def test_the_front_door_leads_to_sign_in_in_a_language_of_choice(client: Client, db: None) -> None:
    elsewhere = client.post("/language", {"language": "fr", "next": "https://elsewhere.test/"})

    assert client.get("/")["Location"] == "/login/"
    assert elsewhere["Location"] == "/"
    assert "Se connecter" in client.get("/login/").text


def test_person_of_two_organizations_may_choose(
    pages: Pages, owner: User, other_organization: Organization
) -> None:
    people.Membership.objects.create(organization=other_organization, user=owner, role=Role.VIEWER)

    page = pages.owner.get("/o/").text

    assert "Acme" in page
    assert "Globex" in page


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


SECRET = filled(form="ghp_{A36}", draw=random.Random(7))


@pytest.mark.usefixtures("shop")
def test_a_name_with_a_secret_comes_back_without_it(owner_pages: Client, owner: User) -> None:
    sent = {"name": f"Grace {SECRET} Hopper", "language": "fr", "theme": "dark"}

    answer = owner_pages.post("/me", sent)

    page = answer.text
    owner.refresh_from_db()
    assert answer.status_code == 422
    assert 'value="Grace [redacted: ' in page
    assert SECRET not in page
    assert '<option value="dark" selected>' in page
    assert (owner.name, owner.theme) == ("Owner", "")
