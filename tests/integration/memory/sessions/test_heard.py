"""No loops: what was given out is neither learned again nor confirmed by who was given it."""

from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from accounts import tenancy
from accounts.caller import Caller
from memory.index.actions import maintenance
from memory.intake.actions.remember import Outcome, remember, remember_all
from memory.intake.models import ActionLog
from memory.records.actions import MOST_SESSIONS
from memory.records.models import Memory
from memory.search.actions import search
from memory.search.request import SearchRequest
from memory.sessions.actions.append_turns import NewTurn
from memory.sessions.models import GivenOut
from memory.tasks import upkeep
from teams.actions import create_project
from tests.support import memories
from tests.support.agent_runs import Shop, only_memory, update_memory
from tests.support.work import taken as taken_job

KNOWN = "Webhooks are retried 11 times with growing pauses, then parked for a person."
SPELLED = KNOWN.replace("a person", "the person")
QUOTED = "Webhooks are retried 11 times, then parked for a person."
ROUNDS = 4
OF_AGENTS: Any = {"source": "agent_explicit", "project": "store"}


def said(shop: Shop, content: str = KNOWN) -> Outcome:
    """Let an agent say something."""
    return remember(caller=shop.agent, new=memories.new(content, **OF_AGENTS), now=shop.now)


def recalled(caller: Caller, now: Any) -> tuple[str, ...]:
    """Search, and return what was given out."""
    request = SearchRequest(query="webhooks retried parked", project="store", threshold=0.0)
    return tuple(hit.memory.content for hit in search(caller=caller, request=request, now=now).hits)


def taken(shop: Shop, *said: str | NewTurn) -> dict[str, Any]:
    """Hand in a conversation and take what is worth keeping."""
    run = shop.opened(shared=True)
    run.says(*said)
    return dict(run.ends().consolidated())


@pytest.mark.parametrize(
    ("told", "content", "hours", "expected"),
    [
        ("itself", KNOWN, 0, "known"),
        ("itself", SPELLED, 0, "known"),
        ("itself", QUOTED, 0, "added"),
        ("itself", KNOWN, 25, "confirmed"),
        ("itself", KNOWN.replace("11", "5"), 0, "added"),
        ("itself", KNOWN.replace("are retried", "are never retried"), 0, "added"),
        ("itself", f"{KNOWN} The pauses double each time and end after four days.", 0, "added"),
        ("another agent of its person", KNOWN, 0, "known"),
        ("another agent of its person, merged", KNOWN, 0, "known"),
        ("its person and an agent of somebody else", KNOWN, 0, "confirmed"),
    ],
)
def test_what_an_agent_says_confirms_a_memory_that_it_was_not_just_told(
    shop: Shop, told: str, content: str, hours: int, expected: str
) -> None:
    shop.remember(KNOWN)
    if told == "itself":
        recalled(shop.agent, shop.now)
    elif told.startswith("another agent"):
        recalled(replace(shop.agent, token_id=uuid4()), shop.now)
    else:
        recalled(shop.member, shop.now)
        recalled(replace(shop.owner, token_id=uuid4()), shop.now)
    if told.endswith("merged"):
        maintenance.merge_access()

    outcome = said(shop.at(hours=hours), content)

    assert outcome.outcome == expected
    if expected == "known":
        assert outcome.done == ""
        assert only_memory().confirmations == 0
    if expected == "known" and told == "itself":
        assert outcome.reason == "It was just told to you; saying it again confirms nothing."


@pytest.mark.parametrize("elsewhere", [{"project": "till"}, {"scope": "personal"}])
@pytest.mark.parametrize("content", [KNOWN, QUOTED])
def test_what_was_told_in_one_place_is_news_in_another(
    shop: Shop, elsewhere: dict[str, str], content: str
) -> None:
    create_project(caller=shop.owner, slug="till", name="Till", now=shop.now)
    shop.remember(KNOWN)
    recalled(shop.agent, shop.now)
    new = memories.new(content, **{**OF_AGENTS, **elsewhere})

    alone = remember(caller=shop.agent, new=new, now=shop.now)
    again = remember_all(caller=shop.agent, new=(new,), now=shop.now)

    assert alone.memory is not None
    assert (alone.outcome, alone.memory.content) == ("added", content)
    assert [one.outcome for one in again] == ["confirmed"]
    with tenancy.unit():
        assert Memory.objects.count() == 2


@pytest.mark.parametrize(("is_open", "outcome"), [(True, "known"), (False, "confirmed")])
def test_what_an_open_one_was_told_is_kept(shop: Shop, is_open: bool, outcome: str) -> None:
    known = shop.remember(KNOWN)
    other = replace(shop.agent, token_id=uuid4())
    run = shop.opened(other)
    with tenancy.unit():
        GivenOut.objects.create(
            memory_id=known.id, person=other.user_id, token=other.token_id, at=shop.now,
            session_id=run.id, point="tool_result",
        )  # fmt: skip
    if not is_open:
        run.ends()

    assert said(shop.at(hours=30)).outcome == outcome


def test_many_at_once_confirm_nothing_that_was_told_and_a_person_does(shop: Shop) -> None:
    shop.remember(KNOWN)
    recalled(shop.agent, shop.now)
    contents = (KNOWN, SPELLED, QUOTED, "Carts expire after a day without a purchase.")
    new = tuple(memories.new(content, **OF_AGENTS) for content in contents)

    outcomes = remember_all(caller=shop.agent, new=new, now=shop.now)

    assert [one.outcome for one in outcomes] == ["known", "known", "added", "added"]
    recalled(shop.owner, shop.now)
    again = memories.sent(shop.owner, shop.now, KNOWN, project=shop.slug)
    assert again.memory is not None
    assert (again.outcome, again.memory.confirmations) == ("confirmed", 1)


@pytest.mark.parametrize("content", [KNOWN, QUOTED])
def test_a_conversation_does_not_teach_what_it_was_told(shop: Shop, content: str) -> None:
    shop.remember(KNOWN)
    recalled(shop.agent, shop.now)

    counts = taken(shop, f"Remember that {content[0].lower()}{content[1:]}")

    assert counts["candidates"] == 1
    assert (counts.get("added", 0), counts["known"]) == (0, 1)
    assert counts["why"] == "All of it is known already."


def test_many_rounds_of_recall_and_extraction_add_nothing(shop: Shop) -> None:
    shop.remember(KNOWN)
    before = only_memory()

    for number in range(ROUNDS):
        (content,) = recalled(shop.agent, shop.now)
        taken(
            shop,
            "What do we know about webhooks?",
            NewTurn(role="assistant", text=f"This is known about them.\n\n{content}"),
            f"Right. Remember: {content} That was round {number}.",
        )
        said(shop, content)

    after = only_memory()
    assert (after.id, after.confirmations, after.confidence) == (before.id, 0, before.confidence)


@pytest.mark.parametrize("is_told", [True, False])
def test_many_that_spell_otherwise_what_was_told_confirm_nothing(shop: Shop, is_told: bool) -> None:
    known = shop.remember(KNOWN, source="agent_explicit")
    new = memories.new(KNOWN.replace("11", "eleven"), **OF_AGENTS)

    (outcome,) = remember_all(caller=shop.agent, new=(new,), now=shop.now)
    if is_told:
        recalled(shop.agent, shop.now)
    upkeep.embed(taken_job(outcome.job_id))

    copy = only_memory(superseded_by_id=known.id)
    assert only_memory(pk=known.id).confirmations == (not is_told)
    with tenancy.unit():
        ended = ActionLog.objects.get(memory_id=known.id, other_id=copy.id).outcome
    assert ended == ("known" if is_told else "confirmed")


@pytest.mark.parametrize(
    ("status", "expected"), [("superseded", "known"), ("archived", "known"), ("deleted", "added")]
)
def test_what_was_put_right_is_not_learned_again(shop: Shop, status: str, expected: str) -> None:
    known = shop.remember(KNOWN)
    recalled(shop.agent, shop.now)
    update_memory(known.id, status=status)

    outcome = said(shop, SPELLED)

    assert outcome.outcome == expected
    assert only_memory(pk=known.id).confirmations == 0


def test_a_memory_keeps_the_newest_sessions_that_said_it(shop: Shop) -> None:
    known = shop.remember(KNOWN)
    before = [uuid4() for _ in range(MOST_SESSIONS)]
    update_memory(known.id, provenance_sessions=before)

    taken(shop, KNOWN)

    kept = only_memory().provenance_sessions
    assert kept[:-1] == before[1:]
    assert kept[-1] not in before
