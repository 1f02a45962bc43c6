"""No loops: what was given out is neither learned again nor confirmed by who was given it."""

from dataclasses import replace
from datetime import datetime, timedelta
from uuid import uuid4

import pytest

from accounts import tenancy
from accounts.caller import Caller
from memory.index.actions import maintenance
from memory.intake.actions.remember import Outcome, remember, remember_all
from memory.intake.models import ActionLog
from memory.observer.actions.consolidate import consolidate
from memory.records.actions import MOST_SESSIONS
from memory.records.models import Memory
from memory.search.actions import search
from memory.search.request import SearchRequest
from memory.sessions.actions.append_turns import NewTurn, append_turns
from memory.sessions.actions.lifecycle import NewSession, end_session, open_session
from memory.sessions.models import GivenOut
from memory.tasks import upkeep
from tests.support import memories
from tests.support.work import taken as taken_job

pytestmark = pytest.mark.usefixtures("in_organization")
KNOWN = "Webhooks are retried 11 times with growing pauses, then parked for a person."
QUOTED = "Webhooks are retried 11 times, then parked for a person."
PARAPHRASED = "Webhooks get retried 11 times with growing pauses and then parked for a human."
ROUNDS = 50


def said(caller: Caller, now: datetime, content: str = KNOWN) -> Outcome:
    """Let an agent say something."""
    new = memories.new(content, source="agent_explicit", project="store")
    return remember(caller=caller, new=new, now=now)


def recalled(caller: Caller, now: datetime) -> tuple[str, ...]:
    """Search, and return what was given out."""
    request = SearchRequest(query="webhooks retried parked", project="store", threshold=0.0)
    return tuple(hit.memory.content for hit in search(caller=caller, request=request, now=now).hits)


def taken(caller: Caller, now: datetime, *said: tuple[str, str]) -> dict[str, object]:
    """Hand in a conversation and take what is worth keeping."""
    new = NewSession(project="store", shared=True)
    session = open_session(caller=caller, new=new, now=now).session
    turns = tuple(NewTurn(role=role, text=text) for role, text in said)
    append_turns(caller=caller, session_id=session.id, turns=turns, now=now)
    end_session(caller=caller, session_id=session.id, now=now)
    return dict(consolidate(session_id=session.id, now=now, tell=lambda done, total: None))


def only_one() -> Memory:
    """Return the only memory there is."""
    with tenancy.unit():
        return Memory.objects.get()


@pytest.mark.parametrize(
    ("told", "content", "hours", "expected"),
    [
        ("itself", KNOWN, 0, "known"),
        ("itself", QUOTED, 0, "known"),
        ("itself", KNOWN, 25, "confirmed"),
        ("itself", KNOWN.replace("11", "5"), 0, "added"),
        ("itself", KNOWN.replace("are retried", "are never retried"), 0, "added"),
        ("itself", f"{KNOWN} The pauses double each time and end after four days.", 0, "added"),
        ("another agent of its person", KNOWN, 0, "known"),
        ("another agent of its person, merged", KNOWN, 0, "known"),
        ("its person and an agent of somebody else", KNOWN, 0, "confirmed"),
    ],
)
@pytest.mark.usefixtures("store")
def test_what_an_agent_says_confirms_a_memory_that_it_was_not_just_told(
    caller: Caller, member_caller: Caller, agent: Caller, now: datetime,
    told: str, content: str, hours: int, expected: str,
) -> None:  # fmt: skip
    memories.stored(caller, now, KNOWN, project="store")
    if told == "itself":
        recalled(agent, now)
    elif told.startswith("another agent"):
        recalled(replace(agent, token_id=uuid4()), now)
    else:
        recalled(member_caller, now)
        recalled(replace(caller, token_id=uuid4()), now)
    if told.endswith("merged"):
        maintenance.merge_access()

    outcome = said(agent, now + timedelta(hours=hours), content)

    assert outcome.outcome == expected
    if expected == "known":
        assert outcome.done == ""
        assert only_one().confirmations == 0
    if expected == "known" and told == "itself":
        assert outcome.reason == "It was just told to you; saying it again confirms nothing."


@pytest.mark.parametrize(("is_open", "outcome"), [(True, "known"), (False, "confirmed")])
def test_what_a_session_that_still_runs_was_told_is_remembered_for_longer_than_a_day(
    caller: Caller, agent: Caller, store: str, now: datetime, is_open: bool, outcome: str
) -> None:
    known = memories.stored(caller, now, KNOWN, project=store)
    other = replace(agent, token_id=uuid4())
    session = open_session(caller=other, new=NewSession(project=store), now=now).session.id
    with tenancy.unit():
        GivenOut.objects.create(
            memory_id=known.id, person=other.user_id, token=other.token_id, at=now,
            session_id=session, point="tool_result",
        )  # fmt: skip
    if not is_open:
        end_session(caller=other, session_id=session, now=now)

    assert said(agent, now + timedelta(hours=30)).outcome == outcome


def test_a_person_still_confirms(caller: Caller, store: str, now: datetime) -> None:
    memories.stored(caller, now, KNOWN, project=store)
    recalled(caller, now)

    outcome = remember(caller=caller, new=memories.new(KNOWN, project=store), now=now)

    assert (outcome.outcome, only_one().confirmations) == ("confirmed", 1)


def test_many_at_once_confirm_nothing_that_was_told(
    caller: Caller, agent: Caller, store: str, now: datetime
) -> None:
    memories.stored(caller, now, KNOWN, project=store)
    recalled(agent, now)
    new = tuple(
        memories.new(content, source="agent_explicit", project=store)
        for content in (KNOWN, QUOTED, "Carts expire after a day without a purchase.")
    )

    outcomes = remember_all(caller=agent, new=new, now=now)

    assert [one.outcome for one in outcomes] == ["known", "known", "added"]


@pytest.mark.parametrize("content", [KNOWN, QUOTED, PARAPHRASED])
def test_a_conversation_does_not_teach_what_it_was_told(
    caller: Caller, agent: Caller, store: str, now: datetime, content: str
) -> None:
    memories.stored(caller, now, KNOWN, project=store)
    recalled(agent, now)

    counts = taken(agent, now, ("user", f"Remember that {content[0].lower()}{content[1:]}"))

    assert counts["candidates"] == 1
    assert (counts.get("added", 0), counts["known"]) == (0, 1)
    assert counts["why"] == "All of it is known already."


@pytest.mark.slow
def test_fifty_rounds_of_recall_and_extraction_add_nothing(
    caller: Caller, agent: Caller, store: str, now: datetime
) -> None:
    memories.stored(caller, now, KNOWN, project=store)
    before = only_one()

    for number in range(ROUNDS):
        (content,) = recalled(agent, now)
        taken(
            agent,
            now,
            ("user", "What do we know about webhooks?"),
            ("assistant", f"This is known about them.\n\n{content}"),
            ("user", f"Right. Remember: {content} That was round {number}."),
        )
        said(agent, now, content)

    after = only_one()
    assert (after.id, after.confirmations, after.confidence) == (before.id, 0, before.confidence)


@pytest.mark.parametrize(("is_told", "confirmations"), [(True, 0), (False, 1)])
def test_many_at_once_that_paraphrase_what_was_told_confirm_nothing_when_they_are_embedded(
    caller: Caller, agent: Caller, store: str, now: datetime, is_told: bool, confirmations: int
) -> None:
    known = memories.stored(caller, now, KNOWN, project=store, source="agent_explicit")
    if is_told:
        recalled(agent, now)
    new = memories.new(
        KNOWN.replace("growing", "ever growing"), source="agent_explicit", project=store
    )

    (outcome,) = remember_all(caller=agent, new=(new,), now=now)
    upkeep.embed(taken_job(outcome.job_id))

    with tenancy.unit():
        copy = Memory.objects.get(superseded_by_id=known.id)
        assert Memory.objects.get(pk=known.id).confirmations == confirmations
        ended = ActionLog.objects.get(memory_id=known.id, other_id=copy.id).outcome
    assert ended == ("known" if is_told else "confirmed")


@pytest.mark.parametrize("status", ["superseded", "archived"])
def test_what_was_told_and_then_put_right_is_not_learned_from_a_quotation(
    caller: Caller, agent: Caller, store: str, now: datetime, status: str
) -> None:
    known = memories.stored(caller, now, KNOWN, project=store)
    recalled(agent, now)
    with tenancy.unit():
        Memory.objects.filter(pk=known.id).update(status=status)

    outcome = said(agent, now, QUOTED)

    assert outcome.outcome == "known"
    assert only_one().confirmations == 0


def test_what_was_told_and_then_deleted_is_not_named(
    caller: Caller, agent: Caller, store: str, now: datetime
) -> None:
    known = memories.stored(caller, now, KNOWN, project=store)
    recalled(agent, now)
    with tenancy.unit():
        Memory.objects.filter(pk=known.id).update(status="deleted")

    assert said(agent, now, QUOTED).outcome == "added"


def test_a_memory_keeps_the_newest_sessions_that_said_it(
    caller: Caller, agent: Caller, store: str, now: datetime
) -> None:
    memories.stored(caller, now, KNOWN, project=store)
    before = [uuid4() for _ in range(MOST_SESSIONS)]
    with tenancy.unit():
        Memory.objects.update(provenance_sessions=before)

    taken(agent, now, ("user", KNOWN))

    kept = only_one().provenance_sessions
    assert kept[:-1] == before[1:]
    assert kept[-1] not in before
