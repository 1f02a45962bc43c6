"""Rolling back over REST: what it would take back, and taking it back."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final
from uuid import UUID

from accounts.api.endpoints import Answer, Ask, Endpoint, Reply, path_id
from accounts.api.schemas import ID, TEXT, WHOLE, maybe, record, several
from accounts.api.shapes import Field, Identifier, Moment, Record
from accounts.caller import TokenScope
from memory.api import inputs
from memory.review.rollback import plan
from memory.review.rollback.execute import MOST_AT_ONCE, MOST_REWRITTEN, RolledBack, roll_back
from memory.review.rollback.plan import COUNTED, MOST, LeftReason, RollbackFate
from memory.review.rollback.selection import RollbackChoice
from memory.review.rollback.undo import undo_rollback

_CHOOSING: Final = (
    Field(name="person", shape=Identifier(), says="Who wrote it, by id."),
    Field(name="token", shape=Identifier(), says="The token it was written with, by id."),
    Field(name="session", shape=Identifier(), says="The session it was stored in."),
    Field(
        name="ancestor",
        shape=Identifier(),
        says="The memory it derives from, over any number of steps; that one itself stays.",
    ),
    Field(name="since", shape=Moment(), says="Written at that moment or later."),
    Field(name="until", shape=Moment(), says="Written before that moment."),
)
ROLLBACK: Final = Record(name="Rollback", fields=_CHOOSING)
_WHY: Final = {"type": "string", "enum": [one.value for one in LeftReason]}
SCHEMAS: Final[Mapping[str, Mapping[str, Any]]] = {
    "RollbackPreview": record(
        counts=record(
            archived=WHOLE,
            rewritten=WHOLE,
            reinstated=WHOLE,
            conflicts=WHOLE,
            links=WHOLE,
            left=WHOLE,
        ),
        items=several(
            record(
                memory_id=ID,
                citation=TEXT,
                type=TEXT,
                fate={"type": "string", "enum": [one.value for one in RollbackFate]},
                why=maybe(_WHY),
                stands_again=several(ID),
            )
        ),
        next_cursor=maybe(TEXT),
    ),
    "RolledBack": record(
        archived=WHOLE,
        rewritten=WHOLE,
        reinstated=WHOLE,
        left=WHOLE,
        review_id=maybe(ID),
        job_id=maybe(ID),
    ),
    "RollbackUndone": record(undone=WHOLE),
}
_DONE: Final = {
    "archived": 12,
    "rewritten": 1,
    "reinstated": 2,
    "left": 1,
    "review_id": "01936f2e-7a10-7c3e-9a53-2f8f2f3c1a79",
    "job_id": None,
}
_QUEUED: Final = {**_DONE, "review_id": None, "job_id": "01936f2e-7a10-7c3e-9a53-2f8f2f3c1a77"}
_PREVIEW: Final = {
    "counts": {
        "archived": 12,
        "rewritten": 1,
        "reinstated": 2,
        "conflicts": 1,
        "links": 3,
        "left": 1,
    },
    "items": [
        {
            "memory_id": "01936f2e-7a10-7c3e-9a53-2f8f2f3c1a78",
            "citation": "The gate opens at nine.",
            "type": "fact",
            "fate": "left",
            "why": "kept",
            "stands_again": [],
        }
    ],
    "next_cursor": None,
}
_WHO: Final = (
    "What you wrote yourself, also with your tokens and in your sessions, is yours to take back; "
    "what others wrote takes a steward. In person, or with a token of the scope admin."
)


def look(ask: Ask) -> Answer:
    """Say what a rollback would take back."""
    seen = plan.preview(
        caller=ask.caller,
        choice=_choice(ask, ask.query),
        after=UUID(ask.cursor) if ask.cursor else None,
        limit=ask.query["limit"],
        now=ask.now,
    )
    items = [asdict(one) for one in seen.items]
    following = None if seen.next_after is None else str(seen.next_after)
    return Answer(body={"counts": asdict(seen.counts), "items": items}, next_cursor=following)


def begin(ask: Ask) -> Answer:
    """Roll back."""
    done = roll_back(caller=ask.caller, choice=_choice(ask, ask.body), now=ask.now)
    location = "" if done.job_id is None else f"/api/v1/jobs/{done.job_id}"
    return Answer(status=200 if done.job_id is None else 202, body=shown(done), location=location)


def take_back(ask: Ask) -> Answer:
    """Undo a rollback."""
    undone = undo_rollback(caller=ask.caller, review_id=path_id(ask=ask), now=ask.now)
    return Answer(body={"undone": undone})


def shown(done: RolledBack) -> dict[str, Any]:
    """Return what was rolled back as callers see it."""
    return asdict(done)


def _choice(ask: Ask, given: Mapping[str, Any]) -> RollbackChoice:
    chosen = {field.name: given[field.name] for field in _CHOOSING}
    return RollbackChoice(project=ask.path["ref"], **chosen)


ENDPOINTS: Final = (
    Endpoint(
        method="GET",
        path="projects/{ref}/rollbacks/preview",
        name="preview_rollback",
        tag="projects",
        summary="See what a rollback would take back",
        says=(
            "Nothing is changed. All that is chosen holds together, and at least one thing is "
            "chosen. What somebody else has kept, rewritten or moved since is left, and says why. "
            f"Counts end at {COUNTED:,}, which stands for that many or more. {_WHO}"
        ),
        scope=TokenScope.READ,
        run=look,
        query=_CHOOSING,
        paged=True,
        replies=(
            Reply(
                status=200,
                says="How much, and a page of the memories.",
                schema="RollbackPreview",
                example=_PREVIEW,
            ),
        ),
    ),
    Endpoint(
        method="POST",
        path="projects/{ref}/rollbacks",
        name="roll_back",
        tag="projects",
        summary="Roll back what a writer, a session, a time or an ancestor produced",
        says=(
            "What was produced is archived, what was changed has its text before, and what was "
            "replaced stands again; nothing is deleted. A job does more than "
            f"{MOST_AT_ONCE} memories, at most {MOST:,} a call, and at most {MOST_REWRITTEN} that "
            f"have their text before. {_WHO}"
        ),
        scope=TokenScope.WRITE,
        run=begin,
        body=ROLLBACK,
        example={"session": "01936f2e-7a10-7c3e-9a53-2f8f2f3c1a78"},
        idempotent=True,
        replies=(
            Reply(
                status=200,
                says="What was taken back; `review_id` undoes all of it.",
                schema="RolledBack",
                example=_DONE,
            ),
            Reply(
                status=202,
                says="What a job takes back.",
                schema="RolledBack",
                example=_QUEUED,
            ),
        ),
    ),
    Endpoint(
        method="POST",
        path="rollbacks/{id}/undo",
        name="undo_rollback",
        tag="projects",
        summary="Undo a rollback of yours",
        says=(
            "All of it, by the `review_id` that it answered with; or nothing, where one of its "
            "memories has changed since."
        ),
        scope=TokenScope.WRITE,
        run=take_back,
        body=inputs.NOTHING,
        idempotent=True,
        replies=(
            Reply(
                status=200,
                says="How many memories are as before.",
                schema="RollbackUndone",
                example={"undone": 13},
            ),
        ),
    ),
)
