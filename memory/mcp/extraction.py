"""The tool that takes what is worth keeping from a conversation."""

from typing import Any, Final

from accounts.api import job_wait
from accounts.api.schemas import FREE, ID, TEXT, WHOLE, maybe, record, several
from accounts.api.shapes import Field, Record, Several, Text, Truth, Whole
from accounts.caller import TokenScope
from memory.mcp.history import ROLE
from memory.mcp.shapes import PROJECT, Call, Tool, option
from memory.sessions.actions import append_turns
from memory.sessions.actions.append_turns import NewTurn, take_conversation
from memory.sessions.actions.open_session import LONGEST, NewSession
from memory.sessions.queries import sessions

LONGEST_WAIT: Final = 20  # seconds; an agent's own limit is near
SPOKEN: Final = (  # of a turn
    Field(name="role", shape=ROLE, says="Who said it.", required=True),
    Field(
        name="text",
        shape=Text(largest=append_turns.LONGEST_TURN),
        says="What was said. Secrets are taken out before it is stored.",
        required=True,
    ),
    Field(
        name="sequence",
        shape=Whole(smallest=1, largest=append_turns.LARGEST_SEQUENCE),
        says="Its place in the session; sending the same place again changes nothing.",
    ),
)
TURN: Final = Record(name="turn", fields=SPOKEN)


def take(call: Call) -> dict[str, Any]:
    """Take a conversation; wait for what comes of it, when that is wished."""
    given = call.arguments
    new = NewSession(
        project=given["project"] or call.project,
        external_id=given["external_id"],
        shared=given["shared"],
    )
    said = tuple(NewTurn(**one) for one in given["turns"])
    taken = take_conversation(caller=call.caller, new=new, turns=said, now=call.now)
    job_wait.until_done(caller=call.caller, job_id=taken.job_id, seconds=given["wait"])
    found = sessions.session(caller=call.caller, session_id=taken.session_id)
    return {
        "session_id": taken.session_id,
        "job_id": taken.job_id,
        "state": found.state,
        "stored": taken.stored,
        "known": taken.known,
        "masked": [{"sequence": one.sequence, "kind": one.kind} for one in taken.masked],
        "result": dict(found.result),
    }


EXTRACT_FROM_CONVERSATION: Final = Tool(
    name="extract_from_conversation",
    title="Take what is worth keeping from a conversation",
    says=(
        "Send the turns of a conversation once it is over; decisions, preferences, corrections, "
        "errors with their fix and traps become candidates that a person reviews. Memories that "
        "were given to you are not learned again. Takes no model call in this request."
    ),
    scope=TokenScope.WRITE,
    takes=Record(
        name="extract_from_conversation",
        fields=(
            Field(
                name="turns",
                shape=Several(of=TURN, largest=append_turns.MOST, smallest=1),
                says="The turns in their order.",
                required=True,
            ),
            PROJECT,
            option(
                name="external_id",
                shape=Text(largest=LONGEST["external_id"]),
                says="Your own id of the conversation; sent again, only new turns count.",
                default="",
            ),
            option(
                name="shared",
                shape=Truth(),
                says="Whether the project's members see it; otherwise it is yours alone.",
                default=False,
            ),
            option(
                name="wait",
                shape=Whole(smallest=0, largest=LONGEST_WAIT),
                says="Seconds to wait for what comes of it.",
                default=0,
            ),
        ),
    ),
    gives=record(
        session_id=ID,
        job_id=maybe(ID),
        state=TEXT,
        stored=WHOLE,
        known=WHOLE,
        masked=several(record(sequence=WHOLE, kind=TEXT)),
        result=FREE,
    ),
    run=take,
    is_idempotent=False,
)
