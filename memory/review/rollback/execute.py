"""Carry out a rollback, in a request or in a job, as one transaction.

The rows are locked by a first plan, then planned again: what has come to stay meanwhile stays. The
receipt is kept with the first verdict, so a job that is tried again after its work was committed
answers the same.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import transaction
from pydantic import TypeAdapter

from accounts import jobs, tenancy
from accounts.caller import Caller
from accounts.errors import CairnError
from accounts.messages import message
from accounts.queries.directory import Initiator
from memory.intake.actions import revise
from memory.records import verdict_log
from memory.records.models import Conflict, Memory, MemoryVersion, ReviewVerdict
from memory.records.queries import pending
from memory.review.actions import reactivation, settlements
from memory.review.rollback import plan as plans
from memory.review.rollback import selection as selections
from memory.taxonomy import Status, Verdict
from teams import audit

JOB: Final = "memory.roll_back"
ASKED_AT: Final = "asked_at"  # key in a job: the timestamp that all its verdicts have
RECEIPT: Final = "receipt"  # key in the first verdict of a call
MOST: Final = plans.MOST
MOST_AT_ONCE: Final = 200  # memories a request looks at; above it a job does; not measured
MOST_REWRITTEN: Final = 200  # memories a call rewrites, since one request undoes all of them
COUNTS: Final = ("archived", "rewritten", "reinstated", "left")
REASON: Final = message("it was rolled back")  # why a memory was archived or has its text before
CHOICE: Final = TypeAdapter(selections.RollbackChoice)  # as a job carries it
INITIATOR: Final = TypeAdapter(Initiator)
Progress = Callable[[int, int, Mapping[str, Any]], None]


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


def roll_back(*, caller: Caller, choice: selections.RollbackChoice, now: datetime) -> RolledBack:
    """Roll back a choice: in this request where it is small, else by a job.

    Raises RoleNotSufficient, InvalidInput for an empty choice, NotFound.
    """
    with tenancy.unit():
        selection = selections.resolve_choice(caller=caller, choice=choice, now=now)
        selections.check_in_person(caller=caller)
        is_large = selection.concerned()[: MOST_AT_ONCE + 1].count() > MOST_AT_ONCE
        done = _enqueue(selection) if is_large else _carry_out(selection)
        chosen = CHOICE.dump_python(
            selection.choice, mode="json", exclude_none=True, exclude={"project"}
        )
        audit.append(
            act="memory.rolled_back",
            object_type="project",
            object_id=str(selection.project_id),
            caller=caller,
            details={**chosen, **{name: getattr(done, name) for name in COUNTS}},
        )
        return done


def run(
    *, caller: Caller, choice: selections.RollbackChoice, asked_at: datetime, tell: Progress
) -> Mapping[str, Any]:
    """Do a rollback for its job; `caller` is who asked, as they are now. Return the receipt.

    It is reported after the commit: where the job fails then, what it did can still be undone.
    Raises NotFound and RoleNotSufficient where they may not do it any more.
    """
    with tenancy.unit():
        selection = selections.resolve_choice(caller=caller, choice=choice, now=asked_at)
        made = ReviewVerdict.objects.filter(
            decided_by=pending.decider(caller=caller),
            decided_at=asked_at,
            verdict=Verdict.ROLL_BACK.value,
            undone_at__isnull=True,
            before__has_key=RECEIPT,
        ).first()
        if made is None:
            done = _carry_out(selection)
        else:
            done = RolledBack(**made.before[RECEIPT], review_id=made.id, job_id=None)
    number = done.archived + done.rewritten
    review_id = None if done.review_id is None else str(done.review_id)
    receipt = {**{name: getattr(done, name) for name in COUNTS}, "review_id": review_id}
    tell(number, number + done.left, receipt)
    return receipt


def lock_memories(*, ids: Iterable[UUID]) -> dict[UUID, Memory]:
    """Lock memories in the order in which everybody does; return them as they are. In a unit."""
    rows = Memory.objects.select_for_update(of=("self",)).filter(pk__in=set(ids))
    return {row.id: row for row in rows.order_by("id")}


def _enqueue(selection: selections.Selection) -> RolledBack:
    """Let a job do it, and return what it is going to do."""
    caller = selection.caller
    began = Initiator(
        user_id=caller.user_id,
        token_id=caller.token_id,
        agent=caller.agent,
        source_interface=caller.source_interface,
    )
    job_id = jobs.enqueue(
        JOB,
        payload={
            "choice": CHOICE.dump_python(selection.choice, mode="json"),
            ASKED_AT: selection.asked_at.isoformat(),
            "by": INITIATOR.dump_python(began, mode="json"),
        },
        created_by=caller.user_id or caller.token_id,
    )
    plan = plans.make_plan(selection=selection, most=plans.COUNTED)
    counts = asdict(plans.count_plan(selection=selection, plan=plan))
    return RolledBack(**{name: counts[name] for name in COUNTS}, review_id=None, job_id=job_id)


def _carry_out(selection: selections.Selection) -> RolledBack:
    """Lock, plan and write a rollback; keep the receipt with its first verdict. In a unit."""
    caller = selection.caller
    seen = plans.make_plan(selection=selection, most=MOST)
    settled = settlements.lock_settled_by(ids=seen.archived)
    held = lock_memories(ids={*seen.archived, *seen.restored, *seen.blocked, *seen.ends})
    plan = plans.make_plan(selection=selection, most=MOST)
    beyond = selection.produced().filter(~selection.is_protected())
    beyond = beyond.exclude(pk__in=plan.archived)
    looked_at = selection.protected().count() + beyond.count() + len(plan.blocked) + len(plan.ends)
    gone = tuple(row for id, row in held.items() if id in plan.archived)
    names = {row.id for row in gone}
    back = tuple(
        row for id, row in held.items() if id in plan.restored and row.superseded_by_id in names
    )
    roots = sum(row.status == Status.ACTIVE for row in gone)
    made = _archive(selection, gone, back, settled)
    room = min(MOST - roots, MOST_REWRITTEN)
    for id, version in plan.rewritten().items():
        if len(made) - len(gone) < room and id in held:
            made += _rewrite(caller, held[id], version, selection.asked_at)
    rewritten = len(made) - len(gone)
    counts = {
        "archived": len(gone),
        "rewritten": rewritten,
        "reinstated": len(back),
        "left": looked_at - rewritten,
    }
    if made:
        first = ReviewVerdict.objects.get(pk=made[0])
        first.before[RECEIPT] = counts
        first.save(update_fields=["before"])
    return RolledBack(**counts, review_id=made[0] if made else None, job_id=None)


def _archive(
    selection: selections.Selection,
    gone: tuple[Memory, ...],
    back: tuple[Memory, ...],
    settled: tuple[Conflict, ...],
) -> list[UUID]:
    """Archive held memories and restore what they had replaced; return the verdicts."""
    caller, now = selection.caller, selection.asked_at
    traces = {row.id: verdict_log.Traces() for row in gone}
    for row in gone:
        traces[row.id].keep(row)
    reactivation.archive_held(caller=caller, rows=gone, reason=REASON, now=now)
    for row in back:
        if row.superseded_by_id is not None:
            traces[row.superseded_by_id].keep(row)
    edges = reactivation.restore_held(caller=caller, rows=back, now=now)
    opened = settlements.reopen_held(caller=caller, held=settled, rows=back)
    made = []
    for row in gone:
        own = str(row.id)
        extra = {verdict_log.TAKEN: [one for one in edges if one["source_id"] == own]}
        again = [one for one in opened if one["before"].get("successor") == own]
        if again:
            extra[verdict_log.REOPENED] = again
        made.append(
            verdict_log.record_verdict(
                caller=caller,
                row=row,
                verdict=Verdict.ROLL_BACK,
                traces=traces[row.id],
                now=now,
                extra=extra,
            )
        )
    return made


def _rewrite(caller: Caller, row: Memory, version: MemoryVersion, now: datetime) -> list[UUID]:
    """Give one held memory an earlier text back; return the verdict, none where it is left."""
    traces, number = verdict_log.Traces(), row.version
    traces.keep(row)
    try:
        with transaction.atomic():  # what was written of a memory that stays is taken back
            revise.restore_version(caller=caller, row=row, version=version, reason=REASON, now=now)
            made = verdict_log.record_verdict(
                caller=caller,
                row=row,
                verdict=Verdict.ROLL_BACK,
                traces=traces,
                now=now,
                extra={verdict_log.REWRITTEN: number, verdict_log.RESTORED: version.number},
            )
    except CairnError:  # another memory says the same by now, or its text is refused
        return []
    return [made]
