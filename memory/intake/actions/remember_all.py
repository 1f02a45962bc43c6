"""Remember many things at once: one transaction, one embedding job.

Each item meets the same gates as a single one; a malformed or forbidden one is refused alone. What
says nearly the same as an earlier item of the call, by three quarters of its words, is confirmed.
Vectors do not exist until the job has run: it looks for near duplicates and conflicts then
(`memory.intake.actions.apply_later`). What the store already has is looked up and locked at once,
in one order, before anything is written.
"""

from collections import defaultdict
from datetime import datetime
from typing import Final
from uuid import UUID

from accounts.caller import Caller, principal
from accounts.errors import Forbidden, InvalidInput, TooLarge
from accounts.messages import message
from memory.index.actions import embedding
from memory.intake import integrate
from memory.intake.actions import apply_decision, candidate, remember, similar_memories
from memory.intake.actions.candidate import CheckedCandidate, Placement
from memory.intake.actions.remember import NewMemory, Outcome
from memory.records import assertions, writes
from memory.records.models import Memory
from memory.records.queries.views import to_view
from memory.secrets import scanner
from memory.taxonomy import MemoryType
from teams.permissions import Act, require

MOST: Final = 1_000  # memories a call

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
    checked: list[CheckedCandidate | Outcome] = []
    for item in new:
        try:
            checked.append(candidate.check_candidate(caller=caller, new=item))
        except (InvalidInput, Forbidden) as error:
            checked.append(_refused(error))
    return remember.write_or_retry(lambda: _take_all(caller, new, checked, now))


def _take_all(
    caller: Caller,
    new: tuple[NewMemory, ...],
    checked: list[CheckedCandidate | Outcome],
    now: datetime,
) -> tuple[Outcome, ...]:
    """Place all, look up what is stored, decide each in order, write, and log. In a unit."""
    batch = _Batch(caller=caller, now=now)
    placed = [item if isinstance(item, Outcome) else batch.place(item) for item in checked]
    batch.load_stored([item for item in placed if not isinstance(item, Outcome)])
    decided = [item if isinstance(item, Outcome) else batch.take(*item) for item in placed]
    job_id = batch.write()
    outcomes = tuple(
        item
        if isinstance(item, Outcome)
        else Outcome(
            outcome="added",
            memory=to_view(item, now=now, is_new=True),
            embedding="queued",
            job_id=job_id,
            done="created",
        )
        for item in decided
    )
    ids: defaultdict[str, dict[UUID, None]] = defaultdict(dict)
    for outcome in outcomes:
        if outcome.done and outcome.memory is not None:
            ids[outcome.done][outcome.memory.id] = None
    if ids:  # one entry of the audit log for all
        by_verb = {verb: tuple(found) for verb, found in ids.items()}
        writes.record_bulk(caller=caller, act="memory.bulk_written", memory_ids=by_verb)
    entries = tuple(
        remember.log_entry(
            new=item, where=None if isinstance(one, Outcome) else one[1], outcome=outcome
        )
        for item, one, outcome in zip(new, placed, outcomes, strict=True)
    )
    apply_decision.log_actions(caller=caller, entries=entries, now=now)
    return outcomes


def _refused(error: InvalidInput | Forbidden) -> Outcome:
    return Outcome(
        outcome="refused",
        gate="input",
        reason=scanner.without_secrets(text=error.detail),  # it may repeat what was sent
        hint=error.hint,
        cause=error.code,
    )


class _Batch:
    """What has been decided so far for one call; a refused item keeps its outcome."""

    def __init__(self, *, caller: Caller, now: datetime) -> None:
        self.caller, self.now = caller, now
        self.rows: list[Memory] = []
        self.new: dict[Key, Memory] = {}
        self.stored: dict[Key, Memory] = {}
        self.places: dict[tuple[str | None, str | None, str | None], Placement] = {}
        self.seen: defaultdict[Placement, assertions.Seen] = defaultdict(assertions.Seen)
        self.by_position: dict[tuple[Placement, int], Memory] = {}  # in what was seen of a place
        self.delivered: dict[str, similar_memories.Delivered] = {}

    def place(self, checked: CheckedCandidate) -> tuple[CheckedCandidate, Placement] | Outcome:
        """Find where one item goes. Raises NotFound for a project the caller cannot see."""
        new = checked.new
        key = (new.project, new.scope, new.team)
        try:
            where = self.places.get(key) or candidate.find_placement(caller=self.caller, new=new)
        except (InvalidInput, Forbidden) as error:
            return _refused(error)
        self.places[key] = where
        return checked, where

    def load_stored(self, items: list[tuple[CheckedCandidate, Placement]]) -> None:
        """Find in one query a place what the store has of these texts and external ids; lock it."""
        by_place: defaultdict[Placement, list[CheckedCandidate]] = defaultdict(list)
        for item, where in items:
            by_place[where].append(item)
        for where, checked in by_place.items():
            hashes = {item.content_hash for item in checked}
            external = {item.new.external_id for item in checked} - {""}
            for row in candidate.lock_same(placement=where, hashes=hashes, external_ids=external):
                for key in _keys_of(row):
                    self.stored.setdefault(key, row)

    def take(self, item: CheckedCandidate, where: Placement) -> Outcome | Memory:
        """Decide one item: an outcome, or the row that will be written."""
        place = (where.audience, where.project.id if where.project else None)
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
            return remember.refusal(result=result)
        id_key: Key = (*place, "external_id", item.new.external_id)
        if id_key in self.new or id_key in self.stored:
            return self._resend(item, id_key, text_key, same_id)
        if twin is not None and result.confirmed_id is not None:
            view = to_view(twin, now=self.now)
            return Outcome(outcome="confirmed", memory=view, reason=result.reason)
        source = item.new.source
        if source not in self.delivered:  # read once a call and source
            self.delivered[source] = similar_memories.find_delivered(
                caller=self.caller, source=source, embedded=None, now=self.now
            )
        settled = remember.settle_without_adding(
            caller=self.caller,
            checked=item,
            result=result,
            delivered=self.delivered[source],
            now=self.now,
        )
        return self._add(item, where) if settled is None else settled

    def write(self) -> UUID | None:
        """Write all accepted rows; return the job that embeds them."""
        if not self.rows:
            return None
        writes.insert(caller=self.caller, rows=tuple(self.rows))
        remember.schedule_recount()
        return embedding.enqueue(
            layers={row.id: row.governance for row in self.rows},
            name="memory.embed_bulk",
            created_by=principal(caller=self.caller),
        )

    def _resend(
        self, item: CheckedCandidate, id_key: Key, text_key: Key, same_id: UUID | None
    ) -> Outcome:
        """Bring the memory of an external id to what was sent now, once a call."""
        earlier = self.new.get(id_key)
        if earlier is not None and item.content_hash == earlier.content_hash:
            view = to_view(earlier, now=self.now)
            return Outcome(outcome="confirmed", memory=view, reason="It came twice in this call.")
        if earlier is not None:
            return Outcome(
                outcome="refused",
                gate="input",
                reason="This call gives the same external id two different texts.",
                hint="Send one of them.",
            )
        row = self.stored[id_key]
        before: Key = (*text_key[:3], row.content_hash)
        try:
            outcome = remember.replace_content(
                caller=self.caller, row=row, checked=item, twin_id=same_id, now=self.now
            )
        except (InvalidInput, Forbidden) as error:
            return _refused(error)
        if outcome.outcome == "updated":
            self.stored.pop(before, None)
            self.stored[text_key] = row
            row.content_hash = item.content_hash
        return outcome

    def _add(self, item: CheckedCandidate, where: Placement) -> Outcome | Memory:
        """Compose a new row, unless an earlier item of this call says nearly the same."""
        new = item.new
        is_compared = item.classification.type is not MemoryType.EPISODE and not new.external_id
        position = -1
        if is_compared:
            position = self.seen[where].first_of(
                content=new.content, content_hash=item.content_hash
            )
        earlier = self.by_position.get((where, position))
        if earlier is not None:
            return Outcome(
                outcome="confirmed",
                memory=to_view(earlier, now=self.now),
                gate=integrate.Gate.NEAR_DUPLICATE.value,
                reason="Nearly the same came before in this call.",
            )
        row = candidate.new_row(
            caller=self.caller,
            checked=item,
            placement=where,
            surprise=integrate.NEUTRAL,
            now=self.now,
        )
        self.rows.append(row)
        if is_compared:
            self.by_position[where, position] = row
        self.new.update(dict.fromkeys(_keys_of(row), row))
        return row


def _keys_of(row: Memory) -> list[Key]:
    """Return what only one active memory may have: its text, but for episodes, and external id."""
    keys: list[Key] = []
    place = (row.audience, row.project_id)
    if row.type != MemoryType.EPISODE:
        keys.append((*place, "content_hash", row.content_hash))
    if row.external_id:
        keys.append((*place, "external_id", row.external_id))
    return keys
