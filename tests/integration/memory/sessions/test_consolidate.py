"""The job behind an ended session: one at a time, within its caps, of what was looked at."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from accounts import jobs, tenancy
from accounts.caller import Role
from accounts.errors import Unavailable
from accounts.models import Membership
from memory.extraction.extract import LONGEST_TURN
from memory.injection.actions.external_binding import Whereabouts
from memory.injection.actions.hooks import follow_agent
from memory.injection.harnesses import ADAPTERS, Harness, read_payload
from memory.observer.actions.consolidate import consolidate
from memory.observer.actions.finalize import finalize
from memory.records.models import Memory
from memory.sessions.actions.append_turns import NewTurn, take_conversation
from memory.sessions.actions.lifecycle import LONGEST_HOURS, NewSession, end_idle
from memory.sessions.models import Turn
from teams.models import Project
from teams.trust import TrustLevel
from tests.integration.memory.sessions.test_trust import FETCHED
from tests.support.agent_runs import DECISION, TRAP, Run, Shop, contents, only_memory, silent
from tests.support.trusting import stand

RULE = "Never edit the files in gen/ by hand, run make gen instead."
NOTHING_NEW = "There was no new turn to look at."


@pytest.fixture
def run(shop: Shop) -> Run:
    """An ended session of the agent with a turn worth keeping."""
    run = shop.opened()
    run.says(DECISION)
    return run.ends()


@pytest.mark.parametrize(
    ("lost", "words"),
    [
        ("role", "no write scope"),
        ("project", "no project"),
        ("membership", "no longer belongs to the organization"),
    ],
)
def test_who_lost_the_right_is_told_once(shop: Shop, run: Run, lost: str, words: str) -> None:
    if lost == "role":
        with tenancy.walled(organization_id=shop.agent.organization_id):
            rows = Membership.objects.filter(user_id=shop.agent.user_id)
            rows.update(role=Role.VIEWER.value)
    elif lost == "project":
        with tenancy.unit():
            Project.objects.filter(slug=shop.slug).update(open_to_all=False)
    else:
        run.update(opened_by=shop.agent.token_id)

    with pytest.raises(jobs.PermanentFailure, match=words):
        run.consolidated()


class Killed(Exception):
    """A worker that ends."""


def killed(done: int, total: int) -> None:
    """End the worker after its first part."""
    raise Killed


def test_a_run_that_was_killed_has_spent_what_it_spent(run: Run) -> None:
    holder = uuid4()
    with pytest.raises(Killed):
        run.consolidated(killed, holder=holder)
    result = run.row.result
    assert (result["added"], result["turns"], result["candidates"]) == (1, 1, 1)

    run.consolidated(holder=holder)

    row = run.row
    assert (row.result["added"], row.result["turns"], row.state) == (1, 1, "consolidated")


def test_a_session_is_read_by_one_job_at_a_time(run: Run) -> None:
    seen: list[str] = []

    def tell(done: int, total: int) -> None:
        with pytest.raises(Unavailable, match="Another job reads this session"):
            run.consolidated(killed)
        seen.append("waits")

    run.consolidated(tell)
    after = run.consolidated(killed)

    assert (seen, after["why"]) == (["waits"], NOTHING_NEW)


def test_who_is_silent_for_too_long_is_gone_and_does_not_go_on(run: Run) -> None:
    def tell(done: int, total: int) -> None:
        run.update(read_until=timezone.now() - timedelta(seconds=1))
        run.consolidated()

    with pytest.raises(Unavailable):
        run.consolidated(tell)

    row = run.row
    assert (row.state, row.result["added"]) == ("consolidated", 1)


def numbered(number: int, text: str = "Thanks, that looks good.") -> NewTurn:
    """Return a turn of a person."""
    return NewTurn(role="user", text=text, sequence=number)


def test_turns_that_come_late_are_read_by_the_next_end(shop: Shop) -> None:
    run = shop.opened()
    seen = []
    for turns in ((numbered(6, DECISION), numbered(7)), (numbered(1), numbered(3, TRAP))):
        run.says(*turns)
        assert run.row.state == "open"
        seen.append(run.ends().consolidated()["added"])

    assert contents() == {DECISION, TRAP}
    assert seen == [1, 1]
    assert run.consolidated()["why"] == NOTHING_NEW


def test_turns_that_come_while_a_session_is_read_are_read_too(shop: Shop) -> None:
    run = shop.opened()
    run.says(numbered(6, DECISION))
    late = [numbered(3, TRAP)]

    def tell(done: int, total: int) -> None:
        if late:
            run.says(late.pop())

    run.ends().consolidated(tell)

    assert contents() == {DECISION, TRAP}


@pytest.fixture
def trusted(shop: Shop) -> Run:
    """An ended session of somebody who is not asked, with a turn worth keeping."""
    stand(shop.owner, shop.slug, TrustLevel.CONFIDENT, shop.now)
    run = shop.opened(shop.program)
    run.says(f"Remember that {DECISION[0].lower()}{DECISION[1:]}")
    return run.ends()


def taken() -> dict[str, tuple[bool, str]]:
    """Return what was taken: whether it waits, and what it is tainted by."""
    with tenancy.unit():
        found = Memory.objects.filter(source="extracted")
        rows = list(found.values_list("content", "needs_review", "taint_reason"))
    return {content: (waits, reason) for content, waits, reason in rows}


def test_what_goes_on_is_left_to_its_next_end_and_tainted_like_its_session(trusted: Run) -> None:
    trusted.does(*FETCHED)

    first, before = trusted.consolidated(), taken()
    trusted.says(TRAP)
    reason = (trusted.finalized().observed or {})["tainted_by"]
    trusted.consolidated()

    assert (first, before) == ({"gone": 1}, {})
    assert reason
    assert taken() == dict.fromkeys((DECISION, TRAP), (True, reason))


def test_a_session_that_goes_on_once_decided_is_read_once(trusted: Run) -> None:
    trusted.now += timedelta(hours=LONGEST_HOURS, minutes=1)
    finalize(session_id=trusted.id, now=trusted.now)
    trusted.does(*FETCHED)

    due = end_idle(now=trusted.now)
    trusted.does({"sequence": 200, "kind": "prompt", "text": "Go on."})
    counts = trusted.consolidated(is_decided=True)
    again = end_idle(now=trusted.now)

    assert (due, counts["turns"], again) == (1, 1, 0)
    assert taken() == {DECISION: (True, "")}
    row = trusted.row
    assert (row.state, row.consolidated_at) == ("open", trusted.now)


def test_what_nobody_has_looked_at_makes_all_of_it_wait(trusted: Run) -> None:
    finalize(session_id=trusted.id, now=trusted.now)
    trusted.does(*FETCHED)

    trusted.ends().consolidated()

    assert taken() == {DECISION: (True, "")}


def test_what_comes_while_it_is_read_and_what_words_alone_have_found_waits(trusted: Run) -> None:
    trusted.says(TRAP)
    asked = "Remember that vouchers are single use per household."
    late = [asked]

    def tell(done: int, total: int) -> None:
        if late:
            trusted.does(*FETCHED)
            trusted.says(late.pop())

    trusted.ends().consolidated(tell)

    found = taken()
    assert (found.pop(DECISION), found.pop(TRAP)) == ((False, ""), (True, ""))
    assert list(found.values()) == [(True, "")]
    assert trusted.row.state == "open"


def prompted(shop: Shop, run: Run, text: str, harness: Harness = Harness.CLAUDE_CODE) -> None:
    """Let a program's hook tell what a person said in a session that is called like it."""
    event = "prompt" if harness is Harness.GENERIC else "UserPromptSubmit"
    payload = {"session": "one", "session_id": "one", "event": event, "hook_event_name": event}
    follow_agent(
        caller=shop.agent,
        event=read_payload(adapter=ADAPTERS[harness], payload={**payload, "prompt": text}),
        whereabouts=Whereabouts(),
        now=run.now,
    )
    with tenancy.unit():
        assert Turn.objects.filter(session=run.id).exists()


@pytest.mark.parametrize(
    ("program", "is_hook", "words"),
    [
        (Harness.CLAUDE_CODE, True, "person"),
        (Harness.GENERIC, True, None),
        (Harness.CLAUDE_CODE, False, None),
    ],
)
def test_only_what_an_agents_hooks_tell_of_a_person_is_their_word(
    shop: Shop, program: Harness, *, is_hook: bool, words: str | None
) -> None:
    run = shop.opened(external_id=f"{program}/one")

    if is_hook:
        prompted(shop, run, RULE, program)
    else:
        run.says(RULE)
    run.ends().consolidated()

    assert only_memory().attributes.get("stated_by") == words


def test_what_a_person_pastes_is_not_their_word_and_asks_for_nothing(shop: Shop) -> None:
    run = shop.opened(external_id="claude-code/one")
    asked = "Remember that vouchers are single use per household."
    rest = ["The weather was fine on that day."] * LONGEST_TURN

    prompted(shop, run, " ".join((RULE, asked, *rest)))
    run.ends().consolidated()

    with tenancy.unit():
        rows = list(Memory.objects.values_list("attributes", "needs_review"))
    assert rows == [({}, True)] * 2


@pytest.mark.parametrize("is_handed_in", [True, False])
def test_what_an_agent_hands_in_is_no_persons_word_and_as_tainted_as_the_agent(
    shop: Shop, is_handed_in: bool
) -> None:
    run = shop.opened(external_id="claude-code/one")
    turns, new = (NewTurn(role="user", text=RULE),), NewSession(project=shop.slug)
    if is_handed_in:
        of_agent: dict[str, Any] = {
            "caller": shop.agent,
            "now": shop.now,
            "taint": "web: evil.example",
        }
        handed_in, _, _ = take_conversation(new=new, turns=turns, **of_agent)
        consolidate(session_id=handed_in, now=shop.now, tell=silent)
    else:
        prompted(shop, run, RULE)
        run.ends().consolidated()

    row = only_memory()
    expected = (None, "web: evil.example") if is_handed_in else ("person", "")
    assert (row.attributes.get("stated_by"), row.taint_reason) == expected
