"""Sessions of agents as tests run them: opened, filled, ended, and what came of them."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from accounts import jobs, tenancy
from accounts.caller import Caller
from accounts.models import Job
from memory.observer.actions.consolidate import consolidate
from memory.observer.actions.finalize import finalize
from memory.records.models import Memory
from memory.records.queries.views import MemoryView
from memory.sessions.actions.append_events import AppendedEvents, append_events
from memory.sessions.actions.append_turns import Appended, NewTurn, append_turns
from memory.sessions.actions.lifecycle import NewSession, end_session, open_session
from memory.sessions.models import Session, Statistic, Turn
from memory.sessions.queries import SessionView
from tests.support import memories, work

FIXTURES: Final = Path(__file__).parents[1] / "integration" / "memory" / "fixtures"
STREAM: Final[tuple[Any, ...]] = tuple(
    json.loads(line)
    for line in (FIXTURES / "voucher_session.jsonl").read_text(encoding="utf-8").splitlines()
)
DECISION: Final = "We decided to move from Redis 6 to Valkey because of the license."
TRAP: Final = "The importer fails with LockTimeout when two workers start together; use one."


def silent(done: int, total: int) -> None:
    """Tell nobody how far a job is."""


def later(events: tuple[Any, ...], by: int) -> tuple[Any, ...]:
    """Return events with higher numbers."""
    return tuple({**one, "sequence": one["sequence"] + by} for one in events)


def in_order(*events: dict[str, Any]) -> tuple[dict[str, Any], ...]:
    """Return events with their numbers."""
    return tuple({"sequence": number, **one} for number, one in enumerate(events, start=1))


class Run:
    """A session of a caller; what happens in it happens at `now`, which a test may move on."""

    def __init__(self, caller: Caller, now: datetime, **new: Any) -> None:
        self.caller, self.now = caller, now
        self.view: SessionView = open_session(caller=caller, new=NewSession(**new), now=now).session
        self.id = self.view.id

    def says(self, *said: str | NewTurn, role: str = "user") -> Appended:
        """Append what one side says: texts, or turns as they are."""
        turns = tuple(NewTurn(role=role, text=one) if isinstance(one, str) else one for one in said)
        return append_turns(caller=self.caller, session_id=self.id, turns=turns, now=self.now)

    def does(self, *events: object) -> AppendedEvents:
        """Append what the agent does."""
        return append_events(caller=self.caller, session_id=self.id, events=events, now=self.now)

    def ends(self) -> "Run":
        """End it."""
        end_session(caller=self.caller, session_id=self.id, now=self.now)
        return self

    def finalized(self) -> Session:
        """End it and decide what it has shown; return its row."""
        self.ends()
        finalize(session_id=self.id, now=self.now)
        return self.row

    def consolidated(self, tell: Callable[[int, int], object] = silent, **more: Any) -> Any:
        """Take what is worth keeping; return the counts."""
        return consolidate(session_id=self.id, now=self.now, tell=tell, **more)

    @property
    def row(self) -> Session:
        """Its row."""
        with tenancy.unit():
            return Session.objects.select_related("project").get(pk=self.id)

    @property
    def observed(self) -> dict[str, Any]:
        """What it has shown."""
        return self.row.observed or {}

    def update(self, **fields: Any) -> None:
        """Set columns of its row."""
        with tenancy.unit():
            Session.objects.filter(pk=self.id).update(**fields)

    def streams(self) -> list[int]:
        """Return the streams of which something is stored."""
        with tenancy.unit():
            rows = Turn.all_streams.filter(session=self.id).order_by("stream")
            return list(rows.values_list("stream", flat=True).distinct())


@dataclass
class Shop:
    """The project `store`, its owner, a member, and the agents of both."""

    owner: Caller
    member: Caller
    now: datetime
    slug: str = "store"

    def __post_init__(self) -> None:
        self.agent, self.program = memories.as_agent(self.member), memories.as_agent(self.owner)

    def at(self, **later: float) -> "Shop":
        """Return the same place some time later."""
        moved = type(self)(self.owner, self.member, self.now + timedelta(**later), self.slug)
        moved.agent, moved.program = self.agent, self.program
        return moved

    def opened(self, by: Caller | None = None, **new: Any) -> Run:
        """Open a session of the member's agent, or of somebody else, in the project."""
        return Run(by or self.agent, self.now, **{"project": self.slug, **new})

    def ran(self, *events: object, by: Caller | None = None, **new: Any) -> Run:
        """Run a session to its end: the stream, or other events; decide what it has shown."""
        run = self.opened(by, **{"cwd": "/home/ana/shop", **new})
        run.does(*(events or STREAM))
        run.finalized()
        return run

    def remember(self, *content: str, by: Caller | None = None, **fields: Any) -> MemoryView:
        """Store a memory of the project."""
        fields = {"project": self.slug, **fields}
        return memories.stored(by or self.owner, self.now, *content, **fields)


def ran(caller: Caller, now: datetime, events: tuple[Any, ...] = STREAM, **new: Any) -> Session:
    """Open a session, send what was done, end it, and decide."""
    run = Run(caller, now, cwd="/home/ana/shop", **new)
    run.does(*events)
    return run.finalized()


def run_jobs() -> None:
    """Do the work that waits for sessions, as a worker would."""
    waiting = Job.objects.filter(state="queued", queue="extraction").order_by("id")
    for job_id in list(waiting.values_list("id", flat=True)):
        jobs.run_handler(work.taken(job_id))
        Job.objects.filter(pk=job_id).update(state="done")


def promoted() -> list[Memory]:
    """Return what signals became."""
    with tenancy.unit():
        return list(Memory.objects.filter(source="observer_inferred").order_by("-confidence", "id"))


def counted(kind: str) -> dict[str, Any]:
    """Return the sums of a kind by key."""
    with tenancy.unit():
        return dict(Statistic.objects.filter(kind=kind).values_list("key", "counts"))


def contents(**fields: Any) -> set[str]:
    """Return the texts of memories."""
    with tenancy.unit():
        return set(Memory.objects.filter(**fields).values_list("content", flat=True))


def only_memory(**fields: Any) -> Memory:
    """Return the one memory there is."""
    with tenancy.unit():
        return Memory.objects.get(**fields)


def update_memory(memory_id: UUID, **fields: Any) -> None:
    """Set columns of a memory."""
    with tenancy.unit():
        Memory.objects.filter(pk=memory_id).update(**fields)
