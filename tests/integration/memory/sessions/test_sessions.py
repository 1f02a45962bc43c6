"""Sessions: opened, filled, ended and consolidated; the same again adds nothing."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import Forbidden, InvalidInput, NotFound
from accounts.models import Job
from memory.records.models import Memory
from memory.sessions import queries as sessions
from memory.sessions.actions.append_turns import LARGEST_SEQUENCE, NewTurn
from memory.sessions.actions.lifecycle import NewSession, end_session, open_session
from memory.sessions.models import GivenOut, Turn
from tests.support.agent_runs import DECISION, TRAP, Run, Shop

TALK = (
    NewTurn(role="user", text=f"Hi there! {DECISION}"),
    NewTurn(role="assistant", text=f"Sure, I'll look at the importer first.\n\n{TRAP}"),
    NewTurn(role="user", text="Thanks, that looks good."),
)


def taken(shop: Shop, *more: str, **new: Any) -> tuple[Run, dict[str, Any]]:
    """Hand in the conversation and do the job behind it; return its counts too."""
    run = shop.opened(**new)
    run.says(*TALK, *more)
    return run, run.ends().consolidated()


def test_what_is_worth_keeping_waits_for_review_with_its_evidence(shop: Shop) -> None:
    run, counts = taken(shop)

    with tenancy.unit():
        rows = tuple(Memory.objects.order_by("source_uri"))
    assert [(row.content, row.type, row.source_uri) for row in rows] == [
        (DECISION, "decision", f"session:{run.id}#turn-1"),
        (TRAP, "error_pattern", f"session:{run.id}#turn-2"),
    ]
    assert {(row.needs_review, row.source, row.authority) for row in rows} == {
        (True, "extracted", 6)
    }
    assert {(row.audience, row.session_id) for row in rows} == {(shop.agent.user_id, run.id)}
    assert (counts["added"], counts["turns"]) == (2, 3)


def test_a_roadmap_keeps_three_decisions_and_requirements_of_its_turns(shop: Shop) -> None:
    things = ("the till", "the warehouse", "the mail relay", "the price lists", "old invoices")
    decided = (f"We decided to rewrite {one} before the summer sale begins." for one in things)

    run, _ = taken(shop, *decided, type="roadmap")

    with tenancy.unit():
        assert list(Memory.objects.values_list("type", flat=True)) == ["decision"] * 3
    assert run.row.result["dropped"] == {"not_of_this_session_type": 1, "over_bound": 3}


def test_the_same_conversation_three_times_yields_the_same_memories(shop: Shop) -> None:
    seen = set()
    for _ in range(3):
        taken(shop)
        with tenancy.unit():
            seen.add(tuple(Memory.objects.order_by("id").values_list("id", "confirmations")))

    assert len(seen) == 1
    with tenancy.unit():
        provenance = Memory.objects.order_by("id").values_list("provenance_sessions", flat=True)
        assert [len(set(one)) for one in provenance] == [3, 3]


def test_turns_are_idempotent_by_their_sequence_up_to_the_largest(shop: Shop) -> None:
    run = shop.opened()
    turn = NewTurn(role="user", text=DECISION, sequence=7)
    last = NewTurn(role="user", text="Last.", sequence=LARGEST_SEQUENCE)

    first, again = run.says(turn), run.says(turn, "More.")
    with pytest.raises(InvalidInput) as refused:
        run.says(last, "Behind it.")

    assert (first.stored, first.known) == (1, 0)
    assert (again.stored, again.known, again.last_sequence) == (1, 1, 8)
    assert [one.pointer for one in refused.value.errors] == ["/turns/1/sequence"]
    with tenancy.unit():
        assert Turn.objects.count() == 2


def test_a_secret_is_taken_out_before_a_turn_is_stored(shop: Shop) -> None:
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"

    done = shop.opened().says(f"The token is {key}, keep it.")

    with tenancy.unit():
        row = Turn.objects.get()
    assert key not in row.text
    assert (row.masked, len(done.masked), done.masked[0].sequence) == (1, 1, 1)


def test_an_external_id_finds_its_session_and_another_one_of_the_agent_ends_it(shop: Shop) -> None:
    first = shop.opened(external_id="run-1")
    new = NewSession(project=shop.slug, external_id="run-1")

    again = open_session(caller=shop.agent, new=new, now=shop.now)
    before = first.row.state
    shop.opened()

    assert (again.is_new, again.session.id) == (False, first.id)
    assert (before, first.row.state) == ("open", "ended")
    assert Job.objects.filter(name="memory.consolidate", key=first.id.hex).count() == 1


def test_only_the_turns_of_a_page_are_counted(shop: Shop) -> None:
    made = [shop.at(minutes=number).opened(agent=str(number)) for number in range(5)]
    for number, run in enumerate(made):
        run.says(*TALK[:number])

    with CaptureQueriesContext(connection) as asked:
        page = sessions.sessions(caller=shop.agent, project=None, state=None, after=None, limit=2)

    assert [(one.id, one.turns, one.last_sequence) for one in page.items] == [
        (made[4].id, 3, 3),
        (made[3].id, 3, 3),
    ]
    (counting,) = (one["sql"] for one in asked if "COUNT" in one["sql"])
    assert "LIMIT 3)" in counting


def test_nothing_is_taken_from_a_session_that_is_not_to_be_kept(shop: Shop) -> None:
    run = shop.opened(memory_eligible=False)
    run.says(*TALK)

    _, job_id = end_session(caller=run.caller, session_id=run.id, now=run.now)

    assert job_id is None
    assert not Job.objects.filter(name="memory.consolidate").exists()


def test_a_shared_session_is_seen_and_not_filled_by_others_and_a_personal_one_is_nobody_elses(
    shop: Shop,
) -> None:
    run = shop.opened()
    shared = shop.opened(shared=True)

    seen = sessions.session(caller=shop.owner, session_id=shared.id)
    shared.caller = shop.program

    assert seen.scope == "project"
    with pytest.raises(Forbidden, match="Somebody else opened this session"):
        shared.says(*TALK)
    for ask in (sessions.session, sessions.pulse):
        with pytest.raises(NotFound):
            ask(caller=shop.owner, session_id=run.id)
    with pytest.raises(NotFound):
        end_session(caller=shop.owner, session_id=run.id, now=shop.now)


def test_a_wrong_field_is_named(shop: Shop) -> None:
    wrong: tuple[tuple[dict[str, Any], str], ...] = (
        ({"shared": True}, "needs the project"),
        ({"work_unit": {"height": "x"}}, "unit of work"),
        ({"thread": "x" * 201}, "at most 200"),
        ({"external_id": "a\x00b"}, "cannot be stored"),
    )
    for given, words in wrong:
        with pytest.raises(InvalidInput, match=words):
            shop.opened(project=None, **given)


def test_the_pulse_of_a_shared_session_counts_what_its_watcher_may_see(shop: Shop) -> None:
    run = shop.opened(shop.owner, shared=True)
    private = shop.remember("Ana keeps her notes in vim.", project=None, scope="personal")
    shared = shop.remember("Totals are kept in cents.")

    def pulse(caller: Caller) -> str:
        return sessions.pulse(caller=caller, session_id=run.id)

    own, theirs = [pulse(shop.owner)], [pulse(shop.member)]
    for one in (private, shared):
        with tenancy.unit():
            GivenOut.objects.create(memory_id=one.id, at=shop.now, session_id=run.id)
        own.append(pulse(shop.owner))
        theirs.append(pulse(shop.member))

    assert len(set(own)) == 3
    assert (theirs[0], len(set(theirs))) == (theirs[1], 2)
