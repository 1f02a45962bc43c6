"""A project in whose sessions memories are compared."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from accounts import tenancy
from accounts.caller import Caller
from accounts.identifiers import new_id
from memory.sessions.models import GivenOut, Session
from teams.models import Project
from tests.support import agent_runs

BAD: Sequence[dict[str, Any]] = [{"rereads": 9}, {"rereads": 11}] * 20
GOOD: Sequence[dict[str, Any]] = [{"rereads": 1}, {"rereads": 3}] * 12


class Shop(agent_runs.Shop):
    """The project `store`, in whose sessions memories are compared."""

    @property
    def me(self) -> Any:
        """The owner's id."""
        return self.owner.user_id

    def project(self) -> Project:
        """Return the row of the project."""
        with tenancy.unit():
            return Project.objects.get(slug=self.slug)

    def run(
        self,
        figures: Iterable[dict[str, Any] | None],
        group: str = "full",
        owners: Sequence[UUID] = (),
        ago: timedelta = timedelta(days=1),
        **fields: Any,
    ) -> list[Session]:
        """Store sessions with these figures, personal ones of the owner or of others in turn."""
        project, owners = self.project(), owners or (self.me,)
        rows = [
            Session(
                id=new_id(),
                project=project,
                audience=owners[place % len(owners)],
                opened_by=owners[place % len(owners)],
                source_interface="api",
                experiment_group=group,
                figures=one,
                opened_at=self.now - ago,
                active_at=self.now,
                **{"scope": "personal", **fields},
            )
            for place, one in enumerate(figures)
        ]
        with tenancy.unit():
            return Session.objects.bulk_create(rows)

    def share(self) -> None:
        """Let everybody see all sessions."""
        project = self.project()
        with tenancy.unit():
            Session.objects.update(audience=project.id, scope="project")

    def log(
        self,
        sessions: Iterable[Session],
        *memory_ids: UUID,
        ago: timedelta = timedelta(0),
        **fields: Any,
    ) -> None:
        """Put into the log that sessions were given memories, or went without."""
        with tenancy.unit():
            GivenOut.all_rows.bulk_create(
                GivenOut(memory_id=id, session_id=one.id, at=self.now - ago, point="step", **fields)
                for one in sessions
                for id in memory_ids
            )

    def compare(self, memory_id: UUID, given: Any = BAD, without: Any = GOOD) -> None:
        """Let shared sessions of three people be given a memory, and others go without."""
        people = (self.me, UUID(int=1), UUID(int=2))
        for figures, withheld in ((given, False), (without, True)):
            rows = self.run(figures, owners=people, scope="project")
            self.log(rows, memory_id, withheld=withheld)


@pytest.fixture
def shop(caller: Caller, member_caller: Caller, store: str, now: datetime) -> Shop:
    """A project without sessions."""
    return Shop(caller, member_caller, now)
