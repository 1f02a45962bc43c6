"""Review over REST: conflicts, links, the inbox with its verdicts, and what sessions came to."""

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AliasPath, Field

from accounts.api import schemas
from accounts.api.endpoints import Answer, Call, Edits, get, post
from memory.api.schemas import memories as memory_schemas
from memory.api.sessions import Session
from memory.documents import queries
from memory.records.actions import DecidedMemory
from memory.records.protection import LONGEST_REASON
from memory.records.queries import memories
from memory.records.queries.pending import Group, Why
from memory.review.actions import bulk, settlements, verdicts
from memory.review.queries import conflicts, inbox
from memory.taxonomy import LinkKind, Verdict

Bar = Annotated[str, schemas.OneOf(conflicts.Bar)]  # why one may not; empty where one may


class Settlement(schemas.Body):
    """How a conflict ends."""

    verdict: schemas.Choice[conflicts.ConflictVerdict] = Field(
        description="keep_older, keep_newer, both (each holds in its own case), or edit.",
        examples=["keep_newer"],
    )
    reason: schemas.Name = Field(
        max_length=200,
        description="Why, in a few words.",
        examples=["Raised last week, see the runbook."],
    )
    content: memory_schemas.Content = Field(
        "", description="With edit: what is right instead of the two."
    )


class ConflictQuery(memory_schemas.ProjectPageQuery):
    """Which conflicts to list."""

    state: schemas.Choice[conflicts.ConflictState] = Field(
        conflicts.ConflictState.OPEN, description="open or settled."
    )


class Barred(schemas.Result):
    """Why the caller may not do something, empty where they may."""

    keep_older: Bar
    keep_newer: Bar
    both: Bar
    edit: Bar
    reopen: Bar


@schemas.fields_of(conflicts.ConflictView)
class Conflict(schemas.Result):
    """The conflict with both sides, as it is now."""

    older: memory_schemas.Memory
    newer: memory_schemas.Memory
    kind: Literal["contradict", "update", "retract"]
    verdict: Annotated[str, schemas.OneOf(("", *conflicts.ConflictVerdict))]
    barred: Barred


class RestingConflict(schemas.Result):
    """The verdict, and the conflict."""

    review_id: UUID
    conflict: Conflict


@get("conflicts", tag="memories", answer=schemas.Page[Conflict])
def list_conflicts(call: Call, query: ConflictQuery) -> Answer:
    """List memories that contradict each other.

    Pairs of which you may see both, the newest first. `kind` is what the newer one would have done,
    `cause` why a person decides: proposed (by an agent, against what only people change), equal,
    outranked, protected, elsewhere (others see it), older, unreviewed, judged (a model alone says
    so), share (one run replaces few), unsure (a change is announced, but perhaps not of this).
    `difference` says what words find to differ. `barred` says why you may not do something with it,
    and is empty where you may. `version` also grows when a side changes.
    """
    page = conflicts.list_conflicts(
        caller=call.caller,
        project=query.project,
        state=query.state,
        after=call.after(UUID),
        limit=query.limit,
        now=call.now,
    )
    return Answer(page.items, following=page.next_place)


@get("conflicts/{id}", tag="memories", answer=Conflict)
def get_conflict(call: Call) -> Answer:
    """Look at one conflict."""
    return _with_version(
        conflicts.get_conflict(caller=call.caller, conflict_id=call.id, now=call.now)
    )


@post("conflicts/{id}/settle", tag="memories", answer=Conflict, edits=Edits.ANY_VERSION)
def settle_conflict(call: Call, body: Settlement) -> Answer:
    """Settle a conflict.

    For stewards; others withdraw what they wrote. Who wrote one of the two does not decide for it;
    one with your personal memory is yours alone, and may end in both. What leaves is superseded,
    with the reason. A token needs the scope review, which decides as its person.
    """
    settlement = settlements.Settlement(**dict(body), if_version=call.if_version)
    return _with_version(
        settlements.settle(
            caller=call.caller, conflict_id=call.id, settlement=settlement, now=call.now
        )
    )


@post("conflicts/{id}/snooze", tag="reviews", answer=RestingConflict)
def snooze_conflict(call: Call, body: memory_schemas.Snooze) -> Answer:
    """Snooze a conflict that waits for review.

    For you alone, until it waits again by itself; it stays open. `POST reviews/{id}/undo` takes
    that back.
    """
    done = settlements.snooze_conflict(
        caller=call.caller, conflict_id=call.id, until=body.until, now=call.now
    )
    return Answer(done, version=done.conflict.version)


@post("conflicts/{id}/reopen", tag="memories", answer=Conflict, edits=Edits.ANY_VERSION)
def reopen_conflict(call: Call) -> Answer:
    """Take a settlement back.

    Both memories stand as before, and the conflict is open again.
    """
    return _with_version(
        settlements.reopen(
            caller=call.caller, conflict_id=call.id, if_version=call.if_version, now=call.now
        )
    )


def _with_version(view: conflicts.ConflictView) -> Answer:
    return Answer(view, version=view.version)


class LinkEnd(schemas.Body):
    """A link of a memory."""

    other: schemas.Identifier = Field(
        description="The memory at its other end.",
        examples=["01936f2e-7a10-7c3e-9a53-2f8f2f3c1a79"],
    )
    kind: schemas.Choice[LinkKind] = Field(
        description="As the list of links says.", examples=["extend"]
    )
    outgoing: bool = Field(True, description="Whether it leads from this memory to the other one.")


class Link(schemas.Result):
    """A link of a memory; `automatic`: a rule or a model found it."""

    other: UUID = Field(validation_alias="other_id")
    kind: LinkKind
    outgoing: bool
    citation: str
    type: str
    confidence: float
    automatic: bool
    description: str
    may_end: bool


class Links(schemas.Items[Link]):
    """Its links; `may_end`: it can be taken back."""


@get("memories/{id}/links", tag="memories", answer=Links)
def list_links(call: Call) -> tuple[memories.LinkView, ...]:
    """List what a memory hangs together with.

    Links whose other end you see. `automatic`: a rule or a model found it.
    """
    return memories.links(caller=call.caller, memory_id=call.id)


@post("memories/{id}/unlink", tag="memories", answer=memory_schemas.Decided)
def unlink_memory(call: Call, body: LinkEnd) -> Answer:
    """Take a link between two memories back.

    Neither memory changes; `POST reviews/{id}/undo` puts it back as it was. What supersedes or
    contradicts ends by settling the conflict, or by undoing the correction.
    """
    edge = verdicts.MemoryEdge(other_id=body.other, kind=body.kind, outgoing=body.outgoing)
    done = verdicts.unlink(caller=call.caller, memory_id=call.id, edge=edge, now=call.now)
    return _decided(done)


class Merger(schemas.Body):
    """Into which memory one is merged."""

    into: schemas.Identifier = Field(
        description="The memory that says the same, of the same project and scope.",
        examples=["01936f2e-7a10-7c3e-9a53-2f8f2f3c1a79"],
    )


class Rejection(schemas.Body):
    """Why a memory is rejected."""

    reason: memory_schemas.Reason = Field(
        "", description="Why, for the history.", examples=["Only true on that machine."]
    )


class ReviewQuery(memory_schemas.ProjectPageQuery):
    """What of what waits is asked for."""

    group: schemas.Choice[Group] | None = Field(None, description="Why it waits.")
    batch: schemas.Identifier | None = Field(
        None, alias="import", description="What came with this import alone."
    )


class WaitingMemory(schemas.Result):
    """A memory that waits for review."""

    memory: memory_schemas.Memory
    group: Group
    conflict: Conflict | None


class ReviewPage(schemas.Result):
    """A page of them, and how many there are."""

    items: tuple[WaitingMemory, ...]
    waiting: int
    groups: dict[str, Any]
    minutes_left: int
    next_cursor: str | None


class Suggestion(schemas.Result):
    """What may be decided, and why."""

    verdict: Verdict
    why: Why


class AlikeMemory(schemas.Result):
    """A memory that is like one that waits."""

    memory: memory_schemas.Memory
    similarity: float
    mergeable: bool


class ReviewItem(schemas.Result):
    """The item; `waits` is false once somebody has decided."""

    memory: memory_schemas.Memory
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
    imported = queries.imported_memories(caller=call.caller, batch_id=query.batch)
    counts = inbox.count_waiting(
        caller=call.caller, project=query.project, imported=imported, now=call.now
    )
    page = inbox.list_waiting(
        caller=call.caller,
        project=query.project,
        group=query.group,
        imported=imported,
        after=call.after(inbox.InboxPosition),
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
    sides = item.pop("sides")
    item.pop("is_proposal")  # `may_keep` says it over REST
    body = {**item, "memory": memory_schemas.with_sides(item["memory"], sides)}
    return Answer(body, version=item["memory"].version)


class Keeping(schemas.Body):
    """How a memory is kept."""

    share: bool = Field(
        False,
        description="Whether the people of its project get it, where it is personal.",
        examples=[True],
    )


@post("memories/{id}/keep", tag="reviews", answer=memory_schemas.Decided)
def keep_memory(call: Call, body: Keeping) -> Answer:
    """Keep a memory that waits for review.

    It is confirmed. A token keeps nothing that its person or their agents proposed, lifts no taint
    and shares nothing: that takes a person in the dashboard, or a token of theirs with the scope
    review, as `cairn login` gets it.
    """
    decide = verdicts.share if body.share else verdicts.keep
    return _decided(decide(caller=call.caller, memory_id=call.id, now=call.now))


@post("memories/{id}/reject", tag="reviews", answer=memory_schemas.Decided)
def reject_memory(call: Call, body: Rejection) -> Answer:
    """Reject a memory that waits for review.

    It is archived with the reason.
    """
    return _decided(
        verdicts.reject(caller=call.caller, memory_id=call.id, reason=body.reason, now=call.now)
    )


@post("memories/{id}/merge", tag="reviews", answer=memory_schemas.Decided)
def merge_memory(call: Call, body: Merger) -> Answer:
    """Merge a memory that waits for review into another.

    The other one keeps its words and gains tags, files and sessions; this one is superseded.
    Merging what others see is a steward's.
    """
    return _decided(
        verdicts.merge(caller=call.caller, memory_id=call.id, into=body.into, now=call.now)
    )


@post("memories/{id}/snooze", tag="reviews", answer=memory_schemas.Decided)
def snooze_memory(call: Call, body: memory_schemas.Snooze) -> Answer:
    """Snooze a memory that waits for review.

    For you alone; it waits again by itself.
    """
    return _decided(
        verdicts.snooze(caller=call.caller, memory_id=call.id, until=body.until, now=call.now)
    )


@post("reviews/{id}/undo", tag="reviews", answer=memory_schemas.Decided)
def undo_review(call: Call, body: schemas.Nothing) -> Answer:
    """Undo a verdict of yours.

    All is as before; refused when one of the memories has changed since.
    """
    return _decided(verdicts.undo(caller=call.caller, review_id=call.id, now=call.now))


def _decided(decided: DecidedMemory) -> Answer:
    return Answer(decided, version=decided.memory.version)


class SessionVerdict(schemas.Body):
    """What is decided about a memory of a session."""

    memory_id: schemas.Identifier = Field(description="A memory that the session came to.")
    verdict: Annotated[str, schemas.OneOf(bulk.SESSION_VERDICTS)] = Field(
        description="What becomes of it; later: it waits again in a week, for you."
    )
    content: memory_schemas.Content = Field(
        "", description="What is right instead; an edit needs it."
    )
    reason: str = Field("", max_length=LONGEST_REASON, description="Why.")


class SessionVerdicts(schemas.Body):
    """What is decided about a session."""

    verdicts: schemas.Several[SessionVerdict] = Field(
        (), max_length=bulk.MOST_VERDICTS, description="What is decided, memory by memory."
    )
    save_all: bool = Field(
        False, description="Whether the others that wait for you are kept.", examples=[True]
    )
    count: int | None = Field(
        None,
        ge=0,
        le=inbox.MOST,
        description="How many others you saw waiting; refused with 409 when it is not so any more.",
        examples=[1],
    )


class SessionCandidate(schemas.Result):
    """A memory that a session came to."""

    memory: memory_schemas.Memory
    waits: bool
    may_keep: bool
    why: str
    tier: str
    sessions: int
    evidence: tuple[dict[str, Any], ...]


class EnteredDeadEnd(schemas.Result):
    """A known dead end that a session entered."""

    memory_id: UUID = Field(validation_alias=AliasPath("memory", "id"))
    citation: str = Field(validation_alias=AliasPath("memory", "citation"))
    sequence: int
    how: str
    told: bool


class SessionSummary(schemas.Result):
    """What it came to."""

    session: Session
    shown: dict[str, Any]
    candidates: tuple[SessionCandidate, ...]
    waiting: int
    asking: str
    dead_ends_entered: tuple[EnteredDeadEnd, ...] = Field(validation_alias="again")


class SessionDecided(schemas.Result):
    """How many were decided how, and what is left."""

    decided: dict[str, Any]
    summary: SessionSummary


@get("sessions/{id}/summary", tag="sessions", answer=SessionSummary)
def get_session_summary(call: Call) -> inbox.SessionSummary:
    """Look at what a session came to.

    The signals that its agent showed, with the events they rest on and, of those that became
    nothing, why; the memories that wait because of it; and known dead ends that it entered, with
    whether it had been told of them.
    """
    return inbox.get_summary(caller=call.caller, session_id=call.id, now=call.now)


@post("sessions/{id}/summary", tag="sessions", answer=SessionDecided)
def decide_session(call: Call, body: SessionVerdicts) -> object:
    """Decide about what a session came to.

    All verdicts stand, or none. They are those of the review inbox, with its rules: who proposed
    does not approve, and only a person lifts a taint.
    """
    return bulk.decide_session(
        caller=call.caller,
        session_id=call.id,
        verdicts=tuple(bulk.SessionVerdict(**dict(one)) for one in body.verdicts),
        save_all=body.save_all,
        count=body.count,
        now=call.now,
    )
