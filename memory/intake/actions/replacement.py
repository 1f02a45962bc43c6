"""Bring a memory to what was sent now, or propose that to people where an agent may not.

What a person said, verified or pinned, and what a layer or a tag protects, no agent replaces. The
new text is stored beside it, as the newer side of a conflict, and waits: nobody is given it, and
the old one stays as it is. Settling the conflict for the newer one puts it in the place of the old
one, with history; settling it for the older one changes nothing.
"""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db.models import Q

from accounts import jobs
from accounts.caller import Caller, principal
from accounts.messages import message
from memory.index.actions import embedding
from memory.intake import integrate
from memory.intake.actions import apply_decision, candidate, revise, similar_memories
from memory.intake.actions.outcome import Outcome, Prepared, refusal
from memory.records import protection, restatements, writes
from memory.records.models import Conflict, Memory
from memory.records.queries import memories, views
from memory.taxonomy import ConflictCause, LinkKind, Status

ORIGIN: Final = ("source_uri", "source_hash", "source_line")  # move with the words they are of
LEXICON_DELAY_SECONDS: Final = 2  # writes of a burst share one recount
SENT_AGAIN = message("sent again under its external id")  # why there is a new version
SAME: Final = message("It says the same already.")
WAITS: Final = message("Only people change that memory, so this waits for one of them.")
DECIDED: Final = message("A person has decided about this text already.")
DECIDED_DAYS: Final = 30  # that a decision bars what it was against; default, not measured
SETTLED_BY: Final = "Go on; a person settles the conflict in the review inbox."


def replace_content(
    *,
    caller: Caller,
    row: Memory,
    prepared: Prepared,
    twin_id: UUID | None,
    now: datetime,
) -> Outcome:
    """Bring the memory of an external id to what was sent now, or propose it. In a unit.

    Refused where another memory, the twin, says that already: two would say the same.
    """
    checked = prepared.checked
    locked = memories.lock_memory(caller=caller, memory_id=row.id)
    if locked.content_hash == checked.content_hash:
        return Outcome(outcome="confirmed", memory=views.to_view(locked, now=now), reason=SAME)
    if must_wait(caller=caller, prepared=prepared, old=locked):
        return propose(caller=caller, prepared=prepared, old=locked, why=SENT_AGAIN, now=now)
    if twin_id is not None and twin_id != row.id:
        return Outcome(
            outcome="refused",
            gate=integrate.Gate.EXACT_DUPLICATE.value,
            reason=message(
                "Memory {id} says the same under another external id or none.", id=str(twin_id)
            ),
            hint="Archive one of the two, then send this again.",
        )
    new = checked.new
    changes = {"content": new.content, "external_id": new.external_id, "reason": SENT_AGAIN}
    for name in ORIGIN:
        setattr(locked, name, getattr(new, name) or getattr(locked, name))
    locked.needs_review = locked.needs_review or new.needs_review
    view = revise.revise_row(caller=caller, row=locked, changes=changes, now=now)
    return Outcome(outcome="updated", memory=view, embedding="queued", done="changed")


def must_wait(*, caller: Caller, prepared: Prepared, old: Memory) -> bool:
    """Say whether a candidate takes the place of a memory only once a person says so.

    What comes after outside content replaces nothing by itself either.
    """
    is_tainted = prepared.checked.new.taint_reason != ""
    return is_tainted or protection.must_propose(caller=caller, row=old)


def propose(*, caller: Caller, prepared: Prepared, old: Memory, why: str, now: datetime) -> Outcome:
    """Let a person decide whether a candidate takes the place of a locked memory. In a unit.

    `why` is what its sender says about that, for the person; up to 200 characters are kept.
    What an active memory of the place says already is not stored again: that one is proposed. What
    a person decided against is not proposed again soon, and what the agent proposed before leaves.
    """
    checked = prepared.checked
    where = candidate.find_placement(caller=caller, new=checked.new)
    thresholds = similar_memories.thresholds_of(project=where.project)
    result = candidate.gate(checked=checked, thresholds=thresholds)
    if result.outcome is integrate.GateOutcome.REFUSED:
        return refusal(result=result)
    if restatements.telling_words(text=old.content) == restatements.telling_words(
        text=checked.new.content
    ):
        return Outcome(outcome="confirmed", memory=views.to_view(old, now=now), reason=SAME)
    earlier = Conflict.objects.filter(older=old, newer__audience=where.audience)
    if _is_decided(old, where, checked.content_hash, now):
        return Outcome(outcome="known", memory=views.to_view(old, now=now), reason=DECIDED)
    twin_id = candidate.find_exact_duplicate(placement=where, content_hash=checked.content_hash)
    job_id = None
    if twin_id is not None:
        row = memories.lock_memory(caller=caller, memory_id=twin_id)
    else:
        row = _waiting_row(caller, checked, where, now)
        embedded = similar_memories.in_use(embedded=prepared.embedded)
        job_id = insert_row(caller=caller, row=row, embedded=embedded)
    conflict_id = apply_decision.carry_out(
        caller=caller, row=row, old=old, decision=_decision(old, why), now=now
    )
    mine = {"author_user": caller.user_id, "author_agent": caller.agent, "needs_review": True}
    ids = earlier.filter(verdict="", cause=ConflictCause.PROPOSED.value).values("newer_id")
    before = Memory.objects.select_for_update().filter(pk__in=ids, **mine)
    for one in before.filter(status=Status.ACTIVE.value).exclude(pk=row.pk).order_by("id"):
        lowered = apply_decision.retire(
            caller=caller, old=one, successor=row, reason=SENT_AGAIN, now=now
        )
        taken = integrate.Decision(reason=SENT_AGAIN, target_id=one.id, link=LinkKind.SUPERSEDES)
        apply_decision.link(source=row, target=one, decision=taken, before=lowered)
    return Outcome(
        outcome="proposed",
        memory=views.to_view(row, now=now, is_new=twin_id is None),
        done="" if twin_id else "created",
        reason=WAITS,
        hint=SETTLED_BY,
        embedding="queued" if job_id else "stored",
        job_id=job_id,
        operation=LinkKind.CONTRADICTS,
        related_id=old.id,
        conflict_id=conflict_id,
        cause=ConflictCause.PROPOSED,
    )


def _waiting_row(
    caller: Caller, checked: candidate.CheckedCandidate, where: candidate.Placement, now: datetime
) -> Memory:
    """Compose a row that waits; its external id stays with the memory that has it until then."""
    waiting = replace(checked.new, external_id="", needs_review=True)
    return candidate.new_row(
        caller=caller,
        checked=replace(checked, new=waiting),
        placement=where,
        surprise=integrate.NEUTRAL,
        now=now,
    )


def _is_decided(old: Memory, where: candidate.Placement, content_hash: str, now: datetime) -> bool:
    """Say whether a person has decided between a memory and this text, whichever came first.

    What was wrong once may come true, so it is asked again once the memory has other words than it
    had then, or some time later. What is active beside it since then stays so.
    """
    since = max(filter(None, (old.stated_at, now - timedelta(days=DECIDED_DAYS))))
    newer = Q(newer__audience=where.audience, newer__content_hash=content_hash)
    older = Q(older__audience=where.audience, older__content_hash=content_hash)
    is_between = (newer & Q(older=old)) | (older & Q(newer=old))
    has_lost = (newer & Q(newer__superseded_by=old)) | (older & Q(older__superseded_by=old))
    are_active = Q(older__status=Status.ACTIVE.value, newer__status=Status.ACTIVE.value)
    holds = Q(settled_at__gte=since) | are_active
    is_settled = ~Q(verdict="") & (is_between | has_lost) & holds
    is_rejected = newer & Q(
        older=old, newer__status=Status.ARCHIVED.value, newer__updated_at__gte=since
    )
    return Conflict.objects.filter(is_settled | is_rejected).exists()


def _decision(old: Memory, why: str) -> integrate.Decision:
    return integrate.Decision(
        reason=why,
        target_id=old.id,
        link=LinkKind.CONTRADICTS,
        wanted=integrate.Relation.UPDATE,
        cause=ConflictCause.PROPOSED,
    )


def insert_row(*, caller: Caller, row: Memory, embedded: embedding.Embedded | None) -> UUID | None:
    """Write a new memory and its vector; return the job that makes one where there is none yet."""
    writes.insert(caller=caller, rows=(row,))
    schedule_recount()
    row.is_embedded = embedded is not None  # type: ignore[attr-defined]
    if embedded is None:
        layers = {row.id: row.governance}
        return embedding.enqueue(layers=layers, created_by=principal(caller=caller))
    embedding.store_vector(row=row, text=embedding.memory_text(row=row), embedded=embedded)
    return None


def schedule_recount() -> None:
    """Queue a recount of word frequencies in the current unit; open ones are shared."""
    jobs.enqueue(
        "memory.refresh_lexicon", payload={}, key="lexicon", delay_seconds=LEXICON_DELAY_SECONDS
    )
