"""Sessions, what was said in them and given out stay with whom they belong to."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from accounts import jobs, tenancy
from accounts.authentication import entered
from accounts.caller import Caller, Role
from accounts.errors import NotFound
from accounts.models import Organization
from memory.experiments.queries import SessionFigures, figures
from memory.injection.actions.external_binding import Whereabouts
from memory.injection.actions.hooks import follow_agent
from memory.injection.harnesses import ADAPTERS, Harness, read_payload
from memory.injection.queries import reflection_totals
from memory.intake.actions.remember import remember
from memory.intake.validation import NewMemory
from memory.observer.actions import reflection
from memory.search.actions import search
from memory.search.request import SearchRequest
from memory.sessions import queries as sessions
from memory.sessions.actions import answers, binding
from memory.sessions.actions.lifecycle import end_session
from memory.sessions.models import GivenOut, Session
from memory.taxonomy import Source
from teams.actions import create_project
from teams.models import Project, ProjectMember
from tests.support import memories, people
from tests.support.agent_runs import Run, Shop

KNOWN = "Webhooks are retried 11 times with growing pauses, then parked for a person."
SHOWN = {"steps": 9, "tools": 12, "outcome": "success"}


@pytest.fixture
def shop(
    caller: Caller, member_caller: Caller, in_organization: tenancy.Tenant, now: datetime
) -> Shop:
    """A closed project that the member belongs to."""
    create_project(caller=caller, slug="store", name="Store", open_to_all=False, now=now)
    with tenancy.unit():
        row = Project.objects.get(slug="store")
        ProjectMember.objects.get_or_create(project=row, user_id=member_caller.user_id)
    return Shop(caller, member_caller, now)


def opened(shop: Shop, by: Caller | None = None, **new: object) -> Run:
    """Open a session with a turn."""
    run = shop.opened(by, **new)
    run.says(KNOWN)
    return run


def measured(shop: Shop, *, shared: bool) -> UUID:
    """Open a session of the owner that was measured; return its id."""
    run = opened(shop, shop.owner, shared=shared)
    run.update(observed=SHOWN, figures={"tokens": 4_100})
    return run.id


def give(shop: Shop, session_id: UUID, scope: str, came: str) -> None:
    """Note that a memory of a scope was given to a session, and what came of it."""
    memory = shop.remember(f"{memories.REDIS} It is of scope {scope}.", scope=scope)
    with tenancy.unit():
        GivenOut.objects.create(
            person=shop.owner.user_id, memory_id=memory.id, at=shop.now, session_id=session_id,
            tokens=20, outcome=came,
        )  # fmt: skip


def leave(shop: Shop) -> None:
    """Let the member leave the project."""
    with tenancy.unit():
        ProjectMember.objects.filter(user_id=shop.member.user_id).delete()


def listed(caller: Caller, **given: object) -> list[object]:
    """Return the ids that a caller is told."""
    wanted = {"project": None, "state": None, "after": None, "limit": 50, **given}
    return [one.id for one in sessions.sessions(caller=caller, **wanted).items]  # type: ignore[arg-type]


def test_a_personal_session_is_told_to_no_owner_and_no_token_bound_elsewhere(shop: Shop) -> None:
    run = opened(shop, thread="secret-thread")
    bound = replace(shop.agent, bound_projects=(uuid4(),))

    assert listed(shop.agent) == [run.id]
    assert listed(shop.owner) == []
    assert listed(shop.owner, project=shop.slug) == []
    assert listed(bound) == []
    with pytest.raises(NotFound):
        sessions.session(caller=bound, session_id=run.id)


def test_who_left_a_project_does_not_see_what_is_shared_there(shop: Shop) -> None:
    run = opened(shop, shop.owner, shared=True)
    assert listed(shop.agent) == [run.id]

    leave(shop)

    assert listed(shop.agent) == []
    with pytest.raises(NotFound, match="There is no such session"):
        sessions.session(caller=shop.agent, session_id=run.id)


def test_the_job_behind_a_session_is_told_to_who_opened_it(
    shop: Shop, organization: Organization
) -> None:
    email = "other@acme.test"
    person = people.make_person(organization=organization, email=email, role=Role.MEMBER)
    run = opened(shop)

    _, job_id = end_session(caller=shop.agent, session_id=run.id, now=shop.now)

    assert job_id is not None
    assert jobs.find_job(caller=shop.agent, job_id=job_id).name == "memory.consolidate"
    with pytest.raises(NotFound):
        jobs.find_job(caller=replace(shop.member, user_id=person.id), job_id=job_id)


def test_what_a_bound_token_may_not_see_is_not_compared(shop: Shop) -> None:
    shop.remember(KNOWN, project=None, scope="organization")
    request = SearchRequest(query="webhooks retried parked", threshold=0.0)
    assert search(caller=shop.agent, request=request, now=shop.now).hits
    with tenancy.unit():
        bound = replace(shop.agent, bound_projects=(Project.objects.get(slug=shop.slug).id,))

    new = memories.new(KNOWN, source="observer_inferred", project=shop.slug)
    outcome = remember(caller=bound, new=new, now=shop.now)

    assert outcome.outcome == "added"


def test_each_counts_of_what_was_given_only_what_they_see(shop: Shop) -> None:
    session_id = measured(shop, shared=True)
    give(shop, session_id, "project", "used")
    give(shop, session_id, "personal", "wrong")
    worked = {"steps": 9, "calls": 12, "tokens": 4_100, "outcome": "success"}

    own, theirs = (
        figures(caller=caller, session_ids=(session_id,))[session_id]
        for caller in (shop.owner, shop.member)
    )

    assert own == SessionFigures(**worked, given=2, given_tokens=40, used=1, wrong=1)
    assert theirs == SessionFigures(**worked, given=1, given_tokens=20, used=1, wrong=0)


def test_a_session_of_somebody_else_has_no_figures(shop: Shop) -> None:
    personal = measured(shop, shared=False)
    give(shop, personal, "project", "used")

    assert figures(caller=shop.member, session_ids=(personal, uuid4())) == {}


def test_another_organization_reads_finds_and_counts_nothing_of_a_session(
    shop: Shop, other_caller: Caller
) -> None:
    session_id = measured(shop, shared=True)
    asked = sessions.HistoryQuestion(query="retried webhooks")
    assert sessions.search_history(caller=shop.owner, asked=asked, after=None, limit=5).items

    with people.outside(), entered(other_caller):
        found = sessions.search_history(caller=other_caller, asked=asked, after=None, limit=5)
        with pytest.raises(NotFound):
            sessions.turns(caller=other_caller, session_id=session_id, after=0, limit=1)
        counted = figures(caller=other_caller, session_ids=(session_id,))

    assert (found.items, counted) == ((), {})


def test_what_an_agent_adds_is_bound_to_no_session_of_somebody_else(shop: Shop) -> None:
    opened(shop, shop.agent, shared=True)  # the member's, which the owner sees as well
    new = memories.new(project="store", source="agent_explicit")

    bound = binding.bind(caller=shop.program, new=new)
    own = binding.bind(caller=shop.agent, new=new)

    assert bound == new
    assert own.session_id is not None


def tell_hook(shop: Shop, **payload: Any) -> str:
    """Let a hook of the member's agent tell something; return what its agent is asked."""
    shop.now += timedelta(seconds=1)
    fields = {"session_id": "run-1", "cwd": "/home/ana/store", **payload}
    event = read_payload(adapter=ADAPTERS[Harness.CODEX], payload=fields)
    of: dict[str, Any] = {"caller": shop.agent, "event": event, "now": shop.now}
    follow_agent(**of, whereabouts=Whereabouts())
    return reflection.ask(**of)


def test_a_question_is_its_own_persons(shop: Shop) -> None:
    for command, came in (
        ("git push", "Exit code 1\nfatal: no upstream"),
        ("git push -u o x", "ok"),
    ):
        fields = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_response": came}
        tell_hook(shop, hook_event_name="PostToolUse", **fields)
    asked = tell_hook(shop, hook_event_name="Stop", last_assistant_message="Done.")
    with tenancy.unit():
        name = Session.objects.get().external_id
    new = NewMemory(
        content="A new branch is pushed with git push -u origin BRANCH, or git refuses it.",
        source=Source.AGENT_EXPLICIT.value,
        project=shop.slug,
    )

    theirs = binding.bind(caller=shop.program, new=new)

    assert "no upstream" in asked
    assert reflection.ask_again(caller=shop.program, project=shop.slug, now=shop.now) == ""
    assert not answers.as_answer(caller=shop.program, new=theirs, now=shop.now).is_evidenced
    assert listed(shop.program, external_id=name) == []
    assert len(listed(shop.agent, external_id=name)) == 1
    assert reflection_totals(caller=shop.program, project=shop.slug).asked == 0
    assert reflection_totals(caller=shop.agent, project=shop.slug).asked == 1
    with pytest.raises(NotFound):
        reflection.ask_again(caller=shop.agent, project="nowhere", now=shop.now)
