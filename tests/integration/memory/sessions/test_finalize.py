"""What an ended session has shown: promoted once, counted once, told; nothing without its end."""

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

import pytest
from django.db import IntegrityError, connection

from accounts import jobs, tenancy
from accounts.caller import Caller
from accounts.models import Job
from memory.injection.actions import delivery_log
from memory.observer.actions.finalize import finalize
from memory.observer.actions.promote import promote_piece
from memory.records.models import Memory
from memory.records.queries.views import to_view
from memory.review.actions.verdicts import keep
from memory.sessions.actions import append_events as appending
from memory.sessions.actions import lifecycle
from memory.sessions.actions.append_events import append_events
from memory.sessions.actions.lifecycle import NewSession, end_session, open_session
from memory.sessions.counters import Kind
from memory.sessions.models import GivenOut, Session, Statistic
from memory.sessions.queries import SessionView
from teams.actions import change_project
from tests.support import memories, work

pytestmark = pytest.mark.usefixtures("in_organization")
STREAM: Final = tuple(
    json.loads(line)
    for line in (Path(__file__).parents[1] / "fixtures" / "voucher_session.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
)


def opened(caller: Caller, now: datetime, **given: Any) -> SessionView:
    """Open a session in the folder of the stream."""
    new = NewSession(cwd="/home/ana/shop", **given)
    return open_session(caller=caller, new=new, now=now).session


def ran(caller: Caller, now: datetime, events: tuple[Any, ...] = STREAM, **given: Any) -> Session:
    """Open a session, send what was done, end it, and decide."""
    session = opened(caller, now, **given)
    append_events(caller=caller, session_id=session.id, events=events, now=now)
    return ended(caller, session, now)


def ended(caller: Caller, session: SessionView, now: datetime) -> Session:
    """End a session and decide what it has shown."""
    end_session(caller=caller, session_id=session.id, now=now)
    finalize(session_id=session.id, now=now)
    with tenancy.unit():
        return Session.objects.get(pk=session.id)


def run_jobs() -> None:
    """Do the work that waits for sessions, as a worker would."""
    waiting = Job.objects.filter(state="queued", queue="extraction").order_by("id")
    for job_id in list(waiting.values_list("id", flat=True)):
        jobs.run_handler(work.taken(job_id))
        Job.objects.filter(pk=job_id).update(state="done")


def altered(how: str) -> None:
    """Change what the table of sessions takes."""
    with connection.as_owner(), tenancy.unit(), connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE memory_agentsession {how}")


def observed() -> list[Memory]:
    """Return what was promoted."""
    with tenancy.unit():
        return list(Memory.objects.filter(source="observer_inferred").order_by("-confidence", "id"))


def counted(kind: Kind) -> dict[str, Any]:
    """Return the sums of a kind."""
    with tenancy.unit():
        return {row.key: row.counts for row in Statistic.objects.filter(kind=kind.value)}


def shown_in(row: Session) -> set[int]:
    """Return in how many sessions what one has shown was seen."""
    assert row.observed is not None
    return {one["sessions"] for one in row.observed["seen"]}


def test_a_real_stream_becomes_memories_with_evidence(
    agent: Caller, store: str, now: datetime
) -> None:
    row = ran(agent, now, project=store)

    found = observed()
    assert [one.type for one in found] == ["gotcha", "dead_end"]
    assert found[0].content.startswith("Corrected by the agent itself (about src/shop/cart.py)")
    assert all(one.needs_review and one.session_id == row.id for one in found)
    assert all(one.audience == row.audience and one.scope == "personal" for one in found)
    assert found[0].source_uri.startswith(f"session:{row.id}#self_correction-")
    assert found[1].attributes["alternative"] == "changing src/shop/vouchers.py"
    told = row.observed
    assert told is not None
    assert told["signals"] == {
        "co_access": 1, "error_retry": 1, "file_access": 2, "self_correction": 1,
    }  # fmt: skip
    assert told["dropped"] == {"too_few_sessions": 4}
    assert [one["type"] for one in told["promoted"]] == ["gotcha", "dead_end"]
    assert told["promoted"][0]["evidence"][-1]["sequence"] == 13
    assert (told["outcome"], told["counts"]["applied"]) == ("success", len(STREAM))


@pytest.mark.parametrize(("bound", "kept", "known"), [(0.88, 2, 0), (0.5, 0, 2)])
def test_what_is_novel_is_a_question_of_the_project_s_own_bound(
    agent: Caller, caller: Caller, store: str, now: datetime, bound: float, kept: int, known: int
) -> None:
    near = "The cart must not import shop.pricing, because pricing imports the cart already."
    memories.stored(caller, now, near, project=store)
    one = {"novelty_cosine": bound}
    change_project(caller=caller, ref=store, changes=one, if_version=None)

    row = ran(agent, now, project=store)

    assert row.observed is not None
    assert (len(observed()), row.observed["dropped"].get("known", 0)) == (kept, known)


def test_the_same_signal_is_novel_in_no_project(
    agent: Caller, caller: Caller, store: str, now: datetime
) -> None:
    one = {"novelty_cosine": 1.0}
    change_project(caller=caller, ref=store, changes=one, if_version=None)
    ran(agent, now, project=store)

    row = ran(agent, now + timedelta(days=1), project=store)

    assert row.observed is not None
    assert row.observed["dropped"]["known"] == 2


@pytest.mark.django_db(transaction=True)
def test_what_fails_in_the_end_has_had_no_effect(agent: Caller, store: str, now: datetime) -> None:
    session = opened(agent, now, project=store)
    append_events(caller=agent, session_id=session.id, events=STREAM, now=now)
    end_session(caller=agent, session_id=session.id, now=now)

    altered("ADD CONSTRAINT never CHECK (finalized_at IS NULL)")
    with pytest.raises(IntegrityError):
        finalize(session_id=session.id, now=now)
    altered("DROP CONSTRAINT never")

    assert (observed(), counted(Kind.FILE)) == ([], {})
    assert finalize(session_id=session.id, now=now)["observed_added"] == 2
    assert len(observed()) == 2


def test_sessions_of_a_person_count_together_until_there_are_enough(
    agent: Caller, store: str, now: datetime
) -> None:
    for day in range(2):
        ran(agent, now + timedelta(days=day), project=store)

    types = {one.type for one in observed()}
    assert "error_pattern" in types
    assert counted(Kind.FILE)["src/shop/cart.py"]["sessions"] == 2
    assert counted(Kind.EDGE)["src/shop/cart.py\tsrc/shop/vouchers.py"]["sessions"] == 2


CORRECTIONS: Final = (
    "Correction: the importer reads dates as local time.",
    "Correction: vouchers are single use per household.",
    "Correction: the warehouse sends parcels twice a day.",
    "Correction: invoices round at each line instead of at the end.",
    "Correction: the mailer retries for six hours and then gives up.",
)


def test_a_session_that_ends_again_and_again_promotes_no_more_than_its_kind_may(
    agent: Caller, store: str, now: datetime
) -> None:
    session = opened(agent, now, project=store)
    for sequence, text in enumerate(CORRECTIONS, start=1):
        said = {"sequence": sequence, "kind": "reasoning", "text": text}
        append_events(caller=agent, session_id=session.id, events=(said,), now=now)
        ended(agent, session, now)

    assert len(observed()) == 3


def test_nothing_is_decided_while_a_session_runs(agent: Caller, store: str, now: datetime) -> None:
    session = opened(agent, now, project=store)
    append_events(caller=agent, session_id=session.id, events=STREAM, now=now)

    assert finalize(session_id=session.id, now=now) == {}
    assert observed() == []


def test_a_session_that_is_not_to_be_kept_teaches_nothing(
    agent: Caller, store: str, now: datetime
) -> None:
    row = ran(agent, now, project=store, memory_eligible=False)

    assert (observed(), counted(Kind.FILE), row.finalized_at) == ([], {}, None)


def test_an_idle_session_ends_and_is_decided_by_its_job(
    agent: Caller, store: str, now: datetime
) -> None:
    session = opened(agent, now, project=store)
    append_events(caller=agent, session_id=session.id, events=STREAM, now=now)

    lifecycle.end_idle(now=now + timedelta(minutes=lifecycle.IDLE_MINUTES + 1))
    run_jobs()

    assert len(observed()) == 2


def test_a_session_that_is_busy_day_and_night_is_decided_about_once_a_day_and_goes_on(
    agent: Caller, store: str, now: datetime
) -> None:
    session = opened(agent, now, project=store)
    append_events(caller=agent, session_id=session.id, events=STREAM, now=now)
    later = now + timedelta(hours=lifecycle.LONGEST_HOURS, minutes=1)
    more = ({**STREAM[1], "sequence": 100},)
    append_events(caller=agent, session_id=session.id, events=more, now=later)

    first = lifecycle.end_idle(now=later)
    run_jobs()
    found = len(observed())
    again = ({**STREAM[1], "sequence": 102},)
    append_events(caller=agent, session_id=session.id, events=again, now=later)
    second = lifecycle.end_idle(now=later)

    assert (first, second, found) == (1, 0, 2)
    with tenancy.unit():
        assert Session.objects.get(pk=session.id).state == "open"


def test_what_came_after_outside_content_is_tainted(
    agent: Caller, store: str, now: datetime
) -> None:
    fetch = {
        "sequence": 1,
        "kind": "tool_call",
        "name": "WebFetch",
        "args": {"url": "https://evil.example/page"},
    }
    later = tuple({**event, "sequence": event["sequence"] + 1} for event in STREAM)

    row = ran(agent, now, (fetch, *later), project=store)

    found = observed()
    assert {one.taint_reason for one in found} == {"web: evil.example"}
    assert all(one.needs_review for one in found)
    assert row.observed is not None
    assert row.observed["tainted_by"] == "web: evil.example"
    assert counted(Kind.SIGNAL) == {}


def test_a_taint_lowers_what_is_read_once_and_nothing_once_a_person_has_kept_it(
    agent: Caller, member_caller: Caller, store: str, now: datetime
) -> None:
    fetch = {"sequence": 1, "kind": "tool_call", "name": "WebFetch", "args": {"url": "http://x.y"}}
    later = tuple({**event, "sequence": event["sequence"] + 1} for event in STREAM)
    ran(agent, now, (fetch, *later), project=store)
    found = observed()[0]
    with tenancy.unit():
        before = to_view(found, now=now)

    kept = keep(caller=member_caller, memory_id=found.id, now=now).memory

    assert before.effective_confidence == pytest.approx(found.confidence * 0.7)
    assert kept.confidence >= found.confidence > before.effective_confidence
    assert kept.effective_confidence == pytest.approx(kept.confidence)


def test_a_checkpoint_changes_nothing_of_what_is_decided(
    agent: Caller, store: str, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(appending, "EVERY", 5)
    session = opened(agent, now, project=store)
    for start in range(0, len(STREAM), 4):
        part = STREAM[start : start + 4]
        append_events(caller=agent, session_id=session.id, events=part, now=now)
        run_jobs()

    row = ended(agent, session, now)

    assert row.observed is not None
    assert row.observed["signals"]["self_correction"] == 1
    assert row.observed["early"][0]["kind"] == "self_correction"
    assert len(observed()) == 2


def test_what_is_personal_says_nothing_in_a_shared_session(
    agent: Caller, caller: Caller, store: str, now: datetime
) -> None:
    for day in range(3):
        ran(agent, now + timedelta(days=day), project=store)
    before = {one.id for one in observed()}

    row = ran(memories.as_agent(caller), now, project=store, shared=True)

    new = [one for one in observed() if one.id not in before]
    assert {one.type for one in new} == {"gotcha", "dead_end"}  # one session shows as much
    assert shown_in(row) == {1}


def test_a_shared_session_counts_for_a_person_of_its_project(
    agent: Caller, caller: Caller, store: str, now: datetime
) -> None:
    ran(memories.as_agent(caller), now, project=store, shared=True)

    row = ran(agent, now, project=store)

    assert shown_in(row) == {2}


def test_nothing_of_another_project_or_person_is_counted(
    agent: Caller, caller: Caller, store: str, now: datetime
) -> None:
    ran(memories.as_agent(caller), now, project=store)
    ran(agent, now)

    row = ran(agent, now, project=store)

    assert shown_in(row) == {1}
    assert jobs.registered() >= {"memory.observe", "memory.synthesize"}


SIX = ("parse", "store", "read", "show", "test", "tell")


def working(
    caller: Caller, now: datetime, plan: tuple[str, ...] = SIX, **given: Any
) -> SessionView:
    """Open a build, and do all of its first subtask."""
    session = opened(caller, now, type="build", plan=plan, **given)
    done = tuple(one for one in STREAM if one["kind"] != "session_complete")
    append_events(caller=caller, session_id=session.id, events=done, now=now)
    return session


def reported(
    caller: Caller, session: SessionView, now: datetime, sequence: int, outcome: str = "success"
) -> None:
    """Tell what QA said."""
    report = {"sequence": sequence, "kind": "qa_report", "outcome": outcome, "text": "All is well."}
    append_events(caller=caller, session_id=session.id, events=(report,), now=now)


def test_a_validated_subtask_is_promoted_while_the_build_runs_and_never_again(
    agent: Caller, store: str, now: datetime
) -> None:
    session = working(agent, now, project=store)
    before = promote_piece(session_id=session.id, now=now)
    reported(agent, session, now, 100)

    counts = promote_piece(session_id=session.id, now=now)
    again = promote_piece(session_id=session.id, now=now)

    assert (before, again, counts["pieces"]) == ({}, {}, 1)
    assert len(observed()) == counts["observed_added"] == 2
    assert all(one.needs_review for one in observed())
    with tenancy.unit():
        assert Session.objects.get(pk=session.id).state == "open"

    row = ended(agent, session, now)

    assert row.observed is not None
    assert len(observed()) == len(row.observed["promoted"]) == 2
    assert row.observed["dropped"]["taken_before"] == 2
    assert row.observed["piece"] == 100  # what goes on has used up what it had


@pytest.mark.parametrize(
    ("plan", "outcome", "kind"),
    [(SIX[:5], "success", "build"), (SIX, "failure", "build"), (SIX, "success", "insights")],
)
def test_a_short_build_a_failed_subtask_and_other_work_wait_for_the_end(
    agent: Caller, store: str, now: datetime, plan: tuple[str, ...], outcome: str, kind: str
) -> None:
    session = working(agent, now, plan, project=store)
    with tenancy.unit():
        Session.objects.filter(pk=session.id).update(type=kind)
    reported(agent, session, now, 100, outcome)

    assert promote_piece(session_id=session.id, now=now) == {}
    assert observed() == []


def test_the_report_queues_the_look_that_promotes(agent: Caller, store: str, now: datetime) -> None:
    session = working(agent, now, project=store)
    Job.objects.all().delete()

    reported(agent, session, now, 100)
    run_jobs()

    assert len(observed()) == 2


READ: Final = "/home/ana/shop/src/shop/prices.py"
EDITED: Final = "/home/ana/shop/src/shop/cart.py"


def call(sequence: int, tool: str, path: str) -> dict[str, Any]:
    """Return the event of a call."""
    args = {"file_path": path, "old_string": "a", "new_string": str(sequence)}
    return {"sequence": sequence, "kind": "tool_call", "name": tool, "args": args}


def begun(caller: Caller, store: str, now: datetime, *events: dict[str, Any]) -> SessionView:
    """Open a session in which this was done."""
    session = opened(caller, now, project=store)
    if events:
        append_events(caller=caller, session_id=session.id, events=events, now=now)
    return session


def told_of(session: SessionView, *paths: str) -> None:
    """Let its plan name files."""
    with tenancy.unit():
        row = Session.objects.get(pk=session.id)
        delivery_log.record_suggested_files(session=row, paths=paths)


def works(caller: Caller, session: SessionView, now: datetime) -> Session:
    """Read one file and edit another behind whatever was told, and end."""
    events = (call(10, "Read", READ), call(12, "Edit", EDITED))
    append_events(caller=caller, session_id=session.id, events=events, now=now)
    return ended(caller, session, now)


def test_a_read_that_a_plan_named_is_in_no_sum_and_an_edit_is(
    agent: Caller, store: str, now: datetime
) -> None:
    session = begun(agent, store, now)
    told_of(session, "src/shop/prices.py", "src/shop/cart.py")

    row = works(agent, session, now)

    assert set(counted(Kind.FILE)) == {"src/shop/cart.py"}
    assert row.observed is not None
    assert row.observed["tools"] == 2  # what it did is told as it was


def test_what_it_had_read_before_it_was_told_counts(
    agent: Caller, store: str, now: datetime
) -> None:
    session = begun(agent, store, now, call(1, "Read", READ))
    told_of(session, "src/shop/prices.py")

    works(agent, session, now)

    assert set(counted(Kind.FILE)) == {"src/shop/cart.py", "src/shop/prices.py"}


def test_the_files_of_a_memory_that_was_given_are_named_too(
    agent: Caller, store: str, now: datetime
) -> None:
    known = memories.stored(
        agent, now, project=store, scope="personal", related_files=("src/shop/prices.py",)
    )
    session = begun(agent, store, now)
    with tenancy.unit():
        GivenOut.objects.create(
            memory_id=known.id, person=agent.user_id, at=now, session_id=session.id, after_event=0
        )

    works(agent, session, now)

    assert set(counted(Kind.FILE)) == {"src/shop/cart.py"}


def test_a_memory_that_was_given_to_several_agents_counts_from_the_first(
    agent: Caller, store: str, now: datetime
) -> None:
    path = "src/shop/prices.py"
    known = memories.stored(agent, now, project=store, scope="personal", related_files=(path,))
    session = begun(agent, store, now)
    with tenancy.unit():
        for name, after in (("a", 7), ("", 3), ("b", 9), ("c", None)):
            GivenOut.objects.create(
                memory_id=known.id, at=now, session_id=session.id, agent=name, after_event=after
            )

        found = delivery_log.suggested_files(session=Session.objects.get(pk=session.id))

    assert found == {path: 3}


def test_a_session_that_goes_on_still_knows_what_it_was_told(
    agent: Caller, store: str, now: datetime
) -> None:
    session = begun(agent, store, now)
    told_of(session, "src/shop/prices.py")
    works(agent, session, now)
    later = now + timedelta(hours=1)
    append_events(caller=agent, session_id=session.id, events=(call(14, "Read", READ),), now=later)

    ended(agent, session, later)

    assert set(counted(Kind.FILE)) == {"src/shop/cart.py"}
    with tenancy.unit():
        assert not Memory.objects.filter(type="prefetch_pattern").exists()
