"""Look at a session while it runs: fold what came, note what is urgent, keep a checkpoint.

The job that an append queues once enough has happened. Nothing is stored as a
memory here: what fires early is written down on the session, and promoted when the session ends.
What fires is looked for as if nothing more came: events whose numbers leave gaps, as those of a
transcript's lines do, wait in the checkpoint for what may yet come, and tell something already.
"""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from accounts import tenancy
from memory.observer import triggers
from memory.observer.signal_table import SignalKind
from memory.observer.triggers import Early
from memory.sessions import fold
from memory.sessions.actions import scratchpads
from memory.sessions.models import Session
from memory.sessions.scratchpad import Scratchpad

MOST_EARLY: Final = 100  # that a session keeps, the first ones; ours


def observe(*, session_id: UUID, now: datetime) -> Mapping[str, Any]:
    """Fold a session's new events into its checkpoint; return the counts."""
    with tenancy.unit():
        row = Session.objects.filter(pk=session_id, memory_eligible=True).first()
        opened = None if row is None else scratchpads.read(row=row)
    if opened is None or not opened.events:
        return {"events": 0}
    scratchpad = scratchpads.folded(opened=opened)
    so_far = fold.settle(scratchpad=scratchpad)
    with tenancy.unit():
        row = Session.objects.select_for_update().filter(pk=session_id).first()
        if row is None:
            return {"events": 0}
        early = _early(row, so_far)
        is_kept = scratchpads.keep(row=row, scratchpad=scratchpad, now=now)
        row.observed = {**(row.observed or {}), "early": early}
        row.save(update_fields=["observed", "folded"])
    return {"events": len(opened.events), "early": len(early), "kept": int(is_kept)}


def _early(row: Session, scratchpad: Scratchpad) -> list[dict[str, Any]]:
    """Return what has fired before and now, the most urgent of now last."""
    before = (row.observed or {}).get("early", [])
    already = frozenset(
        Early(kind=SignalKind(one["kind"]), priority=one["priority"], about=one["about"])
        for one in before
    )
    now = [asdict(one) for one in triggers.fired(scratchpad=scratchpad, already=already)]
    return [*before, *now][:MOST_EARLY]
