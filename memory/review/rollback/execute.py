"""Roll back what a writer, a session, a time or an ancestor produced in a project.

Nothing is deleted: what was produced is archived, what was changed says again what it said, what
was replaced stands again. More than a few hundred memories are a job's, which goes on where a
worker that died has stopped. All of one call is undone together.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db.models import (
    CharField,
    F,
    Func,
    IntegerField,
    Q,
    QuerySet,
    Sum,
    UUIDField,
)
from django.db.models.fields.json import KeyTransform
from django.db.models.functions import Cast

from accounts import jobs, tenancy
from accounts.caller import Caller
from accounts.identifiers import as_uuid
from accounts.queries.directory import Initiator
from memory.records.verdict_models import ReviewVerdict
from memory.records.verdicts import Verdict
from memory.review.queries import pending
from memory.review.rollback import partial, permissions, protected, selection
from memory.review.rollback import queries as rollback_queries
from memory.review.rollback.partial import Part
from memory.review.rollback.permissions import Choice, Chosen
from memory.review.rollback.rules import ASKED_AT, AT_ONCE, JOB, MOST, MOST_REWRITTEN, REWRITTEN
from memory.taxonomy import Status
from teams import audit

FIGURES: Final = ("archived", "rewritten", "reinstated", "left")
Take = Callable[..., Part]
TAKES: Final[tuple[Take, ...]] = (
    partial.archive_part,
    partial.rewrite_part,
)  # in this order
MOMENTS: Final = frozenset({"since", "until"})
TOUCHED: Final = Func(
    KeyTransform("touched", "before"), function="jsonb_array_length", output_field=IntegerField()
)  # memories of a verdict: its own, and those that stand again
EACH: Final = Func(
    F("before"),
    template="(jsonb_path_query(%(expressions)s, '$.touched[*].id') #>> '{}')",
    output_field=CharField(),
)  # each of them, by id
Tell = Callable[[int, int, Mapping[str, Any]], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class RolledBack:
    """What a call took back, or, where a job does it, what it is going to look at.

    `review_id` undoes all of it, None where nothing was done or a job still does it.
    """

    archived: int
    rewritten: int
    reinstated: int
    left: int
    review_id: UUID | None
    job_id: UUID | None


def roll_back(*, caller: Caller, choice: Choice, now: datetime) -> RolledBack:
    """Roll back a choice: at once where it is small, else by a job.

    Raises RoleNotSufficient, InvalidInput for a choice of nothing, NotFound.
    """
    with tenancy.unit():
        what = permissions.chosen(caller=caller, choice=choice, now=now)
        permissions.check_in_person(caller=caller)
        number = selection.concerned(caller=caller, what=what)[: AT_ONCE + 1].count()
        done = _queued(caller, what) if number > AT_ONCE else _at_once(caller, what)
        _record(caller, what, done)
        return done


def run(*, caller: Caller, choice: Choice, asked_at: datetime, tell: Tell) -> Mapping[str, Any]:
    """Do a rollback part by part, for its job; `caller` is who asked, as they are now.

    Returns how much, and the verdict by which all of it is undone. All of that is read from what
    was made, and told after every part: whoever goes on after a worker that died says the same, and
    where nobody does, what was taken back can be undone.

    Raises NotFound and RoleNotSufficient where they may not do it any more.
    """
    so_far: Mapping[str, Any] = {}
    for take in TAKES:
        after: UUID | None = None
        while True:
            with tenancy.unit():
                what = permissions.chosen(caller=caller, choice=choice, now=asked_at)
                made = _made(caller, asked_at)
                part = take(caller=caller, what=what, after=after, most=_room(take, made))
                so_far, done = _so_far(caller, what, made), _chosen_of(made).count()
                left = _left(caller, what, made)
            tell(done, done + left, so_far)
            after = part.after
            if after is None:
                break
    return so_far


def choice_of(*, payload: Mapping[str, Any]) -> Choice:
    """Return the choice that a job carries."""
    return Choice(**{name: _read(name, value) for name, value in payload.items()})


def beginner_of(*, payload: Mapping[str, Any]) -> Initiator:
    """Return who asked for what a job does."""
    return Initiator(
        user_id=as_uuid(text=str(payload["user_id"])),
        token_id=as_uuid(text=str(payload["token_id"])),
        agent=payload["agent"],
        source_interface=payload["source_interface"],
    )


def _at_once(caller: Caller, what: Chosen) -> RolledBack:
    partial.lock_all(caller=caller, what=what)
    stays = selection.stays(caller=caller, what=what).count()
    parts = [take(caller=caller, what=what, after=None, most=AT_ONCE) for take in TAKES]
    counts = dict.fromkeys(FIGURES, 0)
    for part in parts:
        _add(counts, part)
    counts["left"] += stays
    made = [part.review_id for part in parts if part.review_id is not None]
    return RolledBack(**counts, review_id=made[0] if made else None, job_id=None)


def _queued(caller: Caller, what: Chosen) -> RolledBack:
    """Let a job do it, and say what it is going to do."""
    choice = {name: _written(value) for name, value in asdict(what.choice).items()}
    began = Initiator(
        user_id=caller.user_id,
        token_id=caller.token_id,
        agent=caller.agent,
        source_interface=caller.source_interface,
    )
    job_id = jobs.enqueue(
        JOB,
        payload={
            "choice": choice,
            ASKED_AT: what.asked_at.isoformat(),
            "by": {name: _written(value) for name, value in asdict(began).items()},
        },
        created_by=caller.user_id or caller.token_id,
    )
    planned = rollback_queries.counts(caller=caller, what=what)
    figures = {name: getattr(planned, name) for name in FIGURES}
    return RolledBack(**figures, review_id=None, job_id=job_id)


def _record(caller: Caller, what: Chosen, done: RolledBack) -> None:
    chosen = {
        name: _written(value)
        for name, value in asdict(what.choice).items()
        if value is not None and name != "project"
    }
    audit.append(
        act="memory.rolled_back",
        object_type="project",
        object_id=str(what.project_id),
        caller=caller,
        details={**chosen, **{name: getattr(done, name) for name in FIGURES}},
    )


def _made(caller: Caller, asked_at: datetime) -> QuerySet[ReviewVerdict]:
    """Return what the parts of this call have done."""
    return ReviewVerdict.objects.filter(
        decided_by=pending.decider(caller=caller),
        decided_at=asked_at,
        verdict=Verdict.ROLL_BACK.value,
        undone_at__isnull=True,
    )


def _chosen_of(made: QuerySet[ReviewVerdict]) -> QuerySet[ReviewVerdict]:
    """Return those of what stood; what one of them had replaced goes along and is not counted."""
    return made.filter(before__touched__0__fields__status=Status.ACTIVE.value)


def _room(take: Take, made: QuerySet[ReviewVerdict]) -> int:
    """Return how many memories this call may still take back so. In a unit."""
    room = MOST - _chosen_of(made).count()
    if take is partial.rewrite_part:
        room = min(room, MOST_REWRITTEN - made.filter(before__has_key=REWRITTEN).count())
    return max(0, room)


def _so_far(caller: Caller, what: Chosen, made: QuerySet[ReviewVerdict]) -> Mapping[str, Any]:
    """Return what the parts of this call have come to, and what undoes them. In a unit."""
    away = made.exclude(before__has_key=REWRITTEN)
    touched = away.aggregate(n=Sum(TOUCHED))["n"] or 0
    archived = away.count()
    gone = away.order_by().values("memory_id")
    below = selection.replaced(caller=caller, ids=gone)
    behind = below.filter(~protected.goes(what=what)).count()
    first = made.order_by("id").values_list("id", flat=True).first()
    return {
        "archived": archived,
        "rewritten": made.filter(before__has_key=REWRITTEN).count(),
        "reinstated": touched - archived,
        "left": _left(caller, what, made) + behind,
        "review_id": None if first is None else str(first),
    }


def _left(caller: Caller, what: Chosen, made: QuerySet[ReviewVerdict]) -> int:
    """Count what is looked at and stays as it is. In a unit.

    What has its text before does not, and what stands again only where it should have it and has
    not.
    """
    back = made.filter(before__has_key=REWRITTEN).order_by().values("memory_id")
    again = made.exclude(before__has_key=REWRITTEN).order_by().values(one=Cast(EACH, UUIDField()))
    rows = selection.concerned(caller=caller, what=what).exclude(pk__in=back)
    changed = selection.rewritten(caller=caller, what=what).filter(pk__in=again)
    return rows.exclude(Q(pk__in=again) & ~Q(pk__in=changed.order_by().values("pk"))).count()


def _add(counts: dict[str, int], part: Part) -> None:
    for name in FIGURES:
        counts[name] += getattr(part, name)


def _written(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value) if isinstance(value, UUID) else value


def _read(name: str, value: Any) -> Any:
    if value is None or name == "project":
        return value
    return datetime.fromisoformat(value) if name in MOMENTS else UUID(value)
