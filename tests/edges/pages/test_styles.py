"""The settings page of communication styles: what there is, which one fits, define, remove."""

from accounts.authentication import entered
from accounts.caller import Caller
from memory.customization.queries import list_styles
from memory.customization.style import Style
from tests.edges.pages.session_pages import Pages

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


def test_one_is_defined_changed_and_removed(pages: Pages) -> None:
    made = pages.owner.post(ADDRESS, CODING)
    (first,) = _styles(pages.caller)
    one = f"{ADDRESS}/{first.id}"

    pages.owner.post(one, {"verb": "save", "text": "Plain words.", "is_default": "on"})
    (second,) = _styles(pages.caller)
    shown = pages.owner.get(one).text
    pages.owner.post(one, {"verb": "remove"})

    assert made.status_code == 302
    assert (first.topics, first.interfaces) == (("coding", "Code Review"), ("cursor", "codex"))
    assert (second.name, second.text, second.is_default) == ("coding", "Plain words.", True)
    assert (second.topics, second.interfaces) == ((), ())
    assert "Plain words." in shown
    assert _styles(pages.caller) == ()


def test_the_page_says_which_one_fits_and_why(pages: Pages) -> None:
    pages.owner.post(ADDRESS, {**CODING, "interface": []})

    fits = pages.owner.get(f"{ADDRESS}?topic=a+code+review&interface=cursor").text
    none = pages.owner.get(f"{ADDRESS}?topic=the+garden&interface=cursor").text

    assert "fits by topic" in fits
    assert "<q>Code Review</q>" in fits
    assert "No style fits, and you have no default style." in none
