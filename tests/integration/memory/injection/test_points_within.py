"""Whatever is known and asked: within its tokens, and nothing twice in a session."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final
from uuid import UUID, uuid4

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts import tenancy
from accounts.caller import Caller
from memory.customization.actions import put_style
from memory.customization.style import NewStyle
from memory.experiments.points import POINTS, Point
from memory.injection.actions.deliver import Delivery
from memory.injection.actions.external_binding import Whereabouts
from memory.injection.actions.hooks import follow_agent
from memory.injection.actions.trigger_points import PointRequest, deliver_at_point
from memory.injection.harnesses import ADAPTERS, Harness, read_payload
from memory.injection.memory_selection import MEMORIES_MOST
from memory.search.request import SearchRequest
from memory.sessions.actions.lifecycle import NewSession, open_session
from memory.sessions.models import GivenOut, Session
from memory.text import tokens
from teams.actions import switch_hooks
from teams.queries import Hook
from tests.support import memories

TASK: Final = "the price cache of the cart is cleared before each test because totals are stale"
WORDS: Final = TASK.split()
FILES: Final = ("src/cart/prices.py", "src/cart/taxes.py")
TYPES: Final = (
    "gotcha", "error_pattern", "dead_end", "causal_dependency", "workflow_recipe",
    "work_unit_outcome", "module_insight", "requirement",
)  # fmt: skip
KNOWN = st.lists(
    st.tuples(
        st.sampled_from(TYPES),
        st.integers(8, 1_500),  # words
        st.sampled_from(("", "=", "é", "写", "__")),
        st.sampled_from(((), FILES[:1], FILES)),
    ),
    min_size=1,
    max_size=6,
)
HOOK_MOST: Final = POINTS[Point.BRIEF].tokens + POINTS[Point.TOOL_RESULT].tokens
_HERE: Final = {"cwd": "/home/ana/store", "tool_response": "x"}
EVENTS: Final[Mapping[str, Mapping[str, object]]] = {
    "start": {**_HERE, "hook_event_name": "SessionStart", "source": "startup"},
    "prompt": {**_HERE, "hook_event_name": "UserPromptSubmit", "prompt": TASK},
    "end": {**_HERE, "hook_event_name": "SessionEnd"},
    **{
        name: {**_HERE, "hook_event_name": "PostToolUse", "tool_name": tool, "tool_input": given}
        for name, tool, given in (
            ("read", "Read", {"file_path": FILES[0]}),
            ("edit", "Edit", {"file_path": FILES[1]}),
            ("search", "Grep", {"pattern": "price cache cart"}),
        )
    },
}
Drawn = tuple[str, int, str, tuple[str, ...]]
ASKED = st.lists(st.sampled_from(tuple(Point)), min_size=1, max_size=8)


def begun(caller: Caller, store: str, now: datetime, known: list[Drawn]) -> UUID:
    """Store what was drawn, switch everything on, and open a session; return its id."""
    switch_hooks(caller=caller, ref=store, switched=dict.fromkeys(Hook, True))
    for type, length, sign, about in known:
        text = " ".join((WORDS[place % len(WORDS)] + sign) for place in range(length))
        memories.sent(
            caller, now, f"{uuid4().hex} {text}"[:4_000], project=store, type=type,
            related_files=about, related_modules=("src/cart",), confidence=0.95,
        )  # fmt: skip
    return open_session(caller=caller, new=NewSession(project=store), now=now).session.id


def ask(
    caller: Caller, now: datetime, point: Point, session_id: UUID, files: tuple[str, ...]
) -> Delivery:
    """Ask what a point gives, of all that is known."""
    asked = PointRequest(
        point=point,
        session_id=session_id,
        task=SearchRequest(query=TASK, threshold=0.0),
        files=files,
        modules=("src/cart",),
        step=9,
        estimate=12,
    )
    return deliver_at_point(caller=caller, request=asked, now=now).delivery


def ledger_of(session_id: UUID) -> list[UUID]:
    """Return what the ledger of a session says was told; what advice rests on takes no tokens."""
    with tenancy.unit():
        rows = GivenOut.objects.filter(session_id=session_id, tokens__gt=0)
        return sorted(rows.values_list("memory_id", flat=True))


def told_at(caller: Caller, now: datetime, payload: Mapping[str, object]) -> Delivery:
    """Tell what a program does, and return what it is answered."""
    heard = read_payload(adapter=ADAPTERS[Harness.CLAUDE_CODE], payload=payload)
    where = Whereabouts(project="store")
    return follow_agent(caller=caller, event=heard, whereabouts=where, now=now)


def tokens_of(external_id: str) -> int:
    """Return the tokens that the ledger of a session knows of."""
    with tenancy.unit():
        row = Session.objects.filter(external_id=external_id).first()
        rows = GivenOut.objects.filter(session_id=row.id if row else None)
        return (row.heading_tokens if row else 0) + sum(rows.values_list("tokens", flat=True))


@settings(
    max_examples=6,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(known=KNOWN, asked=ASKED, files=st.sampled_from(((), FILES[:1], FILES)))
def test_no_point_ever_takes_more_than_its_tokens_or_tells_a_memory_again(
    caller: Caller,
    store: str,
    now: datetime,
    known: list[Drawn],
    asked: list[Point],
    files: tuple[str, ...],
) -> None:
    session_id = begun(caller, store, now, known)
    told: list[UUID] = []

    for point in asked:
        back = ask(caller, now, point, session_id, files)
        told.extend(one.memory.id for one in back.memories)
        assert back.tokens == tokens.count(text=back.text) <= POINTS[point].tokens
        assert len(back.memories) <= MEMORIES_MOST[point]

    assert sorted(told) == ledger_of(session_id)
    assert len(told) == len(set(told))


def _left_unfinished(caller: Caller, now: datetime, style: int) -> tuple[Caller, str]:
    """Set a style, and leave work in a session; return an agent and the name of its next one."""
    if style:
        text = " ".join(WORDS * 20)[: style * 5]
        put_style(caller=caller, new=NewStyle(name="s", text=text, is_default=True), now=now)
    program, run = memories.as_agent(caller), uuid4().hex
    for event in ("edit", "end"):
        told_at(program, now, {**EVENTS[event], "session_id": f"before {run}"})
    return program, run


@settings(
    max_examples=6,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    known=KNOWN,
    style=st.integers(0, 110),
    asked=st.lists(st.sampled_from(tuple(EVENTS)), min_size=1, max_size=8),
)
def test_no_answer_of_a_hook_ever_takes_more_than_its_tokens_or_tells_an_agent_again(
    caller: Caller, store: str, now: datetime, known: list[Drawn], style: int, asked: list[str]
) -> None:
    begun(caller, store, now, known)
    program, run = _left_unfinished(caller, now, style)
    told: list[tuple[str, UUID]] = []
    spent = 0

    for place, event in enumerate(asked):
        agent = "a" if place % 3 == 2 else ""
        back = told_at(program, now, {**EVENTS[event], "session_id": run, "agent_id": agent})
        told.extend((agent, one.memory.id) for one in back.memories)
        spent += back.tokens
        assert back.tokens == tokens.count(text=back.text) <= HOOK_MOST

    assert len(told) == len(set(told))
    assert spent == tokens_of(f"claude-code/{run}")
