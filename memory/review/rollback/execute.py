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

from accounts import jobs, tenancy
from accounts.caller import Caller
from accounts.errors import CairnError
from accounts.identifiers import as_uuid
from accounts.messages import message
from accounts.queries.directory import Initiator
from memory.intake.actions import revise
from memory.records.models import Memory, MemoryVersion, ReviewVerdict
from memory.records.queries import pending
from memory.records.verdict_log import REOPENED, RESTORED, REWRITTEN, TAKEN, Traces, record_verdict
from memory.review.actions import reactivation, settlements
from memory.review.rollback import plan as plans
from memory.review.rollback import selection as selections
from memory.review.rollback.plan import MOST, RollbackPlan
from memory.review.rollback.selection import RollbackChoice, Selection
from memory.taxonomy import Status, Verdict
from teams import audit

JOB: Final = "memory.roll_back"
ASKED_AT: Final = "asked_at"  # key in a job: the timestamp that all its verdicts have
RECEIPT: Final = "receipt"  # key in the first verdict of a call
MOST_AT_ONCE: Final = 200  # memories a request looks at; above it a job does; not measured
MOST_REWRITTEN: Final = 200  # memories a call rewrites, since one request undoes all of them
COUNTS: Final = ("archived", "rewritten", "reinstated", "left")
REASON: Final = message("it was rolled back")  # why a memory was archived or has its text before
TIMES: Final = frozenset({"since", "until"})
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


def roll_back(*, caller: Caller, choice: RollbackChoice, now: datetime) -> RolledBack:
    """Roll back a choice: in this request where it is small, else by a job.

    Raises RoleNotSufficient, InvalidInput for an empty choice, NotFound.
    """
    with tenancy.unit():
        selection = selections.resolve_choice(caller=caller, choice=choice, now=now)
        selections.check_in_person(caller=caller)
        rows = selections.concerned_rows(caller=caller, selection=selection)
        is_large = rows[: MOST_AT_ONCE + 1].count() > MOST_AT_ONCE
        done = _enqueue(caller, selection) if is_large else _carry_out(caller, selection)
        chosen = {
            name: _plain(value)
            for name, value in asdict(selection.choice).items()
            if value is not None and name != "project"
        }
        audit.append(
            act="memory.rolled_back",
            object_type="project",
            object_id=str(selection.project_id),
            caller=caller,
            details={**chosen, **{name: getattr(done, name) for name in COUNTS}},
        )
        return done


def run(
    *, caller: Caller, choice: RollbackChoice, asked_at: datetime, tell: Progress
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
            done = _carry_out(caller, selection)
        else:
            done = RolledBack(**made.before[RECEIPT], review_id=made.id, job_id=None)
    receipt = {name: getattr(done, name) for name in COUNTS}
    number = done.archived + done.rewritten
    receipt["review_id"] = None if done.review_id is None else str(done.review_id)
    tell(number, number + done.left, receipt)
    return receipt


def read_choice(*, payload: Mapping[str, Any]) -> RollbackChoice:
    """Return the choice that a job carries."""
    read: Mapping[str, Callable[[str], Any]] = {
        "project": str, **dict.fromkeys(TIMES, datetime.fromisoformat)
    }  # fmt: skip
    given = {name: value for name, value in payload.items() if value is not None}
    return RollbackChoice(**{name: read.get(name, UUID)(value) for name, value in given.items()})


def read_beginner(*, payload: Mapping[str, Any]) -> Initiator:
    """Return who asked for what a job does."""
    return Initiator(
        user_id=as_uuid(text=str(payload["user_id"])),
        token_id=as_uuid(text=str(payload["token_id"])),
        agent=payload["agent"],
        source_interface=payload["source_interface"],
    )


def lock_memories(*, ids: Iterable[UUID]) -> dict[UUID, Memory]:
    """Lock memories in the order in which everybody does; return them as they are. In a unit."""
    rows = Memory.objects.select_for_update(of=("self",)).filter(pk__in=set(ids))
    return {row.id: row for row in rows.order_by("id")}


def _enqueue(caller: Caller, selection: Selection) -> RolledBack:
    """Let a job do it, and return what it is going to do."""
    began = Initiator(
        user_id=caller.user_id,
        token_id=caller.token_id,
        agent=caller.agent,
        source_interface=caller.source_interface,
    )
    job_id = jobs.enqueue(
        JOB,
        payload={
            "choice": {name: _plain(value) for name, value in asdict(selection.choice).items()},
            ASKED_AT: selection.asked_at.isoformat(),
            "by": {name: _plain(value) for name, value in asdict(began).items()},
        },
        created_by=caller.user_id or caller.token_id,
    )
    plan = plans.make_plan(caller=caller, selection=selection, most=plans.COUNTED)
    counts = plans.count_plan(caller=caller, selection=selection, plan=plan)
    planned = {name: getattr(counts, name) for name in COUNTS}
    return RolledBack(**planned, review_id=None, job_id=job_id)


def _carry_out(caller: Caller, selection: Selection) -> RolledBack:
    """Lock, plan and write a rollback; keep the receipt with its first verdict. In a unit."""
    seen = plans.make_plan(caller=caller, selection=selection, most=MOST)
    settled = settlements.lock_settled_by(ids=seen.archived)
    held = lock_memories(ids={*seen.archived, *seen.restored, *seen.blocked, *seen.ends})
    plan = plans.make_plan(caller=caller, selection=selection, most=MOST)
    looked_at = _count_looked_at(caller, selection, plan)
    gone = tuple(row for id, row in held.items() if id in plan.archived)
    names = {row.id for row in gone}
    back = tuple(
        row for id, row in held.items() if id in plan.restored and row.superseded_by_id in names
    )
    roots = sum(row.status == Status.ACTIVE for row in gone)
    made = _archive(caller, selection, gone, back, settled)
    room = min(MOST - roots, MOST_REWRITTEN)
    for id in plan.rewritten():
        version = plan.ends[id]
        if room > 0 and id in held and isinstance(version, MemoryVersion):
            made_now = _rewrite(caller, held[id], version, selection.asked_at)
            made += made_now
            room -= len(made_now)
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


def _count_looked_at(caller: Caller, selection: Selection, plan: RollbackPlan) -> int:
    """Count what is looked at and not archived, also past the bounds of a call. In a unit."""
    produced = selections.produced_rows(caller=caller, selection=selection)
    going = produced.filter(~selections.is_protected(selection=selection))
    stays = selections.protected_rows(caller=caller, selection=selection).count()
    beyond = going.exclude(pk__in=plan.archived).count()
    return stays + beyond + len(plan.blocked) + len(plan.ends)


def _archive(
    caller: Caller,
    selection: Selection,
    gone: tuple[Memory, ...],
    back: tuple[Memory, ...],
    settled: tuple[Any, ...],
) -> list[UUID]:
    """Archive held memories and restore what they had replaced; return the verdicts."""
    now = selection.asked_at
    traces = {row.id: Traces() for row in gone}
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
        extra: dict[str, Any] = {TAKEN: [one for one in edges if one["source_id"] == str(row.id)]}
        again = [one for one in opened if one["before"].get("successor") == str(row.id)]
        if again:
            extra[REOPENED] = again
        made.append(_note(caller, row, traces[row.id], extra, now))
    return made


def _rewrite(
    caller: Caller, row: Memory, version: MemoryVersion, now: datetime
) -> tuple[UUID, ...]:
    """Give one held memory an earlier text back; return the verdict, none where it is left."""
    try:
        with transaction.atomic():  # what was written of a memory that stays is taken back
            traces, number = Traces(), row.version
            traces.keep(row)
            revise.restore_version(caller=caller, row=row, version=version, reason=REASON, now=now)
            extra = {REWRITTEN: number, RESTORED: version.number}
            return (_note(caller, row, traces, extra, now),)
    except CairnError:  # another memory says the same by now, or its text is refused
        return ()


def _note(
    caller: Caller, row: Memory, traces: Traces, extra: Mapping[str, Any], now: datetime
) -> UUID:
    return record_verdict(
        caller=caller, row=row, verdict=Verdict.ROLL_BACK, traces=traces, now=now, extra=extra
    )


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value) if isinstance(value, UUID) else value
