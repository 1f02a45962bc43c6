"""The pages of notes: the list, and one line by line with its memories."""

from datetime import datetime

from django.test import Client

from accounts.authentication import entered
from accounts.caller import Caller
from memory.actions.push_note import NewNote, push_note

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


def test_without_notes_the_page_says_how_to_push_one(owner_pages: Client, shop: str) -> None:
    assert "/docs/import-export/" in owner_pages.get(f"{shop}notes").content.decode()
