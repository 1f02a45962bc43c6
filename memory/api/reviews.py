"""The review inbox over REST: what waits, one item, and the verdicts."""

from typing import Any

from pydantic import Field

from accounts.api.endpoints import Answer, Call, get, post
from accounts.api.schemas import Body, Choice, Identifier, Nothing, Result
from memory.api.conflicts import Conflict
from memory.api.schemas.memories import (
    Decided,
    Memory,
    ProjectPageQuery,
    Reason,
    Snooze,
    with_sides,
)
from memory.documents.queries import imports
from memory.records.queries.pending import Group, Why
from memory.records.verdict_log import DecidedMemory
from memory.review.actions.verdict_undo import undo
from memory.review.actions.verdicts import keep, merge, reject, snooze
from memory.review.queries import inbox
from memory.review.queries.inbox import InboxPosition
from memory.taxonomy import Verdict


class Merger(Body):
    """Into which memory one is merged."""

    into: Identifier = Field(
        description="The memory that says the same, of the same project and scope.",
        examples=["01936f2e-7a10-7c3e-9a53-2f8f2f3c1a79"],
    )


class Rejection(Body):
    """Why a memory is rejected."""

    reason: Reason = Field(
        "", description="Why, for the history.", examples=["Only true on that machine."]
    )


class ReviewQuery(ProjectPageQuery):
    """What of what waits is asked for."""

    group: Choice[Group] | None = Field(None, description="Why it waits.")
    batch: Identifier | None = Field(
        None, alias="import", description="What came with this import alone."
    )


class WaitingMemory(Result):
    """A memory that waits for review."""

    memory: Memory
    group: Group
    conflict: Conflict | None


class ReviewPage(Result):
    """A page of them, and how many there are."""

    items: tuple[WaitingMemory, ...]
    waiting: int
    groups: dict[str, Any]
    minutes_left: int
    next_cursor: str | None


class Suggestion(Result):
    """What may be decided, and why."""

    verdict: Verdict
    why: Why


class AlikeMemory(Result):
    """A memory that is like one that waits."""

    memory: Memory
    similarity: float
    mergeable: bool


class ReviewItem(Result):
    """The item; `waits` is false once somebody has decided."""

    memory: Memory
    group: Group
    waits: bool
    may_keep: bool
    suggestion: Suggestion
    alike: tuple[AlikeMemory, ...]


@get("reviews", tag="reviews", answer=ReviewPage)
def list_reviews(call: Call, query: ReviewQuery) -> Answer:
    """List what waits for review.

    The longest waiting first, of what you may see and have not snoozed. Each waits in one group,
    the most pressing one. Of a `conflict` the memory is the newer one of the two;
    `POST conflicts/{id}/settle` ends it.
    """
    imported = imports.imported_memories(caller=call.caller, batch_id=query.batch)
    counts = inbox.count_waiting(
        caller=call.caller, project=query.project, imported=imported, now=call.now
    )
    page = inbox.list_waiting(
        caller=call.caller,
        project=query.project,
        group=query.group,
        imported=imported,
        after=call.after(InboxPosition),
        limit=query.limit,
        now=call.now,
    )
    body = {
        "items": page.items,
        "waiting": counts.total,
        "groups": counts.by_group,
        "minutes_left": counts.minutes_left,
    }
    return Answer(body, following=page.next_place)


@get("memories/{id}/review", tag="reviews", answer=ReviewItem)
def get_review(call: Call) -> Answer:
    """Look at one memory as the inbox does.

    With what is like it, and a suggested verdict with its reason.
    """
    item = inbox.waiting_memory(caller=call.caller, memory_id=call.id, now=call.now)
    body = {
        "memory": with_sides(item.memory, item.sides),
        "group": item.group,
        "waits": item.waits,
        "may_keep": item.may_keep,
        "suggestion": item.suggestion,
        "alike": item.alike,
    }
    return Answer(body, version=item.memory.version)


@post("memories/{id}/keep", tag="reviews", answer=Decided)
def keep_memory(call: Call, body: Nothing) -> Answer:
    """Keep a memory that waits for review.

    It is confirmed. A token keeps nothing that its person or their agents proposed, and lifts no
    taint: that takes a person in the dashboard.
    """
    return _decided(keep(caller=call.caller, memory_id=call.id, now=call.now))


@post("memories/{id}/reject", tag="reviews", answer=Decided)
def reject_memory(call: Call, body: Rejection) -> Answer:
    """Reject a memory that waits for review.

    It is archived with the reason.
    """
    return _decided(reject(caller=call.caller, memory_id=call.id, reason=body.reason, now=call.now))


@post("memories/{id}/merge", tag="reviews", answer=Decided)
def merge_memory(call: Call, body: Merger) -> Answer:
    """Merge a memory that waits for review into another.

    The other one keeps its words and gains tags, files and sessions; this one is superseded.
    Merging what others see is a steward's.
    """
    return _decided(merge(caller=call.caller, memory_id=call.id, into=body.into, now=call.now))


@post("memories/{id}/snooze", tag="reviews", answer=Decided)
def snooze_memory(call: Call, body: Snooze) -> Answer:
    """Snooze a memory that waits for review.

    For you alone; it waits again by itself.
    """
    return _decided(snooze(caller=call.caller, memory_id=call.id, until=body.until, now=call.now))


@post("reviews/{id}/undo", tag="reviews", answer=Decided)
def undo_review(call: Call, body: Nothing) -> Answer:
    """Undo a verdict of yours.

    All is as before; refused when one of the memories has changed since.
    """
    return _decided(undo(caller=call.caller, review_id=call.id, now=call.now))


def _decided(decided: DecidedMemory) -> Answer:
    return Answer(decided, version=decided.memory.version)
