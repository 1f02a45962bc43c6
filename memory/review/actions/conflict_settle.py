"""Settle a conflict of two memories, and take that back.

A person keeps one, both, or writes what is right instead. Stewards settle; others withdraw what
they wrote themselves. Who wrote one of the two only withdraws it: nobody approves what they
proposed against somebody else's. What leaves names its successor and the reason, and comes back
when the settlement is taken back.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller, TokenScope, is_person
from accounts.errors import Conflict as Changed
from accounts.errors import Forbidden, PreconditionFailed, RoleNotSufficient, wrong_field
from accounts.messages import message
from memory.errors import NotActive, RefusedByGate, SelfApproval
from memory.intake.actions import apply_decision
from memory.intake.actions.remember import Prepared, decide, prepare
from memory.intake.integrate import Decision, Operation
from memory.records.actions import archive, conflict_audience, writes
from memory.records.actions.validation import check_reason
from memory.records.conflict_models import Conflict
from memory.records.models import Memory
from memory.records.queries.memories import find_memory, lock_memory
from memory.review.actions.correct import successor_of
from memory.review.conflict_rules import Bar, Verdict
from memory.review.queries import conflicts
from memory.review.queries.conflicts import ConflictView
from memory.taxonomy import LinkKind, Status
from teams.permissions import Act, require

KEPT = ("confidence", "archived_reason", "valid_until")  # of what leaves, to take it back


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """What a person decided, and why; `content` is what is right instead, for `edit`."""

    verdict: Verdict
    reason: str
    content: str = ""
    if_version: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sides:
    """A conflict held open with both of its memories, locked by id."""

    row: Conflict
    older: Memory
    newer: Memory

    def losers(self, verdict: Verdict) -> tuple[Memory, ...]:
        """Return which of the two leave."""
        leaving = {
            Verdict.KEEP_OLDER: (self.newer,),
            Verdict.KEEP_NEWER: (self.older,),
            Verdict.EDIT: (self.older, self.newer),
        }
        return leaving.get(verdict, ())

    def winner(self, verdict: Verdict) -> Memory:
        """Return the one that stays; of both the newer."""
        return self.older if verdict is Verdict.KEEP_OLDER else self.newer


def settle(
    *, caller: Caller, conflict_id: UUID, settlement: Settlement, now: datetime
) -> ConflictView:
    """Settle an open conflict.

    Raises NotFound, RoleNotSufficient, SelfApproval, Forbidden, InvalidInput, NotActive for one
    that is settled, PreconditionFailed, RefusedByGate for the new text.
    """
    _check_settles(caller)
    _check_reason(settlement.reason)
    prepared = _prepared(caller, conflict_id, settlement)
    with tenancy.unit():
        sides = _hold(caller, conflict_id, settlement.if_version)
        both, verdict = (sides.older, sides.newer), settlement.verdict
        check_may(caller=caller, row=sides.row, sides=both, verdict=verdict)
        before = _carry_out(caller, sides, settlement, prepared, now)
        _close(caller, sides, settlement, before, now)
        return conflicts.view_of(caller=caller, row=sides.row, now=now)


def reopen(
    *, caller: Caller, conflict_id: UUID, if_version: int | None, now: datetime
) -> ConflictView:
    """Take a settlement back: both memories stand as before, and the conflict is open again.

    Raises NotFound, RoleNotSufficient, NotActive for an open one, Conflict where something has
    changed since, PreconditionFailed.
    """
    _check_settles(caller)
    with tenancy.unit():
        sides = _hold(caller, conflict_id, if_version)
        row = sides.row
        why = conflicts.rights_of(caller=caller, row=row, sides=(sides.older, sides.newer)).reopen
        if why is Bar.OPEN:
            raise NotActive(detail="This conflict is open.", hint="Settle it first.")
        if why is Bar.STEWARD:
            require(caller=caller, act=Act.SETTLE)
        _bring_back(caller, row, now)
        row.verdict, row.reason, row.before = "", "", {}
        row.settled_by, row.settled_at = None, None
        _save(caller, sides, "memory.conflict_reopened", {})
        return conflicts.view_of(caller=caller, row=row, now=now)


def check_may(
    *, caller: Caller, row: Conflict, sides: tuple[Memory, Memory], verdict: Verdict
) -> None:
    """Check who settles what. Raises RoleNotSufficient, SelfApproval, Forbidden, NotActive."""
    _check_settles(caller)
    why = dict(conflicts.rights_of(caller=caller, row=row, sides=sides).verdicts)[verdict]
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
        raise over()


def over() -> NotActive:
    """Return the refusal of what only an open conflict takes."""
    return NotActive(
        detail="This conflict is over.",
        hint="It was settled, or one of the memories has left. Take that back first.",
    )


def _check_settles(caller: Caller) -> None:
    require(caller=caller, act=Act.WRITE)
    if is_person(caller=caller) or TokenScope.ADMIN in caller.scopes:
        return
    raise RoleNotSufficient(
        detail="An agent does not settle conflicts.",
        hint="A person decides, in the dashboard or with a token of the scope admin.",
    )


def _check_reason(reason: str) -> None:
    check_reason(reason=reason)
    if not reason.strip():
        raise wrong_field(
            pointer="/reason",
            detail="Say why, in a few words.",
            hint="Whoever wrote the other one will want to know.",
            code="required",
        )


def _check_version(row: Conflict, sides: tuple[Memory, Memory], if_version: int | None) -> None:
    if if_version in {None, conflicts.version_of(row=row, sides=sides)}:
        return
    raise PreconditionFailed(detail=_happened(row, sides), hint="Look at it again, then decide.")


def _happened(row: Conflict, sides: tuple[Memory, Memory]) -> str:
    """Say what somebody else did since the caller looked."""
    if row.verdict:
        return message("This conflict was settled meanwhile.")
    if any(side.status != Status.ACTIVE for side in sides):
        return message("One of the two memories has left meanwhile.")
    return message("One of the two memories, or the conflict, was changed meanwhile.")


def _prepared(caller: Caller, conflict_id: UUID, settlement: Settlement) -> Prepared | None:
    """Check and embed the text that takes the place of both, before any row is locked."""
    if settlement.verdict is not Verdict.EDIT:
        return None
    if not settlement.content.strip():
        raise wrong_field(
            pointer="/content",
            detail="Write what is right instead of the two.",
            hint="Or keep one of them.",
            code="required",
        )
    with tenancy.unit():
        row = conflicts.find(caller=caller, conflict_id=conflict_id)
        newer = find_memory(caller=caller, memory_id=row.newer_id)
        new = successor_of(caller=caller, old=newer, content=settlement.content)
    return prepare(caller=caller, new=new)


def _hold(caller: Caller, conflict_id: UUID, if_version: int | None) -> _Sides:
    row = conflicts.lock(caller=caller, conflict_id=conflict_id)
    ids = sorted((row.older_id, row.newer_id))
    held = {id: lock_memory(caller=caller, memory_id=id) for id in ids}
    sides = _Sides(row=row, older=held[row.older_id], newer=held[row.newer_id])
    _check_version(row, (sides.older, sides.newer), if_version)
    return sides


def _carry_out(
    caller: Caller,
    sides: _Sides,
    settlement: Settlement,
    prepared: Prepared | None,
    now: datetime,
) -> dict[str, Any]:
    """Write what follows from a verdict; return what it takes to take it back."""
    losers = sides.losers(settlement.verdict)
    before = {
        str(side.id): {name: apply_decision.plain(getattr(side, name)) for name in KEPT}
        for side in losers
    }
    if not losers:
        ids = (sides.newer.id, sides.older.id)
        return {"links": apply_decision.take_edges(between=ids, kind=LinkKind.CONTRADICTS)}
    winner = sides.winner(settlement.verdict)
    reason = settlement.reason
    if prepared is not None:
        winner, is_new = _written(caller, sides, prepared, reason, now)
        return {"memories": before, "successor": str(winner.id), "written": is_new}
    for side in losers:
        apply_decision.retire(caller=caller, old=side, successor=winner, reason=reason, now=now)
        apply_decision.link(source=winner, target=side, decision=_replacing(side, reason))
    return {"memories": before, "successor": str(winner.id)}


def _written(
    caller: Caller, sides: _Sides, prepared: Prepared, reason: str, now: datetime
) -> tuple[Memory, bool]:
    """Store the text that takes the place of both; say whether it is new.

    Raises RefusedByGate, and Conflict where it would replace yet another memory.
    """
    losers = (sides.older, sides.newer)
    for side in losers:  # first, so that the new text is compared with neither
        apply_decision.retire(caller=caller, old=side, successor=side, reason=reason, now=now)
    outcome = decide(caller=caller, prepared=prepared, now=now)
    if outcome.memory is None:
        raise RefusedByGate(gate=outcome.gate, detail=outcome.reason, hint=outcome.hint)
    if outcome.operation == LinkKind.SUPERSEDES:
        raise Changed(
            detail="This text would replace yet another memory.",
            hint="Look for that one, and correct it first; or keep one of the two.",
        )
    winner = lock_memory(caller=caller, memory_id=outcome.memory.id)
    for side in losers:
        side.superseded_by_id = winner.id
        side.valid_until = max(side.valid_from, winner.valid_from)
        side.save(update_fields=["superseded_by", "valid_until"])
        apply_decision.link(source=winner, target=side, decision=_replacing(side, reason))
    return winner, outcome.outcome == "added"


def _close(
    caller: Caller,
    sides: _Sides,
    settlement: Settlement,
    before: dict[str, Any],
    now: datetime,
) -> None:
    row = sides.row
    row.verdict, row.reason, row.before = settlement.verdict.value, settlement.reason, before
    row.settled_by, row.settled_at = caller.user_id, now
    details = {"verdict": row.verdict, "superseded": sorted(before.get("memories", {}))}
    _save(caller, sides, "memory.conflict_settled", details)


def _save(caller: Caller, sides: _Sides, act: str, details: Mapping[str, Any]) -> None:
    """Save a conflict and tell of it; no log of others hints at what fewer people see."""
    row, two = sides.row, {"older": sides.older, "newer": sides.newer}
    told, row.audience = conflict_audience.told(**two, otherwise=caller.user_id)
    row.version += 1
    row.save()
    writes.announce(caller=caller, kind=act, rows=(told,), audience=row.audience)
    whole = {"conflict": str(row.id), **details}
    if conflict_audience.is_apart(**two):
        whole = {name: value for name, value in details.items() if name == "verdict"}
    writes.record(caller=caller, act=act, memory_id=told.id, details=whole)


def _bring_back(caller: Caller, row: Conflict, now: datetime) -> None:
    """Undo what a verdict wrote. Raises Conflict where something has changed since."""
    successor = row.before.get("successor")
    _take_away(caller, row, now)
    for memory_id, fields in sorted(row.before.get("memories", {}).items()):
        side = lock_memory(caller=caller, memory_id=UUID(memory_id))
        if side.status != Status.SUPERSEDED or str(side.superseded_by_id) != successor:
            raise Changed(
                detail="One of the memories has changed since.",
                hint="Look at both, and correct the one that stands.",
            )
        apply_decision.unlink(
            source_id=UUID(successor), target_id=side.id, kind=LinkKind.SUPERSEDES
        )
        side.status, side.superseded_by = Status.ACTIVE.value, None
        for name, value in fields.items():
            is_moment = name == "valid_until" and value is not None
            setattr(side, name, datetime.fromisoformat(value) if is_moment else value)
        writes.save_unique(row=side, fields=("status", "superseded_by", *KEPT), now=now)
        writes.announce(caller=caller, kind="memory.restored", rows=(side,))
    apply_decision.put_edges(edges=row.before.get("links", ()))


def _take_away(caller: Caller, row: Conflict, now: datetime) -> None:
    """Archive the text of a verdict, unless it was there before or somebody changed it since.

    Before both sides come back: they may have its external id.
    """
    if row.verdict != Verdict.EDIT.value or not row.before.get("written", True):
        return
    written = lock_memory(caller=caller, memory_id=UUID(row.before["successor"]))
    if written.status == Status.ACTIVE and written.version == 1:
        archive.apply(caller=caller, row=written, reason="Taken back.", now=now)


def _replacing(side: Memory, reason: str) -> Decision:
    return Decision(
        operation=Operation.UPDATE,
        target_id=side.id,
        link=LinkKind.SUPERSEDES,
        is_conflict=False,
        reason=reason,
    )
