"""Plan what a rollback does: who may choose it, which rows it reaches, what becomes of each.

Everything is of the caller's visibility: what they may not see is neither counted nor listed, and
never touched. A memory is protected where somebody else has rewritten, kept or confirmed it since;
who asks for the rollback and who is rolled back do not count as somebody else.

The plan is in the order in which a rollback writes: first what is archived, and behind it what has
room to be restored; then what gets back an earlier text, one memory after the other: where another
memory says that text by then, it stays as it is. Preview and execution read the same plan, so the
numbers of a preview are those of the receipt; a property test lets random histories happen and
compares the two.

Changes are known of persons and times only: no version says in which session it was made.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

from django.db.models import Exists, F, Func, IntegerField, OuterRef, Q, QuerySet, UUIDField
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from accounts import queries, tenancy
from accounts.caller import Caller, decides_in_person, is_person
from accounts.errors import FieldError, InvalidInput, RoleNotSufficient
from accounts.messages import message
from memory.intake.models import ActionLog
from memory.records import actions, versions
from memory.records.models import Conflict, Memory, MemoryLink, MemoryVersion, ReviewVerdict
from memory.records.queries import memories, views
from memory.review.queries import conflicts
from memory.sessions import queries as sessions
from memory.sessions.models import Session
from memory.taxonomy import LinkKind, Status, Verdict
from teams import models as team_models
from teams import queries as places
from teams.permissions import Act, allows, require

CHOICES: Final = ("person", "token", "session", "ancestor", "since", "until")
DEEPEST: Final = 20  # steps from an ancestor; default, not measured
MOST_DERIVED: Final = 5_000  # memories looked at below an ancestor; default, not measured
STORED: Final = ("added", "superseded", "contradicted", "extended")  # outcomes that made a memory
KEEPING: Final = (Verdict.KEEP.value, Verdict.EDIT.value, Verdict.MERGE.value)
CONFIRMED: Final = "memory.confirmed"
BULK_CONFIRMED: Final = ("memory.bulk_confirmed", "memory.bulk_written")
SUCCESSOR: Final = "older__superseded_by"  # of a conflict: the text that replaced both sides
WINNERS: Final[Mapping[str, tuple[str, ...]]] = {  # memory of a conflict: verdicts that keep it
    "older": (conflicts.ConflictVerdict.KEEP_OLDER.value, conflicts.ConflictVerdict.BOTH.value),
    "newer": (conflicts.ConflictVerdict.KEEP_NEWER.value, conflicts.ConflictVerdict.BOTH.value),
    SUCCESSOR: (conflicts.ConflictVerdict.EDIT.value,),
}
MOST: Final = 1_000  # memories that one call archives and rewrites; default, not measured
COUNTED: Final = MOST + 1  # where counting ends; it stands for that many or more
LARGEST_PAGE: Final = 200
LONGEST_CHAIN: Final = 20  # memories that replaced one another; default, not measured
Judgment = tuple[UUID, datetime]  # who found a memory right, and when
VersionChange = tuple[int, UUID | None, datetime, bool]  # see `find_end`


@dataclass(frozen=True, slots=True, kw_only=True)
class RollbackChoice:
    """What is to be rolled back in a project: all conditions hold together, at least one is given.

    `since` and `until` are about the time at which something was written.
    """

    project: str
    person: UUID | None = None
    token: UUID | None = None
    session: UUID | None = None
    ancestor: UUID | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """A checked choice, and the rows that it reaches. Its methods are called in a unit.

    `person` is whose work alone it is, None for anybody's; `derived` what came of the ancestor;
    `mine` are the caller and their tokens, whose own decisions protect nothing.
    """

    caller: Caller
    choice: RollbackChoice
    project_id: UUID
    asked_at: datetime
    person: UUID | None
    derived: tuple[UUID, ...] | None
    mine: frozenset[UUID]

    @property
    def reaches_changes(self) -> bool:
        """Say whether changes can be rolled back: no version says in which session it was made."""
        return not self.choice.session and not self.choice.token and self.derived is None

    @property
    def is_time_only(self) -> bool:
        """Say whether whoever wrote within a time is rolled back."""
        return self.person is None and self.reaches_changes

    def produced(self) -> QuerySet[Memory]:
        """Return the active memories that were produced."""
        return self._rows().filter(self.was_produced(), status=Status.ACTIVE.value)

    def changed(self, *, besides: Collection[UUID] = ()) -> QuerySet[Memory]:
        """Return changed memories that others wrote or protect; active or `besides`."""
        if not self.reaches_changes:
            return Memory.objects.none()
        rows = self._rows().filter(Q(status=Status.ACTIVE.value) | Q(pk__in=besides))
        return rows.filter(self._was_changed()).exclude(self.will_go())

    def concerned(self) -> QuerySet[Memory]:
        """Return all that a rollback looks at, produced or changed."""
        rows = self._rows().filter(status=Status.ACTIVE.value)
        return rows.filter(self.was_produced() | Q(id__in=self.changed().values("id")))

    def protected(self) -> QuerySet[Memory]:
        """Return what was produced and stays.

        What was changed as well is not among it: whether that is restored is decided by itself.
        """
        rows = self.produced().filter(self.is_protected())
        return rows.exclude(self._was_changed()) if self.reaches_changes else rows

    def was_produced(self) -> Q:
        """Return the condition that a memory was produced by what was chosen."""
        choice = self.choice
        made = Q(created_at__lte=self.asked_at) & self._is_within("created_at")
        if self.person is not None:
            made &= Q(author_user=self.person)
        if choice.session is not None:
            made &= Q(session_id=choice.session)
        if choice.token is not None:
            here = {"project_id": self.project_id, "token_id": choice.token}
            logged = ActionLog.objects.filter(**here, outcome__in=STORED, memory_id__isnull=False)
            opened = Session.objects.filter(**here)
            made &= Q(session_id__in=opened.order_by().values("id")) | Q(
                id__in=logged.order_by().values("memory_id")
            )
        if self.derived is not None:
            made &= Q(id__in=self.derived)
        return made

    def will_go(self) -> Q:
        """Return the condition that a memory was produced so and nobody else protects it."""
        return self.was_produced() & ~self.is_protected()

    def is_protected(self) -> Q:
        """Return the condition that somebody else has rewritten, kept or confirmed a memory."""
        return Q(Exists(self.changes_by_others())) | self.is_kept()

    def is_kept(self) -> Q:
        """Return the condition that somebody else has found a memory right.

        By a verdict of the inbox, by settling a conflict, or by confirming it in person. Words that
        an agent has rewritten since were not confirmed; where changes can be rolled back, the
        memory goes back to those that were.
        """
        verdicts = self.keeping_verdicts().filter(memory=OuterRef("pk"))
        kept = Q(Exists(verdicts.exclude(decided_by=F("memory__author_user"))))
        for side, holds in WINNERS.items():
            rows = self.settlements().filter(**{side: OuterRef("pk")}, verdict__in=holds)
            if side != SUCCESSOR or not self.is_time_only:  # its author settled by own words
                rows = rows.exclude(settled_by=F(f"{side}__author_user"))
            kept |= Q(Exists(rows))
        authors = Memory.objects.filter(
            self.was_produced(), project=self.project_id, author_user__isnull=False
        )
        said = self.confirmations().exclude(actor_user__in=authors.order_by().values("author_user"))
        alone = said.filter(act=CONFIRMED).values(one=Cast("object_id", UUIDField()))
        each = Func(F("details__confirmed"), function="jsonb_array_elements_text")
        bulk = said.filter(act__in=BULK_CONFIRMED).values(one=Cast(each, UUIDField()))
        confirmed = Q(id__in=alone) | Q(id__in=bulk)
        return kept | (confirmed if self.reaches_changes else confirmed & Q(user_verified=True))

    def keeping_verdicts(self) -> QuerySet[ReviewVerdict]:
        """Return the verdicts by which others than the caller have said that a memory is right."""
        rows = ReviewVerdict.objects.filter(verdict__in=KEEPING, undone_at__isnull=True)
        return rows.exclude(decided_by__in=self.mine).order_by()

    def settlements(self) -> QuerySet[Conflict]:
        """Return the conflicts that others than the caller have settled."""
        rows = Conflict.objects.filter(settled_by__isnull=False)
        return rows.exclude(settled_by__in=self.mine).order_by()

    def confirmations(self) -> QuerySet[team_models.AuditEntry]:
        """Return what others than the caller have confirmed in person.

        Read by the index teams_audit_confirmed, which holds nothing else.
        """
        rows = team_models.AuditEntry.objects.filter(
            act__in=(CONFIRMED, *BULK_CONFIRMED),
            object_type="memory",
            actor_user__isnull=False,
            token_id__isnull=True,
            agent="",
        )
        return rows.exclude(actor_user__in=self.mine).order_by()

    def changes_by_others(self) -> QuerySet[MemoryVersion]:
        """Return the versions in effect of a memory that somebody else has ended."""
        rows = versions_in_effect().filter(memory=OuterRef("pk"), changed_by__isnull=False)
        rows = rows.exclude(changed_by__in=self.mine)
        if self.is_time_only:  # whoever wrote within the time is rolled back
            return rows.exclude(self.was_ended()).order_by()
        return rows.exclude(changed_by=F("memory__author_user")).order_by()

    def was_ended(self) -> Q:
        """Return the condition that a version was ended by who is rolled back, at that time."""
        made = Q(changed_at__lte=self.asked_at) & self._is_within("changed_at")
        return made if self.person is None else made & Q(changed_by=self.person)

    def _rows(self) -> QuerySet[Memory]:
        return views.countable(caller=self.caller).filter(project=self.project_id)

    def _was_changed(self) -> Exists:
        rows = versions_in_effect().filter(self.was_ended(), memory=OuterRef("pk"))
        return Exists(rows.order_by())

    def _is_within(self, column: str) -> Q:
        since, until = self.choice.since, self.choice.until
        given: dict[str, Any] = {f"{column}__gte": since, f"{column}__lt": until}
        return Q(**{name: value for name, value in given.items() if value is not None})


def resolve_choice(*, caller: Caller, choice: RollbackChoice, now: datetime) -> Selection:
    """Check who asks for what. In a unit.

    Own work is any writer's to take back, that of others takes a steward. Raises
    RoleNotSufficient, InvalidInput for an empty choice, and NotFound for a project, a session or an
    ancestor that the caller does not see there.
    """
    _check_choice(choice)
    project = places.find_project(caller=caller, ref=choice.project)
    opened_by = None
    if choice.session is not None:
        session = sessions.find(caller=caller, session_id=choice.session)
        opened_by = session.opened_by
        if session.project_id != project.id:
            raise sessions.missing()
    derived = None
    if choice.ancestor is not None:
        derived = _find_derived(caller, project.id, choice.ancestor)
    tokens = queries.own_token_ids(caller=caller)
    mine = tokens | ({caller.user_id} if caller.user_id else frozenset())
    person = choice.person
    if not allows(role=caller.role, act=Act.RESTORE):
        is_own = caller.user_id is not None and bool(mine & {person, opened_by, choice.token})
        require(caller=caller, act=Act.WRITE if is_own else Act.RESTORE)
        person = caller.user_id
    return Selection(
        caller=caller,
        choice=replace(choice, project=str(project.id)),
        project_id=project.id,
        asked_at=now,
        person=person,
        derived=derived,
        mine=mine,
    )


def check_in_person(*, caller: Caller) -> None:
    """Let persons pass, by whatever credential they decide. Raises RoleNotSufficient."""
    require(caller=caller, act=Act.WRITE)
    if not decides_in_person(caller=caller):
        raise RoleNotSufficient(
            detail="An agent cannot roll back memories.",
            hint="A person does, in the dashboard or with a token of the scope review.",
        )


def may_roll_back_session(*, caller: Caller, opened_by: UUID | None) -> bool:
    """Say whether a caller may roll back a session that they see."""
    is_own = opened_by is not None and opened_by == caller.user_id
    wanted = Act.WRITE if is_own else Act.RESTORE
    return is_person(caller=caller) and allows(role=caller.role, act=wanted)


def list_writers(*, caller: Caller, project: str) -> tuple[UUID, ...]:
    """Return who has written what the caller sees of a project. Raises NotFound."""
    with tenancy.unit():
        project_id = places.find_project(caller=caller, ref=project).id
        rows = views.countable(caller=caller).filter(project=project_id, author_user__isnull=False)
        found = rows.order_by("author_user").values_list("author_user", flat=True).distinct()
        return tuple(one for one in found if one is not None)


def versions_in_effect() -> QuerySet[MemoryVersion]:
    """Return the versions that no rollback has taken back, nor made.

    A later rollback looks past those, by the verdict that is kept and never by the words of a
    reason, which anybody may write.
    """
    first, last = (
        Cast(KeyTextTransform(name, "before"), IntegerField())
        for name in (actions.RESTORED, actions.REWRITTEN)
    )
    over = ReviewVerdict.objects.filter(
        memory=OuterRef("memory"), verdict=Verdict.ROLL_BACK.value, undone_at__isnull=True
    ).annotate(first=first, last=last)
    over = over.filter(first__lte=OuterRef("number"), last__gte=OuterRef("number"))
    return MemoryVersion.objects.filter(~Exists(over.order_by()))


def _check_choice(choice: RollbackChoice) -> None:
    """Check that something is chosen, and a time that ends after it begins. Raises InvalidInput."""
    if all(getattr(choice, name) is None for name in CHOICES):
        raise InvalidInput(
            detail="Say what is to be rolled back.",
            hint=message("Give at least one of: {names}.", names=CHOICES),
            errors=(FieldError(pointer="", detail="Nothing is chosen.", code="nothing_chosen"),),
        )
    if choice.since and choice.until and choice.since >= choice.until:
        fault = FieldError(pointer="/until", detail="This is not after `since`.", code="range")
        raise InvalidInput(
            detail="The time ends before it begins.",
            hint="Give an end that is later than the beginning.",
            errors=(fault,),
        )


def _find_derived(caller: Caller, project_id: UUID, ancestor: UUID) -> tuple[UUID, ...]:
    """Return what the caller sees that derives from a memory, step by step, within bounds."""
    root = memories.find_memory(caller=caller, memory_id=ancestor)
    if root.project_id != project_id:
        raise memories.missing()
    known, fresh = {root.id}, {root.id}
    seen = views.countable(caller=caller).filter(project=project_id).order_by().values("id")
    for _ in range(DEEPEST):
        links = MemoryLink.objects.filter(
            target__in=fresh, kind=LinkKind.DERIVE.value, source__in=seen
        )
        found = links.order_by("source_id").values_list("source_id", flat=True).distinct()
        fresh = set(found[:MOST_DERIVED]) - known
        known |= fresh
        if not fresh or len(known) > MOST_DERIVED:
            break
    return tuple(sorted(known - {root.id}))


class RollbackFate(StrEnum):
    """What becomes of a memory."""

    ARCHIVED = "archived"
    REWRITTEN = "rewritten"
    LEFT = "left"


class LeftReason(StrEnum):
    """Why a memory stays as it is."""

    CHANGED = "changed"  # somebody else has rewritten it since
    KEPT = "kept"  # somebody else has decided since that it is right
    MOVED = "moved"  # others see it now than those who saw the text before
    SAME = "same"  # it is again, or still, as it was before
    TWIN = "twin"  # another memory says by then what it said


@dataclass(frozen=True, slots=True, kw_only=True)
class RollbackPlan:
    """What is archived, what is restored behind which of it or has no room, what is rewritten.

    `rewritten` holds the version that each goes back to, `left` why a changed memory stays.
    """

    archived: frozenset[UUID]
    restored: Mapping[UUID, UUID]
    blocked: frozenset[UUID]
    rewritten: Mapping[UUID, MemoryVersion]
    left: Mapping[UUID, LeftReason]


@dataclass(frozen=True, slots=True, kw_only=True)
class RollbackItem:
    """One memory of a preview; `stands_again` is what it had replaced."""

    memory_id: UUID
    citation: str
    type: str
    fate: RollbackFate
    why: LeftReason | None
    stands_again: tuple[UUID, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RollbackCounts:
    """How much a rollback does; `conflicts` and `links` are those that end with it."""

    archived: int
    rewritten: int
    reinstated: int
    conflicts: int
    links: int
    left: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RollbackPreview:
    """What a rollback would do: in numbers, and some of the memories by their ids."""

    counts: RollbackCounts
    items: tuple[RollbackItem, ...]
    next_after: UUID | None


def make_plan(*, selection: Selection, most: int) -> RollbackPlan:
    """Plan the first `most` of what was produced, and all that was changed. In a unit."""
    going = selection.produced().filter(~selection.is_protected()).order_by("id")
    archived, behind = _follow_chains(selection, going.values_list("id", flat=True)[:most])
    changed = selection.changed(besides=tuple(behind)).order_by("id")
    ids = changed.values_list("id", flat=True)[: most + len(behind)]
    rewritten, left = find_ends(ids=ids, selection=selection)

    claims, rewrites = _claims_of(behind, {}), _claims_of(rewritten, rewritten)
    taken = memories.Taken(wanted=(*claims.values(), *rewrites.values()), leaving=archived)
    blocked = behind.keys() - taken.take(claims=claims)
    asked = {id: keys for id, keys in rewrites.items() if id not in blocked}
    fitting = taken.take(claims=asked)
    left = {id: why for id, why in left.items() if id not in blocked}
    return RollbackPlan(
        archived=frozenset(archived),
        restored={id: successor for id, successor in behind.items() if id not in blocked},
        blocked=frozenset(blocked),
        # in the order in which each was found to fit: one may take the text that another gives up
        rewritten={id: rewritten[id] for id in asked if id in fitting},
        left=left | dict.fromkeys(asked.keys() - fitting, LeftReason.TWIN),
    )


def _claims_of(
    ids: Iterable[UUID], versions: Mapping[UUID, MemoryVersion]
) -> dict[UUID, frozenset[memories.Key]]:
    """Return what memories claim, or would by saying a version again."""
    rows = Memory.objects.filter(pk__in=tuple(ids)).only(*memories.UNIQUE_COLUMNS).order_by("id")
    return {row.id: memories.claim_of(row=row, version=versions.get(row.id)) for row in rows}


def count_plan(*, selection: Selection, plan: RollbackPlan) -> RollbackCounts:
    """Count what a plan does, each within the caller's visibility and up to COUNTED. In a unit."""
    gone = plan.archived
    seen = views.countable(caller=selection.caller).filter(project=selection.project_id).order_by()
    links = Q(source__in=gone, target__in=seen) | Q(target__in=gone, source__in=seen)
    sides = Q(older__in=gone, newer__in=seen) | Q(newer__in=gone, older__in=seen)
    stays = selection.protected().order_by()[:COUNTED].count()
    return RollbackCounts(
        archived=min(len(gone), COUNTED),
        rewritten=min(len(plan.rewritten), COUNTED),
        reinstated=min(len(plan.restored), COUNTED),
        conflicts=Conflict.objects.filter(sides, verdict="").order_by()[:COUNTED].count(),
        links=MemoryLink.objects.filter(links).order_by()[:COUNTED].count(),
        left=min(stays + len(plan.blocked) + len(plan.left), COUNTED),
    )


def find_ends(
    *, ids: Iterable[UUID], selection: Selection
) -> tuple[dict[UUID, MemoryVersion], dict[UUID, LeftReason]]:
    """Return the version each changed memory goes back to, or why it is left. In a unit.

    The same statements for one memory as for many.
    """
    wanted = frozenset(ids)
    judged = find_judgments(ids=wanted, selection=selection)
    changes: defaultdict[UUID, list[VersionChange]] = defaultdict(list)
    made = versions_in_effect().filter(memory__in=wanted).annotate(is_theirs=selection.was_ended())
    columns = ("memory_id", "number", "changed_by", "changed_at", "is_theirs")
    for id, *change in made.order_by("memory_id", "number").values_list(*columns):
        number, made_by, made_at, is_theirs = change
        changes[id].append((number, made_by, made_at, is_theirs))
    numbers: dict[UUID, int] = {}
    left: dict[UUID, LeftReason] = {}
    for id in wanted:
        end = find_end(changes=changes[id], judgments=judged[id])
        if isinstance(end, LeftReason):
            left[id] = end
        else:
            numbers[id] = end
    kept = MemoryVersion.objects.filter(memory__in=numbers, number__in=set(numbers.values()))
    kept = kept.annotate(is_same=Q(content=F("memory__content"))).order_by()
    found = {one.memory_id: one for one in kept if one.number == numbers[one.memory_id]}
    rows = Memory.objects.filter(pk__in=numbers).defer("content", "citation").order_by("id")
    left |= {row.id: why for row in rows if (why := _why_left(row, found[row.id]))}
    return {id: version for id, version in found.items() if id not in left}, left


def _why_left(row: Memory, version: Any) -> LeftReason | None:
    """Return why a memory does not go back to a version, None where it does."""
    if version.fields.get(memories.AUDIENCE) != str(row.audience):
        return LeftReason.MOVED
    names = (name for name in versions.BROUGHT_BACK if name in version.fields)
    is_same = version.is_same and all(getattr(row, one) == version.fields[one] for one in names)
    return LeftReason.SAME if is_same else None


def find_end(
    *, changes: Iterable[VersionChange], judgments: Iterable[Judgment]
) -> int | LeftReason:
    """Return the number of the version that a memory goes back to, or why it stays as it is.

    The last changes are taken back, down to one that somebody else made, or found right since. A
    change is the number of the version before it, who made it and when, and whether these are
    rolled back.
    """
    judged = tuple(judgments)
    reason = LeftReason.CHANGED
    first: int | None = None
    for number, made_by, made_at, is_theirs in sorted(changes, key=lambda one: -one[0]):
        if not is_theirs:
            break
        if any(at >= made_at and by != made_by for by, at in judged):
            reason = LeftReason.KEPT
            break
        first = number
    return reason if first is None else first


def find_judgments(
    *, ids: Iterable[UUID], selection: Selection
) -> defaultdict[UUID, list[Judgment]]:
    """Return by whom and when each memory was found right. In a unit.

    A verdict that a token gave counts as its holder's.
    """
    names = {str(one): one for one in ids}
    wanted = frozenset(names.values())
    rows: list[tuple[Any, Any, Any]] = []
    verdicts = selection.keeping_verdicts().filter(memory__in=wanted)
    decided = tuple(verdicts.values_list("memory_id", "decided_by", "decided_at"))
    holders = queries.holders(token_ids=frozenset(by for _, by, _ in decided))
    rows.extend((id, holders.get(by, by), at) for id, by, at in decided)
    for side, holds in WINNERS.items():
        settled = selection.settlements().filter(**{f"{side}__in": wanted}, verdict__in=holds)
        rows.extend(settled.values_list(side, "settled_by", "settled_at"))
    said = selection.confirmations()
    rows.extend(
        said.filter(act=CONFIRMED, object_id__in=names)
        .annotate(memory=Cast("object_id", UUIDField()))
        .values_list("memory", "actor_user", "created_at")
    )
    bulk = said.filter(act__in=BULK_CONFIRMED, details__confirmed__has_any_keys=sorted(names))
    for several, by, at in bulk.values_list("details__confirmed", "actor_user", "created_at"):
        rows.extend((names[one], by, at) for one in names.keys() & several)
    found: defaultdict[UUID, list[Judgment]] = defaultdict(list)
    for id, judge, judged_at in rows:
        found[id].append((judge, judged_at))
    return found


def _follow_chains(
    selection: Selection, roots: Iterable[UUID]
) -> tuple[dict[UUID, UUID], dict[UUID, UUID]]:
    """Return what goes with these memories, and what is behind them, each with its root.

    What of theirs replaced one another goes together; behind the first of them is what was there
    before, or what somebody else protects.
    """
    going, behind = {one: one for one in roots}, dict[UUID, UUID]()
    fresh = set(going)
    for _ in range(LONGEST_CHAIN):
        rows = views.countable(caller=selection.caller).order_by("id")
        rows = rows.filter(superseded_by__in=fresh, status=Status.SUPERSEDED.value)
        below = rows.annotate(goes=selection.will_go())
        fresh = set()
        for id, successor, goes in below.values_list("id", "superseded_by", "goes"):
            if successor is None:
                continue
            if goes and id not in going:
                going[id] = going[successor]
                fresh.add(id)
            elif not goes:
                behind[id] = going[successor]
        if not fresh:
            break
    return going, behind
