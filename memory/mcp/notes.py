"""The tool that hands in a document which memories come from, as often as it changes."""

from typing import Any, Final

from accounts.api.schemas import ID, TEXT, WHOLE, maybe, record, several
from accounts.api.shapes import Field, Record, Text
from accounts.caller import TokenScope
from memory.documents.actions.note_push import LARGEST, LONGEST_PATH, NewNote
from memory.documents.actions.note_push import push_note as push
from memory.mcp.shapes import PROJECT, Call, Tool, option
from memory.taxonomy import Scope

SCOPE: Final = Text(largest=12, choices=tuple(item.value for item in Scope))
SHOWN: Final = 50  # refused statements an answer; the counts are of all


def push_note(call: Call) -> dict[str, Any]:
    """Bring a note to a text."""
    given = call.arguments
    new = NewNote(
        project=given["project"] or call.project or "",
        path=given["path"],
        text=given["text"],
        scope=given["scope"],
    )
    done = push(caller=call.caller, new=new, now=call.now)
    return {
        "note_id": done.note.id,
        "path": done.note.path,
        "version": done.note.version,
        "added": done.added,
        "kept": done.kept,
        "stale": done.stale,
        "held": done.held,
        "refused": len(done.refused),
        "refusals": [
            {"line": one.line, "gate": one.gate, "reason": one.reason}
            for one in done.refused[:SHOWN]
        ],
    }


PUSH_NOTE: Final = Tool(
    name="push_note",
    title="Hand in a document that memories come from",
    says=(
        "Send a document that stays the source, such as CLAUDE.md, AGENTS.md or an ADR, as it is "
        "now. New statements become memories that wait for review; those that are gone become "
        "stale. Send it again whenever it changes. A document with a secret is refused whole."
    ),
    scope=TokenScope.WRITE,
    takes=Record(
        name="push_note",
        fields=(
            Field(
                name="path",
                shape=Text(largest=LONGEST_PATH, smallest=1),
                says="Its path in the project; with the project it names the document.",
                required=True,
            ),
            Field(
                name="text",
                shape=Text(largest=LARGEST),
                says="The whole document as it is now.",
                required=True,
            ),
            PROJECT,
            option(name="scope", shape=SCOPE, says="Who sees it."),
        ),
    ),
    gives=record(
        note_id=ID,
        path=TEXT,
        version=WHOLE,
        added=WHOLE,
        kept=WHOLE,
        stale=WHOLE,
        held=WHOLE,
        refused=WHOLE,
        refusals=several(record(line=maybe(WHOLE), gate=TEXT, reason=TEXT)),
    ),
    run=push_note,
)
