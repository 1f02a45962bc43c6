"""Remember something: the one door through which a memory comes to exist.

Outside of a database unit: check, look for secrets, classify, embed where that is local and fast.
Inside of one: find the place, compare with what is there, decide, write rows, audit, change feed
and jobs together. Gates refuse with a reason and a hint; they never raise.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from django.db import transaction

from accounts import jobs, tenancy
from accounts.caller import Caller, principal
from accounts.errors import Conflict, Forbidden, InvalidInput
from accounts.messages import message
from memory.index.actions import embedding
from memory.index.actions.embedding import Embedded
from memory.intake import intake_gates, integrate
from memory.intake.actions import action_log, apply_decision, llm_queue
from memory.intake.actions.action_log import Entry
from memory.intake.actions.candidate import (
    CheckedCandidate,
    Placement,
    check_candidate,
    find_by_external_id,
    find_placement,
    find_placement_if_any,
    new_row,
)
from memory.intake.actions.echo_guard import Echo, find_delivered, find_echo
from memory.intake.actions.revise import revise_row
from memory.intake.actions.similar_memories import look_around, thresholds_of
from memory.intake.intake_gates import (
    Gate,
    GateCandidate,
    GateOutcome,
    GateResult,
    Neighborhood,
    Thresholds,
)
from memory.intake.integrate import Cause, Decision, Judged
from memory.intake.validation import NewMemory
from memory.records import writes
from memory.records.actions import confirm_memory
from memory.records.models import Memory
from memory.records.queries.memories import lock_memory
from memory.records.queries.views import MemoryView, to_view, visible
from memory.taxonomy import LinkKind, Scope
from teams.permissions import Act, require

LEXICON_DELAY_SECONDS = 2  # writes of a burst share one recount
SENT_AGAIN = message("sent again under its external id")  # why there is a new version
NOBODY_NEAR = Neighborhood(exact_duplicate_id=None, neighbors=())
LOOSEST = Thresholds(minimum_length=1)  # of any project: what these refuse, every project refuses
LOGGED = {LinkKind.SUPERSEDES.value: "superseded", LinkKind.EXTEND.value: "extended"}

__all__ = ["NewMemory", "Outcome", "remember"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A candidate with its vector where that could be made at once, and what a model judged."""

    drafted: CheckedCandidate
    embedded: Embedded | None
    judged: tuple[Judged, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of a candidate, and why. `done` names what was written, empty for nothing.

    `related_id` is the memory it replaced, contradicts or adds to, `operation` which of them;
    `conflict_id` where a person is to decide; `cause` why, or why it was refused.
    """

    outcome: str
    memory: MemoryView | None
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
    *, caller: Caller, new: NewMemory, now: datetime, judged: tuple[Judged, ...] = ()
) -> Outcome:
    """Send one candidate through the door; `judged` is what a model said it is to what is known.

    Raises InvalidInput for a malformed one, NotFound for a project the caller cannot see.
    """
    require(caller=caller, act=Act.WRITE)
    try:
        prepared = replace(prepare(caller=caller, new=new), judged=judged)
    except (InvalidInput, Forbidden) as error:
        _log_malformed(caller, new, error, now)
        raise
    try:
        with tenancy.unit(), transaction.atomic():
            decided = decide(caller=caller, prepared=prepared, now=now)
            return recorded(caller=caller, outcome=decided)
    except Conflict:  # somebody changed the same between our look and our write: look again
        with tenancy.unit():
            decided = decide(caller=caller, prepared=prepared, now=now)
            return recorded(caller=caller, outcome=decided)


def prepare(*, caller: Caller, new: NewMemory) -> Prepared:
    """Check, classify and embed a candidate. Runs outside of a unit. Raises InvalidInput."""
    drafted = check_candidate(caller=caller, new=new)
    alone = gate(drafted=drafted, neighborhood=NOBODY_NEAR, thresholds=LOOSEST)
    if alone.outcome is GateOutcome.REFUSED:
        return Prepared(drafted=drafted, embedded=None)
    seen = drafted.classification
    text = embedding.text_of(
        files=seen.files, modules=seen.modules, type=seen.type.value, content=new.content
    )
    return Prepared(drafted=drafted, embedded=embedding.embed_inline(text=text))


def decide(*, caller: Caller, prepared: Prepared, now: datetime) -> Outcome:
    """Compare a prepared candidate with what is there, and store what follows. In a unit."""
    where = find_placement(caller=caller, new=prepared.drafted.new)
    usable = replace(prepared, embedded=in_use(embedded=prepared.embedded))
    outcome = _compare(caller, usable, where, now)
    entry = log_entry(new=prepared.drafted.new, where=where, outcome=outcome)
    action_log.record(caller=caller, entries=(entry,), now=now)
    return outcome


def _compare(caller: Caller, prepared: Prepared, where: Placement, now: datetime) -> Outcome:
    """Load similar memories, ask the gates, decide, and write what follows."""
    drafted, embedded = prepared.drafted, prepared.embedded
    around = look_around(caller=caller, drafted=drafted, where=where, embedded=embedded, now=now)
    thresholds = thresholds_of(project=where.project)
    result = gate(drafted=drafted, neighborhood=around.neighborhood, thresholds=thresholds)
    if result.outcome is GateOutcome.REFUSED:
        return refusal(result=result)
    resent = find_by_external_id(placement=where, external_id=drafted.new.external_id)
    if resent is not None:
        twin_id = result.confirmed_id if result.gate is Gate.EXACT_DUPLICATE else None
        return replace_content(caller=caller, row=resent, drafted=drafted, twin_id=twin_id, now=now)
    delivered = find_delivered(caller=caller, source=drafted.new.source, embedded=embedded, now=now)
    echo = find_echo(drafted=drafted, same_id=result.confirmed_id, delivered=delivered)
    if echo is not None:
        return known_before(caller=caller, echo=echo, now=now)
    if result.confirmed_id is not None:
        session_id = drafted.new.session_id
        view = confirm_memory(
            caller=caller, memory_id=result.confirmed_id, now=now, session_id=session_id
        )
        return Outcome(
            outcome="confirmed",
            memory=view,
            gate=result.gate.value if result.gate else "",
            reason=result.reason,
            done="confirmed",
        )
    decision = integrate.decide(
        candidate=replace(around.statement, trusts_judgments=False),
        known=integrate.with_judgments(known=around.known, judged=prepared.judged),
        conflict_cosine=thresholds.conflict_cosine,
    )
    return _add(caller, prepared, where, result, decision, now)


def in_use(*, embedded: Embedded | None) -> Embedded | None:
    """Return a vector if it is of the model that searches use, else None. In a unit."""
    if embedded is None or embedded.key != embedding.active_model()[1]:
        return None
    return embedded


def log_entry(*, new: NewMemory, where: Placement | None, outcome: Outcome) -> Entry:
    """Return what the action log keeps of an outcome.

    Of a shared memory that contradicts one that fewer people see, that it was added and no more.
    """
    is_shared = where is not None and where.scope is not Scope.PERSONAL
    is_hidden = is_shared and outcome.cause == Cause.ELSEWHERE
    ended = LOGGED.get(outcome.operation, outcome.outcome)
    return Entry(
        source=new.source,
        place=where,
        outcome="contradicted" if outcome.conflict_id and not is_hidden else ended,
        gate=outcome.gate,
        cause="" if is_hidden else outcome.cause,
        memory_id=None if outcome.memory is None else outcome.memory.id,
        other_id=None if is_hidden else outcome.related_id,
    )


def gate(
    *, drafted: CheckedCandidate, neighborhood: Neighborhood, thresholds: Thresholds
) -> GateResult:
    """Send a draft through the gates of its project."""
    candidate = GateCandidate(
        content=drafted.new.content,
        type=drafted.classification.type,
        secrets=drafted.findings,
    )
    return intake_gates.run_gates(
        candidate=candidate, neighborhood=neighborhood, thresholds=thresholds
    )


def refusal(*, result: GateResult) -> Outcome:
    """Return the outcome of a refused candidate."""
    gate = result.gate.value if result.gate else ""
    return Outcome(
        outcome="refused",
        memory=None,
        gate=gate,
        reason=result.reason,
        hint=result.hint,
        cause=result.cause,
    )


def recorded(*, caller: Caller, outcome: Outcome) -> Outcome:
    """Tell the audit log of an outcome that was written; return it. In a unit."""
    if outcome.done and outcome.memory is not None:
        act = f"memory.{outcome.done}"
        ids = {"related": outcome.related_id, "conflict": outcome.conflict_id}
        is_told = outcome.cause != Cause.ELSEWHERE  # fewer people see one of the two
        details = {name: str(id) for name, id in ids.items() if id is not None and is_told}
        writes.record(caller=caller, act=act, memory_id=outcome.memory.id, details=details)
    return outcome


def schedule_recount() -> None:
    """Queue a recount of word frequencies in the current unit; open ones are shared."""
    jobs.enqueue(
        "memory.refresh_lexicon", payload={}, key="lexicon", delay_seconds=LEXICON_DELAY_SECONDS
    )


def replace_content(
    *, caller: Caller, row: Memory, drafted: CheckedCandidate, twin_id: UUID | None, now: datetime
) -> Outcome:
    """Bring the memory of an external id to what was sent now. In a unit.

    Refused where another memory, the twin, says that already: two would say the same.
    """
    locked = lock_memory(caller=caller, memory_id=row.id)
    if locked.content_hash == drafted.content_hash:
        view = to_view(locked, now=now)
        return Outcome(
            outcome="confirmed", memory=view, reason=message("It says the same already.")
        )
    if twin_id is not None and twin_id != row.id:
        return Outcome(
            outcome="refused",
            memory=None,
            gate=Gate.EXACT_DUPLICATE.value,
            reason=message(
                "Memory {id} says the same under another external id or none.", id=str(twin_id)
            ),
            hint="Archive one of the two, then send this again.",
        )
    view = revise_row(
        caller=caller,
        row=locked,
        changes={"content": drafted.new.content, "reason": SENT_AGAIN},
        now=now,
    )
    return Outcome(outcome="updated", memory=view, embedding="queued", done="changed")


def known_before(*, caller: Caller, echo: Echo, now: datetime) -> Outcome:
    """Return the outcome of a restatement: nothing is written. In a unit.

    The memory is shown as its caller may see it.
    """
    view = to_view(visible(caller=caller).get(pk=echo.memory_id), now=now)
    return Outcome(outcome="known", memory=view, reason=echo.reason)


def _log_malformed(
    caller: Caller, new: NewMemory, error: InvalidInput | Forbidden, now: datetime
) -> None:
    """Note that a candidate came that could not even be looked at."""
    refused = Outcome(outcome="refused", memory=None, gate="input", cause=error.code)
    with tenancy.unit():
        where = find_placement_if_any(caller=caller, new=new)
        entry = log_entry(new=new, where=where, outcome=refused)
        action_log.record(caller=caller, entries=(entry,), now=now)


def _add(
    caller: Caller,
    prepared: Prepared,
    where: Placement,
    result: GateResult,
    decision: Decision,
    now: datetime,
) -> Outcome:
    """Write a new memory and what follows from the decision; queue what is still to be done."""
    embedded = prepared.embedded
    old = apply_decision.hold(decision=decision)
    row = new_row(
        caller=caller, checked=prepared.drafted, placement=where, surprise=result.surprise, now=now
    )
    writes.insert(caller=caller, rows=(row,))
    schedule_recount()
    job_id = None
    if embedded is None:
        job_id = embedding.enqueue(
            layers={row.id: row.governance}, created_by=principal(caller=caller)
        )
    else:
        text = embedding.memory_text(row=row)
        embedding.store_vector(row=row, text=text, embedded=embedded)
    found = apply_decision.carry_out(caller=caller, row=row, old=old, decision=decision, now=now)
    llm_queue.queue(caller=caller, row=row, project=where.project)
    row.is_embedded = embedded is not None  # type: ignore[attr-defined]
    return Outcome(
        outcome="added",
        memory=to_view(row, now=now, is_new=True),
        done="created",
        reason=result.reason if found is None else decision.reason,
        embedding="queued" if embedded is None else "stored",
        job_id=job_id,
        operation="" if decision.link is None else decision.link.value,
        related_id=None if found is None else found.other_id,
        conflict_id=None if found is None else found.conflict_id,
        cause="" if decision.cause is None else decision.cause.value,
    )
