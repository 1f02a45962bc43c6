"""Undo verdicts: all they touched is as it was before; archive and restore memories in bulk.

Only who decided takes it back: a token what it decided itself, a person in person also what their
tokens decided, and no agent what its person decided in person; and only while nobody has changed
one of the memories since. The version goes on, because a version never means two things; every
other field is restored.

What was replaced by something that leaves is as it was before; the link that said so goes. Where
another active memory has its text or its external id by now, it stays replaced.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any, Final
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Q

from accounts import queries, tenancy
from accounts.caller import Caller, is_person
from accounts.errors import Conflict as Changed
from accounts.errors import NotFound
from accounts.messages import message
from memory.index import queries as index_queries
from memory.intake.actions import apply_decision
from memory.records import actions, writes
from memory.records.models import Conflict, Memory, MemoryLink, MemoryVersion, ReviewVerdict
from memory.records.queries import memories, pending, views
from memory.taxonomy import LinkKind, Status, Verdict
from teams.permissions import Act, require

TAKEN_BACK: Final = message("the correction was taken back")  # why a successor is archived


def undo(*, caller: Caller, review_id: UUID, now: datetime) -> actions.DecidedMemory:
    """Take back one's own verdict; return the memory as it is again.

    Raises NotFound for somebody else's, Conflict when it is undone, something changed since, or it
    is a part of a rollback.
    """
    require(caller=caller, act=Act.WRITE)
    with tenancy.unit():
        made = lock_own_verdict(caller=caller, review_id=review_id)
        (decided,) = _undo_each(caller, (made,), now)
        writes.record(caller=caller, act="memory.review_undone", memory_id=decided.memory.id)
        return decided


def undo_call(
    *, caller: Caller, review_id: UUID, now: datetime
) -> tuple[actions.DecidedMemory, ...]:
    """Take back all that was decided in the same call as this verdict, or nothing of it.

    One timestamp and one person make one call. Raises what `undo` raises.
    """
    require(caller=caller, act=Act.WRITE)
    with tenancy.unit():
        first = lock_own_verdict(caller=caller, review_id=review_id)
        done = _undo_each(caller, lock_call(made=first) or (first,), now)
        by_verb = {"undone": tuple(one.memory.id for one in done)}
        writes.record_bulk(caller=caller, act="memory.bulk_review_undone", memory_ids=by_verb)
    return done


def lock_own_verdict(*, caller: Caller, review_id: UUID) -> ReviewVerdict:
    """Return a verdict that is the caller's to take back, locked. In a unit. Raises NotFound."""
    mine = Q(decided_by=pending.decider(caller=caller))
    if is_person(caller=caller):
        mine |= Q(decided_by__in=queries.own_token_ids(caller=caller))
    elif caller.token_id is None:
        mine &= ~Q(decided_agent="")
    rows = ReviewVerdict.objects.select_for_update().filter(mine, memory__isnull=False)
    made = rows.filter(pk=review_id).first()
    if made is None:
        raise NotFound(
            detail="There is no such verdict of yours.",
            hint="Only the person who decided can undo it. Others can decide again.",
        )
    return made


def lock_call(*, made: ReviewVerdict) -> tuple[ReviewVerdict, ...]:
    """Return the verdicts of the call of this one that are not undone, locked. In a unit."""
    rows = ReviewVerdict.objects.select_for_update(of=("self",)).filter(
        decided_by=made.decided_by,
        decided_at=made.decided_at,
        verdict=made.verdict,
        undone_at__isnull=True,
    )
    return tuple(rows.order_by("memory_id", "id"))


def check_not_undone(*, made: ReviewVerdict) -> None:
    """Refuse what is undone. Raises Conflict."""
    if made.undone_at is not None:
        raise Changed(detail="This is undone already.", hint="No action is needed.")


def lock_touched(*, caller: Caller, call: Sequence[ReviewVerdict]) -> dict[UUID, Memory]:
    """Lock all that undoing these verdicts writes, as they left it. In a unit.

    In the order in which everybody locks memories; a call may have touched one of them twice.
    Raises NotFound where one is gone, Conflict where somebody has changed one since.
    """
    traces = _traces_of(call)
    versions = dict.fromkeys(traces.made, 1)
    for kept in traces.touched:
        id = UUID(kept["id"])
        versions[id] = max(versions.get(id, 0), kept["version"])
    ends = {UUID(edge[end]) for edge in traces.taken for end in ("source_id", "target_id")}
    ids = {made.memory_id for made in call if made.memory_id} | versions.keys() | ends
    rows = views.visible(caller=caller).select_for_update(of=("self",)).filter(pk__in=sorted(ids))
    held = {row.id: row for row in rows.order_by("id")}
    if held.keys() != ids:
        raise NotFound(
            detail="One of the memories is gone, or you see it no more; nothing was undone.",
            hint="Restore the others on their pages.",
        )
    if any(held[id].version != version for id, version in versions.items()):
        raise Changed(
            detail="It has changed since; nothing was undone.",
            hint="Look at its history, and change it by hand.",
        )
    return held


def take_back(*, call: Sequence[ReviewVerdict], held: Mapping[UUID, Memory], now: datetime) -> None:
    """Give held memories the fields back that verdicts kept of them, and the links. In a unit.

    The last of these verdicts has the last word. Raises Conflict where another active memory has
    the text or the external id of one by now.
    """
    traces = _traces_of(call)
    changed: set[str] = {"version"}
    for kept in traces.touched:
        row = held[UUID(kept["id"])]
        row.version += 1
        for name, value in kept["fields"].items():
            was = actions.read_field(name=name, value=value)
            if getattr(row, name) != was:
                setattr(row, name, was)
                changed.add(name.removesuffix("_id"))
    touched = tuple({kept["id"]: held[UUID(kept["id"])] for kept in traces.touched}.values())
    by_state = sorted(touched, key=lambda row: row.status == Status.ACTIVE)
    try:
        with transaction.atomic():
            for _, rows in groupby(by_state, lambda row: row.status == Status.ACTIVE):
                save_held(rows=tuple(rows), fields=sorted(changed))  # room is made first
    except IntegrityError as error:
        raise writes.not_unique() from error
    if changed & {"tags", "related_files"}:
        writes.index_words(rows=touched)
    apply_decision.put_edges(edges=traces.taken)
    MemoryLink.objects.filter(pk__in=traces.links).delete()
    MemoryVersion.objects.filter(pk__in=traces.versions).delete()
    ReviewVerdict.objects.filter(pk__in=[made.pk for made in call]).update(undone_at=now)


def _traces_of(call: Sequence[ReviewVerdict]) -> actions.Traces:
    """Return together what verdicts have put down, each as it left it."""
    befores = [made.before for made in call]
    names = ("touched", "made", "links", "versions", actions.TAKEN)
    found = {name: [one for kept in befores for one in kept.get(name, ())] for name in names}
    return actions.Traces(**{**found, "made": list(map(UUID, found["made"]))})


def archive_held(*, caller: Caller, rows: Sequence[Memory], reason: str, now: datetime) -> None:
    """Archive held memories, all at once. In a unit."""
    for row in rows:
        row.status, row.archived_reason = Status.ARCHIVED.value, reason
        row.valid_until = row.updated_at = now
        row.version += 1
    save_held(
        rows=rows, fields=("status", "archived_reason", "valid_until", "updated_at", "version")
    )
    writes.announce(caller=caller, kind="memory.archived", rows=tuple(rows))


def restore_held(
    *, caller: Caller, rows: Sequence[Memory], now: datetime
) -> tuple[Mapping[str, Any], ...]:
    """Restore held memories that were replaced; return the links that go. In a unit."""
    ids = [row.id for row in rows]
    links = MemoryLink.objects.filter(
        source__in={row.superseded_by_id for row in rows},
        target__in=ids,
        kind=LinkKind.SUPERSEDES.value,
    )
    edges = tuple(apply_decision.edge_of(link=link) for link in links.order_by("id"))
    before: dict[str, Mapping[str, Any]] = {}
    settled = Conflict.objects.filter(Q(older__in=ids) | Q(newer__in=ids)).exclude(verdict="")
    for kept in settled.order_by("settled_at", "id").values_list("before", flat=True):
        before |= kept.get("memories", {})
    before |= {edge["target_id"]: edge["before"] for edge in edges if edge["before"]}
    links.delete()
    for row in rows:
        was = {"archived_reason": "", "valid_until": None, **before.get(str(row.id), {})}
        apply_decision.reactivate(row=row, before=was)
        row.updated_at = now
        row.version += 1
    save_held(rows=rows, fields=(*apply_decision.RETIRED, "updated_at", "version"))
    writes.announce(caller=caller, kind="memory.restored", rows=tuple(rows))
    return edges


def without_twins(*, rows: Sequence[Memory]) -> tuple[Memory, ...]:
    """Leave out those of which an active memory has the text or the external id. In a unit."""
    claims = {row.id: memories.claim_of(row=row) for row in rows}
    fitting = memories.Taken(wanted=claims.values()).take(claims=claims)
    return tuple(row for row in rows if row.id in fitting)


def save_held(*, rows: Sequence[Memory], fields: Sequence[str]) -> None:
    """Save fields of held memories and repeat their filters where searches look. In a unit."""
    if not rows:
        return
    ids = tuple(row.id for row in rows)
    Memory.objects.bulk_update(rows, fields, batch_size=1_000)
    index_queries.sync_filters(memory_ids=ids)
    index_queries.follow_topics(memory_ids=ids)


def _undo_each(
    caller: Caller, call: tuple[ReviewVerdict, ...], now: datetime
) -> tuple[actions.DecidedMemory, ...]:
    """Undo locked verdicts. In a unit. Raises NotFound, Conflict."""
    if any(made.verdict == Verdict.ROLL_BACK for made in call):
        raise Changed(
            detail="This is a part of a rollback; nothing was undone.",
            hint="Undo the whole rollback.",
        )
    for made in call:
        check_not_undone(made=made)
    held = lock_touched(caller=caller, call=call)
    for one in _traces_of(call).made:
        actions.archive_row(caller=caller, row=held[one], reason=TAKEN_BACK, now=now)
    take_back(call=call, held=held, now=now)
    done = []
    for made in call:
        if made.memory_id is None:
            raise TypeError("a verdict of the inbox is about a memory")
        row = memories.lock_memory(caller=caller, memory_id=made.memory_id)
        if made.verdict != Verdict.SNOOZE:
            writes.announce(caller=caller, kind="memory.restored", rows=(row,))
        decided = actions.DecidedMemory(
            memory=views.to_view(row, now=now),
            verdict=Verdict(made.verdict),
            review_id=made.id,
            conflict_id=made.conflict_id,
        )
        done.append(decided)
    return tuple(done)
