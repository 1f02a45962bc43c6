"""Sessions: opened, filled, ended, kept as one wishes, and searched verbatim."""

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.conf import settings
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts import tenancy
from accounts.actions.organizations import change_organization
from accounts.caller import Caller
from accounts.errors import Forbidden, InvalidInput, NotFound
from accounts.models import Job, Organization
from accounts.queries import keep_events_days
from memory.records.models import Memory
from memory.sessions import queries as sessions
from memory.sessions.actions import lifecycle
from memory.sessions.actions.append_turns import LARGEST_SEQUENCE, NewTurn, take_conversation
from memory.sessions.actions.lifecycle import NewSession, end_session, forget, open_session
from memory.sessions.models import GivenOut, Session, Stream, Turn
from memory.sessions.queries import (
    HistoryHit,
    HistoryPlace,
    HistoryQuestion,
    How,
    Page,
    search_history,
    turns,
)
from teams.actions import change_project, create_project
from teams.queries import project
from tests.support.agent_runs import DECISION, TRAP, Run, Shop
from tests.support.racing import one_then_another

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


def test_others_see_a_shared_session_but_do_not_fill_it(shop: Shop) -> None:
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


@pytest.mark.django_db(transaction=True)
def test_what_comes_twice_at_once_is_one_session(organization: Organization, shop: Shop) -> None:
    new = NewSession(project=shop.slug, external_id="run-1")
    turns = (NewTurn(role="user", text="We meet on Tuesdays.", sequence=1),)

    def place() -> None:
        lifecycle.place_session(caller=shop.agent, new=new, now=shop.now)

    def take() -> int:
        return take_conversation(caller=shop.agent, new=new, turns=turns, now=shop.now)[2].stored

    assert one_then_another(organization, place, take) == [None, 1]
    with tenancy.unit():
        assert (Session.objects.count(), Turn.objects.count()) == (1, 1)


ALL = [0, 1, 2]


def filled(shop: Shop, place: str | None = None, **fields: object) -> Run:
    """Return a session in which something was said, done and looked at."""
    run = shop.opened(project=place)
    run.says("First.", "Second.")
    with tenancy.unit():
        for stream, sequence in ((1, 1), (1, 2), (1, 9), (2, 9)):
            Turn.all_streams.create(
                session_id=run.id, stream=Stream(stream), sequence=sequence, text="{}",
                body={}, at=shop.now,
            )  # fmt: skip
    run.update(**fields)
    return run


def keep_days(shop: Shop, *, organization: int | None = None, store: object = None) -> None:
    """Set for how long an organization keeps what was done, and a project of it."""
    if organization is not None:
        change_organization(caller=shop.owner, name="Acme", keep_events_days=organization)
    changes = {"keep_events_days": store}
    change_project(caller=shop.owner, ref=shop.slug, changes=changes, if_version=None)


def test_what_was_done_is_no_turn_and_a_turn_of_the_same_number_another_one(shop: Shop) -> None:
    run = filled(shop)
    with tenancy.unit():
        spoken = sessions.spoken(session_id=run.id, after=0, limit=10)
        related = Session.objects.get(pk=run.id).turns.count()
    seen = sessions.session(caller=shop.agent, session_id=run.id)

    third = run.says("Third.")

    assert [turn.text for turn in spoken] == ["First.", "Second."]
    assert (related, seen.turns, seen.last_sequence) == (2, 2, 2)
    assert (third.stored, third.last_sequence) == (1, 3)


@pytest.mark.parametrize(
    ("days", "after", "left"), [(7, 8, [0]), (7, 6, ALL), (90, 31, [1, 2]), (30, 31, [])]
)
def test_what_was_done_is_kept_so_long(shop: Shop, days: int, after: int, left: list[int]) -> None:
    keep_days(shop, organization=days)
    ended, consolidated, running = filled(shop), filled(shop), filled(shop)
    ended.update(state="ended", ended_at=shop.now)
    consolidated.update(state="consolidated")

    forget(now=shop.at(days=after).now)

    assert [run.streams() for run in (ended, consolidated, running)] == [left, left, ALL]


@pytest.mark.parametrize(("days", "after", "left"), [(3, 4, [0]), (3, 2, ALL), (None, 8, [0])])
def test_a_project_keeps_what_was_done_for_fewer_days_and_others_as_usual(
    shop: Shop, days: int | None, after: int, left: list[int]
) -> None:
    keep_days(shop, organization=7, store=days)
    create_project(caller=shop.owner, slug="mill", name="Mill", now=shop.now)
    runs = [
        filled(shop, place, state="ended", ended_at=shop.now) for place in ("store", "mill", None)
    ]

    forget(now=shop.at(days=after).now)

    usual = [0] if after > 7 else ALL
    assert [run.streams() for run in runs] == [left, usual, usual]


def test_an_organization_that_keeps_less_later_keeps_less_of_all_projects(shop: Shop) -> None:
    keep_days(shop, store=20)
    change_organization(caller=shop.owner, name="Acme", keep_events_days=5)
    run = filled(shop, "store", state="ended", ended_at=shop.now)

    forget(now=shop.at(days=6).now)

    assert run.streams() == [0]


def test_a_project_keeps_it_for_no_longer_than_the_organization(shop: Shop) -> None:
    for days in (0, 31, 2.5, True):
        with pytest.raises(InvalidInput) as refused:
            keep_days(shop, store=days)
        assert refused.value.errors[0].pointer == "/keep_events_days"

    assert project(caller=shop.owner, ref=shop.slug).keep_events_days is None


def test_anothers_setting_holds_for_it_alone(shop: Shop, other_organization: Organization) -> None:
    with tenancy.walled(organization_id=other_organization.id):
        Organization.objects.filter(pk=other_organization.id).update(keep_events_days=1)
    run = filled(shop, state="ended", ended_at=shop.now)

    forget(now=shop.at(days=2).now)

    assert run.streams() == ALL
    usual = keep_events_days(organization_id=shop.owner.organization_id)
    assert usual == settings.KEEP_TURNS_DAYS


LOCKS = (
    "Which lock keeps two carts of one customer apart?",
    "The advisory one: pg_advisory_xact_lock(cart_id), as Zoë proposed in spring.",
    "最初のカートはロックされています。",
)


def said(shop: Shop, *texts: str, by: Caller | None = None, **new: Any) -> UUID:
    """Open a session in which something was said; return its id."""
    run = shop.opened(by, **{"project": None, **new})
    run.says(
        *(
            NewTurn(role="user", text=text, at=shop.now + timedelta(seconds=place))
            for place, text in enumerate(texts)
        )
    )
    return run.id


def looked(
    caller: Caller,
    query: str,
    how: How = How.WORDS,
    after: HistoryPlace | None = None,
    **given: Any,
) -> Page[HistoryHit, HistoryPlace]:
    """Search what was said."""
    asked = HistoryQuestion(query=query, how=how, **given)
    return search_history(caller=caller, asked=asked, after=after, limit=2)


def found(caller: Caller, query: str, how: How = How.WORDS, **given: Any) -> list[int]:
    """Return the sequences of what was found."""
    return [one.sequence for one in looked(caller, query, how, **given).items]


def test_turns_are_read_in_their_order_page_by_page(shop: Shop) -> None:
    session = said(shop, *LOCKS)

    first = turns(caller=shop.agent, session_id=session, after=0, limit=2)
    rest = turns(caller=shop.agent, session_id=session, after=first.next_place or 0, limit=2)

    assert [one.text for one in (*first.items, *rest.items)] == list(LOCKS)
    assert (first.next_place, rest.next_place) == (2, None)


def test_a_page_of_long_turns_is_full_early(shop: Shop) -> None:
    run = shop.opened()
    for _ in range(3):
        run.says(*("word " * 19_000 for _ in range(4)))

    page = turns(caller=shop.agent, session_id=run.id, after=0, limit=200)

    assert page.next_place == len(page.items) == sessions.LARGEST_PAGE // 95_000


def test_what_was_said_is_found_verbatim(shop: Shop) -> None:
    said(shop, *LOCKS)

    for query, how, sequences in (
        ("lock", How.WORDS, [2, 1]),
        ("CARTS customer", How.WORDS, [1]),
        ("customer carts", How.EXACT, []),
        ("two CARTS of", How.EXACT, [1]),
        ("pg_advisory_xact_lock(cart_id)", How.EXACT, [2]),
        ("Zoe\u0308", How.EXACT, [2]),
        ("zoë", How.WORDS, [2]),
        ("ロック", How.EXACT, [3]),
        ("lo", How.WORDS, []),
        ("lock' OR 1=1 --", How.WORDS, []),
        ("100% {visible} %s", How.EXACT, []),
    ):
        assert found(shop.agent, query, how) == sequences, query


def test_a_thread_is_searched_over_its_sessions_newest_first(shop: Shop) -> None:
    first = said(shop, LOCKS[0], thread="carts")
    last = said(shop.at(days=1), LOCKS[1], thread="carts")
    said(shop, LOCKS[1], thread="other")

    page = looked(shop.agent, "lock", thread="carts")

    assert [one.session_id for one in page.items] == [last, first]


def test_pages_neither_repeat_nor_leave_out(shop: Shop) -> None:
    said(shop, *(f"The lock number {number}." for number in range(5)))

    first = looked(shop.agent, "lock")
    second = looked(shop.agent, "lock", after=first.next_place)
    third = looked(shop.agent, "lock", after=second.next_place)

    seen = [one.sequence for page in (first, second, third) for one in page.items]
    assert (seen, third.next_place) == ([5, 4, 3, 2, 1], None)


def test_of_a_long_turn_the_piece_with_the_words_is_shown(shop: Shop) -> None:
    said(shop, f"{'before ' * 2_000}the needle lies here {'after ' * 2_000}")

    piece = looked(shop.agent, "needle").items[0]

    assert "needle lies here" in piece.text
    assert (len(piece.text), piece.whole, piece.start) == (1_200, 26_021, 13_805)


def test_a_question_without_a_word_is_refused(shop: Shop) -> None:
    for query in ("?!", "", "\x00lock"):
        with pytest.raises(InvalidInput) as refused:
            looked(shop.agent, query)

        assert refused.value.errors[0].pointer == "/query"


def test_what_others_said_for_themselves_is_not_found(shop: Shop) -> None:
    session = said(shop, *LOCKS, project=shop.slug, thread="carts")

    assert looked(shop.owner, "lock").items == ()
    assert looked(shop.owner, "lock", thread="carts", project=shop.slug) == looked(
        shop.owner, "unsaid"
    )
    with pytest.raises(NotFound):
        looked(shop.owner, "lock", session_id=session)
    with pytest.raises(NotFound):
        turns(caller=shop.owner, session_id=session, after=0, limit=1)


def test_what_is_shared_is_found_by_who_sees_it_alone(shop: Shop) -> None:
    session = said(shop, *LOCKS, by=shop.owner, project=shop.slug, shared=True)

    assert found(shop.agent, "lock", session_id=session) == [2, 1]
    assert found(replace(shop.agent, bound_projects=(uuid4(),)), "lock") == []


@pytest.mark.usefixtures("tables_of_its_own", "in_organization")
def test_words_are_looked_up_in_their_index() -> None:
    with tenancy.unit(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("EXPLAIN SELECT id FROM memory_turn WHERE words @> said_words('lock')")
        plan = "\n".join(row[0] for row in cursor.fetchall())

    assert "memory_turn_words" in plan
    assert "Index Cond: (words @>" in plan
