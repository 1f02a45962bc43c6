"""Change a memory in place: every change keeps the version before it."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from accounts import tenancy
from accounts.caller import Caller, Role, decides_in_person, is_person
from accounts.errors import Forbidden, InvalidInput, wrong_field
from accounts.messages import message
from memory.customization import custom_type_rules
from memory.customization import queries as custom_types
from memory.entities import accurate, names
from memory.errors import RefusedByGate
from memory.intake import echoes_and_alarms, integrate, validation
from memory.intake.actions import candidate
from memory.records import actions, protection, versions, writes
from memory.records.models import Memory, MemoryVersion
from memory.records.queries import memories, views
from memory.taxonomy import FIX, LEARNED, STATED_BY, Scope, Verification, type_row
from teams import changes as feed
from teams import permissions

EVIDENCE: Final = (STATED_BY, FIX)  # attributes that a session gives a memory
CHANGEABLE = (
    "content", "type", "tags", "related_files", "related_modules", "scope", "team", "pinned",
    "attributes", "external_id", "reason",
)  # fmt: skip
SAVED = (
    *versions.KEPT, "content", "content_hash", "citation", "structure", "governance",
    "decay_half_life_days", "audience", "team_id", "names_version", "enriched_by", "needs_review",
    "taint_reason", "archived_reason", "source_uri", "source_hash", "source_line",
)  # fmt: skip


def revise(
    *,
    caller: Caller,
    memory_id: UUID,
    changes: Mapping[str, Any],
    if_version: int | None,
    now: datetime,
) -> views.MemoryView:
    """Change fields of a memory; the version before stays in its history.

    Raises NotFound, NotActive, PreconditionFailed, InvalidInput, RefusedByGate, ProtectedMemory,
    Conflict when another memory says the same.
    """
    permissions.require(caller=caller, act=permissions.Act.WRITE)
    with tenancy.unit():
        row = memories.lock_memory(caller=caller, memory_id=memory_id)
        protection.check_version(row=row, if_version=if_version)
        view = revise_row(caller=caller, row=row, changes=changes, now=now)
        named = tuple(sorted(set(changes) - {"reason"}))
        writes.record(caller=caller, act="memory.changed", memory_id=memory_id, fields=named)
        return view


def revise_row(
    *, caller: Caller, row: Memory, changes: Mapping[str, Any], now: datetime
) -> views.MemoryView:
    """Change fields of a memory inside the current unit."""
    protection.check_active(row=row)
    protection.check_agent_may_forget(caller=caller, row=row)
    unknown = sorted(set(changes) - set(CHANGEABLE))
    if unknown:
        raise InvalidInput(
            detail=message("{name} cannot be changed.", name=unknown[0]),
            hint=message("Possible: {names}.", names=tuple(CHANGEABLE)),
        )
    marked = _with_evidence(caller, row, _with_type_mark(caller, row, changes))
    checked = _check_changed(caller, row, marked)
    reason = str(changes.get("reason", ""))
    protection.check_reason(reason=reason)
    actions.keep_version(caller=caller, row=row, reason=reason, now=now)
    is_vouched = checked.new.content == row.content or is_person(caller=caller)
    return _write(caller, row, checked, is_vouched=is_vouched, stated_at=now, now=now)


def restore_version(
    *, caller: Caller, row: Memory, version: MemoryVersion, reason: str, now: datetime
) -> views.MemoryView:
    """Let a held memory say again what a version of it says. In a unit; raises as `revise_row`.

    Whether somebody may take back what was said since is asked before. It is not less verified.
    """
    protection.check_active(row=row)
    kept = version.fields
    fields = {name: kept[name] for name in versions.BROUGHT_BACK if name in kept}
    # nobody's new words, so the rules of agents do not hold for them
    everything = replace(
        caller, user_id=caller.user_id or caller.token_id, token_id=None, agent="", role=Role.OWNER
    )
    checked = _check_changed(everything, row, {**fields, "content": version.content})
    actions.keep_version(caller=caller, row=row, reason=reason, now=now)
    if version.content != row.content:  # else it stays as confirmed as it is by now
        for name, value in versions.vouched(fields=kept).items():
            setattr(row, name, value)
    stated_at = versions.stated_at(fields=kept) or now
    return _write(caller, row, checked, is_vouched=True, stated_at=stated_at, now=now)


def _write(
    caller: Caller,
    row: Memory,
    checked: candidate.CheckedCandidate,
    *,
    is_vouched: bool,
    stated_at: datetime,
    now: datetime,
) -> views.MemoryView:
    """Bring a memory whose version is kept to a draft of it. In a unit."""
    is_same_text = checked.new.content == row.content
    new, seen = checked.new, checked.classification
    if not is_same_text:
        row.stated_at = stated_at
        row.names = seen.names
        row.names_version = names.VERSION
        row.enriched_by = accurate.enriched_by(named=row.names)
    if new.scope != row.scope or new.team != _team_of(row):
        _move(caller, row, candidate.find_placement(caller=caller, new=new))
    row.content, row.content_hash, row.citation = new.content, checked.content_hash, seen.citation
    row.type, row.structure, row.governance = seen.type.value, seen.structure.value, seen.governance
    row.tags = list(dict.fromkeys(new.tags))
    row.related_files, row.related_modules = list(seen.files), list(seen.modules)
    row.attributes, row.pinned, row.external_id = dict(new.attributes), new.pinned, new.external_id
    row.decay_half_life_days = type_row(type=seen.type).half_life_days
    if not is_same_text and row.archived_reason == versions.HELD:
        row.archived_reason = versions.STANDS
    if not is_vouched:  # other words: nobody has vouched for them, and a note may not confirm them
        row.user_verified, row.verified_at = False, None
        if row.verification in {Verification.EVIDENCED, Verification.VERIFIED}:
            row.verification = Verification.UNVERIFIED.value
        alarms = echoes_and_alarms.of_content(content=row.content)
        row.needs_review = row.needs_review or len(alarms) >= echoes_and_alarms.HELD_FROM
    writes.save_unique(row=row, fields=SAVED, now=now)
    writes.reindex(caller=caller, row=row, is_same_text=is_same_text)
    writes.announce(caller=caller, kind="memory.changed", rows=(row,))
    return views.to_view(row, now=now)


def _with_type_mark(caller: Caller, row: Memory, changes: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the changes of a memory with the mark it has from then on.

    Other tags leave its type as it is; a type takes the place of the one before. Raises
    InvalidInput for a type that nobody knows.
    """
    tags, type = changes.get("tags", row.tags), changes.get("type")
    if type is None and "tags" not in changes:
        return changes
    if type is None:
        name = custom_type_rules.named(tags=row.tags)
        return {**changes, "tags": custom_type_rules.marked(tags=tags, name=name)}
    if not custom_type_rules.is_own(name=type):
        return {**changes, "tags": custom_type_rules.plain(tags=tags)}
    found = custom_types.find_custom_type(caller=caller, name=type, pointer="/type").type
    called = custom_type_rules.marked(tags=tags, name=found.name)
    return {**changes, "type": found.base.value, "tags": called}


def _with_evidence(caller: Caller, row: Memory, changes: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the changes of a memory without what no agent says of what a session showed.

    Whose words it has, and which fix was seen: that stays, and goes with those words.
    """
    is_touched = bool(changes.keys() & {"content", "attributes"}) and row.source in LEARNED
    if is_person(caller=caller) or not is_touched:
        return changes
    is_same_text = changes.get("content", row.content) == row.content
    seen = {name: row.attributes[name] for name in EVIDENCE if name in row.attributes}
    given = changes.get("attributes", row.attributes)
    plain = {name: value for name, value in given.items() if name not in EVIDENCE}
    return {**changes, "attributes": {**plain, **(seen if is_same_text else {})}}


def _check_changed(
    caller: Caller, row: Memory, changes: Mapping[str, Any]
) -> candidate.CheckedCandidate:
    """Check a memory as it would be with some changes. Raises as `revise`."""
    given = {key: value for key, value in changes.items() if key != "reason"}
    if given.get("scope", row.scope) == Scope.TEAM:
        given.setdefault("team", _team_of(row))
    given |= {name: tuple(given[name]) for name in given.keys() & validation.LISTS.keys()}
    changed = candidate.of_row(row=row, **given)
    called = custom_type_rules.named(tags=changed.tags)
    checked = candidate.check_candidate(caller=caller, new=replace(changed, own_type=called))
    result = candidate.gate(checked=checked)
    if result.outcome is integrate.GateOutcome.REFUSED:
        gate = result.gate.value if result.gate else ""
        raise RefusedByGate(gate=gate, detail=result.reason, hint=result.hint)
    return checked


def _move(caller: Caller, row: Memory, where: candidate.Placement) -> None:
    """Give a memory another audience; what the feed has said stays with who may still see it."""
    if where.audience == row.audience:
        return
    check_move(caller=caller, row=row, scope=where.scope)
    is_taken = row.scope != Scope.PERSONAL and where.scope is not Scope.ORGANIZATION
    if is_taken:
        feed.leave_to(object_id=row.id, audience=row.author_user or row.id)
    row.scope, row.audience, row.team_id = where.scope.value, where.audience, where.team_id
    writes.move_conflicts(row=row, is_taken=is_taken)


def share_row(*, caller: Caller, row: Memory, now: datetime) -> None:
    """Give a locked personal memory to the people of its project; others stay. In a unit.

    Raises Forbidden where nobody decides in person, InvalidInput for a memory of no project,
    Conflict where the project has the same text.
    """
    if row.scope != Scope.PERSONAL:
        return
    if row.project_id is None:
        raise wrong_field(
            pointer="/share",
            detail="This memory belongs to no project, so there is nobody to share it with.",
            hint="Keep it for yourself.",
            code="place",
        )
    shared = candidate.of_row(row=row, scope=Scope.PROJECT.value)
    _move(caller, row, candidate.find_placement(caller=caller, new=shared))
    writes.save_unique(row=row, fields=("scope", "audience", "team_id"), now=now)
    writes.reindex(caller=caller, row=row, is_same_text=True)


def check_move(*, caller: Caller, row: Memory, scope: Scope) -> None:
    """Return when the caller may give a memory this scope. Raises Forbidden."""
    if scope is Scope.PERSONAL and not protection.is_author(caller=caller, row=row):
        raise Forbidden(
            detail="Only the author of a shared memory can make it personal.",
            hint="Archive it, or correct it, if others should not see it.",
        )
    if row.scope in {Scope.PERSONAL, Scope.TEAM}:
        if not decides_in_person(caller=caller):
            raise Forbidden(
                detail=message(
                    "Only a person moves a {old} memory to the scope {scope}.",
                    old=Scope(row.scope),
                    scope=scope,
                ),
                hint="Share it in the dashboard.",
            )
        return
    is_steward = is_person(caller=caller) and permissions.allows(
        role=caller.role, act=permissions.Act.SETTLE
    )
    may_narrow = is_steward or protection.is_author(caller=caller, row=row)
    if scope is not Scope.ORGANIZATION and not may_narrow:
        raise Forbidden(
            detail=message(
                "Only its author or a steward narrows a memory to the scope {scope}.", scope=scope
            ),
            hint="Archive it, or correct it, if not everyone should see it.",
        )


def _team_of(row: Memory) -> str | None:
    return str(row.team_id) if row.team_id else None
