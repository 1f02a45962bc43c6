"""The settings page of communication styles: what there is, which one fits, define, remove."""

from django.test import Client

from accounts.authentication import entered
from accounts.caller import Caller
from memory.customization.queries import list_styles
from memory.customization.style import Style

ADDRESS = "/o/acme/settings/styles"
CODING = {
    "name": "coding",
    "scope": "organization",
    "text": "Short sentences, code first.",
    "topics": "coding, Code Review,",
    "interface": ["cursor", "codex"],
}


def _styles(caller: Caller) -> tuple[Style, ...]:
    with entered(caller):
        return list_styles(caller=caller)


def test_one_is_defined_changed_and_removed(owner_pages: Client, caller: Caller) -> None:
    made = owner_pages.post(ADDRESS, CODING)
    (first,) = _styles(caller)
    one = f"{ADDRESS}/{first.id}"

    owner_pages.post(one, {"verb": "save", "text": "Plain words.", "is_default": "on"})
    (second,) = _styles(caller)
    shown = owner_pages.get(one).content.decode()
    owner_pages.post(one, {"verb": "remove"})

    assert made.status_code == 302
    assert (first.topics, first.interfaces) == (("coding", "Code Review"), ("cursor", "codex"))
    assert (second.name, second.text, second.is_default) == ("coding", "Plain words.", True)
    assert (second.topics, second.interfaces) == ((), ())
    assert "Plain words." in shown
    assert _styles(caller) == ()


def test_the_page_says_which_one_fits_and_why(owner_pages: Client, caller: Caller) -> None:
    owner_pages.post(ADDRESS, {**CODING, "interface": []})

    fits = owner_pages.get(f"{ADDRESS}?topic=a+code+review&interface=cursor").content.decode()
    none = owner_pages.get(f"{ADDRESS}?topic=the+garden&interface=cursor").content.decode()

    assert "fits by topic" in fits
    assert "<q>Code Review</q>" in fits
    assert "No style fits, and you have no default style." in none


def test_what_is_refused_comes_back_as_it_was_sent(owner_pages: Client, caller: Caller) -> None:
    answer = owner_pages.post(ADDRESS, {**CODING, "name": "No Name!"})

    body = answer.content.decode()
    assert answer.status_code == 422
    assert 'value="No Name!"' in body
    assert 'value="cursor" checked' in body
    assert "Short sentences, code first." in body
    assert _styles(caller) == ()


def test_viewers_see_the_organizations_and_change_none(
    owner_pages: Client, viewer_pages: Client, caller: Caller
) -> None:
    owner_pages.post(ADDRESS, CODING)
    (kept,) = _styles(caller)

    listed = viewer_pages.get(ADDRESS).content.decode()
    shown = viewer_pages.get(f"{ADDRESS}/{kept.id}").content.decode()
    refused = viewer_pages.post(f"{ADDRESS}/{kept.id}", {"verb": "remove"})

    assert "Short sentences, code first." in listed
    assert "New style" not in listed
    assert "Owners and admins change this." in shown
    assert refused.status_code == 403
    assert _styles(caller) == (kept,)
