"""The settings pages of methodologies and styles: what there is, define, remove."""

import pytest

from accounts.authentication import entered
from accounts.caller import Caller
from memory.customization.queries import MethodologyView, list_methodologies, list_styles
from memory.customization.style import Style
from memory.records.queries.views import MemoryView
from tests.edges.pages.conftest import remembered
from tests.edges.pages.session_pages import Pages
from tests.support.memories import CARTS, REDIS

ADDRESS = "/o/acme/settings/methodologies"
TAKEN_OUT = "It has been replaced in the form by [redacted: …]."
SCRUM = {
    "name": "scrum", "verb": "save", "phase": ["ready", "doing", ""],
    "is": ["define", "implement", "define"], "from": ["ready", ""], "to": ["doing", ""],
    "passes": ["user-story, gotcha", ""], "type": ["user-story", ""],
    "base": ["requirement", "fact"], "says": ["What a user needs, and why.", ""],
    "on_complete": ["record_outcome"],
}  # fmt: skip


def _own(caller: Caller) -> list[MethodologyView]:
    with entered(caller):
        return [one for one in list_methodologies(caller=caller) if one.is_own]


def test_a_methodology_is_defined_changed_and_removed(pages: Pages) -> None:
    made = pages.owner.post(ADDRESS, SCRUM)
    (first,) = _own(pages.caller)
    one = f"{ADDRESS}/scrum"

    shown = pages.owner.get(one).text
    pages.owner.post(one, {**SCRUM, "phase": ["later"], "is": ["reflect"], "on_complete": []})
    (second,) = _own(pages.caller)
    pages.owner.post(one, {"verb": "remove"})

    assert made.status_code == 302
    assert (dict(first.phases), len(first.relays), len(first.types)) == (
        {"ready": "define", "doing": "implement"}, 1, 1,
    )  # fmt: skip
    assert first.relays[0].types == {"user-story", "gotcha"}
    assert "What a user needs, and why." in shown
    assert (dict(second.phases), second.on_complete) == ({"later": "reflect"}, ())
    assert _own(pages.caller) == []


def test_what_is_refused_comes_back_as_it_was_sent_but_for_secrets(pages: Pages) -> None:
    wrong = {**SCRUM, "type": ["fact"], "base": ["decision"], "says": ["A choice."]}
    secret = {**SCRUM, "says": ["password=correct-horse-battery-9f8a7b6c"]}

    answer = pages.owner.post(ADDRESS, wrong)
    redacted = pages.owner.post(ADDRESS, secret)

    body = answer.text
    assert answer.status_code == 422
    assert "A type of memory has that name already." in body
    assert 'value="fact" placeholder="name" aria-label="Type 1: its name"' in body
    assert body.count('aria-invalid="true"') == 1
    assert 'value="A choice."' in body
    assert 'value="record_outcome" checked' in body
    body = redacted.text
    assert redacted.status_code == 422
    assert ("correct-horse" in body, "[redacted" in body) == (False, True)
    assert TAKEN_OUT in body
    assert _own(pages.caller) == []


def test_more_lines_keep_what_is_written_and_one_of_ours_begins_one_of_their_own(
    pages: Pages,
) -> None:
    few = pages.owner.get(ADDRESS).text

    more = pages.owner.post(ADDRESS, {**SCRUM, "verb": "more"}).text
    shipped, begun = (pages.text(f"{ADDRESS}{one}") for one in ("/native", "?from=native"))

    assert more.count('name="phase"') > few.count('name="phase"')
    assert 'value="user-story"' in more
    assert _own(pages.caller) == []
    assert "?from=native#new" in shipped
    assert 'name="verb"' not in shipped
    assert 'value="qa_review"' in begun
    assert pages.owner.get(f"{ADDRESS}/nothing").status_code == 404


@pytest.mark.usefixtures("memory")
def test_sessions_and_memories_are_counted_that_one_may_see(pages: Pages) -> None:
    pages.owner.post(ADDRESS, SCRUM)
    for scope in ("project", "personal"):
        pages.opened(methodology="scrum", shared=scope == "project")
        remembered(pages.caller, f"{REDIS} For the {scope}.", scope=scope, type="user-story")

    mine, theirs = (one.get(f"{ADDRESS}/scrum").text for one in (pages.owner, pages.viewer))

    assert ('<dd class="num">2<' in mine, '<td class="num">2 memories<' in mine) == (True, True)
    assert ('<dd class="num">1<' in theirs, '<td class="num">1 memory<' in theirs) == (True, True)


def test_memories_are_taught_and_shown_by_its_types(pages: Pages, memory: MemoryView) -> None:
    pages.owner.post(ADDRESS, SCRUM)
    shop = "/o/acme/p/shop"

    offered = pages.owner.get(f"{shop}/teach").text
    pages.owner.post(f"{shop}/teach", {"content": CARTS, "type": "user-story"})
    listed = pages.owner.get(f"{shop}/memories?q=type:user-story").text
    searched = pages.owner.get(f"{shop}/memories?q=type:user-story+carts").text

    chip = '<span class="chip blue" title="user-story · Requirement">user-story</span>'
    assert '<option value="user-story">user-story</option>' in offered
    assert (listed.count(chip), searched.count(chip)) == (1, 1)
    assert memory.citation not in listed


STYLES = "/o/acme/settings/styles"
CODING = {
    "name": "coding", "scope": "organization", "text": "Short sentences, code first.",
    "topics": "coding, Code Review,", "interface": ["cursor", "codex"],
}  # fmt: skip


def _styles(caller: Caller) -> tuple[Style, ...]:
    with entered(caller):
        return list_styles(caller=caller)


def test_a_style_is_defined_changed_and_removed(pages: Pages) -> None:
    made = pages.owner.post(STYLES, CODING)
    (first,) = _styles(pages.caller)
    one = f"{STYLES}/{first.id}"

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
    pages.owner.post(STYLES, {**CODING, "interface": []})

    fits = pages.owner.get(f"{STYLES}?topic=a+code+review&interface=cursor").text
    none = pages.owner.get(f"{STYLES}?topic=the+garden&interface=cursor").text

    assert "fits by topic" in fits
    assert "<q>Code Review</q>" in fits
    assert "No style fits, and you have no default style." in none
