"""What an agent is given at an event of its program or a point of its session, or silence.

Whatever is known and asked, it is within its tokens, and nothing is given twice.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import count
from typing import Any, Final
from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts import tenancy
from accounts.caller import Caller
from memory.customization.actions import put_style
from memory.customization.style import NewStyle
from memory.experiments.points import POINTS, Point
from memory.experiments.queries import figures
from memory.index.actions import maintenance
from memory.injection.actions.deliver import Delivery
from memory.injection.actions.external_binding import Whereabouts
from memory.injection.actions.hooks import follow_agent
from memory.injection.actions.trigger_points import PointRequest, deliver_at_point
from memory.injection.harnesses import ADAPTERS, Harness, read_payload
from memory.injection.queries import delivery_log, project_totals
from memory.injection.rules import MEMORIES_MOST
from memory.records.queries.views import MemoryView
from memory.search.actions import search
from memory.search.request import NEVER, Deadline, SearchRequest
from memory.sessions.actions.lifecycle import NewSession, open_session
from memory.sessions.models import GivenOut, Session, Turn
from memory.text import tokens
from teams.actions import switch_hooks
from teams.queries import Hook
from tests.support import memories

FILE: Final = "src/cart/prices.py"
WARNING: Final = "Rounding in prices.py is half to even, so totals differ from invoices by a cent."
VAT: Final = "VAT is rounded for each line of an invoice, never for its total, as the law asks."
ASKED: Final = "Fix how VAT is rounded for each line of an invoice."
BRIEF: Final = POINTS[Point.BRIEF].tokens


@dataclass(frozen=True, kw_only=True)
class Run:
    """A person, and an agent's program with their token, that works on the project `store`."""

    caller: Caller
    program: Caller
    now: datetime

    def heard(
        self,
        *,
        harness: Harness = Harness.CLAUDE_CODE,
        deadline: Deadline = NEVER,
        by: Caller | None = None,
        minutes: int = 0,
        **payload: Any,
    ) -> Delivery:
        """Tell what a program does so many minutes later; return what it is given."""
        fields = {"session_id": "run-1", "cwd": "/home/ana/store", **payload}
        return follow_agent(
            caller=by or self.program,
            event=read_payload(adapter=ADAPTERS[harness], payload=fields),
            whereabouts=Whereabouts(),
            now=self.now + timedelta(minutes=minutes),
            deadline=deadline,
        )

    def prompted(self, text: str = ASKED, **more: Any) -> Delivery:
        """Say something to the agent."""
        return self.heard(hook_event_name="UserPromptSubmit", prompt=text, **more)

    def used(self, tool: str = "Read", **more: Any) -> Delivery:
        """Let a tool be used on the file, or with the arguments given."""
        fields = {"hook_event_name": "PostToolUse", "tool_name": tool, "tool_response": "x", **more}
        return self.heard(**{"tool_input": {"file_path": FILE}, **fields})

    def warns(self) -> MemoryView:
        """Store a warning of the file; return it."""
        fields = {"type": "gotcha", "related_files": (FILE,), "confidence": 0.95}
        return memories.stored(self.caller, self.now, WARNING, project="store", **fields)

    def knows(self) -> None:
        """Store what the question is about."""
        memories.stored(self.caller, self.now, VAT, project="store", confidence=0.95)

    def edited(self, by: Caller | None = None) -> None:
        """Run a session that changes a file, and ends before that is done."""
        of: dict[str, Any] = {"session_id": "run-0", "by": by}
        self.prompted("Round the prices.", **of)
        self.used("Edit", **of)
        self.heard(hook_event_name="SessionEnd", **of)


@pytest.fixture
def run(caller: Caller, store: str, now: datetime) -> Run:
    """The owner, with a program that has a token of theirs."""
    return Run(caller=caller, program=memories.as_agent(caller), now=now)


def row() -> Session:
    """Return the only session."""
    with tenancy.unit():
        return Session.objects.get()


def ledger() -> list[tuple[str, str]]:
    """Return points and agents of what was given, in its order."""
    with tenancy.unit():
        rows = GivenOut.objects.filter(session_id__isnull=False).order_by("id")
        return list(rows.values_list("point", "agent"))


def by_then(checks: int) -> Deadline:
    """Return a deadline that the clock reaches when it was looked at so often."""
    steps = count()
    return Deadline(ends_at=checks, clock=lambda: float(next(steps)))


def test_the_first_file_is_warned_of_where_the_brief_comes_with_the_first_tool(run: Run) -> None:
    run.warns()
    run.knows()
    of: dict[str, Any] = {"harness": Harness.CURSOR, "conversation_id": "run-1"}
    run.heard(hook_event_name="beforeSubmitPrompt", prompt=ASKED, **of)
    of |= {"tool_name": "Read", "tool_input": {"path": FILE}}

    back = run.heard(hook_event_name="postToolUse", **of)

    assert back.text.index(WARNING) < back.text.index(VAT)
    assert ledger() == [("tool_result", ""), ("system_prompt", "")]


def test_what_nobody_waits_for_any_more_is_not_given_and_not_written_down(run: Run) -> None:
    run.warns()
    run.knows()
    for checks in range(12):
        of: dict[str, Any] = {"session_id": f"run-{checks}"}
        before = len(ledger())

        back = run.prompted(deadline=by_then(checks), **of)
        file = run.used(deadline=by_then(0), **of)

        with tenancy.unit():
            session = Session.objects.get(external_id=f"claude-code/run-{checks}")
        told = [one for one in (back, file) if one.text]
        assert file.is_late
        assert back.is_late is not bool(back.text)
        assert len(ledger()) - before == sum(len(one.memories) for one in told)
        assert (session.briefed_at is not None) is bool(back.text)
        assert session.brief_tries <= int(back.is_late)  # it may have been looked for too long
        assert WARNING in back.text + run.used(**of).text  # when there is time


def late_search(run: Run) -> Delivery:
    """Use a tool with so little time that the warnings are ready, and the brief is not."""
    for checks in range(1, 12):
        back = run.used(deadline=by_then(checks))
        if back.text or row().brief_tries:
            return back
    raise AssertionError("No search was begun in any time.")


def test_a_brief_that_comes_too_late_leaves_the_warnings(run: Run) -> None:
    run.prompted(deadline=by_then(0))
    run.warns()
    run.knows()

    back = late_search(run)
    again = run.used()

    assert (WARNING in back.text, back.is_late, again.text) == (True, False, "")
    assert (row().briefed_at, row().brief_tries) == (None, 1)
    assert VAT in run.prompted(minutes=1).text
    assert [point for point, _ in ledger()] == ["tool_result", "system_prompt"]


@pytest.mark.parametrize(
    ("before", "is_briefed"),
    [
        (("hi",), True),
        (("hi", "thanks", VAT), True),
        (("hi", "hello there", "good morning"), False),
    ],
)
def test_three_prompts_are_enough(run: Run, before: tuple[str, ...], is_briefed: bool) -> None:
    run.knows()

    said = [run.prompted(text).text for text in before]
    again = run.prompted()

    assert "".join(said[:2]) == ""
    assert sum(VAT in text for text in (*said, again.text)) == is_briefed
    assert (row().briefed_at is not None) is is_briefed
    assert is_briefed or said[-1] == again.text == ""


def test_one_prompt_is_looked_for_once(run: Run) -> None:
    run.prompted()
    run.knows()

    assert run.used().text == ""
    assert row().brief_tries == 1


def test_unfinished_work_stands_before_the_brief_and_within_its_tokens(run: Run) -> None:
    run.edited()
    run.knows()

    back = run.prompted(minutes=1)

    assert "Work left unfinished" in back.text
    assert back.text.index(FILE) < back.text.index(VAT)
    assert 0 < back.heading_tokens < back.tokens <= BRIEF
    with tenancy.unit():
        session_id = Session.objects.get(external_id="claude-code/run-1").id
    shown = figures(caller=run.caller, session_ids=(session_id,))[session_id]
    assert shown.given_tokens == back.tokens
    assert project_totals(caller=run.caller, project="store").tokens == back.tokens
    assert "Work left" not in run.prompted(minutes=2).text


@pytest.mark.parametrize("off", [Hook.PREFETCH, Hook.BRIEF])
def test_unfinished_work_and_the_brief_have_switches_of_their_own(run: Run, off: Hook) -> None:
    run.knows()
    run.edited()
    switch_hooks(caller=run.caller, ref="store", switched={off: False})

    back = run.prompted(minutes=1)

    assert ("Work left" in back.text, VAT in back.text) == (off is Hook.BRIEF, off is Hook.PREFETCH)
    assert run.prompted(minutes=2).text == ""


def test_somebody_elses_unfinished_work_is_not_told(run: Run, member_caller: Caller) -> None:
    run.edited(by=memories.as_agent(member_caller))

    back = run.prompted(minutes=1)

    assert (back.text, back.tokens) == ("", 0)


def searched(run: Run) -> Delivery:
    """Search for the same thing again and again; return what the last search is given."""
    asked = {"tool_input": {"pattern": "VAT rounded line invoice"}}
    backs = [run.used("Grep", minutes=1, **asked) for _ in range(6)]
    assert [one.text for one in backs[:4]] == [""] * 4
    return next((one for one in backs if one.text), backs[-1])


@pytest.mark.parametrize("is_on", [True, False])
def test_searches_are_answered_from_the_fifth_step_on(run: Run, is_on: bool) -> None:
    run.knows()
    switch_hooks(caller=run.caller, ref="store", switched={Hook.STEP_SEARCHED: is_on})

    back = searched(run)

    assert (VAT in back.text) is is_on
    assert ledger() == ([("step", "")] if is_on else [])


def test_each_agent_of_a_session_is_warned_for_itself(run: Run) -> None:
    run.warns()

    told = [
        WARNING in run.used(**of).text
        for of in ({"agent_id": "a"}, {}, {"agent_id": "b"}, {"agent_id": "a"}, {})
    ]

    assert told == [True, True, True, False, False]
    assert ledger() == [("tool_result", "a"), ("tool_result", ""), ("tool_result", "b")]
    assert len(delivery_log(caller=run.caller, session_id=row().id).entries) == 3


def test_a_subagent_is_not_briefed(run: Run) -> None:
    run.heard(hook_event_name="SessionStart")
    with tenancy.unit():
        Turn.objects.create(session=row(), sequence=1, role="user", text=ASKED, at=run.now)
    run.knows()

    assert run.used(agent_id="a").text == ""
    assert VAT in run.used().text


def test_what_was_forgotten_is_warned_of_once_more_and_briefed_no_more(run: Run) -> None:
    run.warns()
    run.knows()
    first = run.prompted().text + run.used().text
    for source in ("startup", "resume", "clear"):  # for these reasons it has forgotten nothing
        run.heard(hook_event_name="SessionStart", source=source)
        assert run.used().text == ""

    run.heard(hook_event_name="SessionStart", source="compact")
    brief, once, again = run.prompted(minutes=1), run.used(minutes=1), run.used(minutes=1)

    assert VAT in first
    assert WARNING in first
    assert WARNING in once.text
    assert (brief.text, again.text) == ("", "")


@pytest.mark.parametrize("is_merged", [False, True])
def test_what_its_token_searched_for_is_not_told_again(run: Run, is_merged: bool) -> None:
    run.warns()
    run.heard(hook_event_name="SessionStart")
    others = memories.as_agent(run.caller)
    request = SearchRequest(query=WARNING, project="store")
    for program in (run.program, others):
        assert search(caller=program, request=request, now=run.now).hits != ()
    if is_merged:
        maintenance.merge_access()

    mine = run.used().text
    before = run.used(by=others, session_id="run-2", minutes=1).text  # it began later

    assert mine == ""
    assert WARNING in before


def test_a_style_is_told_with_a_brief_and_never_alone(run: Run) -> None:
    style = NewStyle(name="short", text="Answer in one sentence.", is_default=True)
    put_style(caller=run.caller, new=style, now=run.now)

    assert run.prompted("hi").text == ""
    run.knows()
    back = run.prompted()

    assert "Answer in one sentence." in back.text
    assert VAT in back.text


TASK: Final = "the price cache of the cart is cleared before each test because totals are stale"
WORDS: Final = TASK.split()
FILES: Final = (FILE, "src/cart/taxes.py")
TYPES: Final = (
    "gotcha", "error_pattern", "dead_end", "causal_dependency", "workflow_recipe",
    "work_unit_outcome", "module_insight", "requirement",
)  # fmt: skip
SOME_FILES = st.sampled_from(((), FILES[:1], FILES))
KNOWN = st.lists(
    st.tuples(
        st.sampled_from(TYPES),
        st.integers(8, 1_500),  # words
        st.sampled_from(("", "=", "é", "写", "__")),
        SOME_FILES,
    ),
    min_size=1,
    max_size=6,
)
HOOK_MOST: Final = BRIEF + POINTS[Point.TOOL_RESULT].tokens
EVENTS: Final[Mapping[str, Callable[..., Delivery]]] = {
    "start": lambda run, **of: run.heard(hook_event_name="SessionStart", source="startup", **of),
    "prompt": lambda run, **of: run.prompted(TASK, **of),
    "end": lambda run, **of: run.heard(hook_event_name="SessionEnd", **of),
    "read": lambda run, **of: run.used(**of),
    "edit": lambda run, **of: run.used("Edit", tool_input={"file_path": FILES[1]}, **of),
    "search": lambda run, **of: run.used("Grep", tool_input={"pattern": "price cache"}, **of),
}
Drawn = tuple[str, int, str, tuple[str, ...]]
few_examples = settings(
    max_examples=6,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def learns(run: Run, known: list[Drawn]) -> None:
    """Store what was drawn, and switch everything on."""
    switch_hooks(caller=run.caller, ref="store", switched=dict.fromkeys(Hook, True))
    for type, length, sign, about in known:
        text = " ".join((WORDS[place % len(WORDS)] + sign) for place in range(length))
        fields = {"type": type, "related_files": about, "related_modules": ("src/cart",)}
        content = f"{uuid4().hex} {text}"[:4_000]
        memories.sent(run.caller, run.now, content, project="store", confidence=0.95, **fields)


@few_examples
@given(
    known=KNOWN,
    asked=st.lists(st.sampled_from(tuple(Point)), min_size=1, max_size=8),
    files=SOME_FILES,
)
def test_no_point_ever_takes_more_than_its_tokens_or_tells_a_memory_again(
    run: Run, known: list[Drawn], asked: list[Point], files: tuple[str, ...]
) -> None:
    learns(run, known)
    new, task = NewSession(project="store"), SearchRequest(query=TASK, threshold=0.0)
    session_id = open_session(caller=run.caller, new=new, now=run.now).session.id
    about: Any = {"task": task, "files": files, "modules": ("src/cart",), "step": 9, "estimate": 12}
    told: list[UUID] = []

    for point in asked:
        request = PointRequest(point=point, session_id=session_id, **about)
        back = deliver_at_point(caller=run.caller, request=request, now=run.now).delivery
        told.extend(one.memory.id for one in back.memories)
        assert back.tokens == tokens.count(text=back.text) <= POINTS[point].tokens
        assert len(back.memories) <= MEMORIES_MOST[point]

    with tenancy.unit():  # what advice rests on takes no tokens
        rows = GivenOut.objects.filter(session_id=session_id, tokens__gt=0)
        assert sorted(told) == sorted(rows.values_list("memory_id", flat=True))
    assert len(told) == len(set(told))


@few_examples
@given(
    known=KNOWN,
    style=st.integers(0, 110),
    asked=st.lists(st.sampled_from(tuple(EVENTS)), min_size=1, max_size=8),
)
def test_no_answer_of_a_hook_ever_takes_more_than_its_tokens_or_tells_an_agent_again(
    run: Run, known: list[Drawn], style: int, asked: list[str]
) -> None:
    learns(run, known)
    if style:
        text = " ".join(WORDS * 20)[: style * 5]
        put_style(
            caller=run.caller, new=NewStyle(name="s", text=text, is_default=True), now=run.now
        )
    name = uuid4().hex
    for event in ("edit", "end"):
        EVENTS[event](run, session_id=f"before {name}")
    told: list[tuple[str, UUID]] = []
    spent = 0

    for place, event in enumerate(asked):
        agent = "a" if place % 3 == 2 else ""
        back = EVENTS[event](run, session_id=name, agent_id=agent)
        told.extend((agent, one.memory.id) for one in back.memories)
        spent += back.tokens
        assert back.tokens == tokens.count(text=back.text) <= HOOK_MOST

    assert len(told) == len(set(told))
    with tenancy.unit():
        session = Session.objects.filter(external_id=f"claude-code/{name}").first()
        rows = GivenOut.objects.filter(session_id=session.id if session else None)
        beside = session.heading_tokens if session else 0
        assert spent == beside + sum(rows.values_list("tokens", flat=True))
