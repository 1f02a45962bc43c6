"""Settle a conflict of two memories, take that back, or snooze it.

A person keeps one, both, or writes what is right instead; `conflicts.bars_of` says who may what.
What leaves names its successor and the reason, and is restored when the settlement is taken back. A
rollback reopens the conflicts whose settled text it archives, and undoing it settles them again.
Conflicts are locked before memories.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller, decides_in_person
from accounts.errors import Conflict as Changed
from accounts.errors import Forbidden, PreconditionFailed, RoleNotSufficient, wrong_field
from accounts.messages import message
from memory.errors import NotActive, RefusedByGate, SelfApproval
from memory.intake.actions import apply_decision, remember
from memory.intake.integrate import Decision
from memory.records import actions, formulas, protection, versions, writes
from memory.records.models import Conflict, Memory
from memory.records.queries.memories import find_memory, lock_memory
from memory.review.actions import corrections, verdicts
from memory.review.queries import conflicts
from memory.review.queries.conflicts import LEAVING, Bar, ConflictVerdict
from memory.taxonomy import LinkKind, MemoryType, Status, Verdict, Verification, governance_of
from teams.permissions import Act, require

SETTLED: Final = ("verdict", "reason", "settled_by", "settled_at", "before")
ACCEPTED: Final = "accepted"  # keys in `before`: the winner, as it waited
LEFT: Final = "left"  # and as the settlement left it
TEXT: Final = "content_hash"
TAKEN_OVER: Final = (
    "needs_review", "taint_reason", "user_verified", "verification", "verified_at", "confidence",
    "external_id", "pinned", "governance",
)  # fmt: skip
Sides = tuple[Memory, Memory]  # the older one first


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """What a person decided, and why; `content` is what is right instead, for `edit`."""

    verdict: ConflictVerdict
    reason: str
    content: str = ""
    if_version: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SnoozedConflict:
    """A conflict that the caller snoozed, and the verdict's id, by which that is undone."""

    conflict: conflicts.ConflictView
    review_id: UUID


def settle(
    *, caller: Caller, conflict_id: UUID, settlement: Settlement, now: datetime
) -> conflicts.ConflictView:
    """Settle an open conflict.

    Raises NotFound, RoleNotSufficient, SelfApproval, Forbidden, InvalidInput, NotActive for one
    that is settled, PreconditionFailed, RefusedByGate for the new text.
    """
    _check_in_person(caller)
    protection.check_reason(reason=settlement.reason)
    if not settlement.reason.strip():
        raise wrong_field(
            pointer="/reason",
            detail="Say why, in a few words.",
            hint="Whoever wrote the other one will want to know.",
            code="required",
        )
    verdict, prepared = settlement.verdict, None
    if verdict is ConflictVerdict.EDIT:  # the new text is embedded before any row is locked
        if not settlement.content.strip():
            raise wrong_field(
                pointer="/content",
                detail="Write what is right instead of the two.",
                hint="Or keep one of them.",
                code="required",
            )
        with tenancy.unit():
            row = conflicts.find_conflict(caller=caller, conflict_id=conflict_id)
            newer = find_memory(caller=caller, memory_id=row.newer_id)
            new = corrections.make_successor(caller=caller, old=newer, content=settlement.content)
        prepared = remember.prepare(caller=caller, new=new)
    with tenancy.unit():
        row, sides = _lock(caller, conflict_id, settlement.if_version)
        why = conflicts.bars_of(caller=caller, row=row, sides=sides)[verdict]
        if why is Bar.OWN:
            raise SelfApproval(
                detail="You wrote one of the two, so somebody else decides between them.",
                hint="Withdraw yours by keeping the other one, or ask a steward.",
            )
        if why is Bar.STEWARD:
            require(caller=caller, act=Act.SETTLE)
        if why is Bar.PERSONAL:
            raise Forbidden(
                detail="A personal memory does not take the place of one that others see.",
                hint="Share it with the project first, keep both, or keep the other one.",
            )
        if why is Bar.OVER:
            raise _over()
        before = _carry_out(caller, sides, settlement, prepared, now)
        row.verdict, row.reason, row.before = verdict.value, settlement.reason, before
        row.settled_by, row.settled_at = caller.user_id, now
        details = {"verdict": row.verdict, "superseded": sorted(before.get("memories", {}))}
        _save(caller, row, sides, "memory.conflict_settled")
        _record(caller, row, sides, "memory.conflict_settled", details)
        return conflicts.view_of(caller=caller, row=row, now=now)


def reopen(
    *, caller: Caller, conflict_id: UUID, if_version: int | None, now: datetime
) -> conflicts.ConflictView:
    """Take a settlement back: both memories are as before, and the conflict is open again.

    Raises NotFound, RoleNotSufficient, NotActive for an open one, Conflict where something has
    changed since, PreconditionFailed.
    """
    _check_in_person(caller)
    with tenancy.unit():
        row, sides = _lock(caller, conflict_id, if_version)
        why = conflicts.bars_of(caller=caller, row=row, sides=sides)[conflicts.REOPEN]
        if why is Bar.OPEN:
            raise NotActive(detail="This conflict is open.", hint="Settle it first.")
        if why is Bar.STEWARD:
            require(caller=caller, act=Act.SETTLE)
        successor = row.before.get("successor")
        if row.verdict == ConflictVerdict.EDIT.value and row.before.get("written", True):
            written = lock_memory(caller=caller, memory_id=UUID(successor))
            if written.status == Status.ACTIVE and written.version == 1:
                # before both sides are restored: they may have its external id
                actions.archive_row(caller=caller, row=written, reason="Taken back.", now=now)
        _take_back_acceptance(sides, row.before, now)
        for memory_id, before in sorted(row.before.get("memories", {}).items()):
            side = lock_memory(caller=caller, memory_id=UUID(memory_id))
            if side.status != Status.SUPERSEDED or str(side.superseded_by_id) != successor:
                raise _changed()
            apply_decision.take_edges((UUID(successor),), (side.id,), kind=LinkKind.SUPERSEDES)
            apply_decision.reactivate(row=side, before=before)
            writes.save_unique(row=side, fields=apply_decision.RETIRED, now=now)
            writes.announce(caller=caller, kind="memory.restored", rows=(side,))
        apply_decision.put_edges(edges=row.before.get("links", ()))
        _clear(row)
        _save(caller, row, sides, "memory.conflict_reopened")
        _record(caller, row, sides, "memory.conflict_reopened", {})
        return conflicts.view_of(caller=caller, row=row, now=now)


def snooze_conflict(
    *, caller: Caller, conflict_id: UUID, until: datetime, now: datetime
) -> SnoozedConflict:
    """Hide an open conflict from the caller's inbox until then; it waits again by itself.

    It stays open, and everybody else still sees it wait. Raises NotFound, RoleNotSufficient,
    NotActive for one that is over, InvalidInput for a time that is past or farther off than a year.
    """
    require(caller=caller, act=Act.CONFIRM)
    verdicts.check_until(until=until, now=now)
    with tenancy.unit():
        row = conflicts.find_conflict(caller=caller, conflict_id=conflict_id, is_locked=True)
        sides = (row.older, row.newer)
        if not conflicts.is_open(row=row, sides=sides):
            raise _over()
        side, _ = writes.find_narrower_side(
            older=row.older, newer=row.newer, otherwise=caller.user_id
        )
        made = actions.record_verdict(
            caller=caller, row=side, verdict=Verdict.SNOOZE, now=now, until=until, conflict=row
        )
        _record(caller, row, sides, "memory.conflict_snoozed", {})
        view = conflicts.view_of(caller=caller, row=row, now=now)
        return SnoozedConflict(conflict=view, review_id=made)


def lock_settled_by(*, ids: Iterable[UUID]) -> tuple[Conflict, ...]:
    """Lock the conflicts of which both sides were replaced by one of these texts. In a unit."""
    rows = Conflict.objects.select_for_update(of=("self",)).filter(
        verdict=ConflictVerdict.EDIT.value, older__superseded_by__in=set(ids)
    )
    return tuple(rows.order_by("id"))


def reopen_held(
    *, caller: Caller, held: tuple[Conflict, ...], rows: tuple[Memory, ...]
) -> tuple[Mapping[str, Any], ...]:
    """Open held conflicts of which both sides are restored; return how they were. In a unit."""
    restored = {row.id: row for row in rows}
    opened = []
    for conflict in held:
        older, newer = (restored.get(one) for one in (conflict.older_id, conflict.newer_id))
        if older is None or newer is None:
            continue
        was = {name: versions.plain(value=getattr(conflict, name)) for name in SETTLED}
        _clear(conflict)
        _save(caller, conflict, (older, newer), "memory.conflict_reopened")
        opened.append({**was, "id": str(conflict.id), "version": conflict.version})
    return tuple(opened)


def lock_reopened(*, befores: Iterable[Mapping[str, Any]]) -> Mapping[UUID, Conflict]:
    """Lock the conflicts that verdicts opened. In a unit. Raises Conflict where one changed."""
    kept = {
        UUID(one["id"]): one["version"]
        for made in befores
        for one in made.get(actions.REOPENED, ())
    }
    rows = Conflict.objects.select_for_update(of=("self",)).filter(pk__in=kept)
    held = {row.id: row for row in rows.order_by("id")}
    if {id: row.version for id, row in held.items()} != kept:
        raise Changed(
            detail="A conflict that opened again has changed since; nothing was undone.",
            hint="Look at it, and settle it by hand.",
        )
    return held


def settle_again(
    *,
    caller: Caller,
    before: Mapping[str, Any],
    held: Mapping[UUID, Conflict],
    rows: Mapping[UUID, Memory],
) -> None:
    """Settle held conflicts as they were before a verdict opened them. In a unit."""
    for kept in before.get(actions.REOPENED, ()):
        conflict = held[UUID(kept["id"])]
        for name in ("verdict", "reason", "before"):
            setattr(conflict, name, kept[name])
        conflict.settled_by = UUID(kept["settled_by"]) if kept["settled_by"] else None
        conflict.settled_at = datetime.fromisoformat(kept["settled_at"])
        sides = (rows[conflict.older_id], rows[conflict.newer_id])
        _save(caller, conflict, sides, "memory.conflict_settled")


def _check_in_person(caller: Caller) -> None:
    require(caller=caller, act=Act.WRITE)
    if not decides_in_person(caller=caller):
        raise RoleNotSufficient(
            detail="An agent does not settle conflicts.",
            hint="The conflict waits for a person in the review inbox of the dashboard.",
        )


def _over() -> NotActive:
    """Return the refusal of what only an open conflict takes."""
    return NotActive(
        detail="This conflict is already closed.",
        hint="It was settled, or one of the memories is no longer active. Undo that first.",
    )


def _lock(caller: Caller, conflict_id: UUID, if_version: int | None) -> tuple[Conflict, Sides]:
    """Lock a conflict, then its sides by id. Raises NotFound, PreconditionFailed."""
    row = conflicts.find_conflict(caller=caller, conflict_id=conflict_id, is_locked=True)
    ids = sorted((row.older_id, row.newer_id))
    held = {id: lock_memory(caller=caller, memory_id=id) for id in ids}
    sides = (held[row.older_id], held[row.newer_id])
    if if_version in {None, conflicts.version_of(row=row, sides=sides)}:
        return row, sides
    detail = message("One of the two memories, or the conflict, was changed meanwhile.")
    if row.verdict:
        detail = message("This conflict was settled meanwhile.")
    elif any(side.status != Status.ACTIVE for side in sides):
        detail = message("One of the two memories has left meanwhile.")
    raise PreconditionFailed(detail=detail, hint="Look at it again, then decide.")


def _carry_out(
    caller: Caller,
    sides: Sides,
    settlement: Settlement,
    prepared: remember.Prepared | None,
    now: datetime,
) -> dict[str, Any]:
    """Write what follows from a verdict; return what it takes to take it back."""
    losers = tuple(sides[number] for number in LEAVING[settlement.verdict])
    if not losers:
        ids = (sides[1].id, sides[0].id)
        links = apply_decision.take_edges(ids, ids, kind=LinkKind.CONTRADICTS)
        return {"links": links, **_accept(sides[1], None, now)}
    before = {str(side.id): apply_decision.lowered(row=side) for side in losers}
    reason = settlement.reason
    if prepared is not None:
        winner, is_new = _replace_both(caller, sides, prepared, reason, now)
        return {"memories": before, "successor": str(winner.id), "written": is_new}
    winner = sides[0] if settlement.verdict is ConflictVerdict.KEEP_OLDER else sides[1]
    for side in losers:
        apply_decision.retire(caller=caller, old=side, successor=winner, reason=reason, now=now)
        _link(winner, side, reason)
    accepted = _accept(winner, losers[0], now)
    return {"memories": before, "successor": str(winner.id), **accepted}


def _accept(winner: Memory, loser: Memory | None, now: datetime) -> dict[str, Any]:
    """End the wait of a memory that a person decided for; return what takes that back.

    It takes over the pin and the external id of the one whose place it takes.
    """
    if not winner.needs_review:
        return {}
    was = _fields_of(winner)
    winner.needs_review, winner.taint_reason = False, ""
    winner.user_verified, winner.verification = True, Verification.VERIFIED.value
    winner.verified_at, winner.confidence = now, formulas.confirmed(confidence=winner.confidence)
    if loser is not None:
        winner.external_id = winner.external_id or loser.external_id
        winner.pinned = winner.pinned or loser.pinned
        winner.governance = governance_of(
            type=MemoryType(winner.type), tags=tuple(winner.tags), pinned=winner.pinned
        )
    writes.save_unique(row=winner, fields=TAKEN_OVER, now=now)
    return {ACCEPTED: was, LEFT: {**_fields_of(winner), TEXT: winner.content_hash}}


def _fields_of(row: Memory) -> dict[str, Any]:
    return {name: versions.plain(value=getattr(row, name)) for name in TAKEN_OVER}


def _replace_both(
    caller: Caller, sides: Sides, prepared: remember.Prepared, reason: str, now: datetime
) -> tuple[Memory, bool]:
    """Store the text that takes the place of both; say whether it is new.

    Raises RefusedByGate, and Conflict where it would replace yet another memory.
    """
    for side in sides:  # first, so that the new text is compared with neither
        apply_decision.retire(caller=caller, old=side, successor=side, reason=reason, now=now)
    outcome = remember.decide(caller=caller, prepared=prepared, now=now)
    if outcome.memory is None:
        raise RefusedByGate(gate=outcome.gate, detail=outcome.reason, hint=outcome.hint)
    if outcome.operation == LinkKind.SUPERSEDES:
        raise Changed(
            detail="This text would replace yet another memory.",
            hint="Look for that one, and correct it first; or keep one of the two.",
        )
    winner = lock_memory(caller=caller, memory_id=outcome.memory.id)
    for side in sides:
        side.superseded_by_id = winner.id
        side.valid_until = max(side.valid_from, winner.valid_from)
        side.save(update_fields=["superseded_by", "valid_until"])
        _link(winner, side, reason)
    return winner, outcome.outcome == "added"


def _take_back_acceptance(sides: Sides, before: Mapping[str, Any], now: datetime) -> None:
    """Let a memory wait again that a settlement accepted, as it was before.

    Raises Conflict where anybody has changed since what the settlement wrote, or the words.
    """
    was = before.get(ACCEPTED)
    if not was:
        return
    winner = next((side for side in sides if str(side.id) == before.get("successor")), sides[1])
    now_there = {**_fields_of(winner), TEXT: winner.content_hash}
    if before.get(LEFT, now_there) != now_there:
        raise _changed()
    for name, value in was.items():
        setattr(winner, name, actions.read_field(name=name, value=value))
    writes.save_unique(row=winner, fields=TAKEN_OVER, now=now)


def _changed() -> Changed:
    return Changed(
        detail="One of the memories has changed since.",
        hint="Look at both, and correct the one that stands.",
    )


def _link(winner: Memory, side: Memory, reason: str) -> None:
    decision = Decision(target_id=side.id, link=LinkKind.SUPERSEDES, reason=reason)
    apply_decision.link(source=winner, target=side, decision=decision)


def _clear(row: Conflict) -> None:
    row.verdict, row.reason, row.before = "", "", {}
    row.settled_by, row.settled_at = None, None


def _save(caller: Caller, row: Conflict, sides: Sides, kind: str) -> None:
    """Save a conflict and tell the feed, with the side that fewer people see."""
    side, row.audience = writes.find_narrower_side(
        older=sides[0], newer=sides[1], otherwise=caller.user_id
    )
    row.version += 1
    row.save()
    writes.announce(caller=caller, kind=kind, rows=(side,), audience=row.audience)


def _record(
    caller: Caller, row: Conflict, sides: Sides, act: str, details: Mapping[str, Any]
) -> None:
    """Write to the audit log; no log of others hints at what fewer people see."""
    both = {"older": sides[0], "newer": sides[1]}
    side, _ = writes.find_narrower_side(**both, otherwise=caller.user_id)
    whole = {"conflict": str(row.id), **details}
    if writes.have_different_audiences(**both):
        whole = {name: value for name, value in details.items() if name == "verdict"}
    writes.record(caller=caller, act=act, memory_id=side.id, details=whole)
