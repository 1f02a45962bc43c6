"""The settings pages of methodologies: what there is, what one maps, passes on and adds."""

from datetime import datetime
from typing import Any

import pytest
from django.test import Client

from accounts.authentication import entered
from accounts.caller import Caller
from accounts.models import User
from memory.customization.queries import MethodologyView, list_methodologies
from memory.records.queries.views import MemoryView
from memory.sessions.actions.lifecycle import NewSession, open_session
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


def test_one_is_defined_changed_and_removed(owner_pages: Client, caller: Caller) -> None:
    made = owner_pages.post(ADDRESS, SCRUM)
    (first,) = _own(caller)
    one = f"{ADDRESS}/scrum"

    shown = owner_pages.get(one).content.decode()
    owner_pages.post(one, {**SCRUM, "phase": ["later"], "is": ["reflect"], "on_complete": []})
    (second,) = _own(caller)
    owner_pages.post(one, {"verb": "remove"})

    assert made.status_code == 302
    assert (dict(first.phases), len(first.relays), len(first.types)) == (
        {"ready": "define", "doing": "implement"}, 1, 1,
    )  # fmt: skip
    assert first.relays[0].types == {"user-story", "gotcha"}
    assert "What a user needs, and why." in shown
    assert (dict(second.phases), second.on_complete) == ({"later": "reflect"}, ())
    assert _own(caller) == []


def test_what_is_refused_comes_back_as_it_was_sent_but_for_secrets(
    owner_pages: Client, caller: Caller
) -> None:
    wrong = {**SCRUM, "type": ["fact"], "base": ["decision"], "says": ["A choice."]}
    secret = {**SCRUM, "says": ["password=correct-horse-battery-9f8a7b6c"]}

    answer = owner_pages.post(ADDRESS, wrong)
    redacted = owner_pages.post(ADDRESS, secret)

    body = answer.content.decode()
    assert answer.status_code == 422
    assert "A type of memory has that name already." in body
    assert 'value="fact" placeholder="name" aria-label="Type 1: its name"' in body
    assert body.count('aria-invalid="true"') == 1
    assert 'value="A choice."' in body
    assert 'value="record_outcome" checked' in body
    body = redacted.content.decode()
    assert (redacted.status_code, "correct-horse" in body, "[redacted" in body) == (
        422,
        False,
        True,
    )
    assert TAKEN_OUT in body
    assert _own(caller) == []


def test_a_form_that_nobody_was_shown_is_refused(owner_pages: Client, caller: Caller) -> None:
    sent = (
        {**SCRUM, "base": ["nothing"]},
        {**SCRUM, "on_complete": ["nothing"]},
        {**SCRUM, "is": ["nothing", "nothing"]},
        {**SCRUM, "phase": ["doing", "doing"]},
        {**SCRUM, "from": ["x" * 21]},
        {**SCRUM, "phase": []},
    )

    answers = [owner_pages.post(ADDRESS, one).status_code for one in sent]

    assert answers == [422] * len(sent)
    assert _own(caller) == []


def test_more_lines_keep_what_is_written(owner_pages: Client, caller: Caller) -> None:
    few = owner_pages.get(ADDRESS).content.decode()

    more = owner_pages.post(ADDRESS, {**SCRUM, "verb": "more"}).content.decode()

    assert more.count('name="phase"') > few.count('name="phase"')
    assert 'value="user-story"' in more
    assert _own(caller) == []


def test_one_of_ours_begins_one_of_the_organizations_own(owner_pages: Client) -> None:
    shipped = owner_pages.get(f"{ADDRESS}/native").content.decode()
    begun = owner_pages.get(f"{ADDRESS}?from=native").content.decode()

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

    mine, theirs = (
        pages.get(f"{ADDRESS}/scrum").content.decode() for pages in (owner_pages, viewer_pages)
    )

    assert ('<dd class="num">2<' in mine, '<td class="num">2 memories<' in mine) == (True, True)
    assert ('<dd class="num">1<' in theirs, '<td class="num">1 memory<' in theirs) == (True, True)


def test_members_and_viewers_read_and_change_none(
    owner_pages: Client, viewer_pages: Client, signed_in: Any, member: User, caller: Caller
) -> None:
    owner_pages.post(ADDRESS, SCRUM)

    for pages in (signed_in(member), viewer_pages):
        assert "Owners and admins change this." in pages.get(ADDRESS).content.decode()
        assert 'name="verb"' not in pages.get(f"{ADDRESS}/scrum").content.decode()
        assert pages.post(ADDRESS, {**SCRUM, "name": "mine"}).status_code == 403
        assert pages.post(f"{ADDRESS}/scrum", {"verb": "remove"}).status_code == 403
    assert [one.name for one in _own(caller)] == ["scrum"]


def test_memories_are_taught_and_shown_by_its_types(
    owner_pages: Client, memory: MemoryView
) -> None:
    owner_pages.post(ADDRESS, SCRUM)
    shop = "/o/acme/p/shop"

    offered = owner_pages.get(f"{shop}/teach").content.decode()
    owner_pages.post(f"{shop}/teach", {"content": CARTS, "type": "user-story"})
    listed = owner_pages.get(f"{shop}/memories?q=type:user-story").content.decode()
    searched = owner_pages.get(f"{shop}/memories?q=type:user-story+carts").content.decode()

    chip = '<span class="chip blue" title="user-story · Requirement">user-story</span>'
    assert '<option value="user-story">user-story</option>' in offered
    assert (listed.count(chip), searched.count(chip)) == (1, 1)
    assert memory.citation not in listed
