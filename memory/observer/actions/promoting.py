"""From what a session offers to memories, most of which wait, through the one door.

Outside of a unit each candidate becomes a draft with its vector. Inside of one it is compared with
what is stored, and what is novel is decided in its place. Where a candidate came from stands in its
origin, so that the same session never offers the same thing twice, whatever became of it.

What waits for a person is a question of the trust of who opened the session; what is
tainted, or reads like an order, an address or a command, waits whoever that is.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import Func, TextField, Value

from accounts.caller import Caller
from accounts.errors import Forbidden, InvalidInput, NotFound
from memory.index.actions import embedding
from memory.index.sql import search_rows
from memory.intake import integrate
from memory.intake.actions import similar_memories
from memory.intake.actions.remember import Outcome, Prepared, decide, prepare, recorded
from memory.intake.sql.neighbors import Spot
from memory.observer import promotion
from memory.observer.actions import prior_sessions
from memory.observer.promotion import Candidate
from memory.records import alarms
from memory.records.actions.candidate import NewMemory, place
from memory.records.models import Memory
from memory.sessions.models import Session
from memory.sessions.scratchpad import Scratchpad
from memory.taxonomy import Status
from teams import trust
from teams.trust import TrustLevel

MOST_PREPARED: Final = 60  # candidates of a session that are embedded, the surest; ours
DIGEST_BYTES: Final = 8
SAME: Final = 2.0  # above every cosine: what shows the same signal is novel in no project
LONGEST_REASON: Final = 200  # characters, the column's


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposing:
    """In whose name a session proposes memories, and how far they trust it."""

    caller: Caller
    level: TrustLevel


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A candidate that may be stored, and where it says it came from."""

    candidate: Candidate
    origin: str
    prepared: Prepared


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """What became of an offer; `outcome` None where its place would not take it."""

    offer: Offer
    outcome: Outcome | None


def offers(
    *, who: Proposing, row: Session, proposed: tuple[Candidate, ...], dropped: Counter[str]
) -> tuple[Offer, ...]:
    """Draft and embed the surest candidates. Outside of a unit; what is dropped is counted."""
    made: list[Offer] = []
    dropped["over_bound"] += max(0, len(proposed) - MOST_PREPARED)
    for candidate in proposed[:MOST_PREPARED]:
        digest = hashlib.blake2b(candidate.key.encode(), digest_size=DIGEST_BYTES).hexdigest()
        origin = prior_sessions.origin(row=row, key=candidate.key, digest=digest)
        try:
            prepared = prepare(caller=who.caller, new=_new(row, candidate, origin, who.level))
        except (InvalidInput, Forbidden):  # of this candidate; the others stand
            dropped["not_storable"] += 1
            continue
        made.append(Offer(candidate=candidate, origin=origin, prepared=prepared))
    return tuple(made)


def reworded(
    *, who: Proposing, row: Session, offered: tuple[Offer, ...], words: Mapping[str, str]
) -> tuple[Offer, ...]:
    """Draft and embed anew what was put into other words; refused ones keep their template's."""
    return tuple(
        _said_anew(who, row, one, words[one.candidate.key]) if one.candidate.key in words else one
        for one in offered
    )


def chosen(
    *,
    caller: Caller,
    row: Session,
    scratchpad: Scratchpad,
    offered: tuple[Offer, ...],
    dropped: Counter[str],
) -> tuple[Offer, ...]:
    """Return the novel ones, as many as the session's type allows. In a unit."""
    before = set(
        Memory.objects.filter(session_id=row.id, source_uri__startswith=f"session:{row.id}#")
        .order_by()
        .values_list("source_uri", flat=True)
    )
    fresh = tuple(one for one in offered if one.origin not in before)
    dropped["taken_before"] += len(offered) - len(fresh)
    same = _shown_before(row, fresh)
    nearest = {
        one.candidate.key: SAME
        if _sign(one.origin) in same
        else max(nearest_of(caller=caller, prepared=one.prepared), _said_before(one, fresh[:place]))
        for place, one in enumerate(fresh)
    }
    bound = similar_memories.thresholds_of(project=row.project).novelty_cosine
    novel = sum(
        integrate.is_novel(cosine=cosine, novelty_cosine=bound) for cosine in nearest.values()
    )
    known = len(fresh) - novel
    kept = promotion.choose(
        scratchpad=scratchpad,
        proposed=tuple(one.candidate for one in fresh),
        nearest=nearest,
        novelty_cosine=bound,
        before=len((row.observed or {}).get("promoted", ())),
    )
    dropped["known"] += known
    dropped["over_bound"] += len(fresh) - known - len(kept)
    keys = {candidate.key for candidate in kept}
    return tuple(one for one in fresh if one.candidate.key in keys)


def send(
    *, caller: Caller, offered: tuple[Offer, ...], now: datetime, dropped: Counter[str]
) -> tuple[Sent, ...]:
    """Send offers through the door. In a unit. Raises Conflict when somebody writes the same."""
    sent = tuple(
        Sent(offer=one, outcome=decided(caller=caller, prepared=one.prepared, now=now))
        for one in offered
    )
    for one in sent:
        if one.outcome is None:
            dropped["not_stored"] += 1
        elif one.outcome.outcome == "refused":
            dropped[one.outcome.gate or "refused"] += 1
    return sent


def counts(*, sent: tuple[Sent, ...]) -> Mapping[str, int]:
    """Return how many offers ended how."""
    return Counter(one.outcome.outcome for one in sent if one.outcome is not None)


def _new(row: Session, candidate: Candidate, origin: str, level: TrustLevel) -> NewMemory:
    is_doubtful = candidate.needs_review or bool(alarms.of_content(content=candidate.content))
    first = candidate.evidence[0] if candidate.evidence else None
    return NewMemory(
        content=candidate.content,
        source=candidate.source.value,
        type=candidate.type.value,
        project=None if row.project_id is None else str(row.project_id),
        scope=row.scope,
        related_files=candidate.files,
        attributes=candidate.attributes,
        confidence=candidate.confidence,
        phase=row.phase,
        methodology=row.methodology,
        source_uri=origin,
        source_line=first.line if first is not None and first.line else None,
        commit_sha=candidate.commit or row.commit,
        needs_review=trust.waits(level=level, is_doubtful=is_doubtful),
        taint_reason=candidate.reason[:LONGEST_REASON],
        session_id=row.id,
    )


def _said_anew(who: Proposing, row: Session, offer: Offer, text: str) -> Offer:
    candidate = replace(offer.candidate, content=text)
    try:
        prepared = prepare(caller=who.caller, new=_new(row, candidate, offer.origin, who.level))
    except (InvalidInput, Forbidden):  # the template's words stand
        return offer
    return Offer(candidate=candidate, origin=offer.origin, prepared=prepared)


def _shown_before(row: Session, offered: tuple[Offer, ...]) -> frozenset[str]:
    """Return the signals that are stored in this place already, in whatever words. In a unit."""
    signs = {_sign(one.origin) for one in offered}
    if not signs:
        return frozenset()
    rows = Memory.objects.filter(
        audience=row.audience,
        project=row.project_id,
        status=Status.ACTIVE.value,
        source__in={one.candidate.source.value for one in offered},
        source_uri__startswith="session:",
    )
    sign = Func("source_uri", Value("#"), 2, function="split_part", output_field=TextField())
    found = rows.annotate(sign=sign)
    kept = found.filter(sign__in=signs).order_by().values_list("sign", flat=True)
    return frozenset(str(one) for one in kept)


def _sign(origin: str) -> str:
    """Return which signal an origin names, of whichever session."""
    return origin.partition("#")[2]


def nearest_of(*, caller: Caller, prepared: Prepared) -> float:
    """Return the highest cosine with what is stored there; 0 while it cannot be compared."""
    embedded = prepared.embedded
    if embedded is None or embedded.key != embedding.active_model().key:
        return 0.0
    where = place(caller=caller, new=prepared.drafted.new)
    model_id = embedding.space_id(key=embedded.key)
    project_id = None if where.project is None else where.project.id
    here = Spot(model_id=model_id, audience=where.audience, project_id=project_id)
    beside = similar_memories.counterpart(caller=caller, where=where, model_id=model_id)
    return max((_cosine(spot, prepared) for spot in (here, beside) if spot is not None), default=0)


def _said_before(offer: Offer, surer: tuple[Offer, ...]) -> float:
    """Return the highest cosine with a surer candidate of the same session."""
    own = offer.prepared.embedded
    others = [one.prepared.embedded for one in surer]
    if own is None:
        return 0.0
    return max(
        (
            float(own.vector @ one.vector)
            for one in others
            if one is not None and one.key == own.key
        ),
        default=0.0,
    )


def _cosine(spot: Spot, prepared: Prepared) -> float:
    if prepared.embedded is None:
        return 0.0
    found: tuple[tuple[UUID, float], ...] = search_rows.nearest(
        model_id=spot.model_id,
        vector=prepared.embedded.vector,
        audience=spot.audience,
        project_id=spot.project_id,
        limit=1,
    )
    return found[0][1] if found else 0.0


def decided(*, caller: Caller, prepared: Prepared, now: datetime) -> Outcome | None:
    """Send a draft through the door; return None where its place would not take it. In a unit."""
    try:
        with transaction.atomic():
            outcome = decide(caller=caller, prepared=prepared, now=now)
            return recorded(caller=caller, outcome=outcome)
    except (InvalidInput, Forbidden, NotFound):  # of this candidate; the others stand
        return None
