"""What a session came to, over REST: look at it, and decide about it."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from accounts.api.endpoints import Answer, Ask, Endpoint, Reply, path_id
from accounts.api.schemas import FREE, ID, TEXT, TRUTH, WHOLE, record, ref
from accounts.api.schemas import several as list_of
from accounts.api.shapes import Field, Identifier, Record, Several, Text, Truth, Whole
from accounts.caller import TokenScope
from memory.api import examples, inputs, output
from memory.api.sessions import SESSION, shown
from memory.records.actions import LONGEST_REASON
from memory.review.actions import bulk
from memory.review.actions.bulk import OtherMemories, SessionVerdict, decide_session
from memory.review.queries import session_summary
from memory.review.queries.session_summary import EMPTY, SessionCandidate, SessionSummary

VERDICT: Final = Record(
    name="SessionVerdict",
    fields=(
        Field(
            name="memory_id",
            shape=Identifier(),
            says="A memory that the session came to.",
            required=True,
        ),
        Field(
            name="verdict",
            shape=Text(largest=6, choices=bulk.SESSION_VERDICTS),
            says="What becomes of it; later: it waits again in a week, for you.",
            required=True,
        ),
        Field(
            name="content",
            shape=inputs.CONTENT,
            says="What is right instead; an edit needs it.",
            default="",
        ),
        Field(
            name="reason",
            shape=Text(largest=LONGEST_REASON),
            says="Why.",
            default="",
        ),
    ),
)
VERDICTS: Final = Record(
    name="SessionVerdicts",
    fields=(
        Field(
            name="verdicts",
            shape=Several(of=VERDICT, largest=bulk.MOST_VERDICTS),
            says="What is decided, memory by memory.",
            default=(),
        ),
        Field(
            name="save_all",
            shape=Truth(),
            says="Whether the others that wait for you are kept.",
            default=False,
        ),
        Field(
            name="count",
            shape=Whole(smallest=0, largest=session_summary.MOST),
            says="How many others you saw waiting; refused with 409 when it is not so any more.",
            default=None,
        ),
    ),
)
_SHOWN: Final = {
    **EMPTY,
    "signals": {"self_correction": 1},
    "dropped": {"too_few_sessions": 2},
    "steps": 9,
    "tools": 10,
    "outcome": "success",
    "events": 25,
}
SUMMARY: Final[Mapping[str, Any]] = {
    "session": SESSION,
    "shown": _SHOWN,
    "candidates": [
        {
            "memory": examples.MEMORY,
            "waits": True,
            "may_keep": True,
            "why": "self_correction",
            "tier": "agent",
            "sessions": 1,
            "evidence": [{"sequence": 13, "step": 5, "file": "", "line": 0}],
        }
    ],
    "waiting": 1,
    "asking": "each",
    "dead_ends_entered": [
        {
            "memory_id": "01936f2e-7a10-7c3e-9a53-2f8f2f3c1a77",
            "citation": "Caching prices in the browser failed…",
            "sequence": 7,
            "how": "ran",
            "told": False,
        }
    ],
}
SCHEMAS: Final[Mapping[str, Mapping[str, Any]]] = {
    "SessionSummary": record(
        session=ref("Session"),
        shown=FREE,
        candidates=list_of(
            record(
                memory=ref("Memory"),
                waits=TRUTH,
                may_keep=TRUTH,
                why=TEXT,
                tier=TEXT,
                sessions=WHOLE,
                evidence=list_of(FREE),
            )
        ),
        waiting=WHOLE,
        asking=TEXT,
        dead_ends_entered=list_of(
            record(memory_id=ID, citation=TEXT, sequence=WHOLE, how=TEXT, told=TRUTH)
        ),
    ),
    "SessionDecided": record(decided=FREE, summary=ref("SessionSummary")),
}


def look(ask: Ask) -> Answer:
    """Return what a session came to."""
    found = session_summary.get_summary(caller=ask.caller, session_id=path_id(ask=ask), now=ask.now)
    return Answer(body=told(found))


def decide(ask: Ask) -> Answer:
    """Decide about memories of a session."""
    done = decide_session(
        caller=ask.caller,
        session_id=path_id(ask=ask),
        verdicts=tuple(SessionVerdict(**one) for one in ask.body["verdicts"]),
        others=OtherMemories(count=ask.body["count"]) if ask.body["save_all"] else None,
        now=ask.now,
    )
    return Answer(body={"decided": dict(done.decided), "summary": told(done.summary)})


def told(summary: SessionSummary) -> dict[str, Any]:
    """Return a summary as callers see it."""
    return {
        "session": shown(summary.session),
        "shown": dict(summary.shown),
        "candidates": [_candidate(one) for one in summary.candidates],
        "waiting": summary.waiting,
        "asking": summary.asking.value,
        "dead_ends_entered": [
            {
                "memory_id": one.memory.id,
                "citation": one.memory.citation,
                "sequence": one.sequence,
                "how": one.how,
                "told": one.told,
            }
            for one in summary.again
        ],
    }


def _candidate(one: SessionCandidate) -> dict[str, Any]:
    fields = {name: value for name, value in asdict(one).items() if name != "memory"}
    return {"memory": output.memory(one.memory), **fields}


ENDPOINTS: Final = (
    Endpoint(
        method="GET",
        path="sessions/{id}/summary",
        name="get_session_summary",
        tag="sessions",
        summary="Look at what a session came to",
        says=(
            "The signals that its agent showed, with the events they rest on and, of those that "
            "became nothing, why; the memories that wait because of it; and known dead ends that "
            "it entered, with whether it had been told of them."
        ),
        scope=TokenScope.READ,
        run=look,
        replies=(
            Reply(status=200, says="What it came to.", schema="SessionSummary", example=SUMMARY),
        ),
    ),
    Endpoint(
        method="POST",
        path="sessions/{id}/summary",
        name="decide_session",
        tag="sessions",
        summary="Decide about what a session came to",
        says=(
            "All verdicts stand, or none. They are those of the review inbox, with its rules: who "
            "proposed does not approve, and only a person lifts a taint."
        ),
        scope=TokenScope.WRITE,
        run=decide,
        body=VERDICTS,
        example={"save_all": True, "count": 1},
        idempotent=True,
        replies=(
            Reply(
                status=200,
                says="How many were decided how, and what is left.",
                schema="SessionDecided",
                example={"decided": {"keep": 1}, "summary": SUMMARY},
            ),
        ),
    ),
)
