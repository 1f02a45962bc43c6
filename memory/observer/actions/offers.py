"""Offer candidates of a session to the one door, and store what is novel.

Outside of a unit each candidate is checked with its vector (`prepare_offers`); inside of one it is
compared with what is stored, and what is novel is decided in its place (`choose`, `send`). Where a
candidate came from stands in its origin, so that the same session never offers the same thing
twice, whatever became of it.

What waits for a person is a question of the trust of who opened the session; what is tainted, or
reads like an order, an address or a command, waits whoever that is.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from django.db import transaction
from django.db.models import Func, TextField, Value

from accounts.caller import Caller
from accounts.errors import Forbidden, InvalidInput, NotFound
from memory.intake import rules
from memory.intake.actions import similar_memories
from memory.intake.actions.remember import Outcome, Prepared, decide, prepare, recorded
from memory.intake.validation import NewMemory
from memory.observer import promotion, session_report
from memory.observer.promotion import ObservedCandidate
from memory.records.models import Memory
from memory.sessions.models import Session
from memory.sessions.scratchpad import Scratchpad
from memory.taxonomy import MemoryType, Source, Status
from teams import trust
from teams.trust import TrustLevel

DIGEST_BYTES: Final = 8
SAME: Final = 2.0  # above every cosine: what shows the same signal is novel in no project
LONGEST_REASON: Final = 200  # characters, the column's
MOST_PREPARED: Final = 60  # candidates of a session that are embedded, the surest; not measured


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposing:
    """In whose name a session proposes memories, and how far they trust it."""

    caller: Caller
    level: TrustLevel


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A candidate that may be stored, and where it says it came from."""

    candidate: ObservedCandidate
    origin: str
    prepared: Prepared


def prepare_offers(
    *, who: Proposing, row: Session, proposed: tuple[ObservedCandidate, ...], dropped: Counter[str]
) -> tuple[Offer, ...]:
    """Draft and embed the surest candidates. Outside of a unit; what is dropped is counted."""
    made: list[Offer] = []
    dropped["over_bound"] += max(0, len(proposed) - MOST_PREPARED)
    for candidate in proposed[:MOST_PREPARED]:
        digest = hashlib.blake2b(candidate.key.encode(), digest_size=DIGEST_BYTES).hexdigest()
        origin = f"session:{row.id}#{candidate.key.partition(':')[0]}-{digest}"
        try:
            prepared = prepare(
                caller=who.caller, new=_new_memory(row, candidate, origin, who.level)
            )
        except (InvalidInput, Forbidden):  # of this candidate; the others stand
            dropped["not_storable"] += 1
            continue
        made.append(Offer(candidate=candidate, origin=origin, prepared=prepared))
    return tuple(made)


def reword(
    *, who: Proposing, row: Session, offered: tuple[Offer, ...], words: Mapping[str, str]
) -> tuple[Offer, ...]:
    """Draft and embed anew what was put into other words; refused ones keep their template's."""
    made: list[Offer] = []
    for one in offered:
        candidate = replace(
            one.candidate, content=words.get(one.candidate.key, one.candidate.content)
        )
        if candidate == one.candidate:
            made.append(one)
            continue
        try:
            new = _new_memory(row, candidate, one.origin, who.level)
            prepared = prepare(caller=who.caller, new=new)
            made.append(replace(one, candidate=candidate, prepared=prepared))
        except (InvalidInput, Forbidden):  # the template's words stand
            made.append(one)
    return tuple(made)


def choose(
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
        else max(
            similar_memories.nearest_cosine(
                caller=caller, new=one.prepared.checked.new, embedded=one.prepared.embedded
            ),
            _nearest_surer(one, fresh[:place]),
        )
        for place, one in enumerate(fresh)
    }
    bound = similar_memories.thresholds_of(project=row.project).novelty_cosine
    novel = sum(cosine <= bound for cosine in nearest.values())
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
) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """Send offers through the door. In a unit. Raises Conflict when somebody writes the same.

    Return what is told on the session of those that were taken, and how many ended how, by the
    names that a job reports.
    """
    promoted: list[dict[str, Any]] = []
    ended: Counter[str] = Counter()
    for one in offered:
        outcome = decided(caller=caller, prepared=one.prepared, now=now)
        if outcome is None:
            dropped["not_stored"] += 1
            continue
        ended[f"observed_{outcome.outcome}"] += 1
        if outcome.outcome == "refused":
            dropped[outcome.gate or "refused"] += 1
        if outcome.memory is not None:
            memory_id = str(outcome.memory.id)
            promoted.append(
                session_report.of_promoted(
                    candidate=one.candidate, memory_id=memory_id, outcome=outcome.outcome
                )
            )
    return promoted, dict(ended)


def proposed_memory(
    *,
    row: Session,
    level: TrustLevel,
    content: str,
    source: Source,
    type: MemoryType,
    reason: str,
    is_doubtful: bool = False,
) -> NewMemory:
    """Return what a session proposes, where the session stands; the rest its caller adds.

    What is tainted (`reason`), doubtful, or reads like an order, an address or a command waits for
    a person, however far its opener trusts memory.
    """
    has_alarm = bool(rules.of_content(content=content))
    return NewMemory(
        content=content,
        source=source.value,
        type=type.value,
        project=None if row.project_id is None else str(row.project_id),
        scope=row.scope,
        phase=row.phase,
        methodology=row.methodology,
        needs_review=trust.waits(level=level, is_doubtful=is_doubtful or has_alarm or bool(reason)),
        taint_reason=reason[:LONGEST_REASON],
        session_id=row.id,
    )


def _new_memory(
    row: Session, candidate: ObservedCandidate, origin: str, level: TrustLevel
) -> NewMemory:
    new = proposed_memory(
        row=row,
        level=level,
        content=candidate.content,
        source=candidate.source,
        type=candidate.type,
        reason=candidate.reason,
        is_doubtful=candidate.needs_review,
    )
    line = candidate.evidence[0].line if candidate.evidence else 0
    return replace(
        new,
        related_files=candidate.files,
        attributes=candidate.attributes,
        confidence=candidate.confidence,
        source_uri=origin,
        source_line=line or None,
        commit_sha=candidate.commit or row.commit,
    )


def _shown_before(row: Session, offered: tuple[Offer, ...]) -> frozenset[str]:
    """Return the signals that are stored in this place already, in whatever words. In a unit."""
    signs = {_sign(one.origin) for one in offered}
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


def _nearest_surer(offer: Offer, surer: tuple[Offer, ...]) -> float:
    """Return the highest cosine with a surer candidate of the same session."""
    own = offer.prepared.embedded
    others = (one.prepared.embedded for one in surer)
    cosines = (
        float(own.vector @ one.vector)
        for one in others
        if own is not None and one is not None and one.key == own.key
    )
    return max(cosines, default=0.0)


def decided(*, caller: Caller, prepared: Prepared, now: datetime) -> Outcome | None:
    """Send a draft through the door; return None where its place would not take it. In a unit."""
    try:
        with transaction.atomic():
            outcome = decide(caller=caller, prepared=prepared, now=now)
            return recorded(caller=caller, outcome=outcome)
    except (InvalidInput, Forbidden, NotFound):  # of this candidate; the others stand
        return None
