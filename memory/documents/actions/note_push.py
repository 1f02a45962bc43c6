"""Keep a document that memories come from, and take out of it what has changed.

The text stays as it was sent, version by version. A statement has an id made of where it stands and
what it says: one that is still there keeps its memory, which follows it to its new line; one that
stands there in other words brings its memory to them; one that is gone makes its memory stale, with
the reason; one that is new goes through the door as any other.
What an agent may not make stale goes to the review inbox instead, once: what a person decides there
stands until the statement comes back.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from accounts import free_texts, identifiers, tenancy
from accounts.caller import Caller, is_person, principal
from accounts.errors import TooLarge, wrong_field
from accounts.messages import message
from memory import errors, sql_queries, taxonomy
from memory.documents import file_formats, markdown_notes, models, queries, statement_changes
from memory.documents.actions import uploads
from memory.documents.statement_changes import PlacedStatement
from memory.intake import echoes_and_alarms, validation
from memory.intake.actions import candidate, remember
from memory.records import protection, versions, writes
from memory.records.models import Memory
from memory.text.text import content_hash
from teams import audit, permissions

LARGEST: Final = 1_000_000  # characters of a note; default, not measured
MOST_STATEMENTS: Final = 2_000  # of a note, more than a push can wait for; not measured
LONGEST_PATH: Final = 400  # characters, the column's
REWORDED: Final = frozenset({"updated", "proposed"})  # the memory goes on in other words
BELIEF: Final = ("stale_at", "verification", "archived_reason", "needs_review")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewNote:
    """A document as it is sent: its project, its path there, its text.

    `taint` is the outside content that its sender's sessions have seen.
    """

    project: str
    path: str
    text: str
    scope: str | None = None
    taint: str = ""


class RefusedStatement(NamedTuple):
    """A statement that became no memory: its line, the gate, and why."""

    line: int | None
    gate: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NotePushed:
    """What a push did: memories added, brought to new words, kept, made stale; refused statements.

    `proposed` are new words for what only people change: a person settles the conflict. `held` are
    memories that an agent may not make stale and that a person decides about.
    """

    note: queries.NoteView
    added: int
    updated: int
    proposed: int
    kept: int
    stale: int
    held: int
    refused: tuple[RefusedStatement, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteRemoved:
    """What removing a note did: memories made stale, and left to a person."""

    stale: int
    held: int


def push_note(*, caller: Caller, new: NewNote, now: datetime) -> NotePushed:
    """Bring a note to this text. Raises InvalidInput, NotFound, TooLarge."""
    permissions.require(caller=caller, act=permissions.Act.WRITE)
    if len(new.text) > LARGEST:
        raise TooLarge(
            detail=message("The note has {count} characters.", count=len(new.text)),
            hint=message("Send at most {most}, or divide it.", most=LARGEST),
        )
    if not 0 < len(new.path) <= LONGEST_PATH or ".." in new.path.split("/"):
        raise wrong_field(
            pointer="/path", detail="Name the file by its path in the project.", code="path"
        )
    free_texts.check(texts={"/path": new.path, "/text": new.text})
    statements = markdown_notes.read(name=new.path, text=new.text).candidates
    found = {one.external_id: one for one in statements}
    if len(found) > MOST_STATEMENTS:
        raise TooLarge(
            detail=message("The note makes {count} statements.", count=len(found)),
            hint=message("Send at most {most}, or divide it.", most=MOST_STATEMENTS),
        )
    with tenancy.unit():
        row = _make_version(caller, new, now)
        sql_queries.hold_path(audience=row.audience, project_id=row.project_id, path=row.path)
        versions = models.NoteVersion.objects.select_for_update().filter(
            audience=row.audience, project_id=row.project_id, path=row.path
        )
        before = versions.order_by("-is_current", "-number", "-id").first()
        if before is not None and before.digest == row.digest and before.is_current:
            view = queries.note_view(row=before)
            return NotePushed(
                note=view,
                added=0,
                updated=0,
                proposed=0,
                kept=len(found),
                stale=0,
                held=0,
                refused=(),
            )
        if before is not None:
            models.NoteVersion.objects.filter(pk=before.pk).update(is_current=False)
            row.note, row.number = before.note, before.number + 1
        row.save(force_insert=True)
        return _take_out(caller, new, row, before, found, now)


def _take_out(
    caller: Caller,
    new: NewNote,
    row: models.NoteVersion,
    before: models.NoteVersion | None,
    found: Mapping[str, file_formats.DocumentCandidate],
    now: datetime,
) -> NotePushed:
    """Bring the memories of a note to what its new version says. In a unit."""
    kept = _follow(caller, found, row, now)
    earlier = queries.note_statements(row=before)
    said = {one.external_id for one in earlier}
    rows = queries.gone_memories(row=row, said=frozenset(found))
    fresh = tuple(found[id] for id in found if id not in kept | said)
    replaced = _find_replaced(caller, earlier, tuple(found.values()), rows)
    outcomes = _remember_fresh(caller, new, fresh, replaced, now)
    left = _not_reworded(rows, replaced, zip(fresh, outcomes, strict=True))
    gone = _make_stale(caller, left, versions.GONE, now)
    if not any(outcome.done for outcome in outcomes):  # else what was written is recorded
        _record(caller, row, "note.pushed")
    counts = Counter(outcome.outcome for outcome in outcomes)
    return NotePushed(
        note=queries.note_view(row=row),
        added=counts["added"],
        updated=counts["updated"],
        proposed=counts["proposed"],
        kept=len(kept),
        stale=gone.stale,
        held=gone.held,
        refused=tuple(
            RefusedStatement(one.line, outcome.gate, outcome.reason)
            for one, outcome in zip(fresh, outcomes, strict=True)
            if outcome.memory is None
        ),
    )


def _not_reworded(
    rows: Iterable[Memory],
    replaced: Mapping[str, str],
    outcomes: Iterable[tuple[file_formats.DocumentCandidate, remember.Outcome]],
) -> tuple[Memory, ...]:
    """Return the memories that go on in no other words: their new wording may be refused."""
    done = {one.external_id for one, outcome in outcomes if outcome.outcome in REWORDED}
    reworded = {old for new, old in replaced.items() if new in done}
    return tuple(one for one in rows if one.external_id not in reworded)


def _find_replaced(
    caller: Caller,
    earlier: tuple[file_formats.DocumentCandidate, ...],
    found: tuple[file_formats.DocumentCandidate, ...],
    gone: tuple[Memory, ...],
) -> Mapping[str, str]:
    """Return which statement says anew what a memory says that is gone: its id, and the old one.

    Only of memories that the caller could make stale; the others are a person's to decide about.
    """
    free = {one.external_id for one in gone if _is_undecided(one) and _may_make_stale(caller, one)}
    before, after = (
        tuple(PlacedStatement(one.external_id, one.content) for one in version)
        for version in (earlier, found)
    )
    replaced = statement_changes.find_replaced(before=before, after=after)
    return {new: old for new, old in replaced.items() if old in free}


def remove_note(*, caller: Caller, note_id: UUID, now: datetime) -> NoteRemoved:
    """Let a note be a source no more; its memories become stale. Raises NotFound."""
    permissions.require(caller=caller, act=permissions.Act.WRITE)
    with tenancy.unit():
        row = queries.lock_note(caller=caller, note_id=note_id)
        gone = _make_stale(
            caller, queries.gone_memories(row=row, said=frozenset()), versions.REMOVED, now
        )
        row.is_current = False
        row.save(update_fields=["is_current"])
        _record(caller, row, "note.removed")
        return gone


def _make_version(caller: Caller, new: NewNote, now: datetime) -> models.NoteVersion:
    """Compose the version that was sent; it is not saved. Raises NotFound, InvalidInput."""
    sent = validation.NewMemory(
        content="", source=taxonomy.Source.IMPORT.value, project=new.project, scope=new.scope
    )
    where = candidate.find_placement(caller=uploads.as_importer(caller=caller), new=sent)
    if where.project is None:
        raise wrong_field(pointer="/project", detail="A note belongs to a project.", code="project")
    return models.NoteVersion(
        note=identifiers.new_id(),
        audience=where.audience,
        project_id=where.project.id,
        path=new.path,
        number=1,
        text=new.text,
        digest=hashlib.sha256(new.text.encode()).hexdigest(),
        pushed_by=principal(caller=caller),
        agent=caller.agent,
        pushed_at=now,
    )


def _remember_fresh(
    caller: Caller,
    new: NewNote,
    fresh: tuple[file_formats.DocumentCandidate, ...],
    replaced: Mapping[str, str],
    now: datetime,
) -> list[remember.Outcome]:
    """Remember what a note says for the first time, or anew; return what came of each statement."""
    upload = uploads.Upload(files=(), project=new.project, scope=new.scope, taint=new.taint)
    given = (
        {**uploads.as_json(candidate=one), uploads.FORMER: replaced.get(one.external_id, "")}
        for one in fresh
    )
    sent = tuple(uploads.new_memory(upload=upload, given=one) for one in given)
    importer, outcomes = uploads.as_importer(caller=caller), list[remember.Outcome]()
    for start in range(0, len(sent), remember.MOST):
        part = sent[start : start + remember.MOST]
        outcomes.extend(remember.remember_all(caller=importer, new=part, now=now))
    return outcomes


def _follow(
    caller: Caller,
    found: Mapping[str, file_formats.DocumentCandidate],
    row: models.NoteVersion,
    now: datetime,
) -> set[str]:
    """Give memories the lines of their statements now; a statement that came back is true.

    Returns the statements that have one.
    """
    kept = set[str]()
    for memory in queries.note_memories(row=row, external_ids=found):
        kept.add(memory.external_id)
        statement = found[memory.external_id]
        is_back = memory.archived_reason in versions.WITHOUT
        if memory.source_line == statement.line and not is_back:
            continue
        fields: tuple[str, ...] = ("source_line", "source_hash")
        memory.source_line, memory.source_hash = statement.line, row.digest
        if is_back:
            _restore(memory, statement.content)
            fields += BELIEF
        writes.save(row=memory, fields=fields, now=now)
        writes.announce(caller=caller, kind="memory.changed", rows=(memory,))
    return kept


def _restore(memory: Memory, said: str) -> None:
    """Let a memory be as true again as it was before its statement was gone.

    Its wait ends where that began it: of the words the note says, which ring no alarm.
    """
    if memory.stale_at is not None and memory.verification == taxonomy.Verification.STALE:
        memory.verification = "verified" if memory.verified_at else "unverified"
    is_same = memory.content_hash == content_hash(content=said)
    waits_for_it = memory.archived_reason == versions.HELD and is_same
    ends = waits_for_it and not echoes_and_alarms.of_content(content=memory.content)
    memory.needs_review = memory.needs_review and not ends
    memory.stale_at, memory.archived_reason = None, ""


def _make_stale(caller: Caller, rows: Iterable[Memory], reason: str, now: datetime) -> NoteRemoved:
    """Make memories stale, or let a person look at those of which an agent may not do that.

    What a person has decided since its statement was gone stays as they said.
    """
    fresh, others = list[Memory](), list[Memory]()
    for memory in rows:
        if _is_undecided(memory):
            (fresh if _may_make_stale(caller, memory) else others).append(memory)
    for memory in fresh:
        memory.needs_review = memory.needs_review and memory.archived_reason != versions.HELD
        memory.stale_at, memory.archived_reason = now, reason
        if memory.verification != taxonomy.Verification.CONTRADICTED:  # people found that
            memory.verification = taxonomy.Verification.STALE.value
        writes.save(row=memory, fields=BELIEF, now=now)
    held = [memory for memory in others if not memory.needs_review]
    for memory in held:
        memory.needs_review, memory.archived_reason = True, versions.HELD
        writes.save(row=memory, fields=BELIEF, now=now)
    writes.announce(caller=caller, kind="memory.changed", rows=(*fresh, *held))
    return NoteRemoved(stale=len(fresh), held=len(others))


def _is_undecided(memory: Memory) -> bool:
    waits = memory.needs_review or memory.archived_reason not in versions.WITHOUT
    return memory.stale_at is None and waits


def _may_make_stale(caller: Caller, memory: Memory) -> bool:
    if is_person(caller=caller):
        return True
    if memory.pinned or memory.user_verified:
        return False
    try:
        protection.check_agent_may_change(caller=caller, row=memory)
    except errors.ProtectedMemory:
        return False
    return True


def _record(caller: Caller, row: models.NoteVersion, act: str) -> None:
    id, details = str(row.note), {"version": row.number}
    audit.append(act, "note", id, caller=caller, details=details)
