"""The pages of notes: the list, and one line by line with its memories."""

from datetime import datetime

from django.test import Client

from accounts.authentication import entered
from accounts.caller import Caller
from memory.documents import queries
from memory.documents.actions.note_push import NewNote, push_note

TEXT = "# Mill\n\nThe gate of the mill opens at <b>nine</b>.\n"


def test_a_note_is_shown_line_by_line_with_its_memories(
    owner_pages: Client, shop: str, caller: Caller, now: datetime
) -> None:
    with entered(caller):
        new = NewNote(project="shop", path="docs/mill.md", text=TEXT)
        note = push_note(caller=caller, new=new, now=now).note

    listed = owner_pages.get(f"{shop}notes").content.decode()
    shown = owner_pages.get(f"{shop}notes/{note.id}").content.decode()

    assert f'href="{shop}notes/{note.id}"' in listed
    assert 'id="L3"' in shown
    assert "&lt;b&gt;nine&lt;/b&gt;" in shown
    assert "<b>nine</b>" not in shown
    assert shown.count('href="/m/') == 1


def test_a_document_is_kept_brought_to_its_new_text_and_removed(
    owner_pages: Client, shop: str, caller: Caller
) -> None:
    form = {"path": "docs/mill.md", "text": TEXT}

    kept = owner_pages.post(f"{shop}notes", form).content.decode()
    again = owner_pages.post(f"{shop}notes", form).content.decode()
    changed = owner_pages.post(
        f"{shop}notes", {**form, "text": TEXT.replace("nine", "eleven")}
    ).content.decode()
    with entered(caller):
        (note,) = queries.list_notes(caller=caller, project="shop", limit=10)
    removed = owner_pages.post(f"{shop}notes/{note.id}")

    assert "1 memory added" in kept
    assert "1 as it was" in again
    assert 'class="chip">' in again
    assert "1 memory added, 1 made stale" in changed
    assert removed.status_code == 302
    assert "docs/mill.md" not in owner_pages.get(f"{shop}notes").content.decode()


def test_a_personal_note_is_not_told_to_others_by_its_next_text(
    owner_pages: Client, shop: str, caller: Caller
) -> None:
    form = {"path": "plan.md", "text": TEXT, "scope": "personal"}
    owner_pages.post(f"{shop}notes", form)

    refused = owner_pages.post(f"{shop}notes", {**form, "scope": "project"})
    again = owner_pages.post(f"{shop}notes", {**form, "text": f"{TEXT}And it closes at noon.\n"})

    assert (refused.status_code, again.status_code) == (422, 200)
    with entered(caller):
        (note,) = queries.list_notes(caller=caller, project="shop", limit=10)
    assert (note.scope, note.version) == ("personal", 2)


def test_what_is_refused_stays_in_the_form(
    owner_pages: Client, viewer_pages: Client, shop: str
) -> None:
    form = {"path": "a.md", "text": TEXT}
    wrong = ({"path": "../mill.md"}, *({"scope": one} for one in ("banana", "organization")))

    answers = [owner_pages.post(f"{shop}notes", {**form, **more}) for more in wrong]

    assert [answer.status_code for answer in answers] == [422] * 3
    for answer in answers:
        assert 'role="alert"' in answer.content.decode()
        assert "&lt;b&gt;nine&lt;/b&gt;" in answer.content.decode()
    assert 'name="text"' not in viewer_pages.get(f"{shop}notes").content.decode()
    assert viewer_pages.post(f"{shop}notes", form).status_code == 403
