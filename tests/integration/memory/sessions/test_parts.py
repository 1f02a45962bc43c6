"""A session that is full goes on in another one, and to its agent both are one."""

from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

import pytest

from accounts import tenancy
from accounts.caller import Caller
from memory.experiments.points import Point
from memory.injection.actions import delivery_log, session_start
from memory.injection.actions.policy import Recipient
from memory.sessions.actions import scratchpads
from memory.sessions.actions.append_events import MOST_OF_SESSION
from memory.sessions.models import GivenOut, Session
from tests.integration.memory.injection.test_hook_answers import (
    FILE,
    VAT,
    WARNING,
    edited,
    known,
    prompted,
    used,
    warned,
)
from tests.support import memories

PAGE: Final[dict[str, Any]] = {
    "tool": "WebFetch",
    "tool_input": {"url": "https://evil.example/page"},
}
pytestmark = pytest.mark.usefixtures("store")


@pytest.fixture
def program(caller: Caller) -> Caller:
    """An agent's program with the owner's token."""
    return memories.as_agent(caller)


def fill() -> None:
    """Let all sessions be full."""
    with tenancy.unit():
        Session.objects.update(events=MOST_OF_SESSION, folded=MOST_OF_SESSION)


def part(number: int) -> Session:
    """Return a part of the session."""
    with tenancy.unit():
        name = "claude-code/run-1" + (f"#{number}" if number > 1 else "")
        return Session.objects.select_related("project").get(external_id=name)


def test_what_was_told_before_it_was_full_is_not_told_again(
    caller: Caller, program: Caller, now: datetime
) -> None:
    warned(caller, now)
    known(caller, now)
    first = prompted(program, now).text + used(program, now).text
    again = []
    for minutes in (1, 2):
        fill()
        later = now + timedelta(minutes=minutes)
        again += [prompted(program, later).text, used(program, later).text]

    assert VAT in first
    assert WARNING in first
    assert again == [""] * 4
    assert part(3).briefed_at == part(1).briefed_at is not None


def test_the_ledger_of_its_last_part_knows_those_of_all(
    caller: Caller, program: Caller, now: datetime
) -> None:
    gotcha: UUID = warned(caller, now).id
    used(program, now)
    for _ in range(2):
        fill()
        used(program, now)
    recipient = Recipient(caller=caller, session=part(3), now=now)

    with tenancy.unit():
        told = delivery_log.delivered_before(
            recipient=recipient, point=Point.TOOL_RESULT, memory_ids=[gotcha]
        )
        delivery_log.record_sources(recipient=recipient, point=Point.STEP, memory_ids=(gotcha,))
        rows = GivenOut.objects.filter(memory_id=gotcha, session_id__isnull=False).count()

    assert told == {gotcha}
    assert rows == 1


def test_files_that_it_was_told_of_stay_named(
    caller: Caller, program: Caller, now: datetime
) -> None:
    warned(caller, now)
    used(program, now)
    fill()
    used(program, now)

    with tenancy.unit():
        named = delivery_log.suggested_files(session=part(2))

    assert FILE in named
    assert set(named.values()) == {0}


def test_another_session_of_its_thread_is_told(
    caller: Caller, program: Caller, now: datetime
) -> None:
    warned(caller, now)
    used(program, now)
    fill()
    used(program, now)
    prompted(program, now, "hi", session_id="run-2")
    with tenancy.unit():
        Session.objects.filter(external_id="claude-code/run-2").update(thread=part(1).thread)

    assert WARNING in used(program, now, session_id="run-2").text


def test_what_followed_outside_content_still_does(program: Caller, now: datetime) -> None:
    prompted(program, now)
    used(program, now, **PAGE)
    used(program, now, "Write", tool_input={"file_path": "/tmp/notes.md", "content": "x"})
    for _ in range(2):
        fill()
        used(program, now)

    with tenancy.unit():
        third = scratchpads.settled(opened=scratchpads.read(row=part(3)))
    assert third.taint is not None
    assert (third.taint.sequence, third.taint.reason) == (0, "web: evil.example")
    assert "/tmp/notes.md" in third.written
    assert (part(3).observed or {})["tainted_by"] == "web: evil.example"


def test_what_it_did_itself_is_not_work_that_was_left(
    caller: Caller, program: Caller, now: datetime
) -> None:
    edited(program, now)
    prompted(program, now + timedelta(minutes=1))
    used(program, now + timedelta(minutes=1), "Edit")
    with tenancy.unit():
        before = session_start.unfinished_work(caller=program, session=part(1), is_new=True)
        filled = Session.objects.filter(pk=part(1).pk)
        filled.update(events=MOST_OF_SESSION, folded=MOST_OF_SESSION)
    used(program, now + timedelta(minutes=2))

    with tenancy.unit():
        left = session_start.unfinished_work(caller=program, session=part(2), is_new=True)

    assert left is not None
    assert left == before


def test_what_it_works_on_goes_with_it(program: Caller, now: datetime) -> None:
    prompted(program, now)
    said = {
        "branch": "vat",
        "commit": "c0ffee1",
        "root": "/home/ana/store",
        "plan": ["Round each line."],
        "work_unit": {"label": "VAT"},
        "experiment_group": "full",
    }
    with tenancy.unit():
        Session.objects.update(**said)
    fill()

    prompted(program, now)

    assert {name: getattr(part(2), name) for name in said} == said
