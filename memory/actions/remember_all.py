"""Remember many things at once: one transaction, one embedding job (spec 2.5).

Each item meets the same gates as a single one. A near duplicate by meaning is only looked for inside
the batch, by words: vectors do not exist until the job has run.
"""

from datetime import datetime
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import InvalidInput, TooLarge
from memory.actions import confirm, embedding, store
from memory.actions.drafts import Draft, NewMemory, Place, draft, place
from memory.actions.remember import (
    Outcome,
    refusal,
    replace_content,
    schedule_recount,
)
from memory.intake import gates
from memory.intake.gates import GateCandidate, GateOutcome, Neighborhood
from memory.models import Memory
from memory.queries.views import to_view
from teams.permissions import require
from teams.roles import Act

MOST = 1_000  # memories a call, spec 2.5


def remember_all(
    *, caller: Caller, new: tuple[NewMemory, ...], now: datetime
) -> tuple[Outcome, ...]:
    """Send many candidates through the door; return their outcomes in order.

    A malformed item is refused alone. Raises TooLarge for more than 1,000, NotFound for a project
    the caller cannot see.
    """
    require(caller=caller, act=Act.WRITE)
    if len(new) > MOST:
        raise TooLarge(detail=f"{len(new)} memories were sent.", hint=f"Send at most {MOST}.")
    drafts = tuple(_drafted(caller, item) for item in new)
    with tenancy.unit():
        batch = _Batch(caller=caller, now=now)
        batch.look(tuple(item for item in drafts if isinstance(item, Draft)))
        outcomes = [batch.take(item) for item in drafts]
        job_id = batch.write()
        return tuple(_final(outcome, job_id, now) for outcome in outcomes)


def _drafted(caller: Caller, new: NewMemory) -> Draft | Outcome:
    try:
        return draft(caller=caller, new=new)
    except InvalidInput as error:
        return Outcome(
            outcome="refused", memory=None, gate="input", reason=error.detail, hint=error.hint
        )


class _Batch:
    """What has been decided so far for one call."""

    def __init__(self, *, caller: Caller, now: datetime) -> None:
        self.caller, self.now = caller, now
        self.rows: list[Memory] = []
        self.by_hash: dict[tuple[UUID, UUID | None, str], Memory] = {}
        self.by_external: dict[tuple[UUID | None, str], Memory] = {}
        self.stored: dict[tuple[UUID, UUID | None, str], UUID] = {}
        self.stored_external: dict[tuple[UUID, UUID | None, str], Memory] = {}
        self.places: dict[tuple[str | None, str | None, str | None], Place] = {}

    def look(self, drafts: tuple[Draft, ...]) -> None:
        """Find in one query each what the store already has of the texts and external ids sent."""
        by_place: dict[Place, list[Draft]] = {}
        for item in drafts:
            by_place.setdefault(self._place(item.new), []).append(item)
        for where, items in by_place.items():
            for row in store.active_twins(
                place=where, hashes={item.content_hash for item in items}
            ):
                self.stored.setdefault((row.audience, row.project_id, row.content_hash), row.id)
            external = {item.new.external_id for item in items} - {""}
            for row in store.active_with_external_ids(place=where, external_ids=external):
                self.stored_external[row.audience, row.project_id, row.external_id] = row

    def take(self, drafted: Draft | Outcome) -> Outcome | Memory:
        """Decide one item: an outcome, or the row that will be written."""
        if isinstance(drafted, Outcome):
            return drafted
        where = self._place(drafted.new)
        key = self._key(drafted, where)
        known = self._known(drafted, where)
        if known is not None:
            return known
        twin = self.by_hash.get(key)
        exact = None if twin else self.stored.get(key)
        result = gates.run(
            candidate=GateCandidate(
                content=drafted.new.content,
                type=drafted.classification.type,
                secrets=drafted.findings,
            ),
            neighborhood=Neighborhood(exact_duplicate_id=twin.id if twin else exact, neighbors=()),
            thresholds=gates.Thresholds(),
        )
        if result.outcome is GateOutcome.REFUSED:
            return refusal(result=result)
        if result.confirmed_id is not None:
            return self._confirmed(result.confirmed_id, twin, result.reason)
        return self._add(drafted, where, key, result.surprise)

    def write(self) -> UUID | None:
        """Write all accepted rows; return the job that embeds them."""
        if not self.rows:
            return None
        store.insert(caller=self.caller, rows=tuple(self.rows))
        schedule_recount()
        ids = tuple(row.id for row in self.rows)
        return embedding.enqueue(memory_ids=ids, name="memory.embed_bulk")

    def _place(self, new: NewMemory) -> Place:
        key = (new.project, new.scope, new.team)
        if key not in self.places:
            self.places[key] = place(caller=self.caller, new=new)
        return self.places[key]

    @staticmethod
    def _key(drafted: Draft, where: Place) -> tuple[UUID, UUID | None, str]:
        project_id = where.project.id if where.project else None
        return (where.audience, project_id, drafted.content_hash)

    def _known(self, drafted: Draft, where: Place) -> Outcome | Memory | None:
        external_id = drafted.new.external_id
        if not external_id or drafted.findings:
            return None
        project_id = where.project.id if where.project else None
        twin = self.by_external.get((project_id, external_id))
        if twin is not None:
            return twin
        row = self.stored_external.get((where.audience, project_id, external_id))
        if row is None:
            return None
        return replace_content(caller=self.caller, row=row, drafted=drafted, now=self.now)

    def _confirmed(self, memory_id: UUID, twin: Memory | None, reason: str) -> Outcome:
        if twin is not None:
            return Outcome(outcome="confirmed", memory=to_view(twin, now=self.now), reason=reason)
        view = confirm.apply(caller=self.caller, memory_id=memory_id, now=self.now)
        return Outcome(outcome="confirmed", memory=view, gate="exact_duplicate", reason=reason)

    def _add(
        self, drafted: Draft, where: Place, key: tuple[UUID, UUID | None, str], surprise: float
    ) -> Memory:
        row = store.new_row(
            caller=self.caller, draft=drafted, place=where, surprise=surprise, now=self.now
        )
        self.rows.append(row)
        if drafted.classification.type != "episode":
            self.by_hash[key] = row
        if row.external_id:
            self.by_external[row.project_id, row.external_id] = row
        return row


def _final(outcome: Outcome | Memory, job_id: UUID | None, now: datetime) -> Outcome:
    if isinstance(outcome, Outcome):
        return outcome
    return Outcome(
        outcome="added", memory=to_view(outcome, now=now), embedding="queued", job_id=job_id
    )
