"""Source notes over REST: documents that memories come from."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from accounts.api.endpoints import Answer, Ask, Endpoint, Reply, path_id
from accounts.api.schemas import ID, MOMENT, TEXT, WHOLE, maybe, record, ref, several
from accounts.api.shapes import Field, Record, Text
from accounts.caller import TokenScope
from memory.api import inputs, output
from memory.documents.actions.note_push import (
    LARGEST,
    LONGEST_PATH,
    NewNote,
    push_note,
    remove_note,
)
from memory.documents.queries import notes
from memory.documents.queries.notes import NoteView

NOTE: Final = Record(
    name="NewNote",
    fields=(
        Field(
            name="project",
            shape=Text(largest=64, smallest=1),
            says="A project's slug or id.",
            required=True,
        ),
        Field(
            name="path",
            shape=Text(largest=LONGEST_PATH, smallest=1),
            says="The document's path in the project; with the project it names the note.",
            required=True,
        ),
        Field(
            name="text",
            shape=Text(largest=LARGEST),
            says="The document as it is now.",
            required=True,
        ),
        Field(name="scope", shape=inputs.SCOPE, says="Who sees it.", default=None),
    ),
)
SCHEMAS: Final[Mapping[str, Mapping[str, Any]]] = {
    "Note": record(
        id=ID,
        project_id=ID,
        scope=TEXT,
        path=TEXT,
        version=WHOLE,
        digest=TEXT,
        pushed_by=maybe(ID),
        agent=TEXT,
        pushed_at=MOMENT,
    ),
    "Notes": record(items=several(ref("Note"))),
    "PushedNote": record(
        note=ref("Note"),
        added=WHOLE,
        kept=WHOLE,
        stale=WHOLE,
        held=WHOLE,
        refused=several(record(line=maybe(WHOLE), gate=TEXT, reason=TEXT)),
    ),
    "NoteLines": record(
        note=ref("Note"),
        text=TEXT,
        lines=several(record(number=WHOLE, memories=several(ref("Memory")))),
    ),
    "RemovedNote": record(stale=WHOLE, held=WHOLE),
}
_NOTE: Final[Mapping[str, Any]] = {
    "id": "01936f2e-7a10-7c3e-9a53-2f8f2f3c1a90",
    "project_id": "01936f2e-7a10-7c3e-9a53-2f8f2f3c1a70",
    "scope": "project",
    "path": "CLAUDE.md",
    "version": 2,
    "digest": "ab" * 32,
    "pushed_by": "01936f2e-7a10-7c3e-9a53-2f8f2f3c1a71",
    "agent": "claude-code",
    "pushed_at": "2026-11-20T12:00:00Z",
}


def push(ask: Ask) -> Answer:
    """Bring a note to a text."""
    done = push_note(caller=ask.caller, new=NewNote(**ask.body), now=ask.now)
    figures = {"added": done.added, "kept": done.kept, "stale": done.stale, "held": done.held}
    refused = [asdict(one) for one in done.refused]
    return Answer(body={"note": _shown(done.note), **figures, "refused": refused})


def index(ask: Ask) -> Answer:
    """Return the notes of a project."""
    found = notes.list_notes(
        caller=ask.caller, project=ask.query["project"], limit=notes.LARGEST_PAGE
    )
    return Answer(body={"items": [_shown(one) for one in found]})


def look(ask: Ask) -> Answer:
    """Return a note with its memories, line by line."""
    note_id = path_id(ask=ask)
    found = notes.list_lines(caller=ask.caller, note_id=note_id, now=ask.now)
    lines = [
        {"number": one.number, "memories": [output.memory(memory) for memory in one.memories]}
        for one in found
        if one.memories
    ]
    text = "\n".join(one.text for one in found)
    note = notes.get_note(caller=ask.caller, note_id=note_id)
    return Answer(body={"note": _shown(note), "text": text, "lines": lines})


def remove(ask: Ask) -> Answer:
    """Let a note be a source no more."""
    done = remove_note(caller=ask.caller, note_id=path_id(ask=ask), now=ask.now)
    return Answer(body=asdict(done))


def _shown(view: NoteView) -> dict[str, Any]:
    return {name: getattr(view, name) for name in _NOTE}


ENDPOINTS: Final = (
    Endpoint(
        method="PUT",
        path="notes",
        name="push_note",
        tag="notes",
        summary="Push a document that memories come from",
        says=(
            "Only what changed is taken out of it: a statement that is gone makes its memory "
            "stale, one that moved takes its memory along, and every version is kept. What an "
            "agent may not make stale waits for a person (“held”)."
        ),
        scope=TokenScope.WRITE,
        run=push,
        body=NOTE,
        example={
            "project": "shop",
            "path": "CLAUDE.md",
            "text": "# Shop\n\nDeploys happen on Tuesdays, when both teams are in.\n",
        },
        bulk=True,
        replies=(
            Reply(
                status=200,
                says="What became of it.",
                schema="PushedNote",
                example={
                    "note": _NOTE,
                    "added": 1,
                    "kept": 0,
                    "stale": 0,
                    "held": 0,
                    "refused": [],
                },
            ),
        ),
    ),
    Endpoint(
        method="GET",
        path="notes",
        name="list_notes",
        tag="notes",
        summary="List the notes of a project",
        scope=TokenScope.READ,
        run=index,
        query=(
            Field(
                name="project",
                shape=Text(largest=64, smallest=1),
                says="A project's slug or id.",
                required=True,
            ),
        ),
        replies=(Reply(status=200, says="By path.", schema="Notes", example={"items": [_NOTE]}),),
    ),
    Endpoint(
        method="GET",
        path="notes/{id}",
        name="get_note",
        tag="notes",
        summary="Look at a note",
        says="With its text, and the memories of each line.",
        scope=TokenScope.READ,
        run=look,
        replies=(
            Reply(
                status=200,
                says="The note.",
                schema="NoteLines",
                example={"note": _NOTE, "text": "# Shop\n", "lines": []},
            ),
        ),
    ),
    Endpoint(
        method="DELETE",
        path="notes/{id}",
        name="remove_note",
        tag="notes",
        summary="Let a note be a source no more",
        says=(
            "Its memories become stale, or wait for a person where an agent may not do that "
            "(“held”); its versions are kept."
        ),
        scope=TokenScope.WRITE,
        run=remove,
        replies=(
            Reply(
                status=200, says="How many.", schema="RemovedNote", example={"stale": 3, "held": 0}
            ),
        ),
    ),
)
