"""The pages of notes: the list, and one line by line with its memories."""

from accounts.authentication import entered
from memory.documents import queries
from memory.documents.actions.note_push import NewNote, push_note
from tests.edges.pages.session_pages import Pages

TEXT = "# Mill\n\nThe gate of the mill opens at <b>nine</b>.\n"


def test_a_note_is_shown_line_by_line_with_its_memories(pages: Pages) -> None:
    with entered(pages.caller):
        new = NewNote(project="shop", path="docs/mill.md", text=TEXT)
        note = push_note(caller=pages.caller, new=new, now=pages.now).note

    listed = pages.owner.get(f"{pages.shop}notes").text
    shown = pages.owner.get(f"{pages.shop}notes/{note.id}").text

    assert f'href="{pages.shop}notes/{note.id}"' in listed
    assert 'id="L3"' in shown
    assert "&lt;b&gt;nine&lt;/b&gt;" in shown
    assert "<b>nine</b>" not in shown
    assert shown.count('href="/m/') == 1


def test_a_document_is_kept_brought_to_its_new_text_and_removed(pages: Pages) -> None:
    form = {"path": "docs/mill.md", "text": TEXT}

    kept = pages.owner.post(f"{pages.shop}notes", form).text
    again = pages.owner.post(f"{pages.shop}notes", form).text
    changed = pages.owner.post(
        f"{pages.shop}notes", {**form, "text": TEXT.replace("nine", "eleven")}
    ).text
    with entered(pages.caller):
        (note,) = queries.list_notes(caller=pages.caller, project="shop", limit=10)
    removed = pages.owner.post(f"{pages.shop}notes/{note.id}")

    assert "1 memory added" in kept
    assert "1 as it was" in again
    assert 'class="chip">' in again
    assert "1 memory added, 1 made stale" in changed
    assert removed.status_code == 302
    assert "docs/mill.md" not in pages.owner.get(f"{pages.shop}notes").text


def test_a_personal_note_is_not_told_to_others_by_its_next_text(pages: Pages) -> None:
    form = {"path": "plan.md", "text": TEXT, "scope": "personal"}
    pages.owner.post(f"{pages.shop}notes", form)

    refused = pages.owner.post(f"{pages.shop}notes", {**form, "scope": "project"})
    again = pages.owner.post(
        f"{pages.shop}notes", {**form, "text": f"{TEXT}And it closes at noon.\n"}
    )

    assert (refused.status_code, again.status_code) == (422, 200)
    with entered(pages.caller):
        (note,) = queries.list_notes(caller=pages.caller, project="shop", limit=10)
    assert (note.scope, note.version) == ("personal", 2)
