"""Source notes over REST: documents that memories come from."""

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import Field

from accounts.api.endpoints import Call, delete, get, put
from accounts.api.schemas import Body, Choice, Items, Name, Query, Result
from memory.api.schemas.memories import Memory, Slug
from memory.documents.actions import note_push as actions
from memory.documents.queries import notes
from memory.documents.queries.notes import NoteView
from memory.taxonomy import Scope


class NewNote(Body):
    """A document as it is now."""

    project: Slug = Field(description="A project's slug or id.", examples=["shop"])
    path: Name = Field(
        max_length=actions.LONGEST_PATH,
        description="The document's path in the project; with the project it names the note.",
        examples=["CLAUDE.md"],
    )
    text: str = Field(
        max_length=actions.LARGEST,
        description="The document as it is now.",
        examples=["# Shop\n\nDeploys happen on Tuesdays, when both teams are in.\n"],
    )
    scope: Choice[Scope] | None = Field(None, description="Who sees it.")


class NoteQuery(Query):
    """Of which project notes are asked for."""

    project: Slug = Field(description="A project's slug or id.")


class Note(Result):
    """A document that memories come from."""

    id: UUID
    project_id: UUID
    scope: str
    path: str
    version: int
    digest: str
    pushed_by: UUID | None
    agent: str
    pushed_at: datetime


class RefusedStatement(Result):
    """A statement of a document that was not stored."""

    line: int | None
    gate: str
    reason: str


class PushedNote(Result):
    """What became of it."""

    note: Note
    added: int
    kept: int
    stale: int
    held: int
    refused: tuple[RefusedStatement, ...]


class NoteLine(Result):
    """The memories of a line."""

    number: int
    memories: tuple[Memory, ...]


class NoteLines(Result):
    """The note with its text, and the memories of each line."""

    note: Note
    text: str
    lines: tuple[NoteLine, ...]


class RemovedNote(Result):
    """How many memories became stale, or wait for a person."""

    stale: int
    held: int


@put("notes", tag="notes", answer=PushedNote, bulk=True)
def push_note(call: Call, body: NewNote) -> object:
    """Push a document that memories come from.

    Only what changed is taken out of it: a statement that is gone makes its memory stale, one that
    moved takes its memory along, and every version is kept. What an agent may not make stale waits
    for a person (“held”).
    """
    new = actions.NewNote(**dict(body))
    return actions.push_note(caller=call.caller, new=new, now=call.now)


@get("notes", tag="notes", answer=Items[Note])
def list_notes(call: Call, query: NoteQuery) -> tuple[NoteView, ...]:
    """List the notes of a project."""
    return notes.list_notes(caller=call.caller, project=query.project, limit=notes.LARGEST_PAGE)


@get("notes/{id}", tag="notes", answer=NoteLines)
def get_note(call: Call) -> dict[str, Any]:
    """Look at a note.

    With its text, and the memories of each line.
    """
    found = notes.list_lines(caller=call.caller, note_id=call.id, now=call.now)
    return {
        "note": notes.get_note(caller=call.caller, note_id=call.id),
        "text": "\n".join(one.text for one in found),
        "lines": [
            {"number": one.number, "memories": one.memories} for one in found if one.memories
        ],
    }


@delete("notes/{id}", tag="notes", answer=RemovedNote)
def remove_note(call: Call) -> object:
    """Let a note be a source no more.

    Its memories become stale, or wait for a person where an agent may not do that (“held”); its
    versions are kept.
    """
    return actions.remove_note(caller=call.caller, note_id=call.id, now=call.now)
