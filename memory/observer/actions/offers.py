"""Offer candidates of a session to the one door, and store what is novel.

Outside of a unit each candidate is checked with its vector (`prepare_offers`); inside of one it is
compared with what is stored, and what is novel is decided in its place (`choose`, `send`). Where a
candidate came from stands in its origin, so that the same session never offers the same thing
twice, whatever became of it.

What waits for a person is a question of the trust of who opened the session; what is tainted, or
reads like an order, an address or a command, waits whoever that is.

In between a model may put those that would be kept into better words, in one call of a session's
life (`phrase_signals`), within what the session and the month may spend: the call is for the end,
which sees the most. What only its person sees is never shown to a model that is not on this
machine, unless they agreed. Whatever goes wrong, the words of the template stay, and the session
says so.
"""

import hashlib
import secrets
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import transaction
from django.db.models import Func, TextField, Value

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import Forbidden, InvalidInput, NotFound
from memory.customization.queries import trust_level_of
from memory.extraction import actions as extraction
from memory.extraction import model_answers
from memory.intake import echoes_and_alarms
from memory.intake.actions import remember, similar_memories
from memory.observer import promotion
from memory.records import changes
from memory.records.models import Memory
from memory.secrets import scanner
from memory.sessions.actions import scratchpads
from memory.sessions.models import Session
from memory.taxonomy import MemoryType, Scope, Source, Status
from teams import queries as places
from teams import trust

DIGEST_BYTES: Final = 8
LONGEST_REASON: Final = 200  # characters, the column's
MOST_PREPARED: Final = 60  # candidates of a session that are embedded, the surest; not measured
MOST_PHRASED: Final = 20  # signals a call: as many as a session can promote
LONGEST_SIGNAL: Final = 900  # characters of one in a call; default, not measured
TOKENS_A_SIGNAL: Final = 160  # of an answer; default, not measured
CALLS: Final = "phrasing_calls"  # of a session's result: it has one
SPENT: Final = "phrased_before"


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposing:
    """In whose name a session proposes memories, and how far they trust it."""

    caller: Caller
    level: trust.TrustLevel
    proposes_to_project: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A candidate that may be stored, and where it says it came from."""

    candidate: promotion.ObservedCandidate
    origin: str
    prepared: remember.Prepared


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrased:
    """How many candidates have better words, what was dropped, and what was missing."""

    phrased: int = 0
    dropped: Mapping[str, int] = field(default_factory=dict)
    degraded: str = ""


def proposing(*, caller: Caller, row: Session) -> Proposing:
    """Return in whose name a session proposes, and to whom. In a unit."""
    project = row.project if row.project_id else None
    return Proposing(
        caller=caller,
        level=trust_level_of(caller=caller, project_id=row.project_id),
        proposes_to_project=places.proposes_to_project(
            row=project, organization_id=caller.organization_id
        ),
    )


def prepare_offers(
    *,
    who: Proposing,
    row: Session,
    proposed: tuple[promotion.ObservedCandidate, ...],
    dropped: Counter[str],
) -> tuple[Offer, ...]:
    """Draft and embed the surest candidates. Outside of a unit; what is dropped is counted."""
    made: list[Offer] = []
    dropped["over_bound"] += max(0, len(proposed) - MOST_PREPARED)
    for candidate in proposed[:MOST_PREPARED]:
        digest = hashlib.blake2b(candidate.key.encode(), digest_size=DIGEST_BYTES).hexdigest()
        origin = f"session:{row.id}#{candidate.key.partition(':')[0]}-{digest}"
        offer = _offer(who, row, candidate, origin)
        if offer is None:
            dropped["not_storable"] += 1
        else:
            made.append(offer)
    return tuple(made)


def _offer(
    who: Proposing, row: Session, candidate: promotion.ObservedCandidate, origin: str
) -> Offer | None:
    """Draft and embed a candidate; None where it cannot be stored: the others stand."""
    new = replace(
        proposed_memory(
            row=row,
            who=who,
            content=candidate.content,
            source=candidate.source,
            type=candidate.type,
            reason=candidate.reason,
            is_doubtful=candidate.needs_review,
        ),
        related_files=candidate.files,
        attributes=candidate.attributes,
        confidence=candidate.confidence,
        source_uri=origin,
        source_line=(candidate.evidence[0].line or None) if candidate.evidence else None,
        commit_sha=candidate.commit or row.commit,
    )
    if candidate.is_for_author:
        new = replace(new, scope=Scope.PERSONAL.value)
    try:
        prepared = remember.prepare(caller=who.caller, new=new)
    except (InvalidInput, Forbidden):
        return None
    return Offer(candidate=candidate, origin=origin, prepared=prepared)


def proposed_memory(
    *,
    row: Session,
    who: Proposing,
    content: str,
    source: Source,
    type: MemoryType,
    reason: str,
    is_doubtful: bool = False,
) -> remember.NewMemory:
    """Return what a session proposes, where the session stands; the rest its caller adds.

    What is tainted (`reason`), doubtful, or reads like an order, an address or a command waits for
    a person, however far its opener trusts memory. What waits is proposed to the project where that
    is its policy; what is tainted stays with its author, and so does what waits for nobody.
    """
    has_alarm = bool(echoes_and_alarms.of_content(content=content))
    is_doubtful = is_doubtful or has_alarm or bool(reason)
    waits = trust.waits(level=who.level, is_doubtful=is_doubtful)
    is_personal = row.scope == Scope.PERSONAL
    is_proposed = who.proposes_to_project and is_personal and waits and not reason
    return remember.NewMemory(
        content=content,
        source=source.value,
        type=type.value,
        project=None if row.project_id is None else str(row.project_id),
        scope=Scope.PROJECT.value if is_proposed else row.scope,
        phase=row.phase,
        methodology=row.methodology,
        needs_review=waits,
        taint_reason=reason[:LONGEST_REASON],
        session_id=row.id,
        work_unit=row.work_unit,
    )


def phrase_signals(
    *,
    who: Proposing,
    row: Session,
    offered: tuple[Offer, ...],
    now: datetime,
) -> tuple[tuple[Offer, ...], Phrased]:
    """Return the offers, those that would be kept in better words, with at most one call."""
    with tenancy.unit():
        allowance = extraction.of_session(row=row, now=now)
        is_spent = bool(Session.objects.get(pk=row.pk).result.get(CALLS))
    if not offered or allowance.mode is extraction.Mode.HEURISTIC:
        return offered, Phrased()
    if is_spent:
        return offered, Phrased(degraded=SPENT)
    missing, model = extraction.model_for(allowance=allowance, tenant=tenancy.current().schema_name)
    if model is None:
        return offered, Phrased(degraded=str(missing))
    with tenancy.unit():  # a look alone: what is kept is decided again when it is stored
        worth = choose(caller=who.caller, row=row, offered=offered, dropped=Counter())
    asked = tuple(one.candidate for one in worth)[:MOST_PHRASED]
    if not asked:
        return offered, Phrased()
    nonce = secrets.token_hex(extraction.NONCE_BYTES)
    entries = (
        {
            "kind": one.key.partition(":")[0],
            "becomes": one.type.value,
            "files": one.files,
            "says": one.content,
        }
        for one in asked
    )
    data, spent = extraction.ask(
        model=model,
        question=model_answers.PHRASE,
        nonce=nonce,
        text=model_answers.write_entries(
            name="signal", entries=entries, nonce=nonce, longest=LONGEST_SIGNAL
        ),
        max_output_tokens=TOKENS_A_SIGNAL * (len(asked) + 1),
    )
    extraction.book(session_id=row.id, spent=spent, now=now, counted_as=CALLS)
    if data is None:
        return offered, Phrased(degraded=extraction.Degraded.MODEL_FAILED.value)
    words, dropped = _read_words(data, asked)
    reworded = tuple(_reworded(who, row, one, words) for one in offered)
    return reworded, Phrased(phrased=len(words), dropped=dict(+dropped))


def _reworded(who: Proposing, row: Session, one: Offer, words: Mapping[str, str]) -> Offer:
    """Draft and embed an offer anew in other words; refused ones keep their template's."""
    text = words.get(one.candidate.key)
    if text is None:
        return one
    return _offer(who, row, replace(one.candidate, content=text), one.origin) or one


def _read_words(
    data: Mapping[str, Any], asked: tuple[promotion.ObservedCandidate, ...]
) -> tuple[dict[str, str], Counter[str]]:
    """Return a model's words by the keys of candidates, without secrets; what was dropped."""
    said = [" ".join((one.content, *one.files)) for one in asked]
    found, dropped = model_answers.read_phrases(data=data, said=said)
    words = {
        asked[place].key: text
        for place, text in found.items()
        if not scanner.find_secrets(text=text)
    }
    dropped["secret"] += len(found) - len(words)
    return words, dropped


def choose(
    *, caller: Caller, row: Session, offered: tuple[Offer, ...], dropped: Counter[str]
) -> tuple[Offer, ...]:
    """Return the novel ones, as many as the session's type allows. In a unit."""
    before = set(
        Memory.objects.filter(session_id=row.id, source_uri__startswith=f"session:{row.id}#")
        .order_by()
        .values_list("source_uri", flat=True)
    )
    fresh = tuple(one for one in offered if one.origin not in before)
    dropped["taken_before"] += len(offered) - len(fresh)
    # what is stored in this place already, in whatever words
    audiences = (row.audience, row.opened_by, row.project_id)
    rows = Memory.objects.filter(
        audience__in=[one for one in audiences if one is not None],
        project=row.project_id,
        status=Status.ACTIVE.value,
        source__in={one.candidate.source.value for one in fresh},
        source_uri__startswith="session:",
    )
    sign = Func("source_uri", Value("#"), 2, function="split_part", output_field=TextField())
    found = rows.annotate(sign=sign).filter(sign__in={_sign(one.origin) for one in fresh})
    same = frozenset(found.order_by().values_list("sign", "audience"))
    novel = _novel_ones(caller, row, fresh, same)
    kept = novel[: room(row=row)]
    dropped["known"] += len(fresh) - len(novel)
    dropped["over_bound"] += len(novel) - len(kept)
    return kept


def _novel_ones(
    caller: Caller,
    row: Session,
    fresh: tuple[Offer, ...],
    same: Collection[tuple[str, UUID | None]],
) -> tuple[Offer, ...]:
    """Return what is not there yet; what was kept for its author alone is offered to others."""
    bound = similar_memories.thresholds_of(project=row.project).novelty_cosine
    own = frozenset(sign for sign, audience in same if audience == row.opened_by)
    return tuple(
        one
        for place, one in enumerate(fresh)
        if not _is_same(one, row, same)
        if _sign(one.origin) in own or not _is_known(caller, one, fresh[:place], bound)
    )


def _is_same(one: Offer, row: Session, same: Collection[tuple[str, UUID | None]]) -> bool:
    """Say whether what a signal became is there already, for those whom the offer is for."""
    sign = _sign(one.origin)
    is_shared = one.prepared.checked.new.scope == Scope.PROJECT
    audiences = {row.project_id} if is_shared else {row.audience, row.opened_by, row.project_id}
    return any((sign, audience) in same for audience in audiences)


def room(*, row: Session) -> int:
    """Return how many memories a session of its type may still propose."""
    most = promotion.GATES[scratchpads.setting_of(row=row).type].most
    return max(0, most - len((row.observed or {}).get("promoted", ())))


def _sign(origin: str) -> str:
    """Return which signal an origin names, of whichever session."""
    return origin.partition("#")[2]


def _is_known(caller: Caller, offer: Offer, surer: tuple[Offer, ...], bound: float) -> bool:
    """Say whether what is stored, or a surer candidate of the session, says all of it already."""
    new, own = offer.prepared.checked.new, offer.prepared.embedded
    near = (
        each.prepared.checked.new.content
        for each in surer
        if own is not None
        and (other := each.prepared.embedded) is not None
        and other.key == own.key
        and float(own.vector @ other.vector) > bound
    )
    if any(changes.adds_nothing(old=content, new=new.content) for content in near):
        return True
    return similar_memories.is_known(caller=caller, new=new, embedded=own, above=bound)


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
                promotion.describe_promoted(
                    candidate=one.candidate, memory_id=memory_id, outcome=outcome.outcome
                )
            )
    return promoted, dict(ended)


def decided(
    *, caller: Caller, prepared: remember.Prepared, now: datetime
) -> remember.Outcome | None:
    """Send a draft through the door; return None where its place would not take it. In a unit."""
    try:
        with transaction.atomic():
            outcome = remember.decide(caller=caller, prepared=prepared, now=now)
            return remember.recorded(caller=caller, outcome=outcome)
    except (InvalidInput, Forbidden, NotFound):  # of this candidate; the others stand
        return None
