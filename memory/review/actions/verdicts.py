"""Decide about one memory that waits for review: keep, reject, snooze, merge, or unlink it.

`VERBS` is the one table of verdicts that need no more than a reason or an end; bulk decisions and
those about a session carry out the same entries.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import Conflict, NotFound, wrong_field
from accounts.messages import message
from memory.customization import custom_type_rules
from memory.intake.actions import apply_decision
from memory.intake.integrate import SUPERSEDED_CONFIDENCE
from memory.intake.validation import LISTS
from memory.records import actions, protection, writes
from memory.records.actions import DecidedMemory, Traces, Verb, VerbDetails
from memory.records.models import Memory, MemoryLink
from memory.records.queries import memories, pending, views
from memory.taxonomy import LinkKind, MemoryType, Scope, Status, Verdict, governance_of
from teams.permissions import Act, require

REJECTED: Final = message("rejected in review")  # the reason where none was given
MERGED: Final = message("merged in review")  # why there is a new version


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
            raise Conflict(
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
