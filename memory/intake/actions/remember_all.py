"""Remember many things at once: one transaction, one embedding job.

Each item meets the same gates as a single one; a malformed or forbidden one is refused alone. What
says nearly the same as an earlier item of the call, by three quarters of its words, is confirmed.
Vectors do not exist until the job has run: it looks for near duplicates and conflicts then
(`memory.intake.actions.apply_later`). What the store already has is looked up and locked at once,
in one order, before anything is written.
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction

from accounts import tenancy
from accounts.caller import Caller, principal
from accounts.errors import Conflict, Forbidden, InvalidInput, TooLarge
from accounts.messages import message
from memory.index.actions import embedding
from memory.intake.actions import action_log, candidate
from memory.intake.actions.candidate import (
    CheckedCandidate,
    Placement,
    check_candidate,
    find_placement,
)
from memory.intake.actions.echo_guard import Delivered, find_delivered, find_echo
from memory.intake.actions.remember import (
    Outcome,
    gate,
    known_before,
    log_entry,
    refusal,
    replace_content,
    schedule_recount,
)
from memory.intake.actions.similar_memories import thresholds_of
from memory.intake.intake_gates import Gate, GateOutcome, GateResult, Neighborhood, Thresholds
from memory.intake.validation import NewMemory
from memory.records import writes
from memory.records.actions import confirm_memory
from memory.records.duplicates import Seen
from memory.records.models import Memory
from memory.records.queries.views import to_view
from memory.secrets import scanner
from memory.taxonomy import MemoryType
from teams.permissions import Act, require

MOST = 1_000  # memories a call

Key = tuple[UUID, UUID | None, str]  # audience, project, content hash or external id


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A checked candidate and where it will stand."""

    drafted: CheckedCandidate
    place: Placement

    @property
    def text_key(self) -> Key:
        """What only one memory can have: the text, in its place."""
        return self._key(self.drafted.content_hash)

    @property
    def external_key(self) -> Key | None:
        """What only one memory can have: the external id, in its place; None without one."""
        external_id = self.drafted.new.external_id
        return self._key(external_id) if external_id else None

    def _key(self, text: str) -> Key:
        project = self.place.project
        return (self.place.audience, project.id if project else None, text)


def remember_all(
    *, caller: Caller, new: tuple[NewMemory, ...], now: datetime
) -> tuple[Outcome, ...]:
    """Send many candidates through the door; return their outcomes in order.

    Raises TooLarge for more than 1,000, NotFound for a project the caller cannot see.
    """
    require(caller=caller, act=Act.WRITE)
    if len(new) > MOST:
        raise TooLarge(
            detail=message("{count} memories were sent.", count=len(new)),
            hint=message("Send at most {most}.", most=MOST),
        )
    drafts = tuple(_drafted(caller, item) for item in new)
    try:
        with tenancy.unit(), transaction.atomic():
            return _take_all(caller, new, drafts, now)
    except Conflict:  # somebody changed the same between our look and our write: look again
        with tenancy.unit():
            return _take_all(caller, new, drafts, now)


def _take_all(
    caller: Caller,
    new: tuple[NewMemory, ...],
    drafts: tuple[CheckedCandidate | Outcome, ...],
    now: datetime,
) -> tuple[Outcome, ...]:
    batch = _Batch(caller=caller, now=now)
    placed = tuple(batch.place(item) for item in drafts)
    batch.look(tuple(item for item in placed if isinstance(item, Placed)))
    outcomes = [batch.take(item) for item in placed]
    job_id = batch.write()
    found = tuple(_final(outcome, job_id, now) for outcome in outcomes)
    _record(caller, found)
    entries = tuple(
        log_entry(new=item, where=where.place if isinstance(where, Placed) else None, outcome=one)
        for item, where, one in zip(new, placed, found, strict=True)
    )
    action_log.record(caller=caller, entries=entries, now=now)
    return found


def _drafted(caller: Caller, new: NewMemory) -> CheckedCandidate | Outcome:
    try:
        return check_candidate(caller=caller, new=new)
    except (InvalidInput, Forbidden) as error:
        return _refused(error)


def _refused(error: InvalidInput | Forbidden) -> Outcome:
    return Outcome(
        outcome="refused",
        memory=None,
        gate="input",
        reason=scanner.without_secrets(text=error.detail),  # it may repeat what was sent
        hint=error.hint,
        cause=error.code,
    )


@dataclass(slots=True, kw_only=True)
class Said:
    """What new memories of a place say, in the order of their coming, and their rows."""

    seen: Seen
    rows: dict[int, Memory]
    latest: int = -1


class _Batch:
    """What has been decided so far for one call."""

    def __init__(self, *, caller: Caller, now: datetime) -> None:
        self.caller, self.now = caller, now
        self.rows: list[Memory] = []
        self.new_texts: dict[Key, Memory] = {}
        self.new_external: dict[Key, Memory] = {}
        self.stored_texts: dict[Key, UUID] = {}
        self.stored_external: dict[Key, Memory] = {}
        self.places: dict[tuple[str | None, str | None, str | None], Placement] = {}
        self.thresholds: dict[Placement, Thresholds] = {}
        self.said: dict[Placement, Said] = {}
        self.delivered: dict[str, Delivered] = {}

    def place(self, drafted: CheckedCandidate | Outcome) -> Placed | Outcome:
        """Find where one item goes. Raises NotFound for a project the caller cannot see."""
        if isinstance(drafted, Outcome):
            return drafted
        new = drafted.new
        key = (new.project, new.scope, new.team)
        try:
            where = self.places.get(key) or find_placement(caller=self.caller, new=new)
        except (InvalidInput, Forbidden) as error:
            return _refused(error)
        self.places[key] = where
        if where not in self.thresholds:
            self.thresholds[where] = thresholds_of(project=where.project)
        return Placed(drafted=drafted, place=where)

    def look(self, items: tuple[Placed, ...]) -> None:
        """Find in one query a place what the store has of these texts and external ids; lock it."""
        by_place: dict[Placement, list[CheckedCandidate]] = {}
        for item in items:
            by_place.setdefault(item.place, []).append(item.drafted)
        for where, drafts in by_place.items():
            hashes = {item.content_hash for item in drafts}
            external = {item.new.external_id for item in drafts} - {""}
            for row in candidate.lock_same(placement=where, hashes=hashes, external_ids=external):
                if row.type != MemoryType.EPISODE:
                    text_key = (row.audience, row.project_id, row.content_hash)
                    self.stored_texts.setdefault(text_key, row.id)
                if row.external_id:
                    self.stored_external[row.audience, row.project_id, row.external_id] = row

    def take(self, item: Placed | Outcome) -> Outcome | Memory:
        """Decide one item: an outcome, or the row that will be written."""
        if isinstance(item, Outcome):
            return item
        twin = self.new_texts.get(item.text_key)
        known_id = twin.id if twin else self.stored_texts.get(item.text_key)
        near = Neighborhood(exact_duplicate_id=known_id, neighbors=())
        thresholds = self.thresholds[item.place]
        result = gate(drafted=item.drafted, neighborhood=near, thresholds=thresholds)
        if result.outcome is GateOutcome.REFUSED:
            return refusal(result=result)
        if item.external_key in self.new_external:
            return self._said_twice(item, self.new_external[item.external_key])
        if item.external_key in self.stored_external:
            return self._replaced(item, self.stored_external[item.external_key], known_id)
        return self._new(item, result, twin)

    def _new(self, item: Placed, result: GateResult, twin: Memory | None) -> Outcome | Memory:
        same_id = None if twin else result.confirmed_id
        source = item.drafted.new.source
        if source not in self.delivered:  # read once a call
            self.delivered[source] = find_delivered(
                caller=self.caller, source=source, embedded=None, now=self.now
            )
        echo = find_echo(drafted=item.drafted, same_id=same_id, delivered=self.delivered[source])
        if echo is not None and twin is None:
            return known_before(caller=self.caller, echo=echo, now=self.now)
        if result.confirmed_id is not None:
            return self._confirmed(item, result.confirmed_id, twin, result.reason)
        earlier = self._said_before(item)
        if earlier is None:
            return self._add(item, result.surprise)
        return Outcome(
            outcome="confirmed",
            memory=to_view(earlier, now=self.now),
            gate=Gate.NEAR_DUPLICATE.value,
            reason="Nearly the same came before in this call.",
        )

    def write(self) -> UUID | None:
        """Write all accepted rows; return the job that embeds them."""
        if not self.rows:
            return None
        writes.insert(caller=self.caller, rows=tuple(self.rows))
        schedule_recount()
        return embedding.enqueue(
            layers={row.id: row.governance for row in self.rows},
            name="memory.embed_bulk",
            created_by=principal(caller=self.caller),
        )

    def _said_twice(self, item: Placed, earlier: Memory) -> Outcome:
        if item.drafted.content_hash == earlier.content_hash:
            view = to_view(earlier, now=self.now)
            return Outcome(outcome="confirmed", memory=view, reason="It came twice in this call.")
        return Outcome(
            outcome="refused",
            memory=None,
            gate="input",
            reason="This call gives the same external id two different texts.",
            hint="Send one of them.",
        )

    def _said_before(self, item: Placed) -> Memory | None:
        """Return the new row of this call that says nearly the same, None if there is none."""
        if item.drafted.classification.type is MemoryType.EPISODE or item.external_key is not None:
            return None
        said = self.said.setdefault(item.place, Said(seen=Seen(), rows={}))
        new = item.drafted.new
        position = said.seen.first_of(content=new.content, content_hash=item.drafted.content_hash)
        said.latest = position
        return said.rows.get(position)

    def _replaced(self, item: Placed, row: Memory, twin_id: UUID | None) -> Outcome:
        before = (row.audience, row.project_id, row.content_hash)
        try:
            outcome = replace_content(
                caller=self.caller,
                row=row,
                drafted=item.drafted,
                twin_id=twin_id,
                now=self.now,
            )
        except (InvalidInput, Forbidden) as error:
            return _refused(error)
        if outcome.outcome == "updated":
            self.stored_texts.pop(before, None)
            self.stored_texts[item.text_key] = row.id
            row.content_hash = item.drafted.content_hash
        return outcome

    def _confirmed(
        self, item: Placed, memory_id: UUID, twin: Memory | None, reason: str
    ) -> Outcome:
        if twin is not None:
            return Outcome(outcome="confirmed", memory=to_view(twin, now=self.now), reason=reason)
        view = confirm_memory(
            caller=self.caller,
            memory_id=memory_id,
            now=self.now,
            session_id=item.drafted.new.session_id,
        )
        return Outcome(
            outcome="confirmed",
            memory=view,
            gate="exact_duplicate",
            reason=reason,
            done="confirmed",
        )

    def _add(self, item: Placed, surprise: float) -> Memory:
        row = candidate.new_row(
            caller=self.caller,
            checked=item.drafted,
            placement=item.place,
            surprise=surprise,
            now=self.now,
        )
        self.rows.append(row)
        if item.place in self.said:
            self.said[item.place].rows.setdefault(self.said[item.place].latest, row)
        if row.type != MemoryType.EPISODE:
            self.new_texts[item.text_key] = row
        if item.external_key is not None:
            self.new_external[item.external_key] = row
        return row


def _final(outcome: Outcome | Memory, job_id: UUID | None, now: datetime) -> Outcome:
    if isinstance(outcome, Outcome):
        return outcome
    return Outcome(
        outcome="added",
        memory=to_view(outcome, now=now, is_new=True),
        embedding="queued",
        job_id=job_id,
        done="created",
    )


def _record(caller: Caller, found: tuple[Outcome, ...]) -> None:
    """Tell the audit log once of everything that the call wrote, if it wrote anything."""
    ids: dict[str, dict[UUID, None]] = {}
    for outcome in found:
        if outcome.done and outcome.memory is not None:
            ids.setdefault(outcome.done, {})[outcome.memory.id] = None
    if ids:
        by_verb = {verb: tuple(found) for verb, found in ids.items()}
        writes.record_bulk(caller=caller, act="memory.bulk_written", memory_ids=by_verb)
