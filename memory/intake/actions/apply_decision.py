"""Carry out what integration decided about a memory that has just been stored, and log it.

What is replaced stays readable: it names its successor and why, its confidence falls and it is true
until the new one began to be. A contradiction leaves both as they are, with an edge and a conflict.

The action log says what became of each candidate: when, from whom, how it ended and why; never what
it said. A refused one is known to its sender alone; where no person stands behind the credential,
to who may see the place it was meant for.

`integrate_stored` does the same for memories that have just got their vectors: what a bulk call
could not see. Of two that say the same the later one is replaced by the earlier, which is confirmed
unless the writer had been given it; words of change replace at most a share of the project, and
whatever goes beyond it becomes a conflict. A second run of a job finds nothing to do: what was
replaced is not active, and a pair is judged once.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db.models import Q

from accounts import bulk_insert, tenancy
from accounts.caller import Caller, Role, TokenScope, decides_in_person, principal
from accounts.errors import Conflict as Changed
from memory.intake import integrate, queries
from memory.intake.actions import similar_memories
from memory.intake.actions.candidate import Placement
from memory.intake.integrate import Decision, Judged, StoredStatement
from memory.intake.models import ActionLog
from memory.records import restatements, versions, writes
from memory.records.actions import count_restatement, read_field
from memory.records.models import Conflict, Memory, MemoryLink, MemoryVersion
from memory.records.queries import views
from memory.taxonomy import Authority, ConflictCause, LinkKind, MemoryType, Scope, Source, Status

ENDS: Final = ("source_id", "target_id", "kind")
LogRow = ActionLog  # what callers of `log_actions` hold; they import no model for it
EDGE: Final = (
    *ENDS, "confidence", "automatic", "cosine", "description", "before", "created_at",
)  # fmt: skip
SOURCES: Final = frozenset(Source)
VERBS: Final = {LinkKind.SUPERSEDES: "superseded", LinkKind.CONTRADICTS: "contradicted"}
LOWERED: Final = ("confidence", "valid_until", "archived_reason")  # of what is replaced
RETIRED: Final = ("status", "superseded_by", *LOWERED)  # all that is written of it
SAME: Final = "It says the same as an earlier one."
LEAST_COSINE: Final = 0.5  # which any project may ask for, of `teams.queries.GATES`


def hold(*, decision: Decision) -> Memory | None:
    """Lock the memory a decision concerns, None where it concerns none. In a unit.

    Taken before anything is inserted, so that writers wait for each other in one order. Raises
    Conflict where it has left or changed meanwhile. For what is only similar nobody waits, and
    nothing fails: then it is None.
    """
    if decision.target_id is None:
        return None
    is_only_similar = decision.link is LinkKind.SIMILAR
    held = Memory.objects.select_for_update(of=("self",), skip_locked=is_only_similar)
    old = held.filter(pk=decision.target_id, status=Status.ACTIVE.value).first()
    is_current = old is not None and is_as_read(row=old, decision=decision)
    if is_only_similar:
        return old if is_current else None
    if not is_current:
        raise Changed(
            detail="The memories that this refers to have changed meanwhile.", hint="Send it again."
        )
    return old


def is_as_read(*, row: Memory, decision: Decision) -> bool:
    """Say whether a held memory still is the version that the decision compared."""
    return decision.target_version in {None, row.version}


def is_proposed(*, caller: Caller, decision: Decision) -> bool:
    """Say whether an agent would replace what only people change, so that it waits for one."""
    return decision.is_proposal and not decides_in_person(caller=caller)


def carry_out(
    *, caller: Caller, row: Memory, old: Memory | None, decision: Decision, now: datetime
) -> UUID | None:
    """Write what follows for a stored memory and a held one; return the conflict. In a unit."""
    if old is None or decision.link is None:
        return None
    before = None
    if decision.link is not LinkKind.SIMILAR:  # what is decided now says more
        take_edges((row.id, old.id), (row.id, old.id), kind=LinkKind.SIMILAR)
    if decision.link is LinkKind.SUPERSEDES:
        before = retire(caller=caller, old=old, successor=row, reason=decision.reason, now=now)
    link(source=row, target=old, decision=decision, before=before)
    conflict_id = open_conflict(older=old, newer=row, decision=decision, now=now)
    if conflict_id is not None:
        side, audience = writes.find_narrower_side(older=old, newer=row, otherwise=row.author_user)
        writes.announce(caller=caller, kind="memory.contradicted", rows=(side,), audience=audience)
    return conflict_id


def retire(
    *, caller: Caller, old: Memory, successor: Memory, reason: str, now: datetime
) -> dict[str, Any]:
    """Let a held memory be replaced by another; it stays readable. In a unit.

    Return what it was before, for the edge between the two.
    """
    before = lowered(row=old)
    old.status = Status.SUPERSEDED.value
    old.superseded_by_id = successor.id
    old.confidence = min(old.confidence, integrate.SUPERSEDED_CONFIDENCE)
    old.valid_until = max(old.valid_from, successor.valid_from)
    old.archived_reason = str(reason)[:200]
    writes.save(row=old, fields=RETIRED, now=now)
    writes.announce(caller=caller, kind="memory.superseded", rows=(old,))
    return before


def lowered(*, row: Memory) -> dict[str, Any]:
    """Return what of a memory falls when it is replaced, for the edge to its successor."""
    return {name: versions.plain(value=getattr(row, name)) for name in LOWERED}


def reactivate(*, row: Memory, before: Mapping[str, Any]) -> None:
    """Make a replaced memory active as it was before, and do not save it."""
    row.status, row.superseded_by = Status.ACTIVE.value, None
    for name in before.keys() & LOWERED:
        setattr(row, name, read_field(name=name, value=before[name]))


def link(
    *, source: Memory, target: Memory, decision: Decision, before: dict[str, Any] | None = None
) -> None:
    """Write the edge of a decision, once; `before` is what a replaced target was. In a unit."""
    if decision.link is None:
        return
    made, is_new = MemoryLink.objects.get_or_create(
        source=source,
        target=target,
        kind=decision.link.value,
        defaults={
            "automatic": True,
            "confidence": decision.certainty,
            "cosine": decision.cosine,
            "description": str(decision.explanation)[:200],
            "before": before,
        },
    )
    if before is not None and not is_new:
        made.before = before
        made.save(update_fields=["before"])


def open_conflict(
    *, older: Memory, newer: Memory, decision: Decision, now: datetime
) -> UUID | None:
    """Record a conflict of two memories, once whichever came first. In a unit."""
    if decision.cause is None:
        return None
    known = Conflict.objects.filter(older=newer, newer=older).values_list("id", flat=True).first()
    if known is not None:
        return known
    row, _ = Conflict.objects.get_or_create(
        older=older,
        newer=newer,
        defaults={
            "project_id": newer.project_id,
            "audience": writes.find_narrower_side(
                older=older, newer=newer, otherwise=newer.author_user
            )[1],
            "kind": "contradict" if decision.wanted is None else decision.wanted.value,
            "cause": decision.cause.value,
            "cosine": decision.cosine,
            "found_at": now,
        },
    )
    return row.id


def take_edges(
    sources: Iterable[UUID], targets: Iterable[UUID], *, kind: LinkKind
) -> list[dict[str, Any]]:
    """Take the edges of a kind between memories away; return what `put_edges` needs. In a unit."""
    rows = MemoryLink.objects.filter(source__in=sources, target__in=targets, kind=kind.value)
    taken = [edge_of(link=row) for row in rows.select_for_update().order_by("id")]
    rows.delete()
    return taken


def put_edges(*, edges: Iterable[Mapping[str, Any]]) -> None:
    """Put edges that were taken away back as they were. In a unit."""
    for edge in edges:
        fields = {name: edge[name] for name in EDGE if name not in {*ENDS, "created_at"}}
        ends = {name: edge[name] for name in ENDS}
        row, is_new = MemoryLink.objects.get_or_create(**ends, defaults=fields)
        if is_new:
            made_at = datetime.fromisoformat(edge["created_at"])
            MemoryLink.objects.filter(pk=row.pk).update(created_at=made_at)


def edge_of(*, link: MemoryLink) -> dict[str, Any]:
    """Return an edge as `put_edges` puts it back."""
    return {name: versions.plain(value=getattr(link, name)) for name in EDGE}


def log_actions(*, rows: Sequence[ActionLog]) -> None:
    """Append rows of the log. In a unit."""
    bulk_insert.insert_rows(rows=rows)


def log_row(
    *,
    caller: Caller,
    source: str,
    place: Placement | None,
    outcome: str,
    gate: str = "",
    cause: str = "",
    certainty: float | None = None,
    now: datetime,
    **named: UUID | None,
) -> ActionLog:
    """Return the row of the log of one candidate, `place` None: it found none.

    `memory_id` is what was stored or confirmed, `other_id` what it replaced or contradicts.
    """
    audience = (
        principal(caller=caller) or caller.organization_id if place is None else place.audience
    )
    return ActionLog(
        at=now,
        audience=caller.user_id or audience if outcome == "refused" else audience,
        project_id=None if place is None else place.project_id,
        user_id=caller.user_id,
        token_id=caller.token_id,
        agent=caller.agent,
        source=source if source in SOURCES else "unknown",
        source_interface=caller.source_interface,
        outcome=outcome,
        gate=gate,
        cause=cause[:24],
        certainty=certainty,
        **named,
    )


def forget_actions(*, now: datetime, days: int) -> int:
    """Delete rows of the action log older than some days; return how many."""
    with tenancy.unit():
        old = ActionLog.objects.filter(at__lt=now - timedelta(days=days))
        deleted, _ = old.delete()
        return deleted


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
) -> tuple[integrate.CandidateStatement, tuple[StoredStatement, ...], float] | None:
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
        done: defaultdict[Caller, list[tuple[str, UUID, ActionLog]]] = defaultdict(list)
        for row in rows:
            changed = _integrate(row, near[row.id], share, judged, now)
            if changed is not None:
                done[_author(row)].append(changed)
        for caller, several in done.items():  # one entry of the audit log a writer
            ids: defaultdict[str, tuple[UUID, ...]] = defaultdict(tuple)
            for verb, memory_id, _ in several:
                ids[verb] += (memory_id,)
            writes.record_bulk(caller=caller, act="memory.bulk_integrated", memory_ids=ids)
            log_actions(rows=[logged for _, _, logged in several])
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
    row: Memory, near: tuple[StoredStatement, ...], thresholds: integrate.Thresholds
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


def _statement(
    row: Memory, own: StoredStatement, share: ReplacementShare
) -> integrate.CandidateStatement:
    authority, last = Authority(row.authority), _last_change(row)
    # what an agent changed last has at most an agent's word
    is_agents = last is not None and (last.changed_by is None or last.changed_agent != "")
    return integrate.CandidateStatement(
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
) -> tuple[str, UUID, ActionLog] | None:
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
    return _replace_or_oppose(current, decision, share, now)


def _replace_or_oppose(
    row: Memory, decision: Decision, share: ReplacementShare, now: datetime
) -> tuple[str, UUID, ActionLog] | None:
    """Carry out a decision about a held memory; return as `_integrate`, None where nothing is."""
    old, author = _hold_target(row, decision), _author(row)
    is_waiting = is_proposed(caller=author, decision=decision) and not row.user_verified
    if old is not None and is_waiting:
        row.needs_review = True
        writes.save(row=row, fields=("needs_review",), now=now)
    carry_out(caller=author, row=row, old=old, decision=decision, now=now)
    if old is None or decision.link in {None, LinkKind.SIMILAR}:
        return None
    if decision.cause is ConflictCause.ELSEWHERE:
        return None  # of a conflict that fewer people see, no log of others hints at it
    verb = VERBS.get(decision.link, "extended")
    if decision.link is LinkKind.SUPERSEDES:
        share.left[row.project_id] = share.of(row.project_id) - 1
    logged = log_row(
        caller=author,
        source=row.source,
        place=_placement(row),
        outcome=verb,
        cause=decision.cause or "",
        certainty=decision.certainty,
        memory_id=row.id,
        other_id=old.id,
        now=now,
    )
    return verb, old.id, logged


def _find_twin(
    row: Memory, known: tuple[StoredStatement, ...], thresholds: integrate.Thresholds
) -> UUID | None:
    """Return the sound memory that says the same, for one that nobody would miss beside it."""
    if any((row.external_id, row.pinned, row.version > 1, row.needs_review)):
        return None
    twins = [
        one
        for one in known
        if one.cosine > thresholds.near_duplicate_cosine
        and one.is_sound
        and one.authority <= row.authority
        and restatements.restates(old=one.content, new=row.content)
    ]
    best = min(twins, key=lambda one: (-one.cosine, one.id), default=None)
    return None if best is None else best.id


def _merge(
    caller: Caller, row: Memory, twin_id: UUID, now: datetime
) -> tuple[str, UUID, ActionLog] | None:
    """Let a memory be replaced by an earlier one that says the same, and confirm that one.

    Where an agent was given that one, and says it again, that confirms nothing.
    """
    twin = _hold_active(twin_id)
    if twin is None or twin.governance > row.governance:
        return None
    decision = Decision(target_id=twin_id, link=LinkKind.SUPERSEDES, reason=SAME)
    before = retire(caller=caller, old=row, successor=twin, reason=SAME, now=now)
    link(source=twin, target=row, decision=decision, before=before)
    is_repeated = similar_memories.is_restatement(row=row, delivered_id=twin.id)
    if not is_repeated:
        sessions = (row.session_id, *row.provenance_sessions)
        changed = count_restatement(row=twin, sessions=sessions, now=now)
        writes.save(row=twin, fields=changed, now=now)
        writes.announce(caller=caller, kind="memory.confirmed", rows=(twin,))
    logged = log_row(
        caller=caller,
        source=row.source,
        place=_placement(row),
        outcome="known" if is_repeated else "confirmed",
        gate="" if is_repeated else "near_duplicate",
        certainty=1.0,
        memory_id=twin.id,
        other_id=row.id,
        now=now,
    )
    return "merged", row.id, logged


def _hold_target(row: Memory, decision: Decision) -> Memory | None:
    """Return the memory a decision concerns, locked.

    None where the pair was judged before, or it has changed since it was compared.
    """
    if decision.target_id is None:
        return None
    pair = (row.id, decision.target_id)
    others = MemoryLink.objects.exclude(kind=LinkKind.SIMILAR.value)  # which judges nothing
    if (
        Conflict.objects.filter(older__in=pair, newer__in=pair).exists()
        or others.filter(source__in=pair, target__in=pair).exists()
        or set(pair) in views.rejected_pairs(memory_ids=pair)
    ):
        return None
    held = _hold_active(decision.target_id)
    is_same = held is not None and is_as_read(row=held, decision=decision)
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
