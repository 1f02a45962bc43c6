"""Remember something: the one door through which a memory comes to exist (spec 2).

Outside of a database unit: check, look for secrets, classify, embed where that is local and fast.
Inside of one: find the place, compare with what is there, decide, write rows, audit, change feed
and jobs together. Gates refuse with a reason and a hint; they never raise.
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction

from accounts import jobs, tenancy
from accounts.caller import Caller, principal
from accounts.errors import Conflict
from accounts.sentences import sentence
from memory.actions import confirm, embedding, revise, store
from memory.actions.drafts import Draft, NewMemory, Place, draft, place
from memory.actions.embedding import Embedded
from memory.intake import gates
from memory.intake.gates import (
    Gate,
    GateCandidate,
    GateOutcome,
    GateResult,
    Neighbor,
    Neighborhood,
)
from memory.models import Memory
from memory.queries.memories import lock_memory
from memory.queries.views import MemoryView, to_view
from memory.sql import retrieval
from teams.permissions import require
from teams.roles import Act

NEIGHBORS = 5  # nearest memories compared, spec 2.1
LEXICON_DELAY_SECONDS = 2  # writes of a burst share one recount
SENT_AGAIN = sentence("sent again under its external id")  # why there is a new version
NOBODY_NEAR = Neighborhood(exact_duplicate_id=None, neighbors=())

__all__ = ["NewMemory", "Outcome", "remember"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A candidate with its vector where that could be made at once."""

    drafted: Draft
    embedded: Embedded | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of a candidate, and why. `done` names what was written, empty for nothing."""

    outcome: str
    memory: MemoryView | None
    gate: str = ""
    reason: str = ""
    hint: str = ""
    embedding: str = "none"
    job_id: UUID | None = None
    done: str = ""


def remember(*, caller: Caller, new: NewMemory, now: datetime) -> Outcome:
    """Send one candidate through the door.

    Raises InvalidInput for a malformed one, NotFound for a project the caller cannot see.
    """
    require(caller=caller, act=Act.WRITE)
    prepared = prepare(caller=caller, new=new)
    try:
        with tenancy.unit(), transaction.atomic():
            return _recorded(caller, decide(caller=caller, prepared=prepared, now=now))
    except Conflict:  # somebody changed the same between our look and our write: look again
        with tenancy.unit():
            return _recorded(caller, decide(caller=caller, prepared=prepared, now=now))


def prepare(*, caller: Caller, new: NewMemory) -> Prepared:
    """Check, classify and embed a candidate. Runs outside of a unit. Raises InvalidInput."""
    drafted = draft(caller=caller, new=new)
    alone = gate(drafted=drafted, neighborhood=NOBODY_NEAR)
    is_hopeless = alone.outcome is GateOutcome.REFUSED
    return Prepared(drafted=drafted, embedded=None if is_hopeless else _embedded(drafted))


def decide(*, caller: Caller, prepared: Prepared, now: datetime) -> Outcome:
    """Compare a prepared candidate with what is there, and store what follows. In a unit."""
    drafted = prepared.drafted
    where = place(caller=caller, new=drafted.new)
    embedded = prepared.embedded
    if embedded is not None and embedded.key != embedding.active_model().key:
        embedded = None
    result = gate(drafted=drafted, neighborhood=_neighborhood(drafted, where, embedded))
    if result.outcome is GateOutcome.REFUSED:
        return refusal(result=result)
    known = store.same_external(place=where, external_id=drafted.new.external_id)
    if known is not None:
        return replace_content(
            caller=caller, row=known, drafted=drafted, twin_id=_exact_twin(result), now=now
        )
    if result.confirmed_id is not None:
        return _confirmed(caller, result, now)
    return _added(caller, drafted, where, result, embedded, now)


def gate(*, drafted: Draft, neighborhood: Neighborhood) -> GateResult:
    """Send a draft through the gates."""
    candidate = GateCandidate(
        content=drafted.new.content,
        type=drafted.classification.type,
        secrets=drafted.findings,
    )
    return gates.run(candidate=candidate, neighborhood=neighborhood, thresholds=gates.Thresholds())


def refusal(*, result: GateResult) -> Outcome:
    """Return the outcome of a refused candidate."""
    gate = result.gate.value if result.gate else ""
    return Outcome(
        outcome="refused", memory=None, gate=gate, reason=result.reason, hint=result.hint
    )


def schedule_recount() -> None:
    """Queue a recount of word frequencies in the current unit; open ones are shared."""
    jobs.enqueue(
        "memory.refresh_lexicon", payload={}, key="lexicon", delay_seconds=LEXICON_DELAY_SECONDS
    )


def replace_content(
    *, caller: Caller, row: Memory, drafted: Draft, twin_id: UUID | None, now: datetime
) -> Outcome:
    """Bring the memory of an external id to what was sent now. In a unit.

    Refused where another memory, the twin, says that already: two would say the same.
    """
    locked = lock_memory(caller=caller, memory_id=row.id)
    if locked.content_hash == drafted.content_hash:
        view = to_view(locked, now=now)
        return Outcome(
            outcome="confirmed", memory=view, reason=sentence("It says the same already.")
        )
    if twin_id is not None and twin_id != row.id:
        return Outcome(
            outcome="refused",
            memory=None,
            gate=Gate.EXACT_DUPLICATE.value,
            reason=sentence(
                "Memory {id} says the same under another external id or none.", id=str(twin_id)
            ),
            hint="Archive one of the two, then send this again.",
        )
    view = revise.apply(
        caller=caller,
        row=locked,
        changes={"content": drafted.new.content, "reason": SENT_AGAIN},
        now=now,
    )
    return Outcome(outcome="updated", memory=view, embedding="queued", done="changed")


def _recorded(caller: Caller, outcome: Outcome) -> Outcome:
    if outcome.done and outcome.memory is not None:
        act = f"memory.{outcome.done}"
        store.record(caller=caller, act=act, memory_id=outcome.memory.id)
    return outcome


def _exact_twin(result: GateResult) -> UUID | None:
    return result.confirmed_id if result.gate is Gate.EXACT_DUPLICATE else None


def _embedded(drafted: Draft) -> Embedded | None:
    seen = drafted.classification
    return embedding.embed_inline(
        text=embedding.text_of(
            files=seen.files,
            modules=seen.modules,
            type=seen.type.value,
            content=drafted.new.content,
        )
    )


def _neighborhood(drafted: Draft, where: Place, embedded: Embedded | None) -> Neighborhood:
    exact = store.exact_duplicate(place=where, content_hash=drafted.content_hash)
    if embedded is None or exact is not None:
        return Neighborhood(exact_duplicate_id=exact, neighbors=())
    close = dict(
        retrieval.nearest(
            model_id=embedding.space_id(key=embedded.key),
            vector=embedded.vector,
            audience=where.audience,
            project_id=where.project.id if where.project else None,
            limit=NEIGHBORS,
        )
    )
    near = {key: cosine for key, cosine in close.items() if cosine > gates.NEAR_DUPLICATE_COSINE}
    contents = Memory.objects.filter(pk__in=near).order_by("id").values_list("id", "content")
    neighbors = tuple(
        Neighbor(id=key, cosine=min(1.0, near[key]), content=content) for key, content in contents
    )
    return Neighborhood(exact_duplicate_id=None, neighbors=neighbors)


def _confirmed(caller: Caller, result: GateResult, now: datetime) -> Outcome:
    memory_id = result.confirmed_id
    if memory_id is None:
        raise ValueError("A confirmation names the memory it confirms.")
    view = confirm.apply(caller=caller, memory_id=memory_id, now=now)
    gate = result.gate.value if result.gate else ""
    return Outcome(
        outcome="confirmed", memory=view, gate=gate, reason=result.reason, done="confirmed"
    )


def _added(
    caller: Caller,
    drafted: Draft,
    where: Place,
    result: GateResult,
    embedded: Embedded | None,
    now: datetime,
) -> Outcome:
    row = store.new_row(
        caller=caller, draft=drafted, place=where, surprise=result.surprise, now=now
    )
    store.insert(caller=caller, rows=(row,))
    schedule_recount()
    job_id = None
    if embedded is None:
        job_id = embedding.enqueue(memory_ids=(row.id,), created_by=principal(caller=caller))
    else:
        text = embedding.memory_text(row=row)
        embedding.store_vector(row=row, text=text, embedded=embedded)
    row.is_embedded = embedded is not None  # type: ignore[attr-defined]
    return Outcome(
        outcome="added",
        memory=to_view(row, now=now),
        done="created",
        reason=result.reason,
        embedding="queued" if embedded is None else "stored",
        job_id=job_id,
    )
