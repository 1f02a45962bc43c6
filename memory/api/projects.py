"""Projects over REST, where memories are concerned: trust, opening and closing, rolling back."""

from datetime import datetime
from typing import Annotated, Any, Final
from uuid import UUID

from pydantic import BeforeValidator, Field

from accounts.api import schemas
from accounts.api.endpoints import Answer, Call, get, post, put
from accounts.caller import TokenScope
from memory.records import actions
from memory.review.actions import rollback
from memory.review.queries import rollback_plan
from memory.sessions.actions import trust
from teams.api import Project
from teams.queries import ProjectView
from teams.trust import Evidence, NextLevel, TrustLevel, level_row

NAMES: Final = tuple(level.name.lower() for level in TrustLevel)
LevelName = Annotated[str, BeforeValidator(lambda level: level.name.lower())]


class NewTrust(schemas.Body):
    """A level to set."""

    level: Annotated[str, schemas.OneOf(NAMES)] = Field(
        description="A level that you reached, or below it; autonomous is for owners.",
        examples=["cautious"],
    )


@schemas.fields_of(Evidence)
class TrustEvidence(schemas.Result):
    """What the level rests on."""


@schemas.fields_of(NextLevel)
class NextTrust(schemas.Result):
    """What the next level takes."""

    level: LevelName


class Trust(schemas.Result):
    """Where you stand."""

    level: LevelName
    reached: LevelName
    is_chosen: bool
    since: datetime | None
    injects_from_confidence: float
    asking: str
    evidence: TrustEvidence
    next: NextTrust | None
    open_to: tuple[LevelName, ...]
    wrong_in_a_session: int
    of_a_person: bool


@get("projects/{ref}/trust", tag="projects", answer=Trust)
def get_trust(call: Call) -> dict[str, Any]:
    """Say how far you trust what is remembered.

    Your own level in a project, what it does, and what the next one takes; nobody else is told it.
    A token has its person's; one without a person is cautious.
    """
    return _show_trust(trust.get_trust(caller=call.caller, ref=call.ref))


@put("projects/{ref}/trust", tag="projects", answer=Trust, idempotent=True)
def set_trust(call: Call, body: NewTrust) -> dict[str, Any]:
    """Set how far you trust what is remembered.

    Any level that you reached, or below; then it stays there. At the level you reached it rises
    again by itself. A token lowers its person's level and never raises it.
    """
    level = TrustLevel[body.level.upper()]
    return _show_trust(trust.set_trust(caller=call.caller, ref=call.ref, level=level, now=call.now))


def _show_trust(view: trust.TrustView) -> dict[str, Any]:
    row = level_row(level=view.level)
    return {
        "level": view.level,
        "reached": view.standing.reached,
        "is_chosen": view.standing.is_chosen,
        "since": view.standing.since,
        "injects_from_confidence": row.injects_from_confidence,
        "asking": row.asking,
        "evidence": view.evidence,
        "next": view.following,
        "open_to": view.open_to,
        "wrong_in_a_session": view.wrong,
        "of_a_person": view.is_a_persons,
    }


@post("projects/{ref}/open", tag="projects", scope=TokenScope.ADMIN, answer=Project)
def open_project(call: Call, body: schemas.Nothing) -> ProjectView:
    """Open a project to everyone of the organization.

    Owners and admins do. All that is in it is seen by everyone, also what was stored before.
    """
    return actions.open_project(caller=call.caller, ref=call.ref)


@post("projects/{ref}/close", tag="projects", scope=TokenScope.ADMIN, answer=Project)
def close_project(call: Call, body: schemas.Nothing) -> ProjectView:
    """Close a project to all but those added to it.

    Owners and admins do. What is shared more widely leaves the project first, else 409.
    """
    return actions.close_project(caller=call.caller, ref=call.ref)


WHO: Final = (
    "What you wrote yourself, also with your tokens and in your sessions, is yours to take back; "
    "what others wrote takes a steward. In person, or with a token of the scope review."
)


class RollbackFields(schemas.Sent):
    """What is chosen of a rollback: all that is named holds together."""

    person: schemas.Identifier | None = Field(None, description="Who wrote it, by id.")
    token: schemas.Identifier | None = Field(
        None, description="The token it was written with, by id."
    )
    session: schemas.Identifier | None = Field(
        None,
        description="The session it was stored in.",
        examples=["01936f2e-7a10-7c3e-9a53-2f8f2f3c1a78"],
    )
    ancestor: schemas.Identifier | None = Field(
        None,
        description=(
            "The memory it derives from, over any number of steps; that one itself stays."
        ),
    )
    since: schemas.Moment | None = Field(None, description="Written at that moment or later.")
    until: schemas.Moment | None = Field(None, description="Written before that moment.")

    def choice(self, *, project: str) -> rollback_plan.RollbackChoice:
        """Return the value of it, in a project."""
        chosen = {name: getattr(self, name) for name in rollback_plan.CHOICES}
        return rollback_plan.RollbackChoice(project=project, **chosen)


class Rollback(RollbackFields, schemas.Body):
    """What is taken back."""


class RollbackQuery(RollbackFields, schemas.PageQuery):
    """What would be taken back."""


@schemas.fields_of(rollback_plan.RollbackCounts)
class RollbackCounts(schemas.Result):
    """How much a rollback would take back."""


@schemas.fields_of(rollback_plan.RollbackItem)
class RollbackRow(schemas.Result):
    """What would become of a memory."""


class RollbackPreview(schemas.Result):
    """How much, and a page of the memories."""

    counts: RollbackCounts
    items: tuple[RollbackRow, ...]
    next_cursor: str | None


@schemas.fields_of(rollback.RolledBack)
class RolledBack(schemas.Result):
    """What was taken back; `review_id` undoes all of it."""


class RollbackUndone(schemas.Result):
    """How many memories are as before."""

    undone: int


@get(
    "projects/{ref}/rollbacks/preview",
    tag="projects",
    answer=RollbackPreview,
    description="Nothing is changed. All that is chosen holds together, and at least one thing is "
    "chosen. What somebody else has kept, rewritten or moved since is left, and says why. Counts "
    f"end at {rollback_plan.COUNTED:,}, which stands for that many or more. {WHO}",
)
def preview_rollback(call: Call, query: RollbackQuery) -> Answer:
    """See what a rollback would take back."""
    seen = rollback.preview(
        caller=call.caller,
        choice=query.choice(project=call.ref),
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
    f"replaced stands again; nothing is deleted. A job does more than {rollback.MOST_AT_ONCE} "
    f"memories, at most {rollback_plan.MOST:,} a call, and at most {rollback.MOST_REWRITTEN} that "
    f"have their text before. {WHO}",
)
def roll_back(call: Call, body: Rollback) -> Answer:
    """Roll back what a writer, a session, a time or an ancestor produced."""
    done = rollback.roll_back(
        caller=call.caller, choice=body.choice(project=call.ref), now=call.now
    )
    if done.job_id is None:
        return Answer(done)
    return Answer(done, status=202, location=f"/api/v1/jobs/{done.job_id}")


@post("rollbacks/{id}/undo", tag="projects", answer=RollbackUndone)
def undo_rollback(call: Call, body: schemas.Nothing) -> dict[str, int]:
    """Undo a rollback of yours.

    All of it, by the `review_id` that it answered with; or nothing, where one of its memories has
    changed since.
    """
    return {"undone": rollback.undo_rollback(caller=call.caller, review_id=call.id, now=call.now)}
