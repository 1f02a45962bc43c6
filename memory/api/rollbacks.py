"""Rolling back over REST: what it would take back, and taking it back."""

from typing import Final
from uuid import UUID

from pydantic import Field

from accounts.api.endpoints import Answer, Call, get, post
from accounts.api.schemas import Body, Identifier, Moment, Nothing, PageQuery, Result
from memory.review.rollback import execute, plan
from memory.review.rollback import undo as undoing
from memory.review.rollback.execute import MOST_AT_ONCE, MOST_REWRITTEN
from memory.review.rollback.plan import COUNTED, MOST, LeftReason, RollbackFate
from memory.review.rollback.selection import RollbackChoice

WHO: Final = (
    "What you wrote yourself, also with your tokens and in your sessions, is yours to take back; "
    "what others wrote takes a steward. In person, or with a token of the scope admin."
)


class Rollback(Body):
    """What is taken back: all that is named holds together."""

    person: Identifier | None = Field(None, description="Who wrote it, by id.")
    token: Identifier | None = Field(None, description="The token it was written with, by id.")
    session: Identifier | None = Field(
        None,
        description="The session it was stored in.",
        examples=["01936f2e-7a10-7c3e-9a53-2f8f2f3c1a78"],
    )
    ancestor: Identifier | None = Field(
        None,
        description=(
            "The memory it derives from, over any number of steps; that one itself stays."
        ),
    )
    since: Moment | None = Field(None, description="Written at that moment or later.")
    until: Moment | None = Field(None, description="Written before that moment.")


class RollbackQuery(PageQuery):
    """What would be taken back: all that is named holds together."""

    person: Identifier | None = Field(None, description="Who wrote it, by id.")
    token: Identifier | None = Field(None, description="The token it was written with, by id.")
    session: Identifier | None = Field(None, description="The session it was stored in.")
    ancestor: Identifier | None = Field(
        None,
        description=(
            "The memory it derives from, over any number of steps; that one itself stays."
        ),
    )
    since: Moment | None = Field(None, description="Written at that moment or later.")
    until: Moment | None = Field(None, description="Written before that moment.")


class RollbackCounts(Result):
    """How much a rollback would take back."""

    archived: int
    rewritten: int
    reinstated: int
    conflicts: int
    links: int
    left: int


class RollbackRow(Result):
    """What would become of a memory."""

    memory_id: UUID
    citation: str
    type: str
    fate: RollbackFate
    why: LeftReason | None
    stands_again: tuple[UUID, ...]


class RollbackPreview(Result):
    """How much, and a page of the memories."""

    counts: RollbackCounts
    items: tuple[RollbackRow, ...]
    next_cursor: str | None


class RolledBack(Result):
    """What was taken back; `review_id` undoes all of it."""

    archived: int
    rewritten: int
    reinstated: int
    left: int
    review_id: UUID | None
    job_id: UUID | None


class RollbackUndone(Result):
    """How many memories are as before."""

    undone: int


@get(
    "projects/{ref}/rollbacks/preview",
    tag="projects",
    answer=RollbackPreview,
    description="Nothing is changed. All that is chosen holds together, and at least one thing is "
    "chosen. What somebody else has kept, rewritten or moved since is left, and says why. Counts "
    f"end at {COUNTED:,}, which stands for that many or more. {WHO}",
)
def preview_rollback(call: Call, query: RollbackQuery) -> Answer:
    """See what a rollback would take back."""
    seen = plan.preview(
        caller=call.caller,
        choice=_choice(call, query),
        after=call.after(UUID),
        limit=query.limit,
        now=call.now,
    )
    return Answer({"counts": seen.counts, "items": seen.items}, following=seen.next_after)


@post(
    "projects/{ref}/rollbacks",
    tag="projects",
    answer=RolledBack,
    also={202: "What a job takes back."},
    description="What was produced is archived, what was changed has its text before, and what was "
    f"replaced stands again; nothing is deleted. A job does more than {MOST_AT_ONCE} memories, "
    f"at most {MOST:,} a call, and at most {MOST_REWRITTEN} that have their text before. {WHO}",
)
def roll_back(call: Call, body: Rollback) -> Answer:
    """Roll back what a writer, a session, a time or an ancestor produced."""
    done = execute.roll_back(caller=call.caller, choice=_choice(call, body), now=call.now)
    if done.job_id is None:
        return Answer(done)
    return Answer(done, status=202, location=f"/api/v1/jobs/{done.job_id}")


@post("rollbacks/{id}/undo", tag="projects", answer=RollbackUndone)
def undo_rollback(call: Call, body: Nothing) -> dict[str, int]:
    """Undo a rollback of yours.

    All of it, by the `review_id` that it answered with; or nothing, where one of its memories has
    changed since.
    """
    return {"undone": undoing.undo_rollback(caller=call.caller, review_id=call.id, now=call.now)}


def _choice(call: Call, given: Rollback | RollbackQuery) -> RollbackChoice:
    return RollbackChoice(
        project=call.ref,
        person=given.person,
        token=given.token,
        session=given.session,
        ancestor=given.ancestor,
        since=given.since,
        until=given.until,
    )
