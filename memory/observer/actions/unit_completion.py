"""Do what the methodology of a session does when its unit of work ends.

Off as usual: only a methodology that names acts has any, of a fixed table. What they remember is
figures of the session in templates, no model and no code of anybody's; nothing where the work was
abandoned or nobody knows how it ended. It goes through the one door under a name of the session's
own, so that a session that ends twice says it once, as it is at its last end: anew in all that it
says, and not at all where that end says no outcome. What somebody has put away does not come back.
Whether a person looks first is a question of trust, as for all that agents show.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final

from django.db import transaction

from accounts import tenancy
from accounts.errors import CairnError, Conflict, Forbidden, InvalidInput
from accounts.messages import message
from memory.customization.phases import OnComplete
from memory.customization.queries import find_own_methodology
from memory.intake.actions import remember, revise
from memory.observer import detections
from memory.observer.actions import offers
from memory.records import writes
from memory.records.models import Memory
from memory.review.actions import verdicts
from memory.sessions import events, file_paths, tools
from memory.sessions.models import Session
from memory.sessions.scratchpad import Scratchpad
from memory.taxonomy import MemoryType, Source, Status

NAME: Final = "{act}:{session}"  # the external id
NO_MORE: Final = message("its session ended again and does not say how")
ENDED_AGAIN: Final = message("its session ended again")
CONFIDENCE: Final = 0.75  # of what a session's figures say; default, not measured
ENDED: Final[Mapping[events.Outcome | None, str]] = {  # that say how it went
    events.Outcome.SUCCESS: "ended well",
    events.Outcome.FAILURE: "failed",
}
WHOLE: Final = "project"  # the module of work that edited no file

CompletionText = tuple[OnComplete, MemoryType, str, Mapping[str, object]]  # content and attributes


def prepare_completion(
    *, who: offers.Proposing, row: Session, scratchpad: Scratchpad
) -> tuple[remember.Prepared, ...]:
    """Draft and embed what the session's methodology remembers of it. Outside of a unit."""
    unit: Mapping[str, str] = row.work_unit
    label = (unit.get("label") or unit.get("hierarchy") or "").strip()
    course = unit.get("methodology") or row.methodology
    if not label or not course:
        return ()
    with tenancy.unit():
        own = find_own_methodology(caller=who.caller, name=course)
    acts = own.on_complete if own else ()
    files = edited_files(scratchpad=scratchpad)[: detections.FILES_MOST]
    made = []
    for act, type, content, attributes in completion_texts(
        label=label, methodology=course, scratchpad=scratchpad
    ):
        if act not in acts:
            continue
        new = offers.proposed_memory(
            row=row,
            who=who,
            content=content,
            source=Source.OBSERVER_INFERRED,
            type=type,
            reason=scratchpad.taint_reason,
        )
        new = replace(
            new,
            external_id=NAME.format(act=act.value, session=row.id),
            related_files=files,
            attributes=attributes,
            confidence=CONFIDENCE,
            methodology=course,
            commit_sha=row.commit,
        )
        try:
            made.append(remember.prepare(caller=who.caller, new=new))
        except (InvalidInput, Forbidden):  # of this one; the others stand
            continue
    return tuple(made)


def edited_files(*, scratchpad: Scratchpad) -> tuple[str, ...]:
    """Return the files that a session edited, those edited most often first."""
    edits = {path: use.edits for path, use in scratchpad.files.items() if use.edits}
    return tuple(sorted(edits, key=lambda path: (-edits[path], path)))


def completion_texts(
    *, label: str, methodology: str, scratchpad: Scratchpad
) -> Iterator[CompletionText]:
    """Yield what acts remember of a session; nothing of work that goes on.

    The outcome is told in the session's figures; the calibration, the steps against those planned,
    where somebody planned.
    """
    if scratchpad.outcome not in ENDED:
        return
    deeds = scratchpad.deeds.values()
    files = edited_files(scratchpad=scratchpad)
    steps, planned = scratchpad.steps_taken, scratchpad.setting.planned_steps
    tests = sum(deed.act is tools.Act.TEST for deed in deeds)
    errors = sum(deed.is_error for deed in deeds)
    over = f" of {planned} planned" if planned else ""
    yield (
        OnComplete.RECORD_OUTCOME,
        MemoryType.WORK_UNIT_OUTCOME,
        f"{label} {ENDED[scratchpad.outcome]}: steps {steps}{over}, files edited "
        f"{len(files)}, test runs {tests}, errors {errors}.",
        {"succeeded": scratchpad.outcome is events.Outcome.SUCCESS, "steps": steps},
    )
    if planned and steps:
        modules = Counter[str]()
        for path in files:
            modules[file_paths.module(path=path)] += scratchpad.files[path].edits
        module = next((module for module, _ in modules.most_common(1)), "") or WHOLE
        ratio = round(steps / planned, 2)
        figures = {"module": module, "planned": planned, "actual": steps, "ratio": ratio}
        yield (
            OnComplete.CALIBRATE,
            MemoryType.TASK_CALIBRATION,
            f"{label} took {steps} steps where {planned} were planned "
            f"({ratio} times as many), most of them in {module}.",
            {**figures, "samples": 1, "methodology": methodology},
        )


def store_completion(
    *,
    who: offers.Proposing,
    row: Session,
    scratchpad: Scratchpad,
    prepared: tuple[remember.Prepared, ...],
    now: datetime,
) -> int:
    """Store what a session remembers of its end; return how much was taken. In a unit.

    What it has remembered at an earlier end is brought to it, wherever that is by now; nothing of
    it stays where this end says no outcome.
    """
    names = [NAME.format(act=act.value, session=row.id) for act in OnComplete]
    held = Memory.objects.select_for_update(of=("self",)).filter(
        session_id=row.id, external_id__in=names
    )
    earlier = sorted(held.order_by("id"), key=lambda one: one.status == Status.ACTIVE)
    before = {one.external_id: one for one in earlier}  # an active one goes before the rest
    if scratchpad.outcome not in ENDED:
        _archive(who, tuple(before.values()), now)
    taken = 0
    for one in prepared:
        known = before.get(one.checked.new.external_id)
        if known is None:
            outcome = offers.decided(caller=who.caller, prepared=one, now=now)
            taken += outcome is not None and outcome.memory is not None
            continue
        if known.status != Status.ACTIVE:
            continue
        try:
            with transaction.atomic():
                taken += _revise(who, known, one, now)
        except Conflict:  # another memory says the same by now; this one says what is so no more
            known.refresh_from_db()
            _archive(who, (known,), now)
        except CairnError:  # it is protected by now, or refused as it is; the others stand
            continue
    return taken


def _archive(who: offers.Proposing, rows: tuple[Memory, ...], now: datetime) -> None:
    rows = tuple(row for row in rows if row.status == Status.ACTIVE)
    verdicts.archive_held(caller=who.caller, rows=rows, reason=NO_MORE, now=now)
    for row in rows:
        writes.record(caller=who.caller, act="memory.archived", memory_id=row.id)


def _revise(who: offers.Proposing, row: Memory, one: remember.Prepared, now: datetime) -> bool:
    """Bring a held memory to what the last end says; say whether anything is new."""
    new = one.checked.new
    wanted = {
        "content": new.content,
        "related_files": list(one.checked.classification.files),
        "attributes": dict(new.attributes),
    }
    changes = {name: value for name, value in wanted.items() if getattr(row, name) != value}
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
