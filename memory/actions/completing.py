"""Do what the methodology of a session does when its unit of work ends (spec 4.6).

Off as usual: only a methodology that names acts has any. What they remember goes through the one
door under a name of the session's own, so that a session that ends twice says it once, as it is at
its last end; whether a person looks first is a question of trust, as for all that agents show.
"""

from datetime import datetime
from typing import Final

from accounts import tenancy
from accounts.errors import Forbidden, InvalidInput
from memory.actions import promoting
from memory.actions.drafts import NewMemory
from memory.actions.promoting import Proposing
from memory.actions.remember import Prepared, prepare
from memory.models import Session
from memory.observer import alarms, completing
from memory.observer.completing import Draft, Unit
from memory.observer.scratchpad import Scratchpad
from memory.queries import methodologies
from memory.taxonomy import Source
from teams import trust

NAME: Final = "{act}:{session}"  # the external id


def prepared(*, who: Proposing, row: Session, scratchpad: Scratchpad) -> tuple[Prepared, ...]:
    """Draft and embed what the session's methodology remembers of it. Outside of a unit."""
    unit = _unit(row)
    if not unit.label or not unit.methodology:
        return ()
    with tenancy.unit():
        acts = methodologies.on_complete(caller=who.caller, name=unit.methodology)
    made = []
    for draft in completing.drafts(acts=acts, unit=unit, scratchpad=scratchpad):
        try:
            made.append(prepare(caller=who.caller, new=_new(who, row, draft)))
        except (InvalidInput, Forbidden):  # of this one; the others stand
            continue
    return tuple(made)


def store(*, who: Proposing, found: tuple[Prepared, ...], now: datetime) -> int:
    """Send it through the door; return how much was taken. In a unit."""
    sent = (promoting.decided(caller=who.caller, prepared=one, now=now) for one in found)
    return sum(one is not None and one.memory is not None for one in sent)


def _unit(row: Session) -> Unit:
    named = {name: str(row.work_unit.get(name, "")) for name in ("label", "hierarchy")}
    return Unit(
        label=(named["label"] or named["hierarchy"]).strip(),
        methodology=row.methodology or str(row.work_unit.get("methodology", "")),
    )


def _new(who: Proposing, row: Session, draft: Draft) -> NewMemory:
    is_doubtful = bool(draft.reason) or bool(alarms.of_content(content=draft.content))
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
        methodology=row.methodology,
        commit_sha=row.commit,
        needs_review=trust.waits(level=who.level, is_doubtful=is_doubtful),
        taint_reason=draft.reason[: promoting.LONGEST_REASON],
        session_id=row.id,
    )
