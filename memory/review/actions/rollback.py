"""Roll back what a writer, a token, a session, a time or an ancestor produced in a project.

Nothing is deleted. What was produced is archived, what was changed gets back the text it had, and
what was replaced is restored. Nobody's work but that of who is rolled back is undone: what somebody
else has kept, rewritten or moved since stays as it is, and the preview names the reason.

A call is one transaction of at most `MOST` memories, in a request or in a job. The rows are locked
by a first plan, then planned again: what has come to stay meanwhile stays. The receipt is kept with
the first verdict, so a job that is tried again after its work was committed answers the same. Tried
before and dropped: parts of 200 with a transaction each. The numbers then had to be read back from
the verdicts, and where one part ended decided what the next one could restore.

Each archived or rewritten memory has a verdict of its own with how it was. Those of one call have
one timestamp, by which `undo_rollback` finds them: in the reverse order rewritten memories get
their text back one by one, then what was archived is restored in bulk, all of it or nothing. Only
who rolled back undoes it, and only while nobody has changed one of the memories since.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import transaction
from django.db.models import Case, Exists, Value, When
from pydantic import TypeAdapter

from accounts import jobs, tenancy
from accounts.caller import Caller
from accounts.errors import CairnError, NotFound
from accounts.errors import Conflict as Changed
from accounts.messages import message
from accounts.queries import Initiator
from memory.intake.actions import revise
from memory.records import actions, writes
from memory.records.models import Conflict, Memory, MemoryVersion, ReviewVerdict
from memory.records.queries import pending
from memory.review.actions import settlements, verdicts
from memory.review.queries import rollback_plan
from memory.review.queries.rollback_plan import LeftReason, RollbackFate
from memory.taxonomy import Status, Verdict
from teams import audit
from teams.permissions import Act, require

JOB: Final = "memory.roll_back"
ASKED_AT: Final = "asked_at"  # key in a job: the timestamp that all its verdicts have
RECEIPT: Final = "receipt"  # key in the first verdict of a call
MOST: Final = rollback_plan.MOST
MOST_AT_ONCE: Final = 200  # memories a request looks at; above it a job does; not measured
MOST_REWRITTEN: Final = 200  # memories a call rewrites, since one request undoes all of them
COUNTS: Final = ("archived", "rewritten", "reinstated", "left")
REASON: Final = message("it was rolled back")  # why a memory was archived or has its text before
CHOICE: Final = TypeAdapter(rollback_plan.RollbackChoice)  # as a job carries it
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


def preview(
    *,
    caller: Caller,
    choice: rollback_plan.RollbackChoice,
    after: UUID | None,
    limit: int,
    now: datetime,
) -> rollback_plan.RollbackPreview:
    """Return what a rollback would do, and change nothing; raises as `roll_back`."""
    size = min(limit, rollback_plan.LARGEST_PAGE)
    with tenancy.unit():
        selection = rollback_plan.resolve_choice(caller=caller, choice=choice, now=now)
        rollback_plan.check_in_person(caller=caller)
        plan = rollback_plan.make_plan(selection=selection, most=rollback_plan.COUNTED)
        rows = selection.concerned()
        if after is not None:
            rows = rows.filter(id__gt=after)
        found = tuple(rows.order_by("id")[: size + 1])
        # what becomes of a page; of those past the plan, each by itself
        page = found[:size]
        ids = frozenset(row.id for row in page)
        planned = plan.rewritten.keys() | plan.left.keys()
        produced = selection.produced().filter(pk__in=ids - planned).order_by()
        protection = Case(
            When(Exists(selection.changes_by_others()), then=Value(LeftReason.CHANGED.value)),
            When(selection.is_kept(), then=Value(LeftReason.KEPT.value)),
        )
        own = dict(produced.annotate(protection=protection).values_list("id", "protection"))
        changed = ids - own.keys()
        _rewritten, left = rollback_plan.find_ends(ids=changed - planned, selection=selection)
        whys = {**plan.left, **left, **{id: LeftReason(why) for id, why in own.items() if why}}
        fates = dict.fromkeys(changed, RollbackFate.REWRITTEN)
        fates |= dict.fromkeys(whys, RollbackFate.LEFT)
        items = tuple(
            rollback_plan.RollbackItem(
                memory_id=row.id,
                citation=row.citation,
                type=row.type,
                fate=fates.get(row.id, RollbackFate.ARCHIVED),
                why=whys.get(row.id),
                stands_again=tuple(id for id, root in plan.restored.items() if root == row.id),
            )
            for row in page
        )
        return rollback_plan.RollbackPreview(
            counts=rollback_plan.count_plan(selection=selection, plan=plan),
            items=items,
            next_after=items[-1].memory_id if len(found) > size else None,
        )


def roll_back(*, caller: Caller, choice: rollback_plan.RollbackChoice, now: datetime) -> RolledBack:
    """Roll back a choice: in this request where it is small, else by a job.

    Raises RoleNotSufficient, InvalidInput for an empty choice, NotFound.
    """
    with tenancy.unit():
        selection = rollback_plan.resolve_choice(caller=caller, choice=choice, now=now)
        rollback_plan.check_in_person(caller=caller)
        is_large = selection.concerned()[: MOST_AT_ONCE + 1].count() > MOST_AT_ONCE
        done = _enqueue(selection) if is_large else _carry_out(selection)
        chosen = CHOICE.dump_python(
            selection.choice, mode="json", exclude_none=True, exclude={"project"}
        )
        audit.append(
            "memory.rolled_back",
            "project",
            str(selection.project_id),
            caller=caller,
            details={**chosen, **{name: getattr(done, name) for name in COUNTS}},
        )
        return done


def run(
    *, caller: Caller, choice: rollback_plan.RollbackChoice, asked_at: datetime, tell: Progress
) -> Mapping[str, Any]:
    """Do a rollback for its job; `caller` is who asked, as they are now. Return the receipt.

    It is reported after the commit: where the job fails then, what it did can still be undone.
    Raises NotFound and RoleNotSufficient where they may not do it any more.
    """
    with tenancy.unit():
        selection = rollback_plan.resolve_choice(caller=caller, choice=choice, now=asked_at)
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


def undo_rollback(*, caller: Caller, review_id: UUID, now: datetime) -> int:
    """Undo all that was rolled back in one call; return how many memories that is.

    Raises NotFound for somebody else's, Conflict when it is undone or something changed since.
    """
    require(caller=caller, act=Act.WRITE)
    with tenancy.unit():
        first = verdicts.lock_own_verdict(caller=caller, review_id=review_id)
        if first.verdict != Verdict.ROLL_BACK:
            raise NotFound(
                detail="There is no such rollback of yours.",
                hint="Only the person who rolled back can undo it. Use the id from the response.",
            )
        verdicts.check_not_undone(made=first)
        if not jobs.hold_ended(name=JOB, carrying={ASKED_AT: first.decided_at.isoformat()}):
            raise Changed(
                detail="A job still takes back what was chosen; nothing was undone.",
                hint="Undo it when the job has ended. One that waits can be cancelled.",
            )
        call = verdicts.lock_call(made=first)
        conflicts = settlements.lock_reopened(befores=tuple(one.before for one in call))
        held = verdicts.lock_touched(caller=caller, call=call)
        rewritten = tuple(one for one in call if actions.REWRITTEN in one.before)
        archived = tuple(one for one in call if actions.REWRITTEN not in one.before)
        for one in rewritten:
            number, row = one.before[actions.REWRITTEN], held[_of(one)]
            version = row.versions.get(number=number)
            revise.restore_version(caller=caller, row=row, version=version, reason="", now=now)
            row.versions.filter(number__gte=number).delete()
        verdicts.take_back(call=(*rewritten, *archived), held=held, now=now)
        _announce_undone(caller, archived, held)
        for made in call:
            settlements.settle_again(caller=caller, before=made.before, held=conflicts, rows=held)
        undone = {"undone": tuple(map(_of, call))}
        writes.record_bulk(caller=caller, act="memory.bulk_review_undone", memory_ids=undone)
    return len(call)


def _enqueue(selection: rollback_plan.Selection) -> RolledBack:
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
    plan = rollback_plan.make_plan(selection=selection, most=rollback_plan.COUNTED)
    counts = asdict(rollback_plan.count_plan(selection=selection, plan=plan))
    return RolledBack(**{name: counts[name] for name in COUNTS}, review_id=None, job_id=job_id)


def _carry_out(selection: rollback_plan.Selection) -> RolledBack:
    """Lock, plan and write a rollback; keep the receipt with its first verdict. In a unit."""
    caller = selection.caller
    seen = rollback_plan.make_plan(selection=selection, most=MOST)
    settled = settlements.lock_settled_by(ids=seen.archived)
    held = lock_memories(
        ids={*seen.archived, *seen.restored, *seen.blocked, *seen.rewritten, *seen.left}
    )
    plan = rollback_plan.make_plan(selection=selection, most=MOST)
    beyond = selection.produced().filter(~selection.is_protected()).exclude(pk__in=plan.archived)
    undecided = len(plan.blocked) + len(plan.rewritten) + len(plan.left)
    looked_at = selection.protected().count() + beyond.count() + undecided
    gone = {id: row for id, row in held.items() if id in plan.archived}
    restored = (row for id, row in held.items() if id in plan.restored)
    back = tuple(row for row in restored if row.superseded_by_id in gone)
    room = min(MOST - sum(row.status == Status.ACTIVE for row in gone.values()), MOST_REWRITTEN)
    made = _archive(selection, tuple(gone.values()), back, settled)
    rewrites = _rewrite_all(caller, held, plan.rewritten, room, selection.asked_at)
    made += rewrites
    counts = {
        "archived": len(gone),
        "rewritten": len(rewrites),
        "reinstated": len(back),
        "left": looked_at - len(rewrites),
    }
    if made:
        first = ReviewVerdict.objects.get(pk=made[0])
        first.before[RECEIPT] = counts
        first.save(update_fields=["before"])
    return RolledBack(**counts, review_id=made[0] if made else None, job_id=None)


def _archive(
    selection: rollback_plan.Selection,
    gone: tuple[Memory, ...],
    back: tuple[Memory, ...],
    settled: tuple[Conflict, ...],
) -> list[UUID]:
    """Archive held memories and restore what they had replaced; return the verdicts."""
    caller, now = selection.caller, selection.asked_at
    traces: dict[UUID | None, actions.Traces] = {row.id: actions.Traces() for row in gone}
    for row in gone:
        traces[row.id].keep(row)
    verdicts.archive_held(caller=caller, rows=gone, reason=REASON, now=now)
    for row in back:
        traces[row.superseded_by_id].keep(row)
    edges: defaultdict[str, list[Any]] = defaultdict(list)
    for edge in verdicts.restore_held(caller=caller, rows=back, now=now):
        edges[edge["source_id"]].append(edge)
    opened: defaultdict[str, list[Any]] = defaultdict(list)
    for conflict in settlements.reopen_held(caller=caller, held=settled, rows=back):
        opened[conflict["before"].get("successor")].append(conflict)
    return [
        actions.record_verdict(
            caller=caller,
            row=row,
            verdict=Verdict.ROLL_BACK,
            traces=traces[row.id],
            now=now,
            extra={actions.TAKEN: edges[str(row.id)]}
            | ({actions.REOPENED: opened[str(row.id)]} if opened[str(row.id)] else {}),
        )
        for row in gone
    ]


def _rewrite_all(
    caller: Caller,
    held: Mapping[UUID, Memory],
    rewritten: Mapping[UUID, MemoryVersion],
    room: int,
    now: datetime,
) -> list[UUID]:
    """Give held memories, at most `room`, an earlier text back; return the verdicts."""
    made: list[UUID] = []
    for id, version in rewritten.items():
        if id not in held or len(made) >= room:
            continue
        traces, row, number = actions.Traces(), held[id], held[id].version
        traces.keep(row)
        extra = {actions.REWRITTEN: number, actions.RESTORED: version.number}
        # another memory says the same by now, or its text is refused: what was written goes
        with suppress(CairnError), transaction.atomic():
            revise.restore_version(caller=caller, row=row, version=version, reason=REASON, now=now)
            verdict = actions.record_verdict(
                caller=caller,
                row=row,
                verdict=Verdict.ROLL_BACK,
                traces=traces,
                now=now,
                extra=extra,
            )
            made.append(verdict)
    return made


def _announce_undone(
    caller: Caller, archived: tuple[ReviewVerdict, ...], held: Mapping[UUID, Memory]
) -> None:
    """Tell the feed of each memory that was archived, or restored for it, what it is again."""
    touched = (UUID(kept["id"]) for made in archived for kept in made.before["touched"])
    ids = tuple(dict.fromkeys(touched))
    for kind, is_active in (("memory.superseded", False), ("memory.restored", True)):
        rows = tuple(held[id] for id in ids if (held[id].status == Status.ACTIVE) is is_active)
        writes.announce(caller=caller, kind=kind, rows=rows)


def _of(made: ReviewVerdict) -> UUID:
    if made.memory_id is None:
        raise TypeError("a rollback decides about memories")
    return made.memory_id
