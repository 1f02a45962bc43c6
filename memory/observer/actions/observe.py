"""Look at a session while it runs: fold what came, note what is urgent, keep a checkpoint.

The job that an append queues once enough has happened. Nothing is stored as a memory here: what
fires early, each once for what it is about, is written down on the session, and promoted when the
session ends. What fires is looked for as if nothing more came: events whose numbers leave gaps, as
those of a transcript's lines do, wait in the checkpoint for what may yet come, and tell something
already.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from accounts import tenancy
from memory.observer.detections import SignalKind
from memory.observer.signals import failures, navigation
from memory.sessions import file_paths, reducers
from memory.sessions.actions import scratchpads
from memory.sessions.models import Session
from memory.sessions.scratchpad import Scratchpad, edited
from memory.sessions.self_reports import RemarkKind

MOST_EARLY: Final = 100  # that a session keeps, the first ones; default, not measured
PRIORITIES: Final = {
    SignalKind.SELF_CORRECTION: 0.9,
    SignalKind.REPEATED_GREP: 0.8,
    SignalKind.ERROR_RETRY: 0.75,
    SignalKind.CONFIG_TOUCHED: 0.7,
}
ERRORS_LEAST: Final = 2  # distinct fingerprints
EDITED_LEAST: Final = 2  # files


@dataclass(frozen=True, slots=True, kw_only=True)
class Early:
    """What fired: the signal, how urgent (0..1), and what it is about."""

    kind: SignalKind
    priority: float
    about: str


def observe(*, session_id: UUID, now: datetime) -> Mapping[str, Any]:
    """Fold a session's new events into its checkpoint; return the counts."""
    with tenancy.unit():
        row = Session.objects.filter(pk=session_id, memory_eligible=True).first()
        opened = None if row is None else scratchpads.read(row=row)
    if opened is None or not opened.events:
        return {"events": 0}
    scratchpad = scratchpads.folded(opened=opened)
    so_far = reducers.settle(scratchpad=scratchpad)
    with tenancy.unit():
        row = Session.objects.select_for_update().filter(pk=session_id).first()
        if row is None:
            return {"events": 0}
        before = (row.observed or {}).get("early", [])
        already = frozenset(Early(**{**one, "kind": SignalKind(one["kind"])}) for one in before)
        now_fired = [asdict(one) for one in fired(scratchpad=so_far, already=already)]
        early = [*before, *now_fired][:MOST_EARLY]
        is_kept = scratchpads.keep(row=row, scratchpad=scratchpad, now=now)
        row.observed = {**(row.observed or {}), "early": early}
        row.save(update_fields=["observed", "folded"])
    return {"events": len(opened.events), "early": len(early), "kept": int(is_kept)}


def fired(*, scratchpad: Scratchpad, already: frozenset[Early]) -> tuple[Early, ...]:
    """Return what fires now and has not before, most urgent first.

    Errors fire at the second distinct one, and for each further one.
    """
    now: list[Early] = []
    if any(remark.kind is RemarkKind.SELF_CORRECTION for remark in scratchpad.remarks):
        corrections = failures.find_self_correction(scratchpad=scratchpad)
        now.extend(_early(SignalKind.SELF_CORRECTION, one.key) for one in corrections)
    greps = navigation.find_repeated_grep(scratchpad=scratchpad)
    now.extend(_early(SignalKind.REPEATED_GREP, one.key) for one in greps)
    prints = (deed.fingerprint for deed in scratchpad.deeds.values() if deed.fingerprint)
    distinct = tuple(dict.fromkeys(prints))[ERRORS_LEAST - 1 :]
    now.extend(_early(SignalKind.ERROR_RETRY, one) for one in distinct)
    if len(edited(scratchpad=scratchpad)) >= EDITED_LEAST:
        configs = (path for path in sorted(scratchpad.files) if file_paths.is_config(path=path))
        now.extend(_early(SignalKind.CONFIG_TOUCHED, path) for path in configs)
    fresh = (early for early in dict.fromkeys(now) if early not in already)
    return tuple(sorted(fresh, key=lambda early: (-early.priority, early.about)))


def _early(kind: SignalKind, about: str) -> Early:
    return Early(kind=kind, priority=PRIORITIES[kind], about=about)
