"""Select what a rollback reaches: who may choose it, which rows, and which of them stay.

Everything is of the caller's visibility: what they may not see is neither counted nor listed, and
never touched. A memory is protected where somebody else has rewritten, kept or confirmed it since;
who asks for the rollback and who is rolled back do not count as somebody else.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db.models import Exists, F, Func, IntegerField, OuterRef, Q, QuerySet, UUIDField
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from accounts import tenancy
from accounts.caller import Caller, is_person
from accounts.errors import FieldError, InvalidInput, RoleNotSufficient
from accounts.messages import message
from accounts.queries import credentials
from memory.intake.models import ActionLog
from memory.records import protection, verdict_log
from memory.records.models import Conflict, Memory, MemoryLink, MemoryVersion, ReviewVerdict
from memory.records.queries import memories, views
from memory.review.conflict_rules import ConflictVerdict
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
    "older": (ConflictVerdict.KEEP_OLDER.value, ConflictVerdict.BOTH.value),
    "newer": (ConflictVerdict.KEEP_NEWER.value, ConflictVerdict.BOTH.value),
    SUCCESSOR: (ConflictVerdict.EDIT.value,),
}


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
    project = places.find_project(caller=caller, ref=choice.project)
    session: Session | None = None
    if choice.session is not None:
        session = sessions.find(caller=caller, session_id=choice.session)
        if session.project_id != project.id:
            raise sessions.missing()
    derived = None
    if choice.ancestor is not None:
        derived = _find_derived(caller, project.id, choice.ancestor)
    tokens = credentials.own_token_ids(caller=caller)
    is_own = caller.user_id is not None and (
        choice.person == caller.user_id
        or (session is not None and session.opened_by == caller.user_id)
        or choice.token in tokens
    )
    person = choice.person
    if not allows(role=caller.role, act=Act.RESTORE):
        require(caller=caller, act=Act.WRITE if is_own else Act.RESTORE)
        person = caller.user_id
    return Selection(
        caller=caller,
        choice=replace(choice, project=str(project.id)),
        project_id=project.id,
        asked_at=now,
        person=person,
        derived=derived,
        mine=tokens | ({caller.user_id} if caller.user_id else frozenset()),
    )


def check_in_person(*, caller: Caller) -> None:
    """Let persons pass, and tokens of the scope admin. Raises RoleNotSufficient."""
    require(caller=caller, act=Act.WRITE)
    if not protection.may_decide(caller=caller):
        raise RoleNotSufficient(
            detail="An agent cannot roll back memories.",
            hint="A person does, in the dashboard or with a token of the scope admin.",
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
        for name in (verdict_log.RESTORED, verdict_log.REWRITTEN)
    )
    over = ReviewVerdict.objects.filter(
        memory=OuterRef("memory"), verdict=Verdict.ROLL_BACK.value, undone_at__isnull=True
    ).annotate(first=first, last=last)
    over = over.filter(first__lte=OuterRef("number"), last__gte=OuterRef("number"))
    return MemoryVersion.objects.filter(~Exists(over.order_by()))


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
