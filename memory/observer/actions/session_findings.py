"""Find what a session has shown, and look at it while it runs.

`show` reads what a session has shown and proposes candidates; `offers` sends them through the door.

While a session runs, the job that an append queues folds what came, keeps a checkpoint, and writes
down what fires early, each once for what it is about (`observe`). What fires is looked for as if
nothing more came: events whose numbers leave gaps, as those of a transcript's lines do, wait in the
checkpoint for what may yet come, and tell something already. Nothing becomes a memory then, except
of a long build (`promote_piece`): after each subtask that was validated it offers what it has shown
so far, by templates. The sums over sessions, and what the session is said to have shown, wait for
its end, where the same thing is never offered again.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from accounts import tenancy
from memory.injection import rules
from memory.injection.actions import delivery_log
from memory.observer import detect, evidence_texts, promotion
from memory.observer.actions import offers, prior_sessions
from memory.observer.detections import Sighting, SignalKind
from memory.sessions import file_paths, reducers
from memory.sessions.actions import scratchpads
from memory.sessions.events import EventKind, from_row
from memory.sessions.models import Session, Turn
from memory.sessions.queries import opener_of
from memory.sessions.scratchpad import Scratchpad, edited

PRODUCT_MOST: Final = 500  # results of tools that drive the product; default, not measured
DRIVES: Final = rf"(^|__)({'|'.join(sorted(evidence_texts.TOOLS))})$"
MOST_EARLY: Final = 100  # that a session keeps, the first ones; default, not measured
PRIORITIES: Final = {
    SignalKind.SELF_CORRECTION: 0.9,
    SignalKind.REPEATED_GREP: 0.8,
    SignalKind.ERROR_RETRY: 0.75,
    SignalKind.CONFIG_TOUCHED: 0.7,
}
ERRORS_LEAST: Final = 2  # distinct fingerprints
EDITED_LEAST: Final = 2  # files

Early = dict[str, Any]  # the kind of signal, how urgent (`priority`, 0..1), what it is `about`


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFindings:
    """What a session has shown, and what it offers.

    `habits` is what it did without being told; it is what signals and sums are taken from.
    """

    row: Session
    who: offers.Proposing
    scratchpad: Scratchpad
    habits: Scratchpad
    seen: tuple[Sighting, ...]
    before: promotion.SeenBefore
    proposed: tuple[promotion.ObservedCandidate, ...]
    is_open: bool


def show(
    *, row: Session, scratchpad: Scratchpad, now: datetime, is_piece: bool = False
) -> SessionFindings:
    """Find what a session has shown, and what is worth proposing of it. Outside of a unit.

    Raises PermanentFailure when who opened it is gone, may not write or does not see its project.
    """
    with tenancy.unit():
        caller = opener_of(row=row, now=now)
        who = offers.proposing(caller=caller, row=row)
        rejected = prior_sessions.rejected_shares(row=row)
        named = delivery_log.suggested_files(session=row)
    habits = rules.unprompted(scratchpad=scratchpad, suggested=named)
    seen = detect.witnessed(scratchpad=habits, rejected=rejected)
    with tenancy.unit():
        own = prior_sessions.added_by(row=row)
        before = prior_sessions.seen_before(row=row, seen=seen, own=own)
        # the first results of tools that drive the running product; one that does not say its
        # tool is that of its call
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
        results = tuple(one if one.name else replace(one, name=names[one.call]) for one in found)
    return SessionFindings(
        row=row,
        who=who,
        scratchpad=scratchpad,
        habits=habits,
        seen=seen,
        before=before,
        proposed=promotion.propose(
            scratchpad=scratchpad,
            seen=seen,
            seen_before=before,
            is_piece=is_piece,
            results=results,
        ),
        is_open=promotion.is_gate_open(scratchpad=scratchpad, is_piece=is_piece)
        and scratchpad.outcome not in promotion.FAILED,
    )


def observe(*, session_id: UUID, now: datetime) -> Mapping[str, Any]:
    """Fold a session's new events into its checkpoint, and note what fires; return the counts."""
    with tenancy.unit():
        row = Session.objects.filter(pk=session_id, memory_eligible=True).first()
        opened = None if row is None else scratchpads.read(row=row)
    if opened is None or not opened.events:
        return {"events": 0}
    states = scratchpads.fold_by_writer(opened=opened)
    so_far = reducers.settle(scratchpad=states[-1])
    with tenancy.unit():
        row = Session.objects.select_for_update().filter(pk=session_id).first()
        if row is None:
            return {"events": 0}
        before = (row.observed or {}).get("early", [])
        early = [*before, *fired(scratchpad=so_far, already=before)][:MOST_EARLY]
        is_kept = scratchpads.keep(row=row, states=states, now=now)
        row.observed = {**(row.observed or {}), "early": early}
        row.save(update_fields=["observed", "folded"])
    return {"events": len(opened.events), "early": len(early), "kept": int(is_kept)}


def fired(*, scratchpad: Scratchpad, already: list[Early]) -> list[Early]:
    """Return what fires now and has not before, most urgent first."""
    now = [
        {"kind": kind.value, "priority": PRIORITIES[kind], "about": about}
        for kind, about in _causes(scratchpad)
    ]
    fresh = (early for early in now if early not in already)
    return sorted(fresh, key=lambda early: (-early["priority"], early["about"]))


def _causes(scratchpad: Scratchpad) -> Iterator[tuple[SignalKind, str]]:
    """Yield what fires, and for what; errors at the second distinct one, and for each further."""
    for kind in (SignalKind.SELF_CORRECTION, SignalKind.REPEATED_GREP):
        for one in detect.find(kind=kind, scratchpad=scratchpad):
            yield kind, one.key
    prints = dict.fromkeys(filter(None, (one.fingerprint for one in scratchpad.deeds.values())))
    for fingerprint in tuple(prints)[ERRORS_LEAST - 1 :]:
        yield SignalKind.ERROR_RETRY, fingerprint
    if len(edited(scratchpad=scratchpad)) >= EDITED_LEAST:
        for path in sorted(scratchpad.files):
            if file_paths.is_config(path=path):
                yield SignalKind.CONFIG_TOUCHED, path


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
    offered = offers.prepare_offers(
        who=shown.who, row=row, proposed=shown.proposed, dropped=dropped
    )
    with tenancy.unit(), transaction.atomic():
        held = Session.objects.select_for_update().filter(pk=session_id, state="open").first()
        before = {} if held is None else held.observed or {}
        if held is None or report <= int(before.get("piece", 0)):
            return {}
        kept = offers.choose(caller=caller, row=held, offered=offered, dropped=dropped)
        promoted, counts = offers.send(caller=caller, offered=kept, now=now, dropped=dropped)
        told = [*before.get("promoted", []), *promoted]
        held.observed = {**before, "piece": report, "promoted": told}
        held.save(update_fields=["observed"])
    return {"pieces": 1, **counts}
