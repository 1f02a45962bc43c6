"""Conflicts over REST: which are open, one with both sides, and settling them."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import BeforeValidator, Field

from accounts.api.endpoints import Answer, Call, Edits, get, post
from accounts.api.schemas import Body, Choice, Name, OneOf, Page, Result
from memory.api.schemas.memories import Content, Memory, ProjectPageQuery, Snooze
from memory.review import conflict_rules
from memory.review.actions import settlements
from memory.review.conflict_rules import ConflictRights, ConflictVerdict
from memory.review.queries import conflicts
from memory.review.queries.conflicts import ConflictState, ConflictView

Bar = Annotated[str, OneOf(("", *conflict_rules.Bar))]  # why one may not; empty where one may


class Settlement(Body):
    """How a conflict ends."""

    verdict: Choice[ConflictVerdict] = Field(
        description="keep_older, keep_newer, both (each holds in its own case), or edit.",
        examples=["keep_newer"],
    )
    reason: Name = Field(
        max_length=200,
        description="Why, in a few words.",
        examples=["Raised last week, see the runbook."],
    )
    content: Content = Field("", description="With edit: what is right instead of the two.")


class ConflictQuery(ProjectPageQuery):
    """Which conflicts to list."""

    state: Choice[ConflictState] = Field(ConflictState.OPEN, description="open or settled.")


class Barred(Result):
    """Why the caller may not do something, empty where they may."""

    keep_older: Bar
    keep_newer: Bar
    both: Bar
    edit: Bar
    reopen: Bar


def _barred(rights: ConflictRights) -> dict[str, str]:
    named = (*((verdict.value, why) for verdict, why in rights.verdicts), ("reopen", rights.reopen))
    return {name: "" if why is None else why.value for name, why in named}


class Conflict(Result):
    """The conflict with both sides, as it is now."""

    id: UUID
    older: Memory
    newer: Memory
    kind: Literal["contradict", "update", "retract"]
    cause: str
    cosine: float | None
    found_at: datetime
    verdict: Annotated[str, OneOf(("", *ConflictVerdict))]
    reason: str
    settled_by: UUID | None
    settled_at: datetime | None
    version: int
    barred: Annotated[Barred, BeforeValidator(_barred)] = Field(validation_alias="rights")


class RestingConflict(Result):
    """The verdict, and the conflict."""

    review_id: UUID
    conflict: Conflict


@get("conflicts", tag="memories", answer=Page[Conflict])
def list_conflicts(call: Call, query: ConflictQuery) -> Answer:
    """List memories that contradict each other.

    Pairs of which you may see both, the newest first. `kind` is what the newer one would have done,
    `cause` why a person decides: equal, outranked, protected, elsewhere (others see it), older,
    unreviewed, judged (a model alone says so), share (one run replaces few). `barred` says why you
    may not do something with it, and is empty where you may. `version` also grows when a side
    changes.
    """
    page = conflicts.list_conflicts(
        caller=call.caller,
        project=query.project,
        state=query.state,
        after=call.after(UUID),
        limit=query.limit,
        now=call.now,
    )
    return Answer(page.items, following=page.next_after)


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
    with the reason. An agent's token needs the scope admin.
    """
    settlement = settlements.Settlement(**dict(body), if_version=call.if_version)
    return _with_version(
        settlements.settle(
            caller=call.caller, conflict_id=call.id, settlement=settlement, now=call.now
        )
    )


@post("conflicts/{id}/snooze", tag="reviews", answer=RestingConflict)
def snooze_conflict(call: Call, body: Snooze) -> Answer:
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


def _with_version(view: ConflictView) -> Answer:
    return Answer(view, version=view.version)
