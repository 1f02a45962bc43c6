"""From what a session shows to memories, most of which wait, through the one door.

`show` reads what a session has shown and proposes candidates. Outside of a unit each candidate is
checked with its vector (`offers`); inside of one it is compared with what is stored, and what is
novel is decided in its place (`choose`, `send`). Where a candidate came from stands in its origin,
so that the same session never offers the same thing twice, whatever became of it.

What waits for a person is a question of the trust of who opened the session; what is tainted, or
reads like an order, an address or a command, waits whoever that is.

A long build is promoted while it runs (`promote_piece`): after each subtask that was validated it
offers what it has shown so far, by templates. The sums over sessions, and what the session is said
to have shown, wait for its end, where the same thing is never offered again.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import transaction
from django.db.models import Func, Q, TextField, Value

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import Forbidden, InvalidInput, NotFound
from memory.customization.queries import trust_level_of
from memory.index.actions import embedding
from memory.index.sql import search_rows
from memory.injection.actions import delivery_log
from memory.injection.session_start_rules import unprompted
from memory.intake import planting_alarms
from memory.intake.actions import similar_memories
from memory.intake.actions.candidate import find_placement
from memory.intake.actions.remember import Outcome, Prepared, decide, prepare, recorded
from memory.intake.queries import Spot
from memory.intake.validation import NewMemory
from memory.observer import detect, evidence_texts, promotion, session_facts, session_report
from memory.observer.actions import prior_sessions
from memory.observer.detect import Known, Witnessed
from memory.observer.promotion import Candidate, SeenBefore
from memory.records.models import Memory
from memory.sessions.actions import scratchpads
from memory.sessions.events import Event, EventKind, from_row
from memory.sessions.models import Session, Turn
from memory.sessions.queries.sessions import opener_of
from memory.sessions.scratchpad import Scratchpad
from memory.taxonomy import MemoryType, Source, Status
from teams import trust
from teams.trust import TrustLevel

DIGEST_BYTES: Final = 8
SAME: Final = 2.0  # above every cosine: what shows the same signal is novel in no project
LONGEST_REASON: Final = 200  # characters, the column's

# Defaults, not measured.
MOST_PREPARED: Final = 60  # candidates of a session that are embedded, the surest
PRODUCT_MOST: Final = 500  # results of tools that drive the product
DRIVES: Final = rf"(^|__)({'|'.join(sorted(evidence_texts.TOOLS))})$"


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
class Shown:
    """What a session has shown, and what it offers.

    `habits` is what it did without being told; it is what signals and sums are taken from.
    `counted` are the signals that sums are of.
    """

    row: Session
    who: Proposing
    scratchpad: Scratchpad
    habits: Scratchpad
    counted: Known
    seen: tuple[Witnessed, ...]
    before: SeenBefore
    proposed: tuple[Candidate, ...]
    is_open: bool


def show(*, row: Session, scratchpad: Scratchpad, now: datetime, is_piece: bool = False) -> Shown:
    """Find what a session has shown, and what is worth proposing of it. Outside of a unit.

    Raises PermanentFailure when who opened it is gone, may not write or does not see its project.
    """
    with tenancy.unit():
        caller = opener_of(row=row, now=now)
        level = trust_level_of(caller=caller, project_id=row.project_id)
        verdicts = prior_sessions.verdicts(row=row)
        named = delivery_log.suggested_files(session=row)
    habits = unprompted(scratchpad=scratchpad, suggested=named)
    counted = session_facts.find_counted(scratchpad=habits)
    seen = detect.witnessed(scratchpad=habits, verdicts=verdicts, known=counted)
    with tenancy.unit():
        own = prior_sessions.added_by(row=row)
        before = prior_sessions.seen_before(row=row, seen=seen, own=own)
        results = _product_results(row)
    return Shown(
        row=row,
        who=Proposing(caller=caller, level=level),
        scratchpad=scratchpad,
        habits=habits,
        counted=counted,
        seen=seen,
        before=before,
        proposed=promotion.propose(
            scratchpad=scratchpad,
            seen=seen,
            seen_before=before,
            is_piece=is_piece,
            results=results,
        ),
        is_open=promotion.is_gate_open(scratchpad=scratchpad, is_piece=is_piece),
    )


def offers(
    *, who: Proposing, row: Session, proposed: tuple[Candidate, ...], dropped: Counter[str]
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


def reworded(
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
            nearest_of(caller=caller, prepared=one.prepared),
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


def promote_piece(*, session_id: UUID, now: datetime) -> Mapping[str, Any]:
    """Promote what a running build has shown, if a subtask was validated since; return the counts.

    Raises PermanentFailure when who opened it is gone, may not write or does not see its project,
    and Conflict when somebody stores the same at the same moment.
    """
    with tenancy.unit():
        running = Session.objects.select_related("project").filter(
            pk=session_id, state="open", memory_eligible=True
        )
        row = running.first()
        if row is None or not promotion.is_piecewise(setting=scratchpads.setting_of(row=row)):
            return {}
        opened = scratchpads.read(row=row)
    scratchpad = scratchpads.settled(opened=opened)
    report = promotion.validated(scratchpad=scratchpad)
    if report <= int((row.observed or {}).get("piece", 0)):
        return {}
    shown = show(row=row, scratchpad=scratchpad, now=now, is_piece=True)
    dropped, caller = Counter[str](), shown.who.caller
    offered = offers(who=shown.who, row=row, proposed=shown.proposed, dropped=dropped)
    with tenancy.unit(), transaction.atomic():
        held = Session.objects.select_for_update().filter(pk=session_id, state="open").first()
        before = {} if held is None else held.observed or {}
        if held is None or report <= int(before.get("piece", 0)):
            return {}
        kept = choose(
            caller=caller, row=held, scratchpad=scratchpad, offered=offered, dropped=dropped
        )
        promoted, counts = send(caller=caller, offered=kept, now=now, dropped=dropped)
        told = [*before.get("promoted", []), *promoted]
        held.observed = {**before, "piece": report, "promoted": told}
        held.save(update_fields=["observed"])
    return {"pieces": 1, **counts}


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
    has_alarm = bool(planting_alarms.of_content(content=content))
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


def _new_memory(row: Session, candidate: Candidate, origin: str, level: TrustLevel) -> NewMemory:
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


def nearest_of(*, caller: Caller, prepared: Prepared) -> float:
    """Return the highest cosine with what is stored there; 0 while it cannot be compared."""
    embedded = prepared.embedded
    if embedded is None or embedded.key != embedding.active_model()[1]:
        return 0.0
    where = find_placement(caller=caller, new=prepared.checked.new)
    model_id = embedding.space_id(key=embedded.key)
    project_id = None if where.project is None else where.project.id
    here = Spot(model_id=model_id, audience=where.audience, project_id=project_id)
    beside = similar_memories.counterpart(caller=caller, where=where, model_id=model_id)
    nearest = 0.0
    for spot in (here,) if beside is None else (here, beside):
        found = search_rows.nearest(
            model_id=spot.model_id,
            vector=embedded.vector,
            audience=spot.audience,
            project_id=spot.project_id,
            limit=1,
        )
        nearest = max(nearest, found[0][1] if found else 0.0)
    return nearest


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


def _product_results(row: Session) -> tuple[Event, ...]:
    """Return the results of tools that drive the running product, the first of them. In a unit.

    A result that does not say its tool is that of its call.
    """
    done = Turn.done.filter(session_id=row.id)
    driven = done.filter(body__name__regex=DRIVES)
    calls = driven.filter(body__kind=EventKind.TOOL_CALL.value).exclude(body__call=None)
    names = dict(calls.order_by().values_list("body__call", "body__name")[:PRODUCT_MOST])
    is_result = Q(body__name__regex=DRIVES) | Q(body__call__in=list(names))
    rows = done.filter(is_result, body__kind=EventKind.TOOL_RESULT.value).order_by("sequence")
    found = (
        from_row(sequence=sequence, row=body or {})
        for sequence, body in rows.values_list("sequence", "body")[:PRODUCT_MOST]
    )
    return tuple(one if one.name else replace(one, name=names[one.call]) for one in found)
