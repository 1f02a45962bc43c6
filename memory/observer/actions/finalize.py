"""Decide what an ended session has shown: promote, count, and say what was seen.

The job behind an ended session does this before it reads the turns. Everything is read in one unit
and thought about outside of any; then one unit holds all effects: the memories that wait for
review, the sums over sessions, what the session is said to have shown, and that this was done. A
worker that is killed has therefore done nothing, and a second run finds it done. When somebody goes
on with the session meanwhile, the decision is left to its next end.

A session that goes on is decided about as a whole at its next end, and sums hold it once.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import transaction

from accounts import tenancy
from accounts.errors import Conflict
from memory.customization.queries import trust_levels
from memory.experiments.actions import session_metrics
from memory.experiments.queries import session_figures
from memory.injection.actions import delivery_log
from memory.injection.session_start_rules import unprompted
from memory.observer import gates, parallel_agents, promotion, session_report, statistics
from memory.observer.actions import (
    counter_writes,
    prior_sessions,
    promoting,
    repeated_dead_ends,
    synthesize,
    unit_completion,
)
from memory.observer.actions.phrase_signals import Phrased, phrase_signals
from memory.observer.actions.promoting import Offer, Proposing, Sent
from memory.observer.actions.repeated_dead_ends import Entered
from memory.observer.actions.unit_completion import Ended
from memory.observer.detect import Known
from memory.observer.gates import Progress
from memory.observer.promotion import Candidate, SeenBefore
from memory.sessions import step_timeline_rules
from memory.sessions.actions import chain, scratchpads, step_timeline
from memory.sessions.actions.on_behalf import opener_of
from memory.sessions.events import Outcome
from memory.sessions.models import Session
from memory.sessions.scratchpad import Scratchpad
from memory.statistics import counters
from memory.statistics.quorum import Witnessed

KEPT: Final = (
    "piece",
    counter_writes.COUNTED_AT,
    delivery_log.SUGGESTED_FILES_KEY,
    chain.KEPT,
)  # of what was told of it before


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shown:
    """What a session has shown, and what it offers; `counted` are the signals that sums are of.

    `habits` is what it did without being told; it is what signals and sums are taken from.
    `ended` is what its methodology remembers of the unit of work that ended.
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
    entered: tuple[Entered, ...] = ()
    phrased: Phrased = field(default_factory=Phrased)
    ended: Ended = field(default_factory=Ended)
    dropped: Counter[str] = field(default_factory=Counter)


def finalize(*, session_id: UUID, now: datetime) -> Mapping[str, Any]:
    """Decide what a session has shown; return the counts, nothing where it is decided already.

    Raises PermanentFailure when who opened it is gone, may not write or does not see its project.
    """
    shown = _shown(session_id, now)
    if shown is None:
        return {}
    offered = promoting.offers(
        who=shown.who, row=shown.row, proposed=shown.proposed, dropped=shown.dropped
    )
    before = Counter(shown.dropped)
    offered, phrased = phrase_signals(
        who=shown.who, row=shown.row, scratchpad=shown.scratchpad, offered=offered, now=now
    )
    ended = unit_completion.prepared(who=shown.who, row=shown.row, scratchpad=shown.scratchpad)
    shown = replace(shown, phrased=phrased, ended=ended)
    try:
        with tenancy.unit(), transaction.atomic():
            return _finish(shown, offered, now)
    except Conflict:  # somebody stored the same between our look and our write: look again
        shown.dropped.clear()
        shown.dropped.update(before)
        with tenancy.unit():
            return _finish(shown, offered, now)


def is_due(*, row: Session) -> bool:
    """Say whether an ended session has events that nobody has decided about."""
    decided = (row.observed or {}).get("events", 0)
    return row.memory_eligible and row.state != "open" and row.events > decided


def _shown(session_id: UUID, now: datetime) -> _Shown | None:
    with tenancy.unit():
        row = Session.objects.select_related("project").filter(pk=session_id).first()
        if row is None or not is_due(row=row):
            return None
        caller = opener_of(row=row, now=now)
        level = trust_levels.level_of(caller=caller, project_id=row.project_id)
        opened = scratchpads.read(row=row)
        said = prior_sessions.verdicts(row=row)
        ends = repeated_dead_ends.known(caller=caller, row=row)
        named = delivery_log.suggested_files(session=row)
    scratchpad = _ended(scratchpads.settled(opened=opened))
    habits = unprompted(scratchpad=scratchpad, suggested=named)
    counted = statistics.found(scratchpad=habits)
    seen = parallel_agents.witnessed(scratchpad=habits, verdicts=said, known=counted)
    progress = _progress(scratchpad)
    with tenancy.unit():
        before = prior_sessions.seen_before(
            row=row, seen=seen, own=counter_writes.added_by(row=row)
        )
        results = scratchpads.of_the_product(row=row)
        entered = repeated_dead_ends.entered(row=row, scratchpad=scratchpad, known=ends)
    return _Shown(
        row=row,
        who=Proposing(caller=caller, level=level),
        scratchpad=scratchpad,
        habits=habits,
        counted=counted,
        seen=seen,
        before=before,
        proposed=promotion.propose(
            scratchpads=(scratchpad,),
            seen=seen,
            seen_before=before,
            progress=progress,
            results=results,
        ),
        is_open=gates.is_open(scratchpad=scratchpad, progress=progress),
        entered=entered,
    )


def _ended(scratchpad: Scratchpad) -> Scratchpad:
    """Return a session that has ended, also where no event said so."""
    return scratchpad if scratchpad.outcome else replace(scratchpad, outcome=Outcome.UNKNOWN)


def _progress(scratchpad: Scratchpad) -> Progress:
    """Return what happened to the work: one that ended well was accepted."""
    is_good = scratchpad.outcome is Outcome.SUCCESS
    return Progress(spec_accepted=is_good, review_done=is_good)


def _finish(shown: _Shown, offered: tuple[Offer, ...], now: datetime) -> Mapping[str, Any]:
    """Do all that follows from what a session has shown. In a unit."""
    row = Session.objects.select_for_update().filter(pk=shown.row.pk).first()
    if row is None or not is_due(row=row) or row.events != shown.row.events:
        return {}
    chosen = promoting.chosen(
        caller=shown.who.caller,
        row=row,
        scratchpad=shown.scratchpad,
        offered=offered,
        dropped=shown.dropped,
    )
    sent = promoting.send(caller=shown.who.caller, offered=chosen, now=now, dropped=shown.dropped)
    completed = unit_completion.store(who=shown.who, ended=shown.ended, now=now)
    _count(shown, row, now)
    row.observed = _observed(shown, row, sent)
    row.finalized_at = now
    session_metrics.measure(row=row, scratchpad=shown.scratchpad)
    row.save(update_fields=["observed", "finalized_at", "figures"])
    return {
        "events": row.events,
        "signals": len(shown.seen),
        "proposed": len(shown.proposed),
        "phrased": len(shown.phrased.words),
        **({"completed": completed} if completed else {}),
        **{f"observed_{name}": count for name, count in promoting.counts(sent=sent).items()},
    }


def _count(shown: _Shown, row: Session, now: datetime) -> None:
    """Bring a session into the sums, and queue the syntheses that it makes due. In a unit."""
    facts = statistics.of_session(
        scratchpad=shown.habits,
        found=shown.counted,
        task_type=row.type or shown.scratchpad.setting.type.value,
    )
    again = repeated_dead_ends.counts(entered=shown.entered)
    counts = (*counters.of_facts(facts=facts), *counters.of_signals(seen=shown.seen), *again)
    if counter_writes.count(row=row, counts=counts, now=now):
        synthesize.queue(row=row, modules=tuple(one.module for one in facts.modules))


def _observed(shown: _Shown, row: Session, sent: tuple[Sent, ...]) -> dict[str, Any]:
    """Return what the session is said to have shown; what was promoted before stays told."""
    told = session_report.of_signals(
        seen=shown.seen, before=shown.before, proposed=shown.proposed, is_open=shown.is_open
    )
    earlier = row.observed or {}
    promoted = [
        dict(
            session_report.of_promoted(
                candidate=one.offer.candidate,
                memory_id=str(one.outcome.memory.id),
                outcome=one.outcome.outcome,
            )
        )
        for one in sent
        if one.outcome is not None and one.outcome.memory is not None
    ]
    return {
        **session_report.of_scratchpad(scratchpad=shown.scratchpad),
        step_timeline.KEPT: _ribbon(shown, row),
        **told,
        "dropped": {**told["dropped"], **{name: n for name, n in shown.dropped.items() if n}},
        session_figures.REENTERED_KEY: [dict(one.as_json()) for one in shown.entered],
        "early": earlier.get("early", []),
        "phrasing": shown.phrased.as_json(),
        "promoted": [*earlier.get("promoted", []), *promoted],
        "events": row.events,
        **{name: earlier[name] for name in KEPT if name in earlier},
    }


def _ribbon(shown: _Shown, row: Session) -> Any:
    """Return the bars of a session's steps; once some are forgotten, they stay."""
    kept = (row.observed or {}).get(step_timeline.KEPT)
    if kept and scratchpads.is_cut(row=row):
        return kept
    return step_timeline_rules.to_rows(
        bars=step_timeline.drawn(row=row, scratchpad=shown.scratchpad)
    )
