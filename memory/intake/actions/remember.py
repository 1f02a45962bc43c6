"""Remember something: the one way by which a memory comes to exist, stage by stage.

`prepare` runs outside of a unit, `decide` inside of one. Gates refuse with a reason and a hint;
they never raise.

Many at once are one transaction and one embedding job. Each item meets the same gates as a single
one; a malformed or forbidden one is refused alone. What says the same as an earlier item of the
call, in other spelling, is confirmed. Vectors do not exist until the job has run: it looks for near
duplicates and conflicts then (`apply_decision.integrate_stored`). What the store already has is
looked up and locked at once, in one order, before anything is written.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from datetime import datetime
from typing import Final, TypeVar
from uuid import UUID

from django.db import transaction

from accounts import jobs, tenancy
from accounts.caller import Caller, principal
from accounts.errors import Conflict, Forbidden, InvalidInput, TooLarge
from accounts.messages import message
from memory.index.actions import embedding
from memory.intake import integrate, queries
from memory.intake.actions import apply_decision, candidate, replacement, similar_memories
from memory.intake.actions.outcome import Outcome, Prepared, refusal, refused_input
from memory.intake.validation import NewMemory
from memory.records import actions, restatements, writes
from memory.records.models import Memory
from memory.records.queries import views
from memory.taxonomy import ConflictCause, LinkKind, MemoryType, Scope, Source
from teams.permissions import Act, require
from teams.queries import extraction_of

LOOSEST: Final = integrate.Thresholds(minimum_length=1)  # what these refuse, any project refuses
CONFIRMED_ONCE: Final = message("You said so in this session already; once counts.")
LOGGED: Final = {LinkKind.SUPERSEDES.value: "superseded", LinkKind.EXTEND.value: "extended"}
EXPLICIT: Final = frozenset({Source.USER_TAUGHT.value, Source.AGENT_EXPLICIT.value})
T = TypeVar("T")

__all__ = ["NewMemory", "Outcome", "Prepared", "remember"]


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
            logged = _log_row(caller, new, where, refused, now)
            apply_decision.log_actions(rows=(logged,))
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


def prepare(*, caller: Caller, new: NewMemory, is_proposed: bool = False) -> Prepared:
    """Check, classify and embed a candidate. Outside of a unit; raises as `check_candidate`."""
    checked = candidate.check_candidate(caller=caller, new=new, is_proposed=is_proposed)
    alone = candidate.gate(checked=checked, thresholds=LOOSEST)
    if alone.outcome is integrate.GateOutcome.REFUSED:
        return Prepared(checked=checked, embedded=None)
    return Prepared(checked=checked, embedded=similar_memories.embed(checked=checked))


def decide(*, caller: Caller, prepared: Prepared, now: datetime) -> Outcome:
    """Compare a prepared candidate with what is there, store what follows, log it. In a unit."""
    where = candidate.find_placement(caller=caller, new=prepared.checked.new)
    usable = replace(prepared, embedded=similar_memories.in_use(embedded=prepared.embedded))
    outcome = _decide_at(caller, usable, where, now)
    logged = _log_row(caller, prepared.checked.new, where, outcome, now)
    apply_decision.log_actions(rows=(logged,))
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
        return replacement.replace_content(
            caller=caller, row=resent, prepared=prepared, twin_id=twin_id, now=now
        )
    delivered = similar_memories.find_delivered(
        caller=caller, source=new.source, where=where, embedded=embedded, now=now
    )
    settled = settle_without_adding(
        caller=caller,
        checked=checked,
        result=result,
        delivered=delivered,
        confirmed=_just_confirmed(caller, (result.confirmed_id,), now),
        now=now,
    )
    if settled is not None:
        return settled
    decision = integrate.decide(
        candidate=replace(statement, trusts_judgments=False),
        known=integrate.with_judgments(known=stored, judged=prepared.judged),
        conflict_cosine=thresholds.conflict_cosine,
    )
    old = apply_decision.hold(decision=decision)
    if old is None:
        decision = integrate.Decision(reason=decision.reason)
    surprise = neighborhood.surprise
    row = candidate.new_row(
        caller=caller, checked=checked, placement=where, surprise=surprise, now=now
    )
    row.needs_review |= apply_decision.is_proposed(caller=caller, decision=decision)
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
    job_id = replacement.insert_row(caller=caller, row=row, embedded=embedded)
    conflict_id = apply_decision.carry_out(
        caller=caller, row=row, old=old, decision=decision, now=now
    )
    if is_worth_a_model(row=row):
        enqueue_model_look(row=row, created_by=principal(caller=caller))
    return Outcome(
        outcome="proposed" if row.needs_review and decision.is_proposal else "added",
        memory=views.to_view(row, now=now, is_new=True),
        done="created",
        reason=reason if decision.link is None else decision.explanation,
        embedding="queued" if embedded is None else "stored",
        job_id=job_id,
        operation=decision.link or "",
        related_id=None if decision.link is None else decision.target_id,
        conflict_id=conflict_id,
        cause=decision.cause or "",
        certainty=None if decision.link is None else decision.certainty,
    )


def is_worth_a_model(*, row: Memory) -> bool:
    """Say whether a model looks at what is added: where wanted, at what lasts and was said so."""
    is_asked = row.project is not None and bool(extraction_of(row=row.project).adds_per_day)
    is_lasting = not queries.is_passing(type=MemoryType(row.type))
    return is_asked and is_lasting and row.source in EXPLICIT


def enqueue_model_look(*, row: Memory, created_by: UUID | None) -> None:
    """Write the job in which a model looks at one memory, as urgent as its layer. In a unit."""
    jobs.enqueue(
        "memory.judge_added",
        payload={"ids": [str(row.id)]},
        key=row.id.hex,
        priority=row.governance,
        created_by=created_by,
    )


def _log_row(
    caller: Caller,
    new: NewMemory,
    where: candidate.Placement | None,
    outcome: Outcome,
    now: datetime,
) -> apply_decision.LogRow:
    """Return what the action log keeps of an outcome.

    Of a shared memory that contradicts one that fewer people see, that it was added and no more.
    """
    is_shared = where is not None and where.scope is not Scope.PERSONAL
    is_hidden = is_shared and outcome.cause == ConflictCause.ELSEWHERE
    ended = LOGGED.get(outcome.operation, outcome.outcome)
    return apply_decision.log_row(
        caller=caller,
        source=new.source,
        place=where,
        outcome="contradicted" if outcome.conflict_id and not is_hidden else ended,
        gate=outcome.gate,
        cause="" if is_hidden else outcome.cause,
        certainty=None if is_hidden else outcome.certainty,
        memory_id=None if outcome.memory is None else outcome.memory.id,
        other_id=None if is_hidden else outcome.related_id,
        now=now,
    )


def settle_without_adding(
    *,
    caller: Caller,
    checked: candidate.CheckedCandidate,
    result: integrate.GateResult,
    delivered: similar_memories.Delivered,
    confirmed: Collection[UUID],
    now: datetime,
) -> Outcome | None:
    """Confirm what a gate found to say the same, unless an echo; None for what is news. In a unit.

    `confirmed` are memories of which an agent without a session has just said the same. Of an echo
    nothing is written; the memory is shown as its caller may see it.
    """
    same_id = result.confirmed_id
    echo = similar_memories.find_echo(checked=checked, same_id=same_id, delivered=delivered)
    if echo is not None:
        memory_id, reason = echo
        view = views.to_view(views.visible(caller=caller).get(pk=memory_id), now=now)
        return Outcome(outcome="known", memory=view, reason=reason)
    if same_id is None:
        return None
    gate = result.gate.value if result.gate else ""
    if checked.new.session_id is None and same_id in confirmed:
        view = views.to_view(views.visible(caller=caller).get(pk=same_id), now=now)
        return Outcome(outcome="known", memory=view, gate=gate, reason=CONFIRMED_ONCE)
    memory = actions.confirm_memory(
        caller=caller, memory_id=same_id, now=now, session_id=checked.new.session_id
    )
    if memory.last_confirmed_at != now:
        return Outcome(outcome="known", memory=memory, gate=gate, reason=CONFIRMED_ONCE)
    return Outcome(
        outcome="confirmed",
        memory=memory,
        gate=gate,
        reason=result.reason,
        done="confirmed",
        certainty=1.0,
    )


def _just_confirmed(caller: Caller, ids: Iterable[UUID | None], now: datetime) -> set[UUID]:
    """Return those of some memories that an agent confirmed within the hour. In a unit.

    That is a session of who has none, in whatever call they said it.
    """
    asked = {one for one in ids if one is not None}
    if caller.token_id is None or not asked:
        return set()
    since = now - actions.SESSION
    return queries.confirmed_by(caller=caller, memory_ids=asked, since=since)


def recorded(*, caller: Caller, outcome: Outcome) -> Outcome:
    """Write an outcome that changed something to the audit log; return it. In a unit."""
    if outcome.done and outcome.memory is not None:
        ids = {"related": outcome.related_id, "conflict": outcome.conflict_id}
        is_visible = outcome.cause != ConflictCause.ELSEWHERE  # else fewer see one of the two
        details = {name: str(id) for name, id in ids.items() if id is not None and is_visible}
        act = f"memory.{outcome.done}"
        writes.record(caller=caller, act=act, memory_id=outcome.memory.id, details=details)
    return outcome


MOST: Final = 1_000  # memories a call

Checked = candidate.CheckedCandidate
Placement = candidate.Placement
Key = tuple[UUID, UUID | None, str, str]  # audience, project, column, and a value unique there


def remember_all(
    *, caller: Caller, new: tuple[NewMemory, ...], now: datetime
) -> tuple[Outcome, ...]:
    """Remember many candidates; return their outcomes in order.

    Raises TooLarge for more than 1,000, NotFound for a project the caller cannot see.
    """
    require(caller=caller, act=Act.WRITE)
    if len(new) > MOST:
        raise TooLarge(
            detail=message("{count} memories were sent.", count=len(new)),
            hint=message("Send at most {most}.", most=MOST),
        )
    checked: list[Checked | Outcome] = []
    for item in new:
        try:
            checked.append(candidate.check_candidate(caller=caller, new=item))
        except (InvalidInput, Forbidden) as error:
            checked.append(refused_input(error=error))
    return write_or_retry(lambda: _take_all(caller, new, checked, now))


def _take_all(
    caller: Caller,
    new: tuple[NewMemory, ...],
    checked: list[Checked | Outcome],
    now: datetime,
) -> tuple[Outcome, ...]:
    """Place all, look up what is stored, decide each in order, write, and log. In a unit."""
    batch = _Batch(caller=caller, now=now)
    placed = [item if isinstance(item, Outcome) else batch.place(item) for item in checked]
    batch.load_stored([item for item in placed if not isinstance(item, Outcome)])
    decided = [
        (None, item) if isinstance(item, Outcome) else (item[1], batch.take(*item))
        for item in placed
    ]
    job_id = batch.write()
    outcomes = tuple(
        item
        if isinstance(item, Outcome)
        else Outcome(
            outcome="added",
            memory=views.to_view(item, now=now, is_new=True),
            embedding="queued",
            job_id=job_id,
            done="created",
        )
        for _, item in decided
    )
    _record_writes(caller, outcomes)
    apply_decision.log_actions(
        rows=[
            _log_row(caller, item, where, outcome, now)
            for item, (where, _), outcome in zip(new, decided, outcomes, strict=True)
        ]
    )
    return outcomes


def _record_writes(caller: Caller, outcomes: tuple[Outcome, ...]) -> None:
    """Say in one entry of the audit log what was done to which memories."""
    ids: defaultdict[str, dict[UUID, None]] = defaultdict(dict)
    for outcome in outcomes:
        if outcome.done and outcome.memory is not None:
            ids[outcome.done][outcome.memory.id] = None
    if ids:
        by_verb = {verb: tuple(found) for verb, found in ids.items()}
        writes.record_bulk(caller=caller, act="memory.bulk_written", memory_ids=by_verb)


class _Batch:
    """What has been decided so far for one call; a refused item keeps its outcome."""

    def __init__(self, *, caller: Caller, now: datetime) -> None:
        self.caller, self.now = caller, now
        self.rows: list[Memory] = []
        self.inserted = 0  # of the rows, how many are stored
        self.new: dict[Key, Memory] = {}
        self.stored: dict[Key, Memory] = {}
        self.places: dict[tuple[str | None, str | None, str | None], Placement] = {}
        self.seen: dict[tuple[Placement, tuple[str, ...]], Memory] = {}  # by the words of each
        self.delivered: dict[tuple[str, Placement], similar_memories.Delivered] = {}
        self.confirmed: set[UUID] = set()

    def place(self, checked: Checked) -> tuple[Checked, Placement] | Outcome:
        """Find where one item goes. Raises NotFound for a project the caller cannot see."""
        new = checked.new
        key = (new.project, new.scope, new.team)
        try:
            where = self.places.get(key) or candidate.find_placement(caller=self.caller, new=new)
        except (InvalidInput, Forbidden) as error:
            return refused_input(error=error)
        self.places[key] = where
        return checked, where

    def load_stored(self, items: list[tuple[Checked, Placement]]) -> None:
        """Find in one query a place what the store has of these texts and external ids; lock it."""
        by_place: defaultdict[Placement, list[Checked]] = defaultdict(list)
        for item, where in items:
            by_place[where].append(item)
        for where, checked in by_place.items():
            hashes = {item.content_hash for item in checked}
            external = {name for item in checked for name in _external_ids(item)}
            for row in candidate.lock_same(placement=where, hashes=hashes, external_ids=external):
                for key in _keys_of(row):
                    self.stored.setdefault(key, row)
        ids = {row.id for row in self.stored.values()}
        self.confirmed = _just_confirmed(self.caller, ids, self.now)

    def take(self, item: Checked, where: Placement) -> Outcome | Memory:
        """Decide one item: an outcome, or the row that will be written."""
        place = (where.audience, where.project_id)
        text_key: Key = (*place, "content_hash", item.content_hash)
        twin = self.new.get(text_key)
        same = twin or self.stored.get(text_key)
        same_id = same.id if same else None
        result = candidate.gate(
            checked=item,
            neighborhood=integrate.Neighborhood(exact_duplicate_id=same_id),
            thresholds=similar_memories.thresholds_of(project=where.project),
        )
        if result.outcome is integrate.GateOutcome.REFUSED:
            return refusal(result=result)
        if (resent := self._find_resent(item, text_key, same_id)) is not None:
            return resent
        self._see(item, where, same)
        if twin is not None and result.confirmed_id is not None:
            view = views.to_view(twin, now=self.now)
            return Outcome(outcome="confirmed", memory=view, reason=result.reason)
        settled = self._settle(item, where, result)
        return self._add(item, where) if settled is None else settled

    def _settle(
        self, item: Checked, where: Placement, result: integrate.GateResult
    ) -> Outcome | None:
        """Confirm what a gate found to say the same, once a token; None for what is news."""
        source = item.new.source
        if (source, where) not in self.delivered:  # what counts as delivered to who sends it
            self.delivered[source, where] = similar_memories.find_delivered(
                caller=self.caller, source=source, where=where, embedded=None, now=self.now
            )
        settled = settle_without_adding(
            caller=self.caller,
            checked=item,
            result=result,
            delivered=self.delivered[source, where],
            confirmed=self.confirmed,
            now=self.now,
        )
        if settled is not None and settled.done == "confirmed" and self.caller.token_id:
            self.confirmed.update(filter(None, [result.confirmed_id]))
        return settled

    def _find_resent(self, item: Checked, text_key: Key, same_id: UUID | None) -> Outcome | None:
        """Bring the memory of the item's external id, or of its former one, to its text, if any."""
        place, new = text_key[:2], item.new
        id_key: Key = (*place, "external_id", new.external_id)
        former: Key = (*place, "external_id", new.former_external_id)
        if id_key in self.new or id_key in self.stored:
            return self._resend(item, id_key, text_key, same_id)
        if same_id is not None or former not in self.stored:
            return None
        self.stored[id_key] = self.stored[former]
        reworded = self._resend(item, id_key, text_key, same_id)
        refused = reworded.outcome == "refused"  # then both wordings stand, and none is lost
        del self.stored[id_key if refused else former]
        return None if refused else reworded

    def write(self) -> UUID | None:
        """Write all accepted rows; return the job that embeds them."""
        if not self.rows:
            return None
        self._insert()
        replacement.schedule_recount()
        return embedding.enqueue(
            layers={row.id: row.governance for row in self.rows},
            name="memory.embed_bulk",
            created_by=principal(caller=self.caller),
        )

    def _resend(self, item: Checked, id_key: Key, text_key: Key, same_id: UUID | None) -> Outcome:
        """Bring the memory of an external id to what was sent now, once a call."""
        earlier = self.new.get(id_key)
        if earlier is not None and item.content_hash == earlier.content_hash:
            view = views.to_view(earlier, now=self.now)
            return Outcome(outcome="confirmed", memory=view, reason="It came twice in this call.")
        if earlier is not None:
            return Outcome(
                outcome="refused",
                gate="input",
                reason="This call gives the same external id two different texts.",
                hint="Send one of them.",
            )
        if text_key in self.new:  # what is proposed may be what this call has just added
            self._insert()
        row = self.stored[id_key]
        before: Key = (*text_key[:3], row.content_hash)
        try:
            outcome = replacement.replace_content(
                caller=self.caller,
                row=row,
                prepared=Prepared(checked=item, embedded=None),
                twin_id=same_id,
                now=self.now,
            )
        except (InvalidInput, Forbidden) as error:
            return refused_input(error=error)
        if outcome.outcome == "updated":
            self.stored.pop(before, None)
            self.stored[text_key] = row
            row.content_hash = item.content_hash
        elif outcome.outcome == "proposed" and outcome.memory is not None:
            self.new[text_key] = Memory.objects.get(pk=outcome.memory.id)
        return outcome

    def _insert(self) -> None:
        """Store the accepted rows that are not stored yet."""
        if rows := tuple(self.rows[self.inserted :]):
            writes.insert(caller=self.caller, rows=rows)
            self.inserted = len(self.rows)

    def _add(self, item: Checked, where: Placement) -> Outcome | Memory:
        """Compose a new row, unless an earlier item of this call says the same."""
        words = self._words_of(item)
        earlier = self.seen.get((where, words)) if words else None
        if earlier is not None:
            return Outcome(
                outcome="confirmed",
                memory=views.to_view(earlier, now=self.now),
                gate=integrate.Gate.NEAR_DUPLICATE.value,
                reason="The same came before in this call, in other spelling.",
            )
        row = candidate.new_row(
            caller=self.caller,
            checked=item,
            placement=where,
            surprise=integrate.NEUTRAL,
            now=self.now,
        )
        self.rows.append(row)
        self._see(item, where, row)
        self.new.update(dict.fromkeys(_keys_of(row), row))
        return row

    def _see(self, item: Checked, where: Placement, row: Memory | None) -> None:
        """Note what says the same as an item, for later ones in other spelling."""
        if row is not None and (words := self._words_of(item)):
            self.seen.setdefault((where, words), row)

    def _words_of(self, item: Checked) -> tuple[str, ...]:
        """Return the words by which an item is compared; none where it is not."""
        is_compared = item.classification.type is not MemoryType.EPISODE
        if not is_compared or item.new.external_id:
            return ()
        return restatements.telling_words(text=item.new.content)


def _external_ids(item: Checked) -> tuple[str, ...]:
    return tuple(filter(None, (item.new.external_id, item.new.former_external_id)))


def _keys_of(row: Memory) -> list[Key]:
    """Return what only one active memory may have: its text, but for episodes, and external id."""
    keys: list[Key] = []
    place = (row.audience, row.project_id)
    if row.type != MemoryType.EPISODE:
        keys.append((*place, "content_hash", row.content_hash))
    if row.external_id:
        keys.append((*place, "external_id", row.external_id))
    return keys
