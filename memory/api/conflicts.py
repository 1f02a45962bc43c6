"""Conflicts over REST: which are open, one with both sides, and settling them."""

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from accounts.api.endpoints import Answer, Ask, Edits, Endpoint, Reply, path_id
from accounts.api.schemas import ID, MOMENT, NUMBER, TEXT, WHOLE, maybe, page_of, record, ref
from accounts.api.shapes import Field, Record, Text
from accounts.caller import TokenScope
from accounts.identifiers import as_uuid
from memory.api import examples, inputs, output
from memory.review.actions.settlements import Settlement, reopen, settle, snooze_conflict
from memory.review.conflict_rules import Bar, ConflictRights, ConflictVerdict
from memory.review.queries import conflicts
from memory.review.queries.conflicts import ConflictState, ConflictView

SAME_NAME: Final = (
    "id", "kind", "cause", "cosine", "found_at", "verdict", "reason", "settled_by", "settled_at",
    "version",
)  # fmt: skip
_EXAMPLE: Final[Mapping[str, Any]] = {
    "id": "01936f2e-7a10-7c3e-9a53-2f8f2f3c1a7c",
    "older": examples.MEMORY,
    "newer": examples.MEMORY,
    "kind": "contradict",
    "cause": "equal",
    "cosine": 0.91,
    "found_at": "2026-11-20T12:00:00Z",
    "verdict": "",
    "reason": "",
    "settled_by": None,
    "settled_at": None,
    "version": 1,
    "barred": {
        "keep_older": "own",
        "keep_newer": "",
        "both": "own",
        "edit": "own",
        "reopen": "open",
    },
}
_BAR: Final = {"type": "string", "enum": ["", *Bar]}
SCHEMAS: Final[Mapping[str, Mapping[str, Any]]] = {
    "Conflict": record(
        id=ID,
        older=ref("Memory"),
        newer=ref("Memory"),
        kind={"type": "string", "enum": ["contradict", "update", "retract"]},
        cause=TEXT,
        cosine=maybe(NUMBER),
        found_at=MOMENT,
        verdict={"type": "string", "enum": ["", *ConflictVerdict]},
        reason=TEXT,
        settled_by=maybe(ID),
        settled_at=maybe(MOMENT),
        version=WHOLE,
        barred=record(**dict.fromkeys((*ConflictVerdict, "reopen"), _BAR)),
    ),
    "ConflictPage": page_of("Conflict"),
    "RestingConflict": record(review_id=ID, conflict=ref("Conflict")),
}
SETTLEMENT: Final = Record(
    name="Settlement",
    fields=(
        Field(
            name="verdict",
            shape=Text(largest=12, choices=tuple(ConflictVerdict)),
            says="keep_older, keep_newer, both (each holds in its own case), or edit.",
            required=True,
        ),
        Field(
            name="reason",
            shape=Text(largest=200, smallest=1),
            says="Why, in a few words.",
            required=True,
        ),
        Field(
            name="content",
            shape=Text(largest=100_000),
            says="With edit: what is right instead of the two.",
            default="",
        ),
    ),
)
STATE: Final = Field(
    name="state",
    shape=Text(largest=8, choices=tuple(ConflictState)),
    says="open or settled.",
    default=ConflictState.OPEN.value,
)


def index(ask: Ask) -> Answer:
    """Return a page of conflicts, the newest first."""
    page = conflicts.list_conflicts(
        caller=ask.caller,
        project=ask.query["project"],
        state=ConflictState(ask.query["state"]),
        after=None if ask.cursor is None else as_uuid(text=ask.cursor),
        limit=ask.query["limit"],
        now=ask.now,
    )
    written = None if page.next_after is None else str(page.next_after)
    return Answer(body={"items": [shown(one) for one in page.items]}, next_cursor=written)


def look(ask: Ask) -> Answer:
    """Return one conflict."""
    return _answer(
        conflicts.get_conflict(caller=ask.caller, conflict_id=path_id(ask=ask), now=ask.now)
    )


def end(ask: Ask) -> Answer:
    """Settle a conflict."""
    settlement = Settlement(
        verdict=ConflictVerdict(ask.body["verdict"]),
        reason=ask.body["reason"],
        content=ask.body["content"],
        if_version=ask.if_version,
    )
    return _answer(
        settle(caller=ask.caller, conflict_id=path_id(ask=ask), settlement=settlement, now=ask.now)
    )


def rest(ask: Ask) -> Answer:
    """Snooze a conflict."""
    done = snooze_conflict(
        caller=ask.caller, conflict_id=path_id(ask=ask), until=ask.body["until"], now=ask.now
    )
    body = {"review_id": done.review_id, "conflict": shown(done.conflict)}
    return Answer(body=body, version=done.conflict.version)


def undo(ask: Ask) -> Answer:
    """Take a settlement back."""
    conflict_id: UUID = path_id(ask=ask)
    return _answer(
        reopen(caller=ask.caller, conflict_id=conflict_id, if_version=ask.if_version, now=ask.now)
    )


def shown(view: ConflictView) -> dict[str, Any]:
    """Return a conflict as callers see it."""
    given = {name: getattr(view, name) for name in SAME_NAME}
    return {
        **given,
        "older": output.memory(view.older),
        "newer": output.memory(view.newer),
        "barred": _barred(view.rights),
    }


def _barred(rights: ConflictRights) -> dict[str, str]:
    """Return why the caller may not do something, empty where they may."""
    named = (*((verdict.value, why) for verdict, why in rights.verdicts), ("reopen", rights.reopen))
    return {name: "" if why is None else why.value for name, why in named}


def _answer(view: ConflictView) -> Answer:
    return Answer(body=shown(view), version=view.version)


ENDPOINTS: Final = (
    Endpoint(
        method="GET",
        path="conflicts",
        name="list_conflicts",
        tag="memories",
        summary="List memories that contradict each other",
        says=(
            "Pairs of which you may see both, the newest first. `kind` is what the newer one would "
            "have done, `cause` why a person decides: equal, outranked, protected, elsewhere "
            "(others see it), older, unreviewed, judged (a model alone "
            "says so), share (one run replaces few). `barred` says why "
            "you may not do something with it, and is empty where you may. `version` also grows "
            "when a side changes."
        ),
        scope=TokenScope.READ,
        run=index,
        query=(inputs.PROJECT, STATE),
        paged=True,
        replies=(
            Reply(
                status=200,
                says="A page of conflicts.",
                schema="ConflictPage",
                example={"items": [_EXAMPLE], "next_cursor": None},
            ),
        ),
    ),
    Endpoint(
        method="GET",
        path="conflicts/{id}",
        name="get_conflict",
        tag="memories",
        summary="Look at one conflict",
        scope=TokenScope.READ,
        run=look,
        replies=(Reply(status=200, says="With both sides.", schema="Conflict", example=_EXAMPLE),),
    ),
    Endpoint(
        method="POST",
        path="conflicts/{id}/settle",
        name="settle_conflict",
        tag="memories",
        summary="Settle a conflict",
        says=(
            "For stewards; others withdraw what they wrote. Who wrote one of the two does not "
            "decide for it; one with your personal memory is yours alone, and may end in both. "
            "What leaves is superseded, with the reason. An agent's token needs the "
            "scope admin."
        ),
        scope=TokenScope.WRITE,
        run=end,
        body=SETTLEMENT,
        example={"verdict": "keep_newer", "reason": "Raised last week, see the runbook."},
        edits=Edits.ANY_VERSION,
        idempotent=True,
        replies=(Reply(status=200, says="As it is now.", schema="Conflict", example=_EXAMPLE),),
    ),
    Endpoint(
        method="POST",
        path="conflicts/{id}/snooze",
        name="snooze_conflict",
        tag="reviews",
        summary="Snooze a conflict that waits for review",
        says=(
            "For you alone, until it waits again by itself; it stays open. "
            "`POST reviews/{id}/undo` takes that back."
        ),
        scope=TokenScope.WRITE,
        run=rest,
        body=inputs.REST,
        example={"until": "2026-12-01T08:00:00Z"},
        idempotent=True,
        replies=(
            Reply(
                status=200,
                says="The verdict, and the conflict.",
                schema="RestingConflict",
                example={
                    "review_id": "01936f2e-7a10-7c3e-9a53-2f8f2f3c1a79",
                    "conflict": _EXAMPLE,
                },
            ),
        ),
    ),
    Endpoint(
        method="POST",
        path="conflicts/{id}/reopen",
        name="reopen_conflict",
        tag="memories",
        summary="Take a settlement back",
        says="Both memories stand as before, and the conflict is open again.",
        scope=TokenScope.WRITE,
        run=undo,
        edits=Edits.ANY_VERSION,
        idempotent=True,
        replies=(Reply(status=200, says="As it is now.", schema="Conflict", example=_EXAMPLE),),
    ),
)
