"""Consolidate a session: take what is worth keeping from its turns.

The job behind an ended session. Part by part of at most 30 turns: read in one unit, extracted
outside of any, sent through the one door, and how far it came is written down, so that a killed
worker goes on there and a second run finds nothing left. Two never read one session at once.
What is taken waits for review as far as who opened the session asks for it, and always where
outside content came into the session, where nobody has looked yet at all that its agent did, or
where it reads like an order; it stands where its session stands. A session that somebody goes on
with before the job begins is left to its next end; one that goes on
once it is decided about what it has shown is read all the same, so that no end is too short for it.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID, uuid4

from django.utils import timezone

from accounts import tenancy
from accounts.errors import Forbidden, InvalidInput, NotFound, Unavailable
from accounts.messages import message
from memory.extraction import actions as extraction
from memory.extraction import extract, model_answers
from memory.injection.eligibility import RULES
from memory.intake.actions.remember import NewMemory, remember
from memory.intake.integrate import Judged
from memory.observer import promotion
from memory.observer.actions import offers
from memory.sessions import queries as sessions
from memory.sessions.actions import append_turns, scratchpads
from memory.sessions.models import Session
from memory.sessions.turns import Turn
from memory.taxonomy import PERSON, STATED_BY, Source

# Defaults, not measured.
MOST_MEMORIES: Final = 30  # a session: what has more is no conversation
LEASE_MINUTES: Final = 10  # that a part takes at most; who is silent for longer is gone
READ_AT_ONCE: Final = 300  # turns of a unit
MISSED: Final = "missed_from"  # of a result: after which turn a model failed
MISSED_TRIES: Final = "missed_tries"
TRIES_MOST: Final = 3  # to read again; then words have had the last word

Tell = Callable[[int, int], None]


@dataclass(slots=True, kw_only=True)
class Consolidation:
    """What one consolidation has to do and has done so far."""

    session: Session
    who: offers.Proposing
    allowance: extraction.Allowance
    now: datetime
    holder: UUID
    counts: Counter[str] = field(default_factory=Counter)
    noted: Counter[str] = field(default_factory=Counter)  # of the counts, by the session's row
    dropped: Counter[str] = field(default_factory=Counter)
    degraded: Counter[str] = field(default_factory=Counter)
    missed: int | None = None  # the turn before the first that a model failed on, in any run
    is_failed_try: bool = False  # a model answered in this run, and not well


def consolidate(
    *,
    session_id: UUID,
    now: datetime,
    tell: Tell,
    holder: UUID | None = None,
    is_decided: bool = False,
) -> Mapping[str, Any]:
    """Take what is worth keeping from a session's new turns; return the counts, with a reason.

    `holder` is the job that does it: the same one goes on where it was killed, another one waits.
    `is_decided`: it has just decided what the session showed, so that it is read though it goes on.
    Raises Unavailable while another one reads the session.
    Raises PermanentFailure when who opened it is gone, may not write or does not see its project.
    """
    run = begin(session_id, holder or uuid4(), now, is_decided=is_decided)
    if run is None:
        return {"gone": 1}  # or open again: its next end takes it
    row, tenant = run.session, tenancy.current().schema_name
    run.missed = row.result.get(MISSED)
    with tenancy.unit():
        total = row.turns.filter(sequence__gt=row.taken_through).count()
    while turns := _next_turns(row):
        for batch in model_answers.batches(turns=turns):
            found = extraction.extract_part(turns=batch, allowance=run.allowance, tenant=tenant)
            take(run, found, turns=len(batch))
            if found.degraded == extraction.Degraded.MODEL_FAILED.value:
                before = batch[0].sequence - 1
                run.missed = before if run.missed is None else min(run.missed, before)
                run.is_failed_try |= not found.spent.is_away
            run.counts["turns"] += len(batch)
            _advance(run, batch[-1].sequence)
            tell(run.counts["turns"], total)
    return finish(run)


def origin_of(*, row: Session, turn: int) -> str:
    """Return the address of a turn, as its memories name it."""
    return f"session:{row.id}#turn-{turn}"


def begin(
    session_id: UUID, holder: UUID, now: datetime, *, is_decided: bool
) -> Consolidation | None:
    """Hold a session for reading; None where it is gone or goes on. Opens a unit."""
    with tenancy.unit():
        rows = Session.objects.select_for_update(of=("self",)).select_related("project")
        row = rows.filter(pk=session_id).first()
        if row is None or (row.state == "open" and not is_decided):
            return None
        is_held = row.read_until is not None and row.read_until > timezone.now()
        if is_held and row.read_by != holder:
            raise _read_by_another()
        row.read_by = holder
        _save(row, "read_by")
        caller = sessions.opener_of(row=row, now=now)
        return Consolidation(
            session=row,
            who=offers.proposing(caller=caller, row=row),
            allowance=extraction.of_session(row=row, now=now),
            now=now,
            holder=holder,
        )


def _next_turns(row: Session) -> tuple[Turn, ...]:
    with tenancy.unit():
        row.refresh_from_db(fields=["taken_through"])  # what came late has moved it back
        return sessions.spoken(session_id=row.id, after=row.taken_through, limit=READ_AT_ONCE)


def _hold(run: Consolidation) -> Session:
    """Lock the session's row. In a unit. Raises Unavailable when another job has taken over."""
    row = Session.objects.select_for_update().get(pk=run.session.pk)
    if row.read_by != run.holder:
        raise _read_by_another()
    return row


def _read_by_another() -> Unavailable:
    return Unavailable(
        detail="Another job reads this session now.", hint="New events are read after that."
    )


def _save(row: Session, *fields: str) -> None:
    """Save fields of a held row, and hold it for another while."""
    row.read_until = timezone.now() + timedelta(minutes=LEASE_MINUTES)
    row.save(update_fields=[*fields, "read_until"])


def _note(run: Consolidation, row: Session) -> None:
    """Add to the row what this run has counted since; a run that is killed has spent it."""
    since = {name: value - run.noted[name] for name, value in run.counts.items()}
    sums = {name: int(row.result.get(name, 0)) + added for name, added in since.items()}
    row.result = {**row.result, **sums}
    run.noted = Counter(run.counts)


def take(run: Consolidation, found: extraction.Extracted, *, turns: int) -> None:
    """Store the candidates of a part, within what a session may add.

    What they are to what is known is asked where its turns may cost another call. What only the
    opener sees leaves nowhere then.
    """
    run.counts["candidates"] += len(found.candidates)
    book(run, found)
    row = run.session
    gate = promotion.of_turns(setting=scratchpads.setting_of(row=row))
    fitting = [one for one in found.candidates if gate is None or one.type in gate.types]
    if left_out := len(found.candidates) - len(fitting):
        run.dropped[promotion.Why.OTHER_TYPES.value] += left_out
    ordered = sorted(fitting, key=lambda one: -one.importance)
    news = tuple(_new_memory(run, candidate, found) for candidate in ordered)
    allowance = replace(
        run.allowance,
        may_leave=row.audience != row.opened_by,
        of_turns=turns * run.allowance.per_turn - found.spent.calls,
    )
    judged = extraction.judge(caller=run.who.caller, news=news, allowance=allowance, now=run.now)
    run.counts["compared"] += judged.pairs
    run.counts["judged"] += sum(map(len, judged.judged.values()))
    book(run, judged)
    # The cap of its type holds with what was observed.
    most = MOST_MEMORIES if gate is None else offers.room(row=row)
    for number, new in enumerate(news):
        if run.counts["added"] + int(row.result.get("added", 0)) >= most:
            run.dropped["over_bound"] += 1
        else:
            _remember(run, new, judged.judged.get(number, ()))


def _remember(run: Consolidation, new: NewMemory, judged: tuple[Judged, ...]) -> None:
    """Send a candidate through the door, and count what became of it."""
    try:
        outcome = remember(caller=run.who.caller, new=new, now=run.now, judged=judged)
    except (InvalidInput, Forbidden, NotFound):  # of this candidate; the others stand
        run.dropped["not_stored"] += 1
        return
    if outcome.outcome == "refused":
        run.dropped[outcome.gate or "refused"] += 1
    else:
        run.counts[outcome.outcome] += 1


def book(run: Consolidation, asked: extraction.Extracted | extraction.Judgment) -> None:
    """Book what a call cost, and take over what became of the session since, under its lock."""
    run.allowance = extraction.after(allowance=run.allowance, spent=asked.spent)
    run.dropped.update(asked.dropped)
    run.counts.update({"calls": asked.spent.calls, "tokens": asked.spent.tokens})
    if asked.degraded:
        run.degraded[asked.degraded] += 1
    with tenancy.unit():
        extraction.book_use(spent=asked.spent, project_id=run.session.project_id, now=run.now)
        row = _hold(run)
        _note(run, row)
        _save(row, "result")
    run.session.state, run.session.events = row.state, row.events
    run.session.observed = row.observed


def _new_memory(
    run: Consolidation, candidate: extract.Candidate, found: extraction.Extracted
) -> NewMemory:
    """Return a candidate as it is stored; in a tainted session nobody knows what it rests on.

    What words alone have found waits for a person, unless one asked to keep it: of 100 sentences
    that earlier rules took from public conversations 34 were worth keeping. Today's rules take 8 of
    these 100, and 4 of the 8 are worth keeping (`tests.bench.bench_foreign`).
    """
    row = run.session
    observed = row.observed or {}
    is_sure = candidate.certainty >= extract.CERTAIN
    is_rule = candidate.turn in found.firsthand and candidate.type in RULES and is_sure
    is_guess = found.method == extraction.Mode.HEURISTIC.value and not candidate.is_asked
    new = offers.proposed_memory(
        row=row,
        who=run.who,
        content=candidate.content,
        source=Source.EXTRACTED,
        type=candidate.type,
        reason=str(observed.get("tainted_by", "") or observed.get(append_turns.HANDED_IN, "")),
        is_doubtful=is_guess or row.state == "open" or row.events > observed.get("events", 0),
    )
    return replace(
        new,
        related_files=candidate.files,
        attributes={STATED_BY: PERSON} if is_rule else {},
        confidence=candidate.certainty,
        event_at=candidate.event_at,
        source_uri=origin_of(row=row, turn=candidate.turn),
        source_line=candidate.line,
    )


def _advance(run: Consolidation, sequence: int) -> None:
    """Write down how far it came; a turn that came late and stands before that is read next."""
    with tenancy.unit():
        row = _hold(run)
        if row.taken_through >= run.session.taken_through:
            row.taken_through = max(row.taken_through, sequence)
        _note(run, row)
        _save(row, "taken_through", "result")
    run.session.taken_through = row.taken_through


def _why(run: Consolidation) -> str:
    """Say in words why nothing was added; empty where something was."""
    counts = run.counts
    if counts["added"]:
        return ""
    if MISSED in run.session.result:  # it was read again, and nothing new was found
        return str(run.session.result.get("why", ""))
    if not counts["turns"]:
        return message("There was no new turn to look at.")
    if not counts["candidates"]:
        return message("Nothing in it was worth keeping.")
    if counts["known"] + counts["confirmed"] > 0:
        return message("All of it is known already.")
    return message("No memory passed the intake checks.")


def finish(run: Consolidation) -> Mapping[str, Any]:
    """Write down what it came to; in words it is the newest."""
    told: dict[str, Any] = {"why": _why(run)}
    told |= {"dropped": dict(run.dropped)} if run.dropped else {}
    told |= {"degraded": dict(run.degraded)} if run.degraded else {}
    with tenancy.unit():
        row = _hold(run)
        _note(run, row)
        row.result = {**_without_missed(run, row.result), **told}
        row.consolidated_at = run.now
        row.state = "consolidated" if row.state == "ended" else row.state
        row.read_by = row.read_until = None
        row.save(update_fields=["result", "state", "consolidated_at", "read_by", "read_until"])
    return {**run.counts, **told}


def _without_missed(run: Consolidation, result: Mapping[str, Any]) -> dict[str, Any]:
    """Return a result with from where a model may read again, if it may."""
    names = {MISSED, "degraded"} if run.missed is None else {MISSED}
    kept = {name: value for name, value in result.items() if name not in names}
    tries = int(result.get(MISSED_TRIES, 0)) + run.is_failed_try
    if run.missed is None or tries > TRIES_MOST:
        return kept
    return {**kept, MISSED: run.missed, MISSED_TRIES: tries}
