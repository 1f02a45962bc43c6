"""Correct a memory: a new one takes its place, and both stay readable."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller, decides_in_person, is_person
from accounts.errors import Conflict, InvalidInput, wrong_field
from accounts.messages import message
from memory.customization import custom_type_rules
from memory.errors import RefusedByGate
from memory.intake.actions import apply_decision, candidate, remember, replacement, revise
from memory.intake.integrate import SUPERSEDED_CONFIDENCE
from memory.intake.validation import NewMemory
from memory.records import actions, protection, writes
from memory.records.models import Memory, MemoryLink
from memory.records.queries import memories, pending
from memory.sessions.actions import binding
from memory.taxonomy import LinkKind, Scope, Source, Status, Verdict
from teams.permissions import Act, require

KINDS: Final = ("outdated", "too_broad", "wrong", "not_here")


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """What is right instead, what was wrong, why, and who sees it; None: whoever saw the old."""

    content: str
    kind: str
    reason: str
    scope: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrected:
    """What became of a correction; `review_id` undoes one of a memory that waited for review."""

    outcome: remember.Outcome
    memory_id: UUID
    review_id: UUID | None


def edit(*, caller: Caller, memory_id: UUID, correction: Correction, now: datetime) -> Corrected:
    """Put a corrected memory in the place of a wrong one, perhaps for others to see.

    An agent's correction of what only people change is stored beside it and waits for a person.

    Raises NotFound, NotActive, InvalidInput, RefusedByGate, ProtectedMemory, Forbidden for a scope
    that the caller may not give it, and Conflict when somebody stores the same at the same moment.
    """
    prepared = prepare_edit(caller=caller, memory_id=memory_id, correction=correction)
    with tenancy.unit():
        done = apply_edit(
            caller=caller, memory_id=memory_id, correction=correction, prepared=prepared, now=now
        )
        if done.outcome.outcome == "proposed" or done.memory_id == memory_id:
            remember.recorded(caller=caller, outcome=done.outcome)
            return done
        by = {"by": str(done.memory_id), "kind": correction.kind}
        writes.record(caller=caller, act="memory.corrected", memory_id=memory_id, details=by)
        return done


def revise_or_propose(
    *,
    caller: Caller,
    memory_id: UUID,
    changes: Mapping[str, Any],
    if_version: int | None,
    now: datetime,
) -> remember.Outcome:
    """Change fields of a memory in place, or propose its new words where an agent may not.

    So it is where only people change it, and after outside content: others read what stands there.
    Raises as `revise.revise` and `edit`, and InvalidInput for more than words that wait.
    """
    if "content" in changes and not is_person(caller=caller):
        with tenancy.unit():
            old = memories.find_memory(caller=caller, memory_id=memory_id)
            protection.check_version(row=old, if_version=if_version)
            waits = not protection.may_forget(caller=caller, row=old)
        # reading what the sessions saw is dear, so only where that decides
        if old.content != changes["content"] and (
            waits or binding.taint_of_caller(caller=caller, project=None)
        ):
            return _propose_words(caller, memory_id, changes, now)
    view = revise.revise(
        caller=caller, memory_id=memory_id, changes=changes, if_version=if_version, now=now
    )
    return remember.Outcome(outcome="updated", memory=view)


def _propose_words(
    caller: Caller, memory_id: UUID, changes: Mapping[str, Any], now: datetime
) -> remember.Outcome:
    """Propose other words of a memory. Raises InvalidInput for other fields beside them."""
    for name in sorted(set(changes) - {"content", "reason"}):
        raise wrong_field(
            pointer=f"/{name}",
            detail="New words of this memory wait for a person; nothing else does.",
            hint="Send the content alone.",
            code="waits",
        )
    reason = str(changes.get("reason", ""))
    correction = Correction(content=str(changes["content"]), kind="wrong", reason=reason)
    done = edit(caller=caller, memory_id=memory_id, correction=correction, now=now).outcome
    if done.outcome == "known":
        raise Conflict(detail=done.reason, hint="Ask a person to change it in the dashboard.")
    return done


def prepare_edit(*, caller: Caller, memory_id: UUID, correction: Correction) -> remember.Prepared:
    """Check a correction and embed what is right instead. Outside of a unit; raises as `edit`."""
    require(caller=caller, act=Act.WRITE)
    if correction.kind not in KINDS:
        raise wrong_field(
            pointer="/kind",
            detail=message(
                "{kind!r} is not what can be wrong with a memory.", kind=correction.kind
            ),
            hint=message("Use one of: {names}.", names=tuple(KINDS)),
            code="choice",
        )
    protection.check_reason(reason=correction.reason)
    with tenancy.unit():
        old = memories.find_memory(caller=caller, memory_id=memory_id)
        _check_may_correct(caller, old)
        new = make_successor(caller=caller, old=old, content=correction.content)
        scope = correction.scope
        if scope is not None and scope != old.scope:  # who may give it to the old one
            names = tuple(one.value for one in Scope if one is not Scope.TEAM)
            if scope not in names:
                raise wrong_field(
                    pointer="/scope",
                    detail=message("{value!r} is not one of: {names}.", value=scope, names=names),
                    code="choice",
                )
            revise.check_move(caller=caller, row=old, scope=Scope(scope))
            new = replace(new, scope=scope, team=None)
    new = binding.bind(caller=caller, new=new)
    is_proposed = protection.must_propose(caller=caller, row=old)
    prepared = remember.prepare(caller=caller, new=new, is_proposed=is_proposed)
    if new.scope == old.scope and prepared.checked.content_hash == old.content_hash:
        raise _unchanged()
    return prepared


def apply_edit(
    *,
    caller: Caller,
    memory_id: UUID,
    correction: Correction,
    prepared: remember.Prepared,
    now: datetime,
) -> Corrected:
    """Put a prepared correction in the place of a memory. In a unit; raises as `edit`."""
    old = memories.lock_memory(caller=caller, memory_id=memory_id)
    _check_may_correct(caller, old)
    why = f"{correction.kind}: {correction.reason}".strip(": ")[: protection.LONGEST_REASON]
    if replacement.must_wait(caller=caller, prepared=prepared, old=old):
        outcome = replacement.propose(caller=caller, prepared=prepared, old=old, why=why, now=now)
        if outcome.memory is None:
            raise RefusedByGate(gate=outcome.gate, detail=outcome.reason, hint=outcome.hint)
        if outcome.outcome == "confirmed":
            raise _unchanged()
        return Corrected(outcome=outcome, memory_id=outcome.memory.id, review_id=None)
    traces = actions.Traces()
    traces.keep(old)
    waited = pending.group_of(row=old) is not None
    before = apply_decision.lowered(row=old)
    old.status = Status.SUPERSEDED.value
    old.confidence = min(old.confidence, SUPERSEDED_CONFIDENCE)
    old.valid_until, old.archived_reason = now, why
    writes.save(row=old, fields=("status", "confidence", "valid_until", "archived_reason"), now=now)

    outcome = remember.decide(caller=caller, prepared=prepared, now=now)
    if outcome.memory is None:
        raise RefusedByGate(gate=outcome.gate, detail=outcome.reason, hint=outcome.hint)
    successor = outcome.memory.id
    if successor == old.id:  # an agent's text that only restates what it was given
        raise _unchanged()
    old.superseded_by_id = successor
    old.save(update_fields=["superseded_by"])
    link, _ = MemoryLink.objects.get_or_create(
        source_id=successor,
        target=old,
        kind=LinkKind.SUPERSEDES.value,
        defaults={"description": old.archived_reason, "before": before},
    )
    writes.announce(caller=caller, kind="memory.corrected", rows=(old,))
    review_id = None
    changed_none = outcome.operation in {"", LinkKind.SIMILAR}  # else it is not undone
    if waited and outcome.outcome == "added" and changed_none:
        traces.made.append(successor)
        traces.links.append(link.pk)
        review_id = actions.record_verdict(
            caller=caller, row=old, verdict=Verdict.EDIT, traces=traces, now=now
        )
    return Corrected(outcome=outcome, memory_id=successor, review_id=review_id)


def make_successor(*, caller: Caller, old: Memory, content: str) -> NewMemory:
    """Return the candidate that says something else in the place of a memory.

    It still waits for review where an agent corrects what waits. No agent pins it.
    """
    is_proposed = protection.must_propose(caller=caller, row=old)
    source = Source.USER_TAUGHT if decides_in_person(caller=caller) else Source.AGENT_EXPLICIT
    return candidate.of_row(
        row=old,
        content=content,
        source=source.value,
        own_type=custom_type_rules.named(tags=old.tags),
        team=str(old.team_id) if old.team_id else None,
        reach=old.reach,
        work_unit=old.work_unit,
        confidence_floor=old.confidence_floor,
        phase=old.phase,
        methodology=old.methodology,
        pinned=old.pinned and not is_proposed,
        needs_review=old.needs_review and not decides_in_person(caller=caller),
    )


def _unchanged() -> InvalidInput:
    return wrong_field(
        pointer="/content",
        detail="The corrected text says exactly the same.",
        hint="Change the text, or confirm the memory instead.",
        code="unchanged",
    )


def _check_may_correct(caller: Caller, row: Memory) -> None:
    protection.check_active(row=row)
    if row.taint_reason and not is_person(caller=caller):
        actions.check_may_approve(caller=caller, row=row)
