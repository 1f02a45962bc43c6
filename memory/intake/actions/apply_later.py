"""Integrate memories that have just got their vectors: what a bulk call could not see.

The same decision as at the door, for memories that stand already. Of two that say the same the
later one is replaced by the earlier, which is confirmed unless the writer was told it; words of
change replace at most a share of the project, and whatever goes beyond it becomes a conflict. A
second run of a job finds nothing to do: what was replaced is not active, and a pair is judged once.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from django.db.models import Q

from accounts import tenancy
from accounts.caller import Caller, Role, TokenScope
from memory.intake import integrate
from memory.intake.actions import action_log, apply_decision, similar_memories
from memory.intake.actions.action_log import Entry
from memory.intake.actions.candidate import Placement
from memory.intake.actions.echo_guard import is_restatement
from memory.intake.intake_gates import Thresholds
from memory.intake.integrate import Cause, Decision, Judged, Known, Operation, Statement
from memory.intake.sql import neighbors as rows_near
from memory.intake.sql.neighbors import KnownRow
from memory.records import statements, writes
from memory.records.actions import count_restatement
from memory.records.models import Conflict, Memory, MemoryLink, MemoryVersion
from memory.records.queries import relations
from memory.taxonomy import Authority, LinkKind, MemoryType, Scope, Status

SAME = "It says the same as an earlier one."
LEAST_COSINE = 0.5  # which any project may ask for, of `teams.queries.GATES`


@dataclass(slots=True, kw_only=True)
class Share:
    """How many memories a run may still replace, by project."""

    ids: frozenset[UUID]
    left: dict[UUID | None, int]

    def of(self, project_id: UUID | None) -> int:
        """Return what is left of a project's share; it is counted when first asked for."""
        if project_id not in self.left:
            here = Q(project_id=project_id) if project_id else Q(project_id__isnull=True)
            others = Memory.objects.filter(here, status=Status.ACTIVE.value)
            count = others.exclude(pk__in=self.ids).count()
            self.left[project_id] = integrate.share(memories=count)
        return self.left[project_id]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparable:
    """A stored memory as integration sees it, and what stands near it."""

    statement: Statement
    known: tuple[Known, ...]
    conflict_cosine: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """A memory of the batch, what is known around it, and what was decided."""

    row: Memory
    twin_id: UUID | None
    decision: Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class _Done:
    """What was done to which memories, by whom."""

    caller: Caller
    verb: str
    memory_id: UUID
    entry: Entry


def share_of(*, memory_ids: tuple[UUID, ...]) -> Share:
    """Return the share of a run over these memories, not yet used."""
    return Share(ids=frozenset(memory_ids), left={})


def comparable(*, row: Memory) -> Comparable | None:
    """Return what a memory with a vector is compared with, None for nothing. In a unit."""
    ids = (row.id,)
    near = rows_near.nearest_of_many(
        memory_ids=ids, limit=similar_memories.NEAREST, least=LEAST_COSINE
    )
    close = _not_parted(near).get(row.id, {})
    texts = {one.id: one for one in rows_near.known(memory_ids=(row.id, *close))}
    if row.id not in texts:
        return None
    thresholds = similar_memories.thresholds_of(project=row.project)
    return Comparable(
        statement=_statement(row, texts[row.id], share_of(memory_ids=ids)),
        known=_known(row, texts, close, thresholds),
        conflict_cosine=thresholds.conflict_cosine,
    )


def integrate_stored(
    *,
    memory_ids: tuple[UUID, ...],
    share: Share,
    now: datetime,
    judged: tuple[Judged, ...] = (),
) -> int:
    """Integrate memories that have vectors; return how many changed what is known.

    `judged` is what a model said they are to what is known; else words decide.
    """
    with tenancy.unit():
        near = rows_near.nearest_of_many(
            memory_ids=memory_ids, limit=similar_memories.NEAREST, least=LEAST_COSINE
        )
        close = _not_parted(near)
        ids = {*close, *(id for others in close.values() for id in others)}
        texts = {row.id: row for row in rows_near.known(memory_ids=tuple(ids))}
        rows = Memory.objects.filter(pk__in=close).select_related("project").order_by("id")
        done = []
        for row in rows:
            found = _look(row, texts, close[row.id], share, judged) if row.id in texts else None
            done += [] if found is None else _do(found, share, now)
        _tell(done, now)
    return len(done)


def _not_parted(near: dict[UUID, dict[UUID, float]]) -> dict[UUID, dict[UUID, float]]:
    """Leave out what was told apart from a memory, so that the next one is looked at. In a unit."""
    apart = relations.rejected_pairs(
        memory_ids={*near, *(id for others in near.values() for id in others)}
    )
    return {
        id: {other: cosine for other, cosine in others.items() if {id, other} not in apart}
        for id, others in near.items()
    }


def _known(
    row: Memory, texts: dict[UUID, KnownRow], close: dict[UUID, float], thresholds: Thresholds
) -> tuple[Known, ...]:
    """Return what a memory is compared with; only a changed one with what came later."""
    least = min(thresholds.near_duplicate_cosine, thresholds.conflict_cosine)
    near = {
        id: cosine
        for id, cosine in close.items()
        if cosine >= least and id in texts and (id < row.id or row.version > 1)
    }
    return similar_memories.known_of(
        rows=tuple(texts[id] for id in near),
        cosines=near,
        audience=row.audience,
        type=MemoryType(row.type),
    )


def _look(
    row: Memory,
    texts: dict[UUID, KnownRow],
    close: dict[UUID, float],
    share: Share,
    judged: tuple[Judged, ...],
) -> _Found | None:
    """Decide about one memory."""
    thresholds = similar_memories.thresholds_of(project=row.project)
    known = _known(row, texts, close, thresholds)
    if not known:
        return None
    return _Found(
        row=row,
        twin_id=_twin(
            row, tuple(one for one in known if not texts[one.id].is_doubtful), thresholds
        ),
        decision=integrate.decide(
            candidate=_statement(row, texts[row.id], share),
            known=integrate.with_judgments(known=known, judged=judged),
            conflict_cosine=thresholds.conflict_cosine,
        ),
    )


def _twin(row: Memory, known: tuple[Known, ...], thresholds: Thresholds) -> UUID | None:
    """Return the sound memory that says the same, for one that nobody would miss beside it."""
    if row.external_id or row.pinned or row.version > 1 or row.needs_review:
        return None
    own = statements.assertion(text=row.content)
    twins = [
        one
        for one in known
        if one.cosine > thresholds.near_duplicate_cosine
        and not one.is_elsewhere
        and one.authority <= row.authority
        and statements.asserts_the_same(old=statements.assertion(text=one.content), new=own)
    ]
    best = min(twins, key=lambda one: (-one.cosine, one.id), default=None)
    return None if best is None else best.id


def _statement(row: Memory, text: KnownRow, share: Share) -> Statement:
    own, last = Authority(row.authority), _last_change(row)
    # what an agent changed last has at most an agent's word
    is_agents = last is not None and (last.changed_by is None or last.changed_agent != "")
    return Statement(
        content=row.content,
        authority=max(own, Authority.AGENT) if is_agents else own,
        subjects=text.subjects,
        since=row.valid_from,
        is_reviewed=not row.needs_review,
        has_share=share.of(row.project_id) > 0,
        trusts_judgments=False,
    )


def _last_change(row: Memory) -> MemoryVersion | None:
    if row.version == 1:
        return None
    return MemoryVersion.objects.filter(memory_id=row.id).order_by("-number").first()


def _do(found: _Found, share: Share, now: datetime) -> list[_Done]:
    # the pair is locked in the order in which all others lock it
    pair = (found.row.id, found.twin_id or found.decision.target_id or found.row.id)
    held = Memory.objects.select_for_update(of=("self",))
    list(held.filter(pk__in=pair).order_by("id").values_list("id", flat=True))
    same = held.select_related("project").filter(pk=found.row.pk, version=found.row.version)
    row, caller = same.filter(status=Status.ACTIVE.value).first(), _author(found.row)
    if row is None:
        return []
    if found.twin_id is not None:
        return _merge(caller, row, found.twin_id, now)
    decision = found.decision
    old = _target(row, decision)
    done = apply_decision.carry_out(caller=caller, row=row, old=old, decision=decision, now=now)
    if done is None:
        return []
    if decision.cause is Cause.ELSEWHERE:
        return []  # fewer people see one of the two: no log of others hints at it
    verb = "extended" if done.conflict_id is None else "contradicted"
    if done.replaced:
        verb = "superseded"
        share.left[row.project_id] = share.of(row.project_id) - 1
    cause = "" if decision.cause is None else decision.cause.value
    entry = _entry(row, verb, memory_id=row.id, other_id=done.other_id)
    entry = replace(entry, cause=cause)
    return [_Done(caller=caller, verb=verb, memory_id=done.other_id, entry=entry)]


def _merge(caller: Caller, row: Memory, twin_id: UUID, now: datetime) -> list[_Done]:
    """Let a memory be replaced by an earlier one that says the same, and confirm that one.

    Where an agent was told that one, and says it again, that confirms nothing.
    """
    decision = Decision(
        operation=Operation.NONE,
        target_id=twin_id,
        link=LinkKind.SUPERSEDES,
        is_conflict=False,
        reason=SAME,
    )
    twin = _active(twin_id)
    if twin is None or twin.governance > row.governance:
        return []
    before = apply_decision.retire(caller=caller, old=row, successor=twin, reason=SAME, now=now)
    apply_decision.link(source=twin, target=row, decision=decision, before=before)
    is_repeated = is_restatement(row=row, delivered_id=twin.id)
    if not is_repeated:
        sessions = (row.session_id, *row.provenance_sessions)
        changed = count_restatement(row=twin, sessions=sessions, now=now)
        writes.save(row=twin, fields=changed, now=now)
        writes.announce(caller=caller, kind="memory.confirmed", rows=(twin,))
    ended = "known" if is_repeated else "confirmed"
    entry = _entry(row, ended, memory_id=twin.id, other_id=row.id)
    entry = replace(entry, gate="" if is_repeated else "near_duplicate")
    return [_Done(caller=caller, verb="merged", memory_id=row.id, entry=entry)]


def _active(memory_id: UUID) -> Memory | None:
    rows = Memory.objects.select_for_update(of=("self",))
    return rows.filter(pk=memory_id, status=Status.ACTIVE.value).first()


def _target(row: Memory, decision: Decision) -> Memory | None:
    """Return the memory a decision concerns, locked.

    None where the pair was judged before, or it has changed since it was compared.
    """
    if decision.target_id is None:
        return None
    pair = (row.id, decision.target_id)
    if Conflict.objects.filter(older__in=pair, newer__in=pair).exists():
        return None
    if MemoryLink.objects.filter(source__in=pair, target__in=pair).exists():
        return None
    held = _active(decision.target_id)
    is_same = held is not None and apply_decision.is_as_read(row=held, decision=decision)
    return held if is_same and set(pair) not in relations.rejected_pairs(memory_ids=pair) else None


def _entry(row: Memory, outcome: str, *, memory_id: UUID, other_id: UUID) -> Entry:
    return Entry(
        source=row.source,
        place=Placement(
            project=row.project, scope=Scope(row.scope), audience=row.audience, team_id=row.team_id
        ),
        outcome=outcome,
        memory_id=memory_id,
        other_id=other_id,
    )


def _author(row: Memory) -> Caller:
    """Return whose words a memory has, for the feed and the log; a job is nobody in person."""
    tenant, last = tenancy.current(), _last_change(row)
    by_author = (row.author_user, row.author_agent)
    user_id, agent = by_author if last is None else (last.changed_by, last.changed_agent)
    return Caller(
        user_id=user_id,
        organization_id=tenant.organization_id,
        organization_slug=tenant.slug,
        schema_name=tenant.schema_name,
        role=Role.MEMBER,
        scopes=frozenset({TokenScope.WRITE}),
        bound_projects=None,
        source_interface=row.source_interface,
        agent=agent,
    )


def _tell(done: Iterable[_Done], now: datetime) -> None:
    """Append to both logs what was done: one entry of the audit log a writer."""
    by_caller: dict[Caller, list[_Done]] = {}
    for one in done:
        by_caller.setdefault(one.caller, []).append(one)
    for caller, several in by_caller.items():
        ids: dict[str, tuple[UUID, ...]] = {}
        for one in several:
            ids[one.verb] = (*ids.get(one.verb, ()), one.memory_id)
        writes.record_bulk(caller=caller, act="memory.bulk_integrated", memory_ids=ids)
        entries = tuple(one.entry for one in several)
        action_log.record(caller=caller, entries=entries, now=now)
