"""A session that is full goes on in another one, and to its agent both are one."""

from datetime import timedelta
from typing import Any, Final

import pytest

from accounts import tenancy
from memory.experiments.points import Point
from memory.injection.actions import delivery_log, session_start
from memory.injection.actions.policy import Recipient
from memory.sessions.actions import scratchpads
from memory.sessions.actions.append_events import MOST_OF_SESSION
from memory.sessions.models import GivenOut, Session
from tests.integration.memory.injection.test_hook_answers import FILE, VAT, WARNING, Run
from tests.support.agent_runs import Shop

PAGE: Final[dict[str, Any]] = {
    "tool": "WebFetch",
    "tool_input": {"url": "https://evil.example/page"},
}
NOTES: Final = {"file_path": "/tmp/notes.md", "content": "x"}


class Program:
    """A program's session of the owner; whatever happens in it happens at `now`."""

    def __init__(self, shop: Shop) -> None:
        self.shop, self.caller, self.now = shop, shop.program, shop.now

    @property
    def run(self) -> Run:
        """What happens now."""
        return Run(caller=self.shop.owner, program=self.caller, now=self.now)

    def prompts(self, *text: str, **more: Any) -> str:
        """Say something to the agent; return what it is given."""
        return self.run.prompted(*text, **more).text

    def uses(self, *tool: str, **more: Any) -> str:
        """Use a tool; return what the agent is given."""
        return self.run.used(*tool, **more).text

    def fill(self) -> None:
        """Let all its parts be full."""
        with tenancy.unit():
            Session.objects.update(events=MOST_OF_SESSION, folded=MOST_OF_SESSION)

    def goes_on(self, times: int = 1) -> None:
        """Go on in so many parts."""
        for _ in range(times):
            self.fill()
            self.uses()

    def part(self, number: int) -> Session:
        """Return a part of the session."""
        name = "claude-code/run-1" + (f"#{number}" if number > 1 else "")
        with tenancy.unit():
            return Session.objects.select_related("project").get(external_id=name)


@pytest.fixture
def program(shop: Shop) -> Program:
    """A program that has not begun."""
    return Program(shop)


def test_what_was_told_before_it_was_full_is_not_told_again(program: Program) -> None:
    program.run.warns()
    program.run.knows()
    first = program.prompts() + program.uses()
    again = []
    for _ in range(2):
        program.fill()
        program.now += timedelta(minutes=1)
        again += [program.prompts(), program.uses()]

    assert VAT in first
    assert WARNING in first
    assert again == [""] * 4
    assert program.part(3).briefed_at == program.part(1).briefed_at is not None


def test_the_log_of_its_last_part_knows_those_of_all(program: Program) -> None:
    gotcha = program.run.warns().id
    program.uses()
    program.goes_on(2)
    recipient = Recipient(caller=program.shop.owner, session=program.part(3), now=program.now)

    with tenancy.unit():
        told = delivery_log.delivered_before(
            recipient=recipient, point=Point.TOOL_RESULT, memory_ids=[gotcha]
        )
        delivery_log.record_sources(recipient=recipient, point=Point.STEP, memory_ids=(gotcha,))
        rows = GivenOut.objects.filter(memory_id=gotcha, session_id__isnull=False).count()

    assert (told, rows) == (frozenset({gotcha}), 1)


def test_a_session_that_calls_itself_a_part_of_another_is_none(program: Program) -> None:
    program.prompts(session_id="run-1#2")
    program.uses()
    program.goes_on()

    with tenancy.unit():
        names = set(Session.objects.values_list("external_id", flat=True))
    assert {"claude-code/run-1", "claude-code/run-1#2"} <= names
    assert len(names) == 3


def test_files_that_it_was_told_of_stay_named(program: Program) -> None:
    program.run.warns()
    program.uses()
    program.goes_on()
    with tenancy.unit():
        named = delivery_log.suggested_files(session=program.part(2))
    program.prompts("hi", session_id="run-2")
    with tenancy.unit():
        other = Session.objects.filter(external_id="claude-code/run-2")
        other.update(thread=program.part(1).thread)

    assert FILE in named
    assert set(named.values()) == {0}
    assert WARNING in program.uses(session_id="run-2")


def test_what_followed_outside_content_still_does(program: Program) -> None:
    program.prompts()
    program.uses(**PAGE)
    program.uses("Write", tool_input=NOTES)
    program.goes_on(2)

    with tenancy.unit():
        third = scratchpads.settled(opened=scratchpads.read(row=program.part(3)))
    assert third.taint is not None
    assert (third.taint.sequence, third.taint.reason) == (0, "web: evil.example")
    assert "/tmp/notes.md" in third.written
    assert (program.part(3).observed or {})["tainted_by"] == "web: evil.example"


def test_what_it_did_itself_is_not_work_that_was_left(program: Program) -> None:
    def left(number: int) -> object:
        with tenancy.unit():
            part = program.part(number)
            return session_start.unfinished_work(caller=program.caller, session=part, is_new=True)

    program.run.edited()
    program.now += timedelta(minutes=1)
    program.prompts()
    program.uses("Edit")
    before = left(1)
    program.goes_on()

    assert left(2) is not None
    assert left(2) == before


def test_what_it_works_on_goes_with_it(program: Program) -> None:
    program.prompts()
    said = {
        "branch": "vat", "commit": "c0ffee1", "root": "/home/ana/store",
        "plan": ["Round each line."], "work_unit": {"label": "VAT"}, "experiment_group": "full",
    }  # fmt: skip
    with tenancy.unit():
        Session.objects.update(**said)
    program.fill()

    program.prompts()

    assert {name: getattr(program.part(2), name) for name in said} == said
