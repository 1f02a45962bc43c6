"""Memories over REST: remember, read and change; and what became of what was sent."""

from dataclasses import replace
from typing import Annotated, Any, Final

from pydantic import Field

from accounts.api.endpoints import Answer, Call, Edits, delete, get, patch, post
from accounts.api.jobs import WaitQuery, until_done
from accounts.api.schemas import (
    FaultyItem,
    Name,
    Nothing,
    OneOf,
    Page,
    PageQuery,
    Query,
    Result,
    Several,
    fields_of,
)
from accounts.errors import wrong_field
from memory.api.schemas.memories import (
    CorrectionOfMemory,
    Files,
    Kind,
    Memory,
    MemoryChanges,
    MemoryPage,
    Modules,
    NewMemories,
    NewMemory,
    Pin,
    ProjectPageQuery,
    ProjectQuery,
    Reason,
    Remembered,
    RememberedAll,
    ShownStatus,
    Slug,
    Tags,
    Versions,
    with_sides,
)
from memory.errors import RefusedByGate
from memory.intake import queries as action_log
from memory.intake.actions.outcome import Outcome, refused_item
from memory.intake.actions.remember import remember, remember_all
from memory.records import filters
from memory.records.actions import archive, confirm, pin, restore
from memory.records.queries import memories
from memory.review.actions import corrections
from memory.sessions.actions import answers, binding


class BulkQuery(WaitQuery):
    """How many memories are stored."""

    project: Slug | None = Field(None, description="A project's slug or id.")


class ArchiveQuery(Query):
    """How a memory is archived."""

    reason: Reason = Field("", description="Why, for the history.")


class MemoryQuery(PageQuery):
    """Which memories to list."""

    project: Slug | None = Field(None, description="A project's slug or id.")
    q: str | None = Field(
        None, max_length=2_000, description="Filters as in the dashboard's query box."
    )
    types: Several[Kind] | None = Field(None, max_length=28, description="Only these types.")
    status: Several[ShownStatus] | None = Field(None, max_length=3, description="Default: active.")
    tags: Tags | None = Field(None, description="With all of these tags.")
    files: Files | None = Field(None, description="About these paths; end with * for a folder.")
    modules: Modules | None = Field(None, description="About one of these modules.")
    topics: Several[Annotated[Name, Field(max_length=200)]] | None = Field(
        None, max_length=64, description="In one of these topics, by id or by words of its name."
    )
    author: Name | None = Field(None, max_length=120, description="By this tool or agent.")
    minimum_confidence: float | None = Field(None, ge=0, le=1, description="At least this sure.")
    maximum_confidence: float | None = Field(None, ge=0, le=1, description="At most this sure.")
    pinned: bool | None = Field(None, description="Pinned or not.")
    needs_review: bool | None = Field(None, description="Waiting for a person or not.")
    stale: bool | None = Field(None, description="Stale or not.")


DIRECT: Final = tuple(
    name for name in MemoryQuery.model_fields if name not in {"project", "q", "limit", "cursor"}
)


@post("memories", tag="memories", answer=Remembered, status=201)
def create_memory(call: Call, body: NewMemory, query: WaitQuery) -> Remembered:
    """Remember something.

    Sends one statement through the intake gates. What is known already is confirmed instead of
    stored twice; an external_id that exists is brought up to date. A refusal is a 422 that names
    the gate and says what would pass.
    """
    new = binding.bind(caller=call.caller, new=body.made_for(call.caller))
    new = answers.as_answer(caller=call.caller, new=new, now=call.now)
    return _remembered(call, remember(caller=call.caller, new=new, now=call.now), query.wait)


@post("memories/bulk", tag="memories", answer=RememberedAll, bulk=True, lines="memories")
def create_memories(call: Call, body: NewMemories, query: BulkQuery) -> dict[str, Any]:
    """Remember up to 1,000 things at once.

    All in one transaction, embedded by one background job. A malformed one is refused alone, in its
    place. Also takes NDJSON (application/x-ndjson), one memory a line, with the project in the
    query.
    """
    project = body.project or query.project
    new = binding.bind_all(
        caller=call.caller,
        new=(
            one.made_for(call.caller, project=project)
            for one in body.memories
            if not isinstance(one, FaultyItem)
        ),
    )
    stored = iter(remember_all(caller=call.caller, new=new, now=call.now))
    outcomes = tuple(
        refused_item(error=one.error, place=place) if isinstance(one, FaultyItem) else next(stored)
        for place, one in enumerate(body.memories)
    )
    job_id = next((one.job_id for one in outcomes if one.job_id), None)
    until_done(caller=call.caller, job_id=job_id, seconds=query.wait)
    return {"outcomes": outcomes, "job_id": job_id}


@get("memories", tag="memories", answer=MemoryPage)
def list_memories(call: Call, query: MemoryQuery) -> Answer:
    """List memories.

    Newest first. Lists in the query are separated by commas.
    """
    chosen = filters.parse(text=query.q or "", project=query.project)
    if chosen.text:
        raise wrong_field(
            pointer="/q",
            detail="A list has no order of relevance, so it takes filters and no words.",
            hint="POST /api/v1/search looks for words.",
            code="words",
        )
    given = {name: value for name in DIRECT if (value := getattr(query, name)) is not None}
    page = memories.page(
        caller=call.caller,
        filters=replace(chosen, **given),
        cursor=call.after(memories.Cursor),
        limit=query.limit,
        now=call.now,
    )
    items = [with_sides(view, page.sides.get(view.id, ())) for view in page.items]
    return Answer(items, following=page.next_cursor)


@get("memories/{id}", tag="memories", answer=Memory)
def get_memory(call: Call) -> Memory:
    """Look at one memory."""
    view, sides = memories.get_together(caller=call.caller, memory_id=call.id, now=call.now)
    return with_sides(view, sides)


@get("memories/{id}/history", tag="memories", answer=Versions)
def list_versions(call: Call) -> tuple[memories.VersionView, ...]:
    """See how a memory changed."""
    return memories.history(caller=call.caller, memory_id=call.id)


@patch(
    "memories/{id}",
    tag="memories",
    answer=Memory,
    also={202: "The new words, stored beside it: they wait for a person."},
    edits=Edits.NAMED_VERSION,
    idempotent=True,
)
def edit_memory(call: Call, body: MemoryChanges) -> Answer:
    """Change a memory.

    Send If-Match with the ETag you read; 412 says that someone was faster. Where only people change
    it, or after outside content, an agent's new words are proposed (202).
    """
    done = corrections.revise_or_propose(
        caller=call.caller,
        memory_id=call.id,
        changes=body.changed(),
        if_version=call.if_version,
        now=call.now,
    )
    is_proposed = done.outcome != "updated"
    return Answer(done.memory, status=202 if is_proposed else 0)


@delete("memories/{id}", tag="memories", answer=Memory, edits=Edits.ANY_VERSION, idempotent=True)
def archive_memory(call: Call, query: ArchiveQuery) -> object:
    """Archive a memory.

    It leaves searches and can be restored.
    """
    return archive(
        caller=call.caller,
        memory_id=call.id,
        reason=query.reason,
        if_version=call.if_version,
        now=call.now,
    )


@post("memories/{id}/restore", tag="memories", answer=Memory)
def restore_memory(call: Call, body: Nothing) -> object:
    """Restore an archived memory."""
    return restore(caller=call.caller, memory_id=call.id, now=call.now)


@post("memories/{id}/confirm", tag="memories", answer=Memory)
def confirm_memory(call: Call, body: Nothing) -> Answer:
    """Say that a memory is right.

    Once a session; what you confirmed in it before stays as it is, and X-Cairn-Unchanged says so.
    """
    session_id = binding.running_id(caller=call.caller)
    view = confirm(caller=call.caller, memory_id=call.id, now=call.now, session_id=session_id)
    is_new = view.last_confirmed_at == call.now
    headers = {} if is_new else {"X-Cairn-Unchanged": "confirmed in this session"}
    return Answer(view, version=view.version, headers=headers)


@post("memories/{id}/pin", tag="memories", answer=Memory)
def pin_memory(call: Call, body: Pin) -> object:
    """Pin a memory, or let go of it."""
    return pin(caller=call.caller, memory_id=call.id, pinned=body.pinned, now=call.now)


@post("memories/{id}/correct", tag="memories", answer=Remembered, status=201)
def correct_memory(call: Call, body: CorrectionOfMemory, query: WaitQuery) -> Remembered:
    """Put a corrected memory in its place.

    The wrong one is superseded and stays readable.
    """
    corrected = corrections.edit(
        caller=call.caller,
        memory_id=call.id,
        correction=corrections.Correction(**dict(body)),
        now=call.now,
    )
    return _remembered(call, corrected.outcome, query.wait)


def _remembered(call: Call, outcome: Outcome, seconds: int) -> Remembered:
    """Show the outcome of one memory. Raises RefusedByGate."""
    if outcome.memory is None:
        raise RefusedByGate(gate=outcome.gate, detail=outcome.reason, hint=outcome.hint)
    is_embedded = until_done(caller=call.caller, job_id=outcome.job_id, seconds=seconds)
    return Remembered.of(outcome, is_embedded=is_embedded)


LONGEST_DAYS: Final = 365


class ActionQuery(ProjectPageQuery):
    """Which candidates are asked about."""

    outcome: Annotated[str, OneOf(action_log.OUTCOMES)] | None = Field(
        None, description="Only those that ended so."
    )
    gate: Annotated[str, OneOf(action_log.ENDS)] | None = Field(
        None, description="Only those that ended at this gate; input: malformed."
    )


class ActionCountQuery(ProjectQuery):
    """Which candidates are counted."""

    days: int = Field(30, ge=1, le=LONGEST_DAYS, description="Of the last so many days.")


@fields_of(action_log.ActionView)
class Action(Result):
    """What became of a candidate."""


@fields_of(action_log.Tally)
class ActionCount(Result):
    """How many candidates ended so."""


class ActionCounts(Result):
    """The most first."""

    days: int
    items: tuple[ActionCount, ...]


@get("actions", tag="memories", answer=Page[Action])
def list_actions(call: Call, query: ActionQuery) -> Answer:
    """See what became of what was sent.

    A row for each candidate that came to the door: when, from whom, how it ended, at which gate;
    never what it said. `certainty` (0 to 1) is how sure it was what it is to the other one. Of a
    refused one its sender alone knows. Kept for some time.
    """
    page = action_log.page(
        caller=call.caller,
        project=query.project,
        outcome=query.outcome,
        gate=query.gate,
        after=call.after(int),
        limit=query.limit,
    )
    return Answer(page.items, following=page.next_place)


@get("actions/counts", tag="memories", answer=ActionCounts)
def count_actions(call: Call, query: ActionCountQuery) -> dict[str, Any]:
    """Count how candidates ended.

    By outcome and gate, of the rows you may see.
    """
    found = action_log.tallies(
        caller=call.caller, project=query.project, days=query.days, now=call.now
    )
    return {"days": query.days, "items": found}
