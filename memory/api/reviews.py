"""The review inbox over REST: what waits, one item, and the verdicts."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from accounts.api.endpoints import Answer, Ask, Endpoint, Reply, path_id
from accounts.api.schemas import FREE, ID, NUMBER, TEXT, TRUTH, WHOLE, maybe, record, ref, several
from accounts.api.shapes import Field, Identifier, Record, Text
from accounts.caller import TokenScope
from memory.api import conflicts, examples, inputs, output
from memory.documents.queries import imports
from memory.records.verdict_log import DecidedMemory
from memory.records.verdicts import Group, Why
from memory.review.actions.verdict_undo import undo
from memory.review.actions.verdicts import keep, merge, reject, snooze
from memory.review.queries import inbox
from memory.review.queries.inbox import InboxItem, InboxPosition
from memory.taxonomy import Verdict

_GROUPS: Final = tuple(item.value for item in Group)
GROUP: Final = Field(name="group", shape=Text(largest=9, choices=_GROUPS), says="Why it waits.")
BATCH: Final = Field(name="import", shape=Identifier(), says="What came with this import alone.")
MERGER: Final = Record(
    name="Merger",
    fields=(
        Field(
            name="into",
            shape=Identifier(),
            says="The memory that says the same, of the same project and scope.",
            required=True,
        ),
    ),
)
REJECTION: Final = Record(name="Rejection", fields=(inputs.REASON,))
_GROUP: Final = {"type": "string", "enum": list(_GROUPS)}
_VERDICT: Final = {"type": "string", "enum": [item.value for item in Verdict]}
SCHEMAS: Final[Mapping[str, Mapping[str, Any]]] = {
    "ReviewPage": record(
        items=several(record(memory=ref("Memory"), group=_GROUP, conflict=maybe(ref("Conflict")))),
        waiting=WHOLE,
        groups=FREE,
        minutes_left=WHOLE,
        next_cursor=maybe(TEXT),
    ),
    "ReviewItem": record(
        memory=ref("Memory"),
        group=_GROUP,
        waits=TRUTH,
        may_keep=TRUTH,
        suggestion=record(
            verdict=_VERDICT, why={"type": "string", "enum": [item.value for item in Why]}
        ),
        alike=several(record(memory=ref("Memory"), similarity=NUMBER, mergeable=TRUTH)),
    ),
    "Decided": record(review_id=ID, verdict=_VERDICT, memory=ref("Memory")),
}
_ITEM: Final = {"memory": examples.MEMORY, "group": "new"}
_DECIDED: Final = {
    "review_id": "01936f2e-7a10-7c3e-9a53-2f8f2f3c1a79",
    "verdict": "keep",
    "memory": examples.MEMORY,
}


def index(ask: Ask) -> Answer:
    """Return a page of what waits for the caller, the longest waiting first."""
    named, project, batch = (ask.query[name] for name in ("group", "project", "import"))
    imported = imports.imported_memories(caller=ask.caller, batch_id=batch)
    counts = inbox.count_waiting(caller=ask.caller, project=project, imported=imported, now=ask.now)
    page = inbox.list_waiting(
        caller=ask.caller,
        project=project,
        group=None if named is None else Group(named),
        imported=imported,
        after=_place(ask.cursor),
        limit=ask.query["limit"],
        now=ask.now,
    )
    last = page.next_place
    written = None if last is None else f"{last.since.isoformat()}|{last.item_id}"
    items = [_due(one) for one in page.items]
    body = {
        "items": items,
        "waiting": counts.total,
        "groups": counts.by_group,
        "minutes_left": counts.minutes_left,
    }
    return Answer(body=body, next_cursor=written)


def look(ask: Ask) -> Answer:
    """Return one memory with all it takes to decide."""
    item = inbox.waiting_memory(caller=ask.caller, memory_id=path_id(ask=ask), now=ask.now)
    alike = [
        {"memory": output.memory(one.memory), "similarity": one.similarity,
         "mergeable": one.mergeable}
        for one in item.alike
    ]  # fmt: skip
    return Answer(
        body={
            "memory": output.together(item.memory, item.sides),
            "group": item.group,
            "waits": item.waits,
            "may_keep": item.may_keep,
            "suggestion": {"verdict": item.suggestion.verdict, "why": item.suggestion.why},
            "alike": alike,
        },
        version=item.memory.version,
    )


def stay(ask: Ask) -> Answer:
    """Keep a waiting memory."""
    return _decided(keep(caller=ask.caller, memory_id=path_id(ask=ask), now=ask.now))


def turn_down(ask: Ask) -> Answer:
    """Reject a waiting memory."""
    reason = ask.body["reason"]
    decided = reject(caller=ask.caller, memory_id=path_id(ask=ask), reason=reason, now=ask.now)
    return _decided(decided)


def join(ask: Ask) -> Answer:
    """Merge a waiting memory into another."""
    into = ask.body["into"]
    return _decided(merge(caller=ask.caller, memory_id=path_id(ask=ask), into=into, now=ask.now))


def rest(ask: Ask) -> Answer:
    """Snooze a waiting memory."""
    until = ask.body["until"]
    decided = snooze(caller=ask.caller, memory_id=path_id(ask=ask), until=until, now=ask.now)
    return _decided(decided)


def take_back(ask: Ask) -> Answer:
    """Take back one's own verdict."""
    return _decided(undo(caller=ask.caller, review_id=path_id(ask=ask), now=ask.now))


def _due(one: InboxItem) -> dict[str, Any]:
    return {
        "memory": output.memory(one.memory),
        "group": one.group,
        "conflict": None if one.conflict is None else conflicts.shown(one.conflict),
    }


def _decided(decided: DecidedMemory) -> Answer:
    return Answer(
        body={
            "review_id": decided.review_id,
            "verdict": decided.verdict,
            "memory": output.memory(decided.memory),
        },
        version=decided.memory.version,
    )


def _place(inner: str | None) -> InboxPosition | None:
    if inner is None:
        return None
    moment, _, last = inner.partition("|")
    return InboxPosition(since=datetime.fromisoformat(moment), item_id=UUID(last))


def _verb(
    path: str,
    summary: str,
    run: Callable[[Ask], Answer],
    *,
    says: str = "",
    body: Record = inputs.NOTHING,
    example: Any = None,
) -> Endpoint:
    name = path.rpartition("/")[2]
    return Endpoint(
        method="POST",
        path=path,
        name="undo_review" if name == "undo" else f"{name}_memory",
        tag="reviews",
        summary=summary,
        says=says,
        scope=TokenScope.WRITE,
        run=run,
        body=body,
        example=example,
        idempotent=True,
        replies=(
            Reply(
                status=200,
                says="The verdict, and the memory as it is now.",
                schema="Decided",
                example=_DECIDED,
            ),
        ),
    )


ENDPOINTS: Final = (
    Endpoint(
        method="GET",
        path="reviews",
        name="list_reviews",
        tag="reviews",
        summary="List what waits for review",
        says=(
            "The longest waiting first, of what you may see and have not snoozed. Each waits in "
            "one group, the most pressing one. Of a `conflict` the memory is the newer one of the "
            "two; `POST conflicts/{id}/settle` ends it."
        ),
        scope=TokenScope.READ,
        run=index,
        query=(inputs.PROJECT, GROUP, BATCH),
        paged=True,
        replies=(
            Reply(
                status=200,
                says="A page of them, and how many there are.",
                schema="ReviewPage",
                example={
                    "items": [{**_ITEM, "conflict": None}],
                    "waiting": 1,
                    "groups": {"tainted": 0, "conflicts": 0, "stale": 0, "imports": 0, "new": 1},
                    "minutes_left": 1,
                    "next_cursor": None,
                },
            ),
        ),
    ),
    Endpoint(
        method="GET",
        path="memories/{id}/review",
        name="get_review",
        tag="reviews",
        summary="Look at one memory as the inbox does",
        says="With what is like it, and a suggested verdict with its reason.",
        scope=TokenScope.READ,
        run=look,
        replies=(
            Reply(
                status=200,
                says="The item; `waits` is false once somebody has decided.",
                schema="ReviewItem",
                example={
                    **_ITEM,
                    "waits": True,
                    "may_keep": True,
                    "suggestion": {"verdict": "keep", "why": "novel"},
                    "alike": [],
                },
            ),
        ),
    ),
    _verb(
        "memories/{id}/keep",
        "Keep a memory that waits for review",
        stay,
        says=(
            "It is confirmed. A token keeps nothing that its person or their agents proposed, and "
            "lifts no taint: that takes a person in the dashboard."
        ),
    ),
    _verb(
        "memories/{id}/reject",
        "Reject a memory that waits for review",
        turn_down,
        says="It is archived with the reason.",
        body=REJECTION,
        example={"reason": "Only true on that machine."},
    ),
    _verb(
        "memories/{id}/merge",
        "Merge a memory that waits for review into another",
        join,
        says=(
            "The other one keeps its words and gains tags, files and sessions; this one is "
            "superseded. Merging what others see is a steward's."
        ),
        body=MERGER,
        example={"into": "01936f2e-7a10-7c3e-9a53-2f8f2f3c1a79"},
    ),
    _verb(
        "memories/{id}/snooze",
        "Snooze a memory that waits for review",
        rest,
        says="For you alone; it waits again by itself.",
        body=inputs.REST,
        example={"until": "2026-12-01T08:00:00Z"},
    ),
    _verb(
        "reviews/{id}/undo",
        "Undo a verdict of yours",
        take_back,
        says="All is as before; refused when one of the memories has changed since.",
    ),
)
