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
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import transaction

from accounts import tenancy
from accounts.errors import Conflict
from memory.experiments import queries as experiments
from memory.experiments.actions import measurement
from memory.injection.actions import delivery_log
from memory.intake.actions.remember import Prepared
from memory.observer import detect, promotion, queries, reentered_dead_ends
from memory.observer.actions import (
    offers,
    prior_sessions,
    session_findings,
    synthesize,
    unit_completion,
)
from memory.sessions import counters
from memory.sessions.actions import append_turns, scratchpads
from memory.sessions.events import Outcome
from memory.sessions.models import Session

KEPT: Final = (  # of what was told of a session before
    "piece",
    delivery_log.SUGGESTED_FILES_KEY,
    scratchpads.CARRIED,
    append_turns.HANDED_IN,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Decision:
    """What is to be stored of a session, all at once."""

    shown: session_findings.SessionFindings
    offered: tuple[offers.Offer, ...]
    phrased: offers.Phrased
    completion: tuple[Prepared, ...]
    entered: tuple[reentered_dead_ends.Reentry, ...]
    dropped: Counter[str] = field(default_factory=Counter)


def finalize(*, session_id: UUID, now: datetime) -> Mapping[str, Any]:
    """Decide what a session has shown; return the counts, nothing where it is decided already.

    Raises PermanentFailure when who opened it is gone, may not write or does not see its project.
    """
    with tenancy.unit():
        row = Session.objects.select_related("project").filter(pk=session_id).first()
        if row is None or not is_due(row=row):
            return {}
        opened = scratchpads.read(row=row)
    scratchpad = scratchpads.settled(opened=opened)
    if scratchpad.outcome is None:  # it has ended, also where no event said so
        scratchpad = replace(scratchpad, outcome=Outcome.UNKNOWN)
    shown = session_findings.show(row=row, scratchpad=scratchpad, now=now)
    who = shown.who
    with tenancy.unit():
        entered = queries.find_reentries(caller=who.caller, row=row, scratchpad=scratchpad)
    dropped: Counter[str] = Counter()
    offered = offers.prepare_offers(who=who, row=row, proposed=shown.proposed, dropped=dropped)
    offered, phrased = offers.phrase_signals(who=who, row=row, offered=offered, now=now)
    completion = unit_completion.prepare_completion(who=who, row=row, scratchpad=scratchpad)
    decision = _Decision(
        shown=shown,
        offered=offered,
        phrased=phrased,
        completion=completion,
        entered=entered,
        dropped=dropped.copy(),
    )
    try:
        with tenancy.unit(), transaction.atomic():
            return _finish(decision, now)
    except Conflict:  # somebody stored the same between our look and our write: look again
        with tenancy.unit():
            return _finish(replace(decision, dropped=dropped), now)


def is_due(*, row: Session) -> bool:
    """Say whether an ended session has events that nobody has decided about."""
    decided = (row.observed or {}).get("events", 0)
    return row.memory_eligible and row.state != "open" and row.events > decided


def _finish(decision: _Decision, now: datetime) -> Mapping[str, Any]:
    """Do all that follows from what a session has shown. In a unit."""
    shown, dropped = decision.shown, decision.dropped
    row = Session.objects.select_for_update().filter(pk=shown.row.pk).first()
    if row is None or not is_due(row=row) or row.events != shown.row.events:
        return {}
    caller = shown.who.caller
    chosen = offers.choose(caller=caller, row=row, offered=decision.offered, dropped=dropped)
    promoted, ends = offers.send(caller=caller, offered=chosen, now=now, dropped=dropped)
    completed = unit_completion.store_completion(
        who=shown.who,
        row=row,
        scratchpad=shown.scratchpad,
        prepared=decision.completion,
        now=now,
    )
    rows = detect.rows_of_session(
        scratchpad=shown.habits, task_type=row.type or shown.scratchpad.setting.type.value
    )
    counts = (
        *map(counters.count_of, rows),
        *prior_sessions.of_signals(seen=shown.seen),
        *(
            counters.Count(
                kind=counters.Kind.REENTRY,
                key=one.memory_id,
                counts={"sessions": 1, "told": int(one.told)},
            )
            for one in decision.entered
        ),
    )
    if prior_sessions.count_session(row=row, counts=counts, now=now):
        modules = tuple(one.module for one in rows if isinstance(one, counters.ModuleRow))
        synthesize.queue(row=row, modules=modules)
    row.observed = _observed(decision, row, promoted)
    row.finalized_at = now
    measurement.measure(row=row, scratchpad=shown.scratchpad)
    row.save(update_fields=["observed", "finalized_at", "figures"])
    return {
        "events": row.events,
        "signals": len(shown.seen),
        "proposed": len(shown.proposed),
        "phrased": decision.phrased.phrased,
        **({"completed": completed} if completed else {}),
        **ends,
    }


def _observed(decision: _Decision, row: Session, promoted: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what the session is said to have shown; what was promoted before stays told."""
    shown, earlier = decision.shown, row.observed or {}
    told = promotion.describe_signals(
        seen=shown.seen,
        before=shown.before,
        proposed=shown.proposed,
        is_open=shown.is_open,
    )
    steps = earlier.get(queries.STORED_AS)
    if not steps or not scratchpads.is_cut(row=row):  # once some are forgotten, the bars stay
        steps = [asdict(bar) for bar in queries.draw(scratchpad=shown.scratchpad)]
    return {
        **promotion.describe_session(scratchpad=shown.scratchpad),
        queries.STORED_AS: steps,
        **told,
        "dropped": {**told["dropped"], **{name: n for name, n in decision.dropped.items() if n}},
        experiments.REENTERED_KEY: [asdict(one) for one in decision.entered],
        "early": earlier.get("early", []),
        "phrasing": asdict(decision.phrased),
        "promoted": [*earlier.get("promoted", []), *promoted],
        "events": row.events,
        **{name: earlier[name] for name in KEPT if name in earlier},
    }
