"""Integrate memories that have just got their vectors: what a bulk call could not see.

The same decision as for a single candidate, for memories that are active already. Of two that say
the same the later one is replaced by the earlier, which is confirmed unless the writer had been
given it; words of change replace at most a share of the project, and whatever goes beyond it
becomes a conflict. A second run of a job finds nothing to do: what was replaced is not active, and
a pair is judged once.
"""

from collections import defaultdict
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db.models import Q

from accounts import tenancy
from accounts.caller import Caller, Role, TokenScope
from memory.intake import integrate, queries
from memory.intake.actions import apply_decision, similar_memories
from memory.intake.actions.apply_decision import LogEntry
from memory.intake.actions.candidate import Placement
from memory.intake.integrate import (
    CandidateStatement,
    Cause,
    Decision,
    Judged,
    Operation,
    StoredStatement,
    Thresholds,
)
from memory.records import assertions, writes
from memory.records.actions import count_restatement
from memory.records.models import Conflict, Memory, MemoryLink, MemoryVersion
from memory.records.queries import views
from memory.taxonomy import Authority, LinkKind, MemoryType, Scope, Status

SAME: Final = "It says the same as an earlier one."
LEAST_COSINE: Final = 0.5  # which any project may ask for, of `teams.queries.GATES`


@dataclass(slots=True, kw_only=True)
class ReplacementShare:
    """How many memories a run may still replace, by project."""

    ids: frozenset[UUID]
    left: dict[UUID | None, int] = field(default_factory=dict)

    def of(self, project_id: UUID | None) -> int:
        """Return what is left of a project's share; it is counted when first asked for."""
        if project_id not in self.left:
            here = Q(project_id=project_id) if project_id else Q(project_id__isnull=True)
            others = Memory.objects.filter(here, status=Status.ACTIVE.value)
            count = others.exclude(pk__in=self.ids).count()
            self.left[project_id] = integrate.share(memories=count)
        return self.left[project_id]


def comparable(
    *, row: Memory
) -> tuple[CandidateStatement, tuple[StoredStatement, ...], float] | None:
    """Return a memory as integration sees it, what it meets, and the least cosine of a conflict.

    None for one without a vector or neighbors. In a unit.
    """
    found = _find_near((row.id,)).get(row.id)
    if found is None:
        return None
    own, near = found
    thresholds = similar_memories.thresholds_of(project=row.project)
    known = _compared_with(row, near, thresholds)
    statement = _statement(row, own, ReplacementShare(ids=frozenset({row.id})))
    return statement, known, thresholds.conflict_cosine


def integrate_stored(
    *,
    memory_ids: tuple[UUID, ...],
    share: ReplacementShare,
    now: datetime,
    judged: tuple[Judged, ...] = (),
) -> int:
    """Integrate memories that have vectors; return how many changed what is known.

    `judged` is what a model said they are to what is known; else words decide.
    """
    with tenancy.unit():
        near = _find_near(memory_ids)
        rows = Memory.objects.filter(pk__in=near).select_related("project").order_by("id")
        done: defaultdict[Caller, list[tuple[str, UUID, LogEntry]]] = defaultdict(list)
        for row in rows:
            changed = _integrate(row, near[row.id], share, judged, now)
            if changed is not None:
                done[_author(row)].append(changed)
        for caller, several in done.items():  # one entry of the audit log a writer
            ids: defaultdict[str, tuple[UUID, ...]] = defaultdict(tuple)
            for verb, memory_id, _ in several:
                ids[verb] += (memory_id,)
            writes.record_bulk(caller=caller, act="memory.bulk_integrated", memory_ids=ids)
            entries = tuple(entry for _, _, entry in several)
            apply_decision.log_actions(caller=caller, entries=entries, now=now)
    return sum(map(len, done.values()))


def _find_near(
    memory_ids: tuple[UUID, ...],
) -> dict[UUID, tuple[StoredStatement, tuple[StoredStatement, ...]]]:
    """Return memories with a vector and what is near each, without pairs that were told apart."""
    near = queries.nearest_of_many(
        memory_ids=memory_ids, limit=similar_memories.NEAREST, least=LEAST_COSINE
    )
    ids = {*near, *(id for others in near.values() for id in others)}
    apart = views.rejected_pairs(memory_ids=ids)
    stored = queries.stored_statements(cosines=dict.fromkeys(ids, 1.0))
    by_id = {one.id: one for one in stored}
    return {
        id: (
            by_id[id],
            tuple(
                replace(by_id[other], cosine=cosine)
                for other, cosine in others.items()
                if other in by_id and {id, other} not in apart
            ),
        )
        for id, others in near.items()
        if id in by_id
    }


def _compared_with(
    row: Memory, near: tuple[StoredStatement, ...], thresholds: Thresholds
) -> tuple[StoredStatement, ...]:
    """Return what a memory is compared with; only a changed one with what came later."""
    least = min(thresholds.near_duplicate_cosine, thresholds.conflict_cosine)
    return similar_memories.compared_with(
        stored=tuple(
            one for one in near if one.cosine >= least and (one.id < row.id or row.version > 1)
        ),
        audience=row.audience,
        type=MemoryType(row.type),
    )


def _statement(row: Memory, own: StoredStatement, share: ReplacementShare) -> CandidateStatement:
    authority, last = Authority(row.authority), _last_change(row)
    # what an agent changed last has at most an agent's word
    is_agents = last is not None and (last.changed_by is None or last.changed_agent != "")
    return CandidateStatement(
        content=row.content,
        authority=max(authority, Authority.AGENT) if is_agents else authority,
        subjects=own.subjects,
        since=row.valid_from,
        is_reviewed=not row.needs_review,
        has_share=share.of(row.project_id) > 0,
        trusts_judgments=False,
    )


def _integrate(
    row: Memory,
    found: tuple[StoredStatement, tuple[StoredStatement, ...]],
    share: ReplacementShare,
    judged: tuple[Judged, ...],
    now: datetime,
) -> tuple[str, UUID, LogEntry] | None:
    """Decide about one memory and do it; return the verb, the memory concerned, and for the log."""
    thresholds = similar_memories.thresholds_of(project=row.project)
    known = _compared_with(row, found[1], thresholds)
    if not known:
        return None
    twin_id = _find_twin(row, known, thresholds)
    decision = integrate.decide(
        candidate=_statement(row, found[0], share),
        known=integrate.with_judgments(known=known, judged=judged),
        conflict_cosine=thresholds.conflict_cosine,
    )
    # the pair is locked in the order in which all others lock it
    pair = (row.id, twin_id or decision.target_id or row.id)
    held = Memory.objects.select_for_update(of=("self",))
    list(held.filter(pk__in=pair).order_by("id").values_list("id", flat=True))
    same = held.select_related("project").filter(pk=row.pk, version=row.version)
    current = same.filter(status=Status.ACTIVE.value).first()
    if current is None:
        return None
    if twin_id is not None:
        return _merge(_author(row), current, twin_id, now)
    old = _hold_target(current, decision)
    done = apply_decision.carry_out(
        caller=_author(row), row=current, old=old, decision=decision, now=now
    )
    if done is None or decision.cause is Cause.ELSEWHERE:
        return None  # of a conflict that fewer people see, no log of others hints at it
    verb = "extended" if done.conflict_id is None else "contradicted"
    if done.replaced:
        verb = "superseded"
        share.left[row.project_id] = share.of(row.project_id) - 1
    entry = LogEntry(
        source=row.source,
        place=_placement(current),
        outcome=verb,
        cause="" if decision.cause is None else decision.cause.value,
        memory_id=row.id,
        other_id=done.other_id,
    )
    return verb, done.other_id, entry


def _find_twin(
    row: Memory, known: tuple[StoredStatement, ...], thresholds: Thresholds
) -> UUID | None:
    """Return the sound memory that says the same, for one that nobody would miss beside it."""
    if row.external_id or row.pinned or row.version > 1 or row.needs_review:
        return None
    own = assertions.assertion(text=row.content)
    twins = [
        one
        for one in known
        if one.cosine > thresholds.near_duplicate_cosine
        and not one.is_elsewhere
        and not one.is_doubtful
        and one.authority <= row.authority
        and assertions.asserts_the_same(old=assertions.assertion(text=one.content), new=own)
    ]
    best = min(twins, key=lambda one: (-one.cosine, one.id), default=None)
    return None if best is None else best.id


def _merge(
    caller: Caller, row: Memory, twin_id: UUID, now: datetime
) -> tuple[str, UUID, LogEntry] | None:
    """Let a memory be replaced by an earlier one that says the same, and confirm that one.

    Where an agent was given that one, and says it again, that confirms nothing.
    """
    twin = _hold_active(twin_id)
    if twin is None or twin.governance > row.governance:
        return None
    decision = Decision(
        operation=Operation.NONE,
        target_id=twin_id,
        link=LinkKind.SUPERSEDES,
        is_conflict=False,
        reason=SAME,
    )
    before = apply_decision.retire(caller=caller, old=row, successor=twin, reason=SAME, now=now)
    apply_decision.link(source=twin, target=row, decision=decision, before=before)
    is_repeated = similar_memories.is_restatement(row=row, delivered_id=twin.id)
    if not is_repeated:
        sessions = (row.session_id, *row.provenance_sessions)
        changed = count_restatement(row=twin, sessions=sessions, now=now)
        writes.save(row=twin, fields=changed, now=now)
        writes.announce(caller=caller, kind="memory.confirmed", rows=(twin,))
    entry = LogEntry(
        source=row.source,
        place=_placement(row),
        outcome="known" if is_repeated else "confirmed",
        gate="" if is_repeated else "near_duplicate",
        memory_id=twin.id,
        other_id=row.id,
    )
    return "merged", row.id, entry


def _hold_target(row: Memory, decision: Decision) -> Memory | None:
    """Return the memory a decision concerns, locked.

    None where the pair was judged before, or it has changed since it was compared.
    """
    if decision.target_id is None:
        return None
    pair = (row.id, decision.target_id)
    if (
        Conflict.objects.filter(older__in=pair, newer__in=pair).exists()
        or MemoryLink.objects.filter(source__in=pair, target__in=pair).exists()
        or set(pair) in views.rejected_pairs(memory_ids=pair)
    ):
        return None
    held = _hold_active(decision.target_id)
    is_same = held is not None and apply_decision.is_as_read(row=held, decision=decision)
    return held if is_same else None


def _hold_active(memory_id: UUID) -> Memory | None:
    rows = Memory.objects.select_for_update(of=("self",))
    return rows.filter(pk=memory_id, status=Status.ACTIVE.value).first()


def _placement(row: Memory) -> Placement:
    return Placement(
        project=row.project, scope=Scope(row.scope), audience=row.audience, team_id=row.team_id
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


def _last_change(row: Memory) -> MemoryVersion | None:
    if row.version == 1:
        return None
    return MemoryVersion.objects.filter(memory_id=row.id).order_by("-number").first()
