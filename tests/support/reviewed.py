"""A project whose memories people write, change, keep, contradict and roll back."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID, uuid4

from accounts import tenancy
from accounts.caller import Caller, Role
from memory.extraction.made_up import Writer
from memory.intake.actions.remember import Outcome
from memory.intake.actions.revise import revise
from memory.records import actions
from memory.records.models import Conflict, Memory, ReviewVerdict
from memory.records.queries.views import MemoryView
from memory.review.actions import rollback, settlements
from memory.review.queries import conflicts, rollback_plan
from memory.review.queries.conflicts import ConflictVerdict, ConflictView
from memory.search.actions import SearchAnswer, search
from memory.search.request import SearchRequest
from memory.sessions.actions.lifecycle import NewSession, open_session
from teams.actions import create_project
from teams.queries import ProjectView
from tests.support import memories
from tests.support import waiting as waits

MILL: Final = "The mill is fed by the northern weir, so its gate stays shut while it rains."
HOUR: Final = timedelta(hours=1)
Judge = Callable[[MemoryView], object]


@dataclass(frozen=True, kw_only=True)
class World:
    """The owner, a member whose work is rolled back, a steward who wrote nothing; and when.

    What has no other `by` the owner does, changes and replacements the member.
    """

    owner: Caller
    member: Caller
    store: str
    now: datetime

    @property
    def steward(self) -> Caller:
        """Somebody else who decides: neither who rolls back nor who wrote."""
        return replace(self.owner, user_id=UUID(int=9), role=Role.STEWARD)

    def sent(self, content: str, by: Caller | None = None, **given: Any) -> Outcome:
        """Send a candidate of the project through the door."""
        given = {"project": self.store, "at": self.now, **given}
        return memories.sent(by or self.owner, given.pop("at"), content, **given)

    def stored(self, content: str, by: Caller | None = None, **given: Any) -> MemoryView:
        """Store a memory of the project."""
        memory = self.sent(content, by, **given).memory
        assert memory is not None
        return memory

    def theirs(self, content: str, **given: Any) -> MemoryView:
        """Store a memory of the member."""
        return self.stored(content, self.member, **given)

    def waiting(self, content: str, by: Caller | None = None, **given: Any) -> MemoryView:
        """Store what an agent proposes; fields of the row may be `set`."""
        given = {"project": self.store, **given}
        return waits.waiting(by or self.owner, self.now, content, **given)

    def say(
        self,
        memory: MemoryView,
        content: str | None = None,
        by: Caller | None = None,
        after: timedelta = timedelta(0),
        **more: Any,
    ) -> None:
        """Change the text of a memory, or other fields."""
        changes = more if content is None else {"content": content, **more}
        who, at = by or self.member, self.now + after
        revise(caller=who, memory_id=memory.id, changes=changes, if_version=None, now=at)

    def search(self, query: str, by: Caller | None = None, **wanted: Any) -> SearchAnswer:
        """Search; the owner unless somebody else."""
        request = SearchRequest(query=query, **wanted)
        who = by or self.owner
        writer = Writer(caller=who, project=request.project, now=self.now)
        return search(caller=who, request=request, now=self.now, writer=writer)

    def make_project(self, slug: str, **given: Any) -> ProjectView:
        """Make another project of the owner."""
        given = {"slug": slug, "name": slug.title(), "now": self.now, **given}
        return create_project(caller=self.owner, **given)

    def archive(self, memory_id: UUID, by: Caller | None = None) -> None:
        """Archive a memory."""
        given = {"reason": "", "if_version": None, "now": self.now}
        actions.archive(caller=by or self.owner, memory_id=memory_id, **given)

    def put_right(self, memory_id: UUID, content: str, by: Caller | None = None) -> UUID:
        """Put another memory in the place of one; return its id."""
        given = {"content": content, "kind": "wrong", "reason": "", "now": self.now}
        made = memories.correct(caller=by or self.member, memory_id=memory_id, **given).memory
        assert made is not None
        return made.id

    def stand_for(self, memory: MemoryView, by: Caller | None = None) -> None:
        """Keep a memory, as the review inbox does."""
        who = (by or self.steward).user_id
        assert who is not None
        with tenancy.unit():
            ReviewVerdict.objects.create(
                memory_id=memory.id, verdict="keep", decided_by=who, decided_at=self.now
            )

    def conflict_of(self, older: MemoryView, newer: MemoryView, **given: Any) -> UUID:
        """Let two memories contradict each other; return the conflict's id."""
        with tenancy.unit():
            audience = Memory.objects.get(pk=newer.id).audience
            return Conflict.objects.create(
                older_id=older.id, newer_id=newer.id, project_id=newer.project_id, cause="unsure",
                kind="contradict", found_at=self.now, **{"audience": audience, **given},
            ).id  # fmt: skip

    def settle(
        self,
        conflict_id: UUID,
        verdict: ConflictVerdict,
        by: Caller | None = None,
        after: timedelta = timedelta(0),
        **given: Any,
    ) -> ConflictView:
        """Settle a conflict; the steward unless somebody else."""
        new = settlements.Settlement(verdict=verdict, **{"reason": "It was looked up.", **given})
        who, at = by or self.steward, self.now + after
        return settlements.settle(caller=who, conflict_id=conflict_id, settlement=new, now=at)

    def conflict(self, conflict_id: UUID, by: Caller | None = None) -> ConflictView:
        """Return a conflict as somebody sees it."""
        who = by or self.owner
        return conflicts.get_conflict(caller=who, conflict_id=conflict_id, now=self.now)

    def session_of(self, who: Caller, **given: Any) -> UUID:
        """Open a session; return its id."""
        new = NewSession(project=self.store, **given)
        return open_session(caller=who, new=new, now=self.now).session.id

    def choice(self, **chosen: Any) -> rollback_plan.RollbackChoice:
        """Return what is rolled back: what the member did, unless something else is chosen."""
        chosen = chosen or {"person": self.member.user_id}
        return rollback_plan.RollbackChoice(project=self.store, **chosen)

    def roll(
        self, by: Caller | None = None, after: timedelta = HOUR, **chosen: Any
    ) -> rollback.RolledBack:
        """Roll back in the project."""
        then = self.now + after
        return rollback.roll_back(caller=by or self.owner, choice=self.choice(**chosen), now=then)

    def look(
        self, by: Caller | None = None, after: timedelta = HOUR, **chosen: Any
    ) -> rollback_plan.RollbackPreview:
        """Preview a rollback."""
        choice, who = self.choice(**chosen), by or self.owner
        return rollback.preview(
            caller=who, choice=choice, after=None, limit=200, now=self.now + after
        )

    def undo(self, done: rollback.RolledBack, by: Caller | None = None) -> int:
        """Undo a rollback."""
        assert done.review_id is not None
        then = self.now + 3 * HOUR
        return rollback.undo_rollback(caller=by or self.owner, review_id=done.review_id, now=then)

    def another(self, role: Role = Role.MEMBER) -> Caller:
        """Return a further person."""
        return replace(self.owner, user_id=uuid4(), role=role)


def row_of(memory: MemoryView) -> Memory:
    """Return the row of a memory as it is now."""
    with tenancy.unit():
        return Memory.objects.get(pk=memory.id)


def fates(
    seen: rollback_plan.RollbackPreview,
) -> dict[UUID, tuple[rollback_plan.RollbackFate, rollback_plan.LeftReason | None]]:
    """Return what becomes of each memory, and why one is left."""
    return {one.memory_id: (one.fate, one.why) for one in seen.items}
