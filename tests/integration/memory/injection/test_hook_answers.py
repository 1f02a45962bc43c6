"""What an event of a program is answered with: warnings, what was left, the brief, or silence."""

from datetime import datetime, timedelta
from itertools import count
from typing import Any, Final

import pytest

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
from memory.injection.harnesses import ADAPTERS, Harness, read_payload
from memory.injection.queries import delivery_log, project_totals
from memory.search.actions import search
from memory.search.request import NEVER, Deadline, SearchRequest
from memory.sessions.models import GivenOut, Session, Turn
from memory.text import tokens
from teams.actions import switch_hooks
from teams.queries import Hook
from tests.support import memories

FILE: Final = "src/cart/prices.py"
WARNING: Final = "Rounding in prices.py is half to even, so totals differ from invoices by a cent."
VAT: Final = "VAT is rounded for each line of an invoice, never for its total, as the law asks."
ASKED: Final = "Fix how VAT is rounded for each line of an invoice."
BRIEF: Final = POINTS[Point.SYSTEM_PROMPT].tokens


@pytest.fixture
def program(caller: Caller) -> Caller:
    """An agent's program with the owner's token."""
    return memories.as_agent(caller)


def heard(
    caller: Caller,
    now: datetime,
    *,
    harness: Harness = Harness.CLAUDE_CODE,
    deadline: Deadline = NEVER,
    **payload: Any,
) -> Delivery:
    """Tell what a program does; return what it is given."""
    fields = {"session_id": "run-1", "cwd": "/home/ana/store", **payload}
    said = read_payload(adapter=ADAPTERS[harness], payload=fields)
    return follow_agent(
        caller=caller, event=said, whereabouts=Whereabouts(), now=now, deadline=deadline
    )


def prompted(caller: Caller, now: datetime, text: str = ASKED, **more: Any) -> Delivery:
    """Say something to the agent."""
    return heard(caller, now, hook_event_name="UserPromptSubmit", prompt=text, **more)


def used(caller: Caller, now: datetime, tool: str = "Read", **more: Any) -> Delivery:
    """Let a tool be used on the file, or with the arguments given."""
    fields = {"hook_event_name": "PostToolUse", "tool_name": tool, "tool_response": "x", **more}
    return heard(caller, now, **{"tool_input": {"file_path": FILE}, **fields})


def warned(caller: Caller, now: datetime, content: str = WARNING, **given: Any) -> Any:
    """Store a warning of the file."""
    fields = {"project": "store", "type": "gotcha", "related_files": (FILE,), "confidence": 0.95}
    return memories.stored(caller, now, content, **{**fields, **given})


def known(caller: Caller, now: datetime, content: str = VAT) -> Any:
    """Store what the question is about."""
    return memories.stored(caller, now, content, project="store", confidence=0.95)


def row() -> Session:
    """Return the only session."""
    with tenancy.unit():
        return Session.objects.get()


def ledger() -> list[tuple[str, str]]:
    """Return points and agents of what was given, in its order."""
    with tenancy.unit():
        rows = GivenOut.objects.filter(session_id__isnull=False).order_by("id")
        return list(rows.values_list("point", "agent"))


def tokens_of_the_ledger() -> int:
    """Return the tokens that the ledger knows of: of memories, and beside them."""
    with tenancy.unit():
        rows = GivenOut.objects.filter(session_id__isnull=False)
        beside = sum(Session.objects.values_list("heading_tokens", flat=True))
        return beside + sum(rows.values_list("tokens", flat=True))


def figures_of(caller: Caller, external_id: str) -> int:
    """Return the tokens that a list of sessions shows for one."""
    with tenancy.unit():
        session_id = Session.objects.get(external_id=external_id).id
    return figures(caller=caller, session_ids=(session_id,))[session_id].given_tokens


def by_then(checks: int) -> Deadline:
    """Return a deadline that the clock reaches when it was looked at so often."""
    steps = count()
    return Deadline(ends_at=checks, clock=lambda: float(next(steps)))


pytestmark = pytest.mark.usefixtures("store")


def test_the_first_file_is_warned_of_where_the_brief_comes_with_the_first_tool(
    caller: Caller, program: Caller, now: datetime
) -> None:
    warned(caller, now)
    known(caller, now)
    of: dict[str, Any] = {"harness": Harness.CURSOR, "conversation_id": "run-1"}
    heard(program, now, hook_event_name="beforeSubmitPrompt", prompt=ASKED, **of)
    read = {"hook_event_name": "postToolUse", "tool_name": "Read", "tool_input": {"path": FILE}}

    back = heard(program, now, **read, **of)

    assert back.text.index(WARNING) < back.text.index(VAT)
    assert ledger() == [("tool_result", ""), ("system_prompt", "")]
    assert tokens.count(text=back.text) == back.tokens == tokens_of_the_ledger()


def test_what_nobody_waits_for_any_more_is_not_given_and_not_written_down(
    caller: Caller, program: Caller, now: datetime
) -> None:
    warned(caller, now)
    known(caller, now)
    for checks in range(12):
        run = {"session_id": f"run-{checks}"}
        before = len(ledger())

        back = prompted(program, now, deadline=by_then(checks), **run)
        file = used(program, now, deadline=by_then(0), **run)

        with tenancy.unit():
            session = Session.objects.get(external_id=f"claude-code/run-{checks}")
        told = [one for one in (back, file) if one.text]
        assert file.is_late
        assert back.is_late is not bool(back.text)
        assert len(ledger()) - before == sum(len(one.memories) for one in told)
        assert (session.briefed_at is not None) is bool(back.text)
        assert session.brief_tries <= int(back.is_late)  # it may have been looked for too long
        assert WARNING in back.text + used(program, now, **run).text  # when there is time


def late_search(caller: Caller, now: datetime) -> Delivery:
    """Use a tool with so little time that the warnings are ready, and the brief is not."""
    for checks in range(1, 12):
        back = used(caller, now, deadline=by_then(checks))
        if back.text or row().brief_tries:
            return back
    raise AssertionError("No search was begun in any time.")


def test_a_brief_that_comes_too_late_leaves_the_warnings_and_is_not_looked_for_again(
    caller: Caller, program: Caller, now: datetime
) -> None:
    prompted(program, now, deadline=by_then(0))
    warned(caller, now)
    known(caller, now)

    back = late_search(program, now)
    again = used(program, now)

    assert (WARNING in back.text, back.is_late, again.text) == (True, False, "")
    assert (row().briefed_at, row().brief_tries) == (None, 1)
    assert VAT in prompted(program, now + timedelta(minutes=1)).text
    assert [point for point, _ in ledger()] == ["tool_result", "system_prompt"]


@pytest.mark.parametrize(
    ("before", "is_briefed"),
    [
        (("hi",), True),
        (("hi", "thanks", VAT), True),
        (("hi", "hello there", "good morning"), False),
    ],
)
def test_three_prompts_that_nothing_is_known_about_are_the_last_to_be_looked_for(
    caller: Caller, program: Caller, now: datetime, before: tuple[str, ...], is_briefed: bool
) -> None:
    known(caller, now)

    said = [prompted(program, now, text).text for text in before]
    again = prompted(program, now)

    assert "".join(said[:2]) == ""
    assert sum(VAT in text for text in (*said, again.text)) == is_briefed
    assert (row().briefed_at is not None) is is_briefed
    assert is_briefed or said[-1] == again.text == ""


def test_one_prompt_is_looked_for_once(caller: Caller, program: Caller, now: datetime) -> None:
    prompted(program, now)
    known(caller, now)

    assert used(program, now).text == ""
    assert row().brief_tries == 1


def edited(caller: Caller, now: datetime, session: str = "run-0") -> None:
    """Run a session that changes a file, and ends before that is done."""
    prompted(caller, now, "Round the prices.", session_id=session)
    used(caller, now, "Edit", session_id=session)
    heard(caller, now, hook_event_name="SessionEnd", session_id=session)


def test_unfinished_work_stands_before_the_brief_and_within_its_tokens(
    caller: Caller, program: Caller, now: datetime
) -> None:
    edited(program, now)
    known(caller, now)

    back = prompted(program, now + timedelta(minutes=1))

    assert "Work left unfinished" in back.text
    assert back.text.index(FILE) < back.text.index(VAT)
    assert tokens.count(text=back.text) == back.tokens <= BRIEF
    assert 0 < back.heading_tokens < back.tokens == tokens_of_the_ledger()
    assert figures_of(caller, "claude-code/run-1") == back.tokens
    assert project_totals(caller=caller, project="store").tokens == back.tokens
    assert "Work left" not in prompted(program, now + timedelta(minutes=2)).text


@pytest.mark.parametrize("off", [Hook.PREFETCH, Hook.BRIEF])
def test_unfinished_work_and_the_brief_have_switches_of_their_own(
    caller: Caller, program: Caller, now: datetime, off: Hook
) -> None:
    known(caller, now)
    edited(program, now)
    switch_hooks(caller=caller, ref="store", switched={off: False})

    back = prompted(program, now + timedelta(minutes=1))

    assert ("Work left" in back.text, VAT in back.text) == (off is Hook.BRIEF, off is Hook.PREFETCH)
    assert prompted(program, now + timedelta(minutes=2)).text == ""


def test_somebody_elses_unfinished_work_is_not_told(
    caller: Caller, member_caller: Caller, now: datetime
) -> None:
    edited(memories.as_agent(member_caller), now)

    back = prompted(memories.as_agent(caller), now + timedelta(minutes=1))

    assert (back.text, back.tokens) == ("", 0)


def searched(caller: Caller, now: datetime) -> Delivery:
    """Search for the same thing again and again; return what the last search is given."""
    backs = [
        used(caller, now, "Grep", tool_input={"pattern": "VAT rounded line invoice"})
        for _ in range(6)
    ]
    assert [one.text for one in backs[:4]] == [""] * 4
    return next((one for one in backs if one.text), backs[-1])


@pytest.mark.parametrize("is_on", [True, False])
def test_searches_are_answered_from_the_fifth_step_where_a_project_asks_for_it(
    caller: Caller, program: Caller, now: datetime, is_on: bool
) -> None:
    known(caller, now)
    switch_hooks(caller=caller, ref="store", switched={Hook.STEP_SEARCHED: is_on})

    back = searched(program, now + timedelta(minutes=1))

    assert (VAT in back.text) is is_on
    assert ledger() == ([("step", "")] if is_on else [])


def test_each_agent_of_a_session_is_warned_for_itself(
    caller: Caller, program: Caller, now: datetime
) -> None:
    warned(caller, now)

    told = [
        WARNING in used(program, now, **of).text
        for of in ({"agent_id": "a"}, {}, {"agent_id": "b"}, {"agent_id": "a"}, {})
    ]

    assert told == [True, True, True, False, False]
    assert ledger() == [("tool_result", "a"), ("tool_result", ""), ("tool_result", "b")]
    assert len(delivery_log(caller=caller, session_id=row().id).entries) == 3


def test_a_subagent_is_not_briefed(caller: Caller, program: Caller, now: datetime) -> None:
    heard(program, now, hook_event_name="SessionStart")
    with tenancy.unit():
        Turn.objects.create(session=row(), sequence=1, role="user", text=ASKED, at=now)
    known(caller, now)

    assert used(program, now, agent_id="a").text == ""
    assert VAT in used(program, now).text


def test_what_was_forgotten_is_warned_of_once_more_and_briefed_no_more(
    caller: Caller, program: Caller, now: datetime
) -> None:
    warned(caller, now)
    known(caller, now)
    first = (prompted(program, now).text, used(program, now).text)
    heard(program, now, hook_event_name="SessionStart", source="compact")

    later = now + timedelta(minutes=1)
    again = (prompted(program, later).text, used(program, later).text, used(program, later).text)

    assert VAT in first[0]
    assert WARNING in "".join(first)
    assert again[0] == ""
    assert WARNING in again[1]
    assert again[2] == ""
    assert len([one for one in ledger() if one[0] == "tool_result"]) in {1, 2}


def test_a_session_that_starts_for_another_reason_has_forgotten_nothing(
    caller: Caller, program: Caller, now: datetime
) -> None:
    warned(caller, now)
    used(program, now)

    for source in ("startup", "resume", "clear"):
        heard(program, now, hook_event_name="SessionStart", source=source)
        assert used(program, now).text == ""


@pytest.mark.parametrize("is_merged", [False, True])
def test_what_its_token_just_searched_for_is_not_told_again(
    caller: Caller, program: Caller, now: datetime, is_merged: bool
) -> None:
    warned(caller, now)
    heard(program, now, hook_event_name="SessionStart")
    request = SearchRequest(query=WARNING, project="store")
    assert search(caller=program, request=request, now=now).hits != ()
    if is_merged:
        maintenance.merge_access()

    mine = used(program, now).text
    others = used(memories.as_agent(caller), now, session_id="run-2").text

    assert mine == ""
    assert WARNING in others


def test_what_its_token_searched_for_before_the_session_is_told(
    caller: Caller, program: Caller, now: datetime
) -> None:
    warned(caller, now)
    search(caller=program, request=SearchRequest(query=WARNING, project="store"), now=now)

    assert WARNING in used(program, now + timedelta(minutes=1)).text


def test_a_style_is_told_with_a_brief_and_never_alone(
    caller: Caller, program: Caller, now: datetime
) -> None:
    style = NewStyle(name="short", text="Answer in one sentence.", is_default=True)
    put_style(caller=caller, new=style, now=now)

    assert prompted(program, now, "hi").text == ""
    known(caller, now)
    back = prompted(program, now)

    assert "Answer in one sentence." in back.text
    assert VAT in back.text
    assert tokens.count(text=back.text) == back.tokens == tokens_of_the_ledger()
