"""What giving back costs at each point of a session, in an organization of many memories.

Run: `.venv/bin/python -m tests.bench.bench_points 100000`; some minutes, nearly all of it loading.
Each session is asked all its points once, through the action that REST calls; the project asks for
all that may be said between steps. Shares are of GOALS. BENCH_EMBEDDER names another embedder
than hashed words, which take no time; BENCH_HOME a folder that keeps what is loaded.
"""

import random
import sys
from collections.abc import Iterator
from datetime import datetime
from functools import partial
from uuid import UUID

from django.core.management import call_command
from django.utils import timezone

from accounts import tenancy
from accounts.caller import Caller
from memory.experiments.points import Point
from memory.injection.actions.trigger_points import PointRequest, deliver_at_point
from memory.observer.actions.finalize import finalize
from memory.records.models import Memory
from memory.search.request import SearchRequest
from memory.sessions.actions.append_events import append_events
from memory.sessions.actions.lifecycle import NewSession, end_session, open_session
from teams.actions import switch_hooks
from teams.queries import Hook
from tests.bench import made, measures, serving
from tests.bench.bench_search import QUESTIONS
from tests.bench.measures import Cost
from tests.support import people

SIZES = (100_000,)
BEFORE = 6  # sessions whose sums the plans rest on
WARMING = 5
GOALS = {  # milliseconds
    Point.BRIEF: 500,
    Point.SESSION_START: 500,
    Point.TOOL_RESULT: 30,
    Point.STEP: 15,
    Point.PLANNER: 500,
}
FOLDERS, FILES = 100, 2_500  # as made


def main(*, sizes: tuple[int, ...]) -> None:
    """Measure each size in an organization of its own."""
    call_command("migrate", verbosity=0)
    for count in sizes:
        slug = f"points-{count}"
        kept = serving.kept_place(slug=slug)
        organization, caller = kept or serving.place(slug=slug)
        print(f"\n{count:,} memories in one organization")
        with people.entered(organization=organization):
            if kept is None:
                loaded = measures.timed(partial(made.load, caller=caller, count=count))
                call_command("index_search", organization=organization.slug)
                measures.line("loaded in", f"{loaded / 1_000:.0f} s")
            _warn()
            switch_hooks(caller=caller, ref=made.PROJECTS[0], switched=dict.fromkeys(Hook, True))
            _measure(caller)


def _warn() -> None:
    """Make what is about files and sure enough into what warns of them."""
    with tenancy.unit():
        about = Memory.objects.filter(type="decision").exclude(related_files=[])
        about.update(type="gotcha", confidence=0.95, pinned=True)


def _measure(caller: Caller) -> None:
    chance, now = random.Random(2), timezone.now()
    for _ in range(BEFORE):
        _ended(caller, _session(caller, chance, now), now)
    times: dict[Point, list[Cost]] = {point: [] for point in Point}
    given: dict[Point, int] = dict.fromkeys(Point, 0)
    for number, text in enumerate(made.queries(count=QUESTIONS + WARMING, seed=3)):
        for asked in _asks(caller, chance, text, now):
            found: list[int] = []
            took = measures.cost(partial(_give, caller, asked, now, found))
            if number >= WARMING:
                times[asked.point].append(took)
                given[asked.point] += found[0]
    for point, each in times.items():
        goal = GOALS[point]
        measures.against(point.value, [one.clock * 1_000 for one in each], goal)
        spent = [(one.process + one.backend) * 1_000 for one in each]
        measures.against("its processor time", spent, goal)
        measures.line("given", str(given[point]))


def _asks(
    caller: Caller, chance: random.Random, text: str, now: datetime
) -> Iterator[PointRequest]:
    session_id = _session(caller, chance, now)
    for point in Point:
        path = _file(chance)
        yield PointRequest(
            point=point,
            session_id=session_id,
            task=SearchRequest(query=text),
            files=() if point is Point.STEP else (path,),
            modules=(f"module-{chance.randrange(made.MODULES)}", "src/part7"),
            step=9,
            estimate=10,
        )


def _give(caller: Caller, asked: PointRequest, now: datetime, found: list[int]) -> None:
    found.append(len(deliver_at_point(caller=caller, request=asked, now=now).delivery.memories))


def _session(caller: Caller, chance: random.Random, now: datetime) -> UUID:
    """Open a session whose agent has read, searched and recorded."""
    new = NewSession(project=made.PROJECTS[0], branch="main", shared=True)
    session_id = open_session(caller=caller, new=new, now=now).session.id
    words = made.queries(count=40, seed=chance.randrange(10_000))
    rows = tuple(
        {"sequence": place, "kind": "tool_call", "step": place, **_call(chance, words[place])}
        for place in range(1, 40)
    )
    append_events(caller=caller, session_id=session_id, events=rows, now=now)
    return session_id


def _call(chance: random.Random, text: str) -> dict[str, object]:
    path = f"src/part7/{chance.randrange(9)}.py"
    calls: tuple[tuple[str, dict[str, str]], ...] = (
        ("Grep", {"pattern": " ".join(text.split()[:3])}),
        ("mcp__cairn__add_memory", {"content": text}),
        ("Edit", {"file_path": path}),
        ("Edit", {"file_path": path}),
    )
    name, arguments = chance.choice(calls)
    return {"name": name, "args": arguments}


def _file(chance: random.Random) -> str:
    number = chance.randrange(FILES)
    return f"src/part{number % FOLDERS}/file{number}.py"


def _ended(caller: Caller, session_id: UUID, now: datetime) -> None:
    end_session(caller=caller, session_id=session_id, now=now)
    finalize(session_id=session_id, now=now)


if __name__ == "__main__":
    main(sizes=tuple(int(size) for size in sys.argv[1:]) or SIZES)
