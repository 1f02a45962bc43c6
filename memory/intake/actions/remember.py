"""Remember something: the one way by which a memory comes to exist, stage by stage.

`prepare` runs outside of a unit, `decide` inside of one. Gates refuse with a reason and a hint;
they never raise.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, TypeVar
from uuid import UUID

from django.db import transaction

from accounts import jobs, tenancy
from accounts.caller import Caller, principal
from accounts.errors import Conflict, Forbidden, InvalidInput
from accounts.messages import message
from memory.index.actions import embedding
from memory.intake import integrate, queries
from memory.intake.actions import apply_decision, candidate, revise, similar_memories
from memory.intake.validation import NewMemory
from memory.records import actions, writes
from memory.records.models import Memory
from memory.records.queries import memories, views
from memory.taxonomy import LinkKind, MemoryType, Scope, Source
from teams.permissions import Act, require
from teams.queries import extraction_of

LEXICON_DELAY_SECONDS: Final = 2  # writes of a burst share one recount
SENT_AGAIN = message("sent again under its external id")  # why there is a new version
LOOSEST: Final = integrate.Thresholds(minimum_length=1)  # what these refuse, any project refuses
LOGGED: Final = {LinkKind.SUPERSEDES.value: "superseded", LinkKind.EXTEND.value: "extended"}
EXPLICIT: Final = frozenset({Source.USER_TAUGHT.value, Source.AGENT_EXPLICIT.value})
T = TypeVar("T")

__all__ = ["NewMemory", "Outcome", "remember"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A candidate with its vector where that could be made at once, and what a model judged."""

    checked: candidate.CheckedCandidate
    embedded: embedding.Embedded | None
    judged: tuple[integrate.Judged, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of a candidate, and why. `done` names what was written, empty for nothing.

    `related_id` is the memory it replaced, contradicts or adds to, `operation` which of them;
    `conflict_id` where a person is to decide; `cause` why, or why it was refused.
    """

    outcome: str
    memory: views.MemoryView | None = None
    gate: str = ""
    reason: str = ""
    hint: str = ""
    embedding: str = "none"
    job_id: UUID | None = None
    done: str = ""
    operation: str = ""
    related_id: UUID | None = None
    conflict_id: UUID | None = None
    cause: str = ""


def remember(
    *, caller: Caller, new: NewMemory, now: datetime, judged: tuple[integrate.Judged, ...] = ()
) -> Outcome:
    """Remember one candidate; `judged` is what a model said it is to what is known.

    Raises InvalidInput for a malformed one, NotFound for a project the caller cannot see.
    """
    require(caller=caller, act=Act.WRITE)
    try:
        prepared = replace(prepare(caller=caller, new=new), judged=judged)
    except (InvalidInput, Forbidden) as error:
        refused = Outcome(outcome="refused", gate="input", cause=error.code)
        with tenancy.unit():
            where = candidate.find_placement_if_any(caller=caller, new=new)
            entry = log_entry(new=new, where=where, outcome=refused)
            apply_decision.log_actions(caller=caller, entries=(entry,), now=now)
        raise

    return write_or_retry(
        lambda: recorded(caller=caller, outcome=decide(caller=caller, prepared=prepared, now=now))
    )


def write_or_retry(write: Callable[[], T]) -> T:
    """Write in a unit; once more where somebody changed the same between our look and our write."""
    try:
        with tenancy.unit(), transaction.atomic():
            return write()
    except Conflict:
        with tenancy.unit():
            return write()


def prepare(*, caller: Caller, new: NewMemory) -> Prepared:
    """Check, classify and embed a candidate. Runs outside of a unit. Raises InvalidInput."""
    checked = candidate.check_candidate(caller=caller, new=new)
    alone = candidate.gate(checked=checked, thresholds=LOOSEST)
    if alone.outcome is integrate.GateOutcome.REFUSED:
        return Prepared(checked=checked, embedded=None)
    return Prepared(checked=checked, embedded=similar_memories.embed(checked=checked))


def decide(*, caller: Caller, prepared: Prepared, now: datetime) -> Outcome:
    """Compare a prepared candidate with what is there, store what follows, log it. In a unit."""
    where = candidate.find_placement(caller=caller, new=prepared.checked.new)
    usable = replace(prepared, embedded=in_use(embedded=prepared.embedded))
    outcome = _decide_at(caller, usable, where, now)
    entry = log_entry(new=prepared.checked.new, where=where, outcome=outcome)
    apply_decision.log_actions(caller=caller, entries=(entry,), now=now)
    return outcome


def _decide_at(
    caller: Caller, prepared: Prepared, where: candidate.Placement, now: datetime
) -> Outcome:
    """Load similar memories, ask the gates, look for echoes, decide, and write what follows."""
    checked, embedded, new = prepared.checked, prepared.embedded, prepared.checked.new
    neighborhood, statement, stored = similar_memories.find_similar(
        caller=caller, checked=checked, where=where, embedded=embedded, now=now
    )
    thresholds = similar_memories.thresholds_of(project=where.project)
    result = candidate.gate(checked=checked, neighborhood=neighborhood, thresholds=thresholds)
    if result.outcome is integrate.GateOutcome.REFUSED:
        return refusal(result=result)
    resent = candidate.find_by_external_id(placement=where, external_id=new.external_id)
    if resent is not None:
        is_exact = result.gate is integrate.Gate.EXACT_DUPLICATE
        twin_id = result.confirmed_id if is_exact else None
        return replace_content(caller=caller, row=resent, checked=checked, twin_id=twin_id, now=now)
    delivered = similar_memories.find_delivered(
        caller=caller, source=new.source, embedded=embedded, now=now
    )
    settled = settle_without_adding(
        caller=caller, checked=checked, result=result, delivered=delivered, now=now
    )
    if settled is not None:
        return settled
    decision = integrate.decide(
        candidate=replace(statement, trusts_judgments=False),
        known=integrate.with_judgments(known=stored, judged=prepared.judged),
        conflict_cosine=thresholds.conflict_cosine,
    )
    old = apply_decision.hold(decision=decision)
    surprise = neighborhood.surprise
    row = candidate.new_row(
        caller=caller, checked=checked, placement=where, surprise=surprise, now=now
    )
    return _add(caller, row, old, embedded, decision, result.reason, now)


def _add(
    caller: Caller,
    row: Memory,
    old: Memory | None,
    embedded: embedding.Embedded | None,
    decision: integrate.Decision,
    reason: str,
    now: datetime,
) -> Outcome:
    """Write a new memory and what follows from the decision; queue what is still to be done."""
    writes.insert(caller=caller, rows=(row,))
    schedule_recount()
    job_id = None
    if embedded is None:
        layers = {row.id: row.governance}
        job_id = embedding.enqueue(layers=layers, created_by=principal(caller=caller))
    else:
        text = embedding.memory_text(row=row)
        embedding.store_vector(row=row, text=text, embedded=embedded)
    found = apply_decision.carry_out(caller=caller, row=row, old=old, decision=decision, now=now)
    if (
        row.project is not None
        and extraction_of(row=row.project).adds_per_day
        and row.source in EXPLICIT
        and not queries.is_passing(type=MemoryType(row.type))
    ):
        enqueue_model_look(row=row, created_by=principal(caller=caller))
    row.is_embedded = embedded is not None  # type: ignore[attr-defined]
    return Outcome(
        outcome="added",
        memory=views.to_view(row, now=now, is_new=True),
        done="created",
        reason=reason if found is None else decision.reason,
        embedding="queued" if embedded is None else "stored",
        job_id=job_id,
        operation="" if decision.link is None else decision.link.value,
        related_id=None if found is None else found.other_id,
        conflict_id=None if found is None else found.conflict_id,
        cause="" if decision.cause is None else decision.cause.value,
    )


def enqueue_model_look(*, row: Memory, created_by: UUID | None) -> None:
    """Write the job in which a model looks at one memory, as urgent as its layer. In a unit."""
    jobs.enqueue(
        "memory.judge_added",
        payload={"ids": [str(row.id)]},
        key=row.id.hex,
        priority=row.governance,
        created_by=created_by,
    )


def in_use(*, embedded: embedding.Embedded | None) -> embedding.Embedded | None:
    """Return a vector if it is of the model that searches use, else None. In a unit."""
    if embedded is None or embedded.key != embedding.active_model()[1]:
        return None
    return embedded


def log_entry(
    *, new: NewMemory, where: candidate.Placement | None, outcome: Outcome
) -> apply_decision.LogEntry:
    """Return what the action log keeps of an outcome.

    Of a shared memory that contradicts one that fewer people see, that it was added and no more.
    """
    is_shared = where is not None and where.scope is not Scope.PERSONAL
    is_hidden = is_shared and outcome.cause == integrate.Cause.ELSEWHERE
    ended = LOGGED.get(outcome.operation, outcome.outcome)
    return apply_decision.LogEntry(
        source=new.source,
        place=where,
        outcome="contradicted" if outcome.conflict_id and not is_hidden else ended,
        gate=outcome.gate,
        cause="" if is_hidden else outcome.cause,
        memory_id=None if outcome.memory is None else outcome.memory.id,
        other_id=None if is_hidden else outcome.related_id,
    )


def refusal(*, result: integrate.GateResult) -> Outcome:
    """Return the outcome of a candidate that a gate refused."""
    return Outcome(
        outcome="refused",
        gate=result.gate.value if result.gate else "",
        reason=result.reason,
        hint=result.hint,
        cause=result.cause,
    )


def settle_without_adding(
    *,
    caller: Caller,
    checked: candidate.CheckedCandidate,
    result: integrate.GateResult,
    delivered: similar_memories.Delivered,
    now: datetime,
) -> Outcome | None:
    """Confirm what a gate found to say the same, unless an echo; None for what is news. In a unit.

    Of an echo nothing is written; the memory is shown as its caller may see it.
    """
    same_id = result.confirmed_id
    echo = similar_memories.find_echo(checked=checked, same_id=same_id, delivered=delivered)
    if echo is not None:
        memory_id, reason = echo
        view = views.to_view(views.visible(caller=caller).get(pk=memory_id), now=now)
        return Outcome(outcome="known", memory=view, reason=reason)
    if same_id is None:
        return None
    return Outcome(
        outcome="confirmed",
        memory=actions.confirm_memory(
            caller=caller, memory_id=same_id, now=now, session_id=checked.new.session_id
        ),
        gate=result.gate.value if result.gate else "",
        reason=result.reason,
        done="confirmed",
    )


def recorded(*, caller: Caller, outcome: Outcome) -> Outcome:
    """Write an outcome that changed something to the audit log; return it. In a unit."""
    if outcome.done and outcome.memory is not None:
        ids = {"related": outcome.related_id, "conflict": outcome.conflict_id}
        is_visible = outcome.cause != integrate.Cause.ELSEWHERE  # else fewer see one of the two
        details = {name: str(id) for name, id in ids.items() if id is not None and is_visible}
        act = f"memory.{outcome.done}"
        writes.record(caller=caller, act=act, memory_id=outcome.memory.id, details=details)
    return outcome


def schedule_recount() -> None:
    """Queue a recount of word frequencies in the current unit; open ones are shared."""
    jobs.enqueue(
        "memory.refresh_lexicon", payload={}, key="lexicon", delay_seconds=LEXICON_DELAY_SECONDS
    )


def replace_content(
    *,
    caller: Caller,
    row: Memory,
    checked: candidate.CheckedCandidate,
    twin_id: UUID | None,
    now: datetime,
) -> Outcome:
    """Bring the memory of an external id to what was sent now. In a unit.

    Refused where another memory, the twin, says that already: two would say the same.
    """
    locked = memories.lock_memory(caller=caller, memory_id=row.id)
    if locked.content_hash == checked.content_hash:
        reason = message("It says the same already.")
        view = views.to_view(locked, now=now)
        return Outcome(outcome="confirmed", memory=view, reason=reason)
    if twin_id is not None and twin_id != row.id:
        return Outcome(
            outcome="refused",
            gate=integrate.Gate.EXACT_DUPLICATE.value,
            reason=message(
                "Memory {id} says the same under another external id or none.", id=str(twin_id)
            ),
            hint="Archive one of the two, then send this again.",
        )
    changes = {"content": checked.new.content, "reason": SENT_AGAIN}
    view = revise.revise_row(caller=caller, row=locked, changes=changes, now=now)
    return Outcome(outcome="updated", memory=view, embedding="queued", done="changed")
