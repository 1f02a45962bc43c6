"""The settings pages of methodologies: what there is, what one maps, passes on and adds."""

from datetime import datetime

import pytest
from django.test import Client

from accounts.authentication import entered
from accounts.caller import Caller
from memory.customization.queries import MethodologyView, list_methodologies
from memory.records.queries.views import MemoryView
from memory.sessions.actions.lifecycle import NewSession, open_session
from tests.edges.pages.session_pages import Pages
from tests.support.memories import CARTS, REDIS, stored

ADDRESS = "/o/acme/settings/methodologies"
TAKEN_OUT = "It has been replaced in the form by [redacted: …]."
SCRUM = {
    "name": "scrum",
    "phase": ["ready", "doing", ""],
    "is": ["define", "implement", "define"],
    "from": ["ready", ""],
    "to": ["doing", ""],
    "passes": ["user-story, gotcha", ""],
    "type": ["user-story", ""],
    "base": ["requirement", "fact"],
    "says": ["What a user needs, and why.", ""],
    "on_complete": ["record_outcome"],
    "verb": "save",
}


def _own(caller: Caller) -> list[MethodologyView]:
    with entered(caller):
        return [one for one in list_methodologies(caller=caller) if one.is_own]


def test_one_is_defined_changed_and_removed(pages: Pages) -> None:
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
    assert (redacted.status_code, "correct-horse" in body, "[redacted" in body) == (
        422,
        False,
        True,
    )
    assert TAKEN_OUT in body
    assert _own(pages.caller) == []


def test_more_lines_keep_what_is_written(pages: Pages) -> None:
    few = pages.owner.get(ADDRESS).text

    more = pages.owner.post(ADDRESS, {**SCRUM, "verb": "more"}).text

    assert more.count('name="phase"') > few.count('name="phase"')
    assert 'value="user-story"' in more
    assert _own(pages.caller) == []


def test_one_of_ours_begins_one_of_the_organizations_own(owner_pages: Client) -> None:
    shipped = owner_pages.get(f"{ADDRESS}/native").text
    begun = owner_pages.get(f"{ADDRESS}?from=native").text

    assert "?from=native#new" in shipped
    assert 'name="verb"' not in shipped
    assert 'value="qa_review"' in begun
    assert owner_pages.get(f"{ADDRESS}/nothing").status_code == 404


def _worked(caller: Caller, now: datetime) -> None:
    """Open a session of it for the project and one for oneself, each with a memory."""
    with entered(caller):
        for scope in ("project", "personal"):
            is_shared = scope == "project"
            new = NewSession(project="shop", methodology="scrum", shared=is_shared)
            open_session(caller=caller, new=new, now=now)
            content = f"{REDIS} Said for the {scope}."
            stored(caller, now, content, project="shop", scope=scope, type="user-story")


@pytest.mark.usefixtures("memory")
def test_sessions_and_memories_are_counted_that_one_may_see(
    owner_pages: Client, viewer_pages: Client, caller: Caller, now: datetime
) -> None:
    owner_pages.post(ADDRESS, SCRUM)
    _worked(caller, now)

    mine, theirs = (pages.get(f"{ADDRESS}/scrum").text for pages in (owner_pages, viewer_pages))

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
