"""Do what the methodology of a session does when its unit of work ends.

Off as usual: only a methodology that names acts has any. What they remember goes through the one
door under a name of the session's own, so that a session that ends twice says it once, as it is at
its last end: anew in all that it says, and not at all where that end says no outcome. What somebody
has put away does not come back. Whether a person looks first is a question of trust, as for all
that agents show.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db import transaction

from accounts import tenancy
from accounts.errors import CairnError, Conflict, Forbidden, InvalidInput
from accounts.messages import message
from memory.customization import methodology
from memory.customization.queries import on_complete_of
from memory.intake import planting_alarms
from memory.intake.actions import revise
from memory.intake.actions.remember import Prepared, prepare
from memory.intake.validation import NewMemory
from memory.observer import unit_completion_rules
from memory.observer.actions import promote
from memory.observer.actions.promote import Proposing
from memory.observer.unit_completion_rules import Draft, Unit
from memory.records import writes
from memory.records.models import Memory
from memory.review.actions import reactivation
from memory.sessions.models import Session
from memory.sessions.scratchpad import Scratchpad
from memory.taxonomy import Source, Status
from teams import trust

NAME: Final = "{act}:{session}"  # the external id
NO_MORE: Final = message("its session ended again and does not say how")
ENDED_AGAIN: Final = message("its session ended again")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """What a session remembers of its end; `is_completed`: that end says how it went."""

    session_id: UUID | None = None
    is_completed: bool = False
    found: tuple[Prepared, ...] = ()


def prepared(*, who: Proposing, row: Session, scratchpad: Scratchpad) -> Ended:
    """Draft and embed what the session's methodology remembers of it. Outside of a unit."""
    unit = _unit(row)
    is_completed = unit_completion_rules.is_completed(scratchpad=scratchpad)
    if not unit.label or not unit.methodology:
        return Ended(session_id=row.id, is_completed=is_completed)
    with tenancy.unit():
        acts = on_complete_of(caller=who.caller, name=unit.methodology)
    made = []
    for draft in unit_completion_rules.drafts(acts=acts, unit=unit, scratchpad=scratchpad):
        try:
            made.append(prepare(caller=who.caller, new=_new(who, row, unit, draft)))
        except (InvalidInput, Forbidden):  # of this one; the others stand
            continue
    return Ended(session_id=row.id, is_completed=is_completed, found=tuple(made))


def store(*, who: Proposing, ended: Ended, now: datetime) -> int:
    """Send it through the door; return how much was taken. In a unit."""
    if ended.session_id is None:
        return 0
    said = _said(ended.session_id)
    if not ended.is_completed:
        _put_away(who, tuple(said.values()), now)
    return sum(_is_taken(who, said, one, now) for one in ended.found)


def _said(session_id: UUID) -> Mapping[str, Memory]:
    """Return what a session has said of its ends, held, by its name; what stands before the rest.

    Wherever it is by now, and whatever has become of it.
    """
    names = [NAME.format(act=act.value, session=session_id) for act in methodology.OnComplete]
    rows = Memory.objects.select_for_update(of=("self",)).filter(
        session_id=session_id, external_id__in=names
    )
    found = sorted(rows.order_by("id"), key=lambda row: row.status == Status.ACTIVE)
    return {row.external_id: row for row in found}


def _put_away(who: Proposing, rows: tuple[Memory, ...], now: datetime) -> None:
    rows = tuple(row for row in rows if row.status == Status.ACTIVE)
    reactivation.archive_held(caller=who.caller, rows=rows, reason=NO_MORE, now=now)
    for row in rows:
        writes.record(caller=who.caller, act="memory.archived", memory_id=row.id)


def _is_taken(who: Proposing, said: Mapping[str, Memory], one: Prepared, now: datetime) -> bool:
    """Store what one act remembers, or bring what it has remembered to it."""
    row = said.get(one.drafted.new.external_id)
    if row is None:
        outcome = promote.decided(caller=who.caller, prepared=one, now=now)
        return outcome is not None and outcome.memory is not None
    if row.status != Status.ACTIVE:
        return False
    try:
        with transaction.atomic():
            return _is_said_anew(who, row, one, now)
    except Conflict:  # another memory says the same by now; this one says what is so no more
        row.refresh_from_db()
        _put_away(who, (row,), now)
    except CairnError:  # it is protected by now, or refused as it is; the others stand
        return False
    return False


def _is_said_anew(who: Proposing, row: Memory, one: Prepared, now: datetime) -> bool:
    """Bring a held memory to what the last end says; say whether anything is new."""
    new = one.drafted.new
    changes = {
        name: value
        for name, value in (
            ("content", new.content),
            ("related_files", list(one.drafted.classification.files)),
            ("attributes", dict(new.attributes)),
        )
        if getattr(row, name) != value
    }
    if not changes and row.taint_reason == new.taint_reason:
        return False
    if changes:
        changes["reason"] = ENDED_AGAIN
        revise.revise_row(caller=who.caller, row=row, changes=changes, now=now)
    row.taint_reason, row.needs_review = new.taint_reason, new.needs_review
    row.confidence = row.confidence if new.confidence is None else new.confidence
    writes.save(row=row, fields=("taint_reason", "needs_review", "confidence"), now=now)
    writes.record(caller=who.caller, act="memory.changed", memory_id=row.id)
    return True


def _unit(row: Session) -> Unit:
    named = {name: str(row.work_unit.get(name, "")) for name in ("label", "hierarchy")}
    return Unit(
        label=(named["label"] or named["hierarchy"]).strip(),
        methodology=str(row.work_unit.get("methodology", "")) or row.methodology,
    )


def _new(who: Proposing, row: Session, unit: Unit, draft: Draft) -> NewMemory:
    is_doubtful = bool(draft.reason) or bool(planting_alarms.of_content(content=draft.content))
    return NewMemory(
        content=draft.content,
        source=Source.OBSERVER_INFERRED.value,
        type=draft.type.value,
        project=None if row.project_id is None else str(row.project_id),
        external_id=NAME.format(act=draft.act.value, session=row.id),
        scope=row.scope,
        related_files=draft.files,
        attributes=draft.attributes,
        confidence=draft.confidence,
        phase=row.phase,
        methodology=unit.methodology,
        commit_sha=row.commit,
        needs_review=trust.waits(level=who.level, is_doubtful=is_doubtful),
        taint_reason=draft.reason[: promote.LONGEST_REASON],
        session_id=row.id,
    )
