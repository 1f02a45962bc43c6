"""Decide about one memory that waits for review, and undo a verdict.

A memory is kept, rejected, snoozed, merged or unlinked; `corrections` edits it. `VERBS` is the one
table of verdicts that need no more than a reason or an end; bulk decisions and those about a
session carry out the same entries.

A verdict is undone by restoring all that it touched. Only who decided takes it back: a token
what it decided itself, a person in person also what their tokens decided, and no agent what its
person decided in person; and only while nobody has changed one of the memories since. The version
goes on, because a version never means two things; every other field is restored.

What was replaced by something that leaves is as it was before; the link that said so goes. Where
another active memory has its text or its external id by now, it stays replaced.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, Final
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Q

from accounts import queries, tenancy
from accounts.caller import Caller, is_person
from accounts.errors import Conflict as Changed
from accounts.errors import NotFound, wrong_field
from accounts.messages import message
from memory.customization import custom_type_rules
from memory.index import queries as index_queries
from memory.intake.actions import apply_decision, revise
from memory.intake.integrate import SUPERSEDED_CONFIDENCE
from memory.intake.validation import LISTS
from memory.records import actions, protection, writes
from memory.records.actions import DecidedMemory, Traces, Verb, VerbDetails
from memory.records.models import Conflict, Memory, MemoryLink, MemoryVersion, ReviewVerdict
from memory.records.queries import memories, pending, views
from memory.taxonomy import LinkKind, MemoryType, Scope, Status, Verdict, governance_of
from teams.permissions import Act, require

REJECTED: Final = message("rejected in review")  # the reason where none was given
MERGED: Final = message("merged in review")  # why there is a new version
TAKEN_BACK: Final = message("the correction was taken back")  # why a successor is archived


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryEdge:
    """A link, as seen from one of its two memories."""

    other_id: UUID
    kind: LinkKind
    outgoing: bool


def keep(*, caller: Caller, memory_id: UUID, now: datetime) -> DecidedMemory:
    """Keep a waiting memory: it is right as it is.

    Keeping confirms. In person it also verifies, ends staleness and lifts a taint; through a token
    it only ends the wait, and only of what neither its person nor their agents proposed. Raises
    NotFound, Conflict when it does not wait, SelfApproval, RoleNotSufficient.
    """
    return _decide(caller, "keep", memory_id, VerbDetails(), now)


def share(*, caller: Caller, memory_id: UUID, now: datetime) -> DecidedMemory:
    """Keep a waiting memory, and give it to the people of its project where it is personal.

    In person alone. Raises what `keep` raises, Forbidden, InvalidInput for a memory of no project.
    """
    return _decide(caller, "share", memory_id, VerbDetails(), now)


def reject(*, caller: Caller, memory_id: UUID, reason: str, now: datetime) -> DecidedMemory:
    """Archive a waiting memory with the reason.

    Raises NotFound, Conflict when it does not wait, ProtectedMemory, InvalidInput for a reason with
    a secret in it.
    """
    return _decide(caller, "reject", memory_id, VerbDetails(reason=reason), now)


def snooze(*, caller: Caller, memory_id: UUID, until: datetime, now: datetime) -> DecidedMemory:
    """Hide a waiting memory from the caller's inbox until then; others still see it wait.

    Raises NotFound, Conflict when it does not wait, InvalidInput for a time that is past or
    farther off than a year.
    """
    return _decide(caller, "snooze", memory_id, VerbDetails(until=until), now)


def check_until(*, until: datetime, now: datetime) -> None:
    """Check that a time lies ahead, and not too far. Raises InvalidInput."""
    days = pending.LONGEST_SNOOZE_DAYS
    if not now < until <= now + timedelta(days=days):
        raise wrong_field(
            pointer="/until",
            detail="This is not a moment until which to snooze.",
            hint=message("Name one in the next {days} days.", days=days),
            code="range",
        )


def merge(*, caller: Caller, memory_id: UUID, into: UUID, now: datetime) -> DecidedMemory:
    """Merge a waiting memory into another that says the same; return the other one.

    The other one keeps its words and gains the tags, files and sessions; what it was stays as a
    version of it. The merged one is superseded and stays readable. A taint goes along: trust is
    that of the least trusted part.

    Raises NotFound, Conflict when it does not wait, NotActive, InvalidInput for another project or
    scope, SelfApproval, ProtectedMemory, RoleNotSufficient: merging what others see is a steward's.
    """
    require(caller=caller, act=Act.WRITE)
    with tenancy.unit():
        for one in sorted({memory_id, into}):  # two merges never wait for each other
            memories.lock_memory(caller=caller, memory_id=one)
        row = actions.lock_waiting(caller=caller, memory_id=memory_id)
        other = memories.lock_memory(caller=caller, memory_id=into)
        # of the same people, so that nobody sees more of either than before
        same = (row.project_id, row.audience) == (other.project_id, other.audience)
        if not same or row.id == other.id:
            raise wrong_field(
                pointer="/into",
                detail="A memory is merged into another one of the same project and scope.",
                hint="Pick one that the same people see, or correct this one instead.",
                code="place",
            )
        if row.scope != Scope.PERSONAL:
            require(caller=caller, act=Act.MERGE)
        actions.check_may_approve(caller=caller, row=row)
        protection.check_active(row=other)
        protection.check_agent_may_forget(caller=caller, row=row)
        protection.check_agent_may_change(caller=caller, row=other)
        traces = Traces()
        traces.keep(row)
        traces.keep(other)
        traces.versions.append(
            actions.keep_version(caller=caller, row=other, reason=MERGED, now=now)
        )
        _add_to(other, row, now)
        row.status, row.superseded_by = Status.SUPERSEDED.value, other
        row.confidence = min(row.confidence, SUPERSEDED_CONFIDENCE)
        row.valid_until, row.archived_reason = now, MERGED
        fields = ("status", "superseded_by", "confidence", "valid_until", "archived_reason")
        writes.save(row=row, fields=fields, now=now)
        link, is_new = MemoryLink.objects.get_or_create(
            source=other,
            target=row,
            kind=LinkKind.SUPERSEDES.value,
            defaults={"description": MERGED},
        )
        traces.links += [link.pk] if is_new else []
        writes.announce(caller=caller, kind="memory.merged", rows=(row, other))
        made = actions.record_verdict(
            caller=caller, row=row, verdict=Verdict.MERGE, traces=traces, now=now
        )
        details = {"into": str(into)}
        writes.record(caller=caller, act="memory.merged", memory_id=memory_id, details=details)
        view = views.to_view(memories.lock_memory(caller=caller, memory_id=other.id), now=now)
        return DecidedMemory(memory=view, verdict=Verdict.MERGE, review_id=made)


def unlink(*, caller: Caller, memory_id: UUID, edge: MemoryEdge, now: datetime) -> DecidedMemory:
    """Take away a link that a judge or a rule found and is not so; the verdict's id undoes that.

    Neither memory changes, and the pair is not judged again until one of the two says something
    else. Raises NotFound, also where one of the two may not be seen, and Conflict for a link that
    ends otherwise: by settling a conflict, or by taking a correction back.
    """
    require(caller=caller, act=Act.WRITE)
    with tenancy.unit():
        ids = sorted((memory_id, edge.other_id))
        held = {one: memories.lock_memory(caller=caller, memory_id=one) for one in ids}
        if edge.kind in views.BOUND:
            raise Changed(
                detail="This link is not taken back by itself.",
                hint="Settle the conflict of the two, or take the correction back.",
            )
        ends = (memory_id, edge.other_id) if edge.outgoing else (edge.other_id, memory_id)
        taken = apply_decision.take_edges(ends[:1], ends[1:], kind=edge.kind)
        if not taken:
            raise NotFound(
                detail="There is no such link.",
                hint="It may have been taken back already; read the memory again.",
            )
        both = {"older": held[ends[1]], "newer": held[ends[0]]}
        side, audience = writes.find_narrower_side(**both, otherwise=caller.user_id)
        said = views.content_hashes(rows=tuple(held.values()))
        made = actions.record_verdict(
            caller=caller,
            row=side,
            verdict=Verdict.UNLINK,
            now=now,
            extra={actions.TAKEN: taken, views.SAID: said},
        )
        details = {"link": edge.kind.value}
        if not writes.have_different_audiences(**both):
            details |= {"source": str(ends[0]), "target": str(ends[1])}
        writes.record(caller=caller, act="memory.unlinked", memory_id=side.id, details=details)
        writes.announce(caller=caller, kind="memory.changed", rows=(side,), audience=audience)
        view = views.to_view(held[memory_id], now=now)
        return DecidedMemory(memory=view, verdict=Verdict.UNLINK, review_id=made)


def _decide(
    caller: Caller, name: str, memory_id: UUID, details: VerbDetails, now: datetime
) -> DecidedMemory:
    verb = VERBS[name]
    require(caller=caller, act=verb.needs)
    protection.check_reason(reason=details.reason)
    with tenancy.unit():
        decided = verb.apply(caller, memory_id, details, now)
        writes.record(caller=caller, act=f"memory.{verb.done}", memory_id=memory_id)
        return decided


def _keep(caller: Caller, memory_id: UUID, _details: VerbDetails, now: datetime) -> DecidedMemory:
    row = actions.lock_waiting(caller=caller, memory_id=memory_id)
    return actions.approve(caller=caller, row=row, now=now)


def _share(caller: Caller, memory_id: UUID, _details: VerbDetails, now: datetime) -> DecidedMemory:
    row = actions.lock_waiting(caller=caller, memory_id=memory_id)
    actions.check_may_approve(caller=caller, row=row)
    traces = Traces()
    traces.keep(row)
    revise.share_row(caller=caller, row=row, now=now)
    return actions.approve(caller=caller, row=row, now=now, traces=traces)


def _reject(caller: Caller, memory_id: UUID, details: VerbDetails, now: datetime) -> DecidedMemory:
    traces = Traces()
    row = actions.lock_waiting(caller=caller, memory_id=memory_id)
    traces.keep(row)
    reason = details.reason or REJECTED
    view = actions.archive_row(caller=caller, row=row, reason=reason, now=now)
    made = actions.record_verdict(
        caller=caller, row=row, verdict=Verdict.REJECT, traces=traces, now=now
    )
    return DecidedMemory(memory=view, verdict=Verdict.REJECT, review_id=made)


def _snooze(caller: Caller, memory_id: UUID, details: VerbDetails, now: datetime) -> DecidedMemory:
    until = details.until or now
    check_until(until=until, now=now)
    row = actions.lock_waiting(caller=caller, memory_id=memory_id)
    made = actions.record_verdict(
        caller=caller, row=row, verdict=Verdict.SNOOZE, now=now, until=until
    )
    view = views.to_view(row, now=now)
    return DecidedMemory(memory=view, verdict=Verdict.SNOOZE, review_id=made)


VERBS: Final[Mapping[str, Verb[DecidedMemory]]] = {
    "keep": Verb(needs=Act.CONFIRM, apply=_keep, done="kept"),
    "share": Verb(needs=Act.CONFIRM, apply=_share, done="shared"),
    "reject": Verb(needs=Act.WRITE, apply=_reject, done="rejected"),
    "snooze": Verb(needs=Act.CONFIRM, apply=_snooze, done="snoozed"),
}


def _add_to(other: Memory, row: Memory, now: datetime) -> None:
    """Give a held memory what another that says the same has beyond it."""
    own_type = custom_type_rules.named(tags=other.tags)
    for name, (most, _longest) in LISTS.items():
        both = custom_type_rules.plain(tags=(*getattr(other, name), *getattr(row, name)))
        setattr(other, name, list(dict.fromkeys(both))[:most])
    other.tags = list(custom_type_rules.marked(tags=other.tags, name=own_type))
    other.provenance_sessions = actions.add_sessions(
        known=other.provenance_sessions, sessions=(row.session_id, *row.provenance_sessions)
    )
    other.confirmations += 1
    other.last_confirmed_at = now
    other.taint_reason = other.taint_reason or row.taint_reason
    other.governance = governance_of(
        type=MemoryType(other.type), tags=tuple(other.tags), pinned=other.pinned
    )
    fields = (*LISTS, "provenance_sessions", "confirmations", "last_confirmed_at", "taint_reason",
              "governance")  # fmt: skip
    writes.save(row=other, fields=fields, now=now)
    writes.index_words(rows=(other,))


def undo(*, caller: Caller, review_id: UUID, now: datetime) -> DecidedMemory:
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


def undo_call(*, caller: Caller, review_id: UUID, now: datetime) -> tuple[DecidedMemory, ...]:
    """Take back all that was decided in one call with this verdict, or nothing.

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
    """Lock a verdict that is the caller's to take back. In a unit. Raises NotFound."""
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
    """Lock the verdicts of this one's call that are not undone. In a unit."""
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
    """Give held memories their kept fields back, and the links. In a unit.

    The last of these verdicts has the last word. Raises Conflict where another active memory has
    the text or the external id of one by now.
    """
    traces = _traces_of(call)
    moved: list[Memory] = []
    changed: set[str] = {"version"}
    for kept in traces.touched:
        row = held[UUID(kept["id"])]
        audience = row.audience
        changed |= _put_fields(row, kept["fields"])
        moved += [row] if row.audience != audience else []
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
    for row in moved:
        writes.narrow(row=row)
    apply_decision.put_edges(edges=traces.taken)
    MemoryLink.objects.filter(pk__in=traces.links).delete()
    MemoryVersion.objects.filter(pk__in=traces.versions).delete()
    ReviewVerdict.objects.filter(pk__in=[made.pk for made in call]).update(undone_at=now)


def _put_fields(row: Memory, fields: Mapping[str, Any]) -> set[str]:
    """Give a memory its kept fields; return the names of those that were others."""
    row.version += 1
    changed = set()
    for name, value in fields.items():
        was = actions.read_field(name=name, value=value)
        if getattr(row, name) != was:
            setattr(row, name, was)
            changed.add(name.removesuffix("_id"))
    return changed


def _traces_of(call: Sequence[ReviewVerdict]) -> Traces:
    """Return together what verdicts have put down, each as it left it."""
    befores = [made.before for made in call]
    names = ("touched", "made", "links", "versions", actions.TAKEN)
    found = {name: [one for kept in befores for one in kept.get(name, ())] for name in names}
    return Traces(**{**found, "made": list(map(UUID, found["made"]))})


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
    """Leave out those whose text or external id an active memory has. In a unit."""
    claims = {row.id: memories.claim_of(row=row) for row in rows}
    fitting = memories.Taken(wanted=claims.values()).take(claims=claims)
    return tuple(row for row in rows if row.id in fitting)


def save_held(*, rows: Sequence[Memory], fields: Sequence[str]) -> None:
    """Save fields of held memories, and their filters for searches. In a unit."""
    if not rows:
        return
    ids = tuple(row.id for row in rows)
    Memory.objects.bulk_update(rows, fields, batch_size=1_000)
    index_queries.sync_filters(memory_ids=ids)
    index_queries.follow_topics(memory_ids=ids)


def _undo_each(
    caller: Caller, call: tuple[ReviewVerdict, ...], now: datetime
) -> tuple[DecidedMemory, ...]:
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
        decided = DecidedMemory(
            memory=views.to_view(row, now=now),
            verdict=Verdict(made.verdict),
            review_id=made.id,
            conflict_id=made.conflict_id,
        )
        done.append(decided)
    return tuple(done)
