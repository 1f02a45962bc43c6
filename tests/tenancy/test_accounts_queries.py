"""Nobody of one organization sees people, invitations, tokens or jobs of another."""

from dataclasses import replace
from datetime import datetime
from uuid import UUID, uuid4

import pytest
from django.utils import timezone

from accounts import jobs, queries
from accounts.actions.members import invite, resend_invitation, revoke_invitation
from accounts.actions.tokens import NewToken, create_token, revoke_token, rotate_token
from accounts.caller import Caller, Role, TokenScope
from accounts.errors import NotFound, RoleNotSufficient
from accounts.models import Invitation, Job, Token


@pytest.fixture
def foreign_job(other_caller: Caller) -> UUID:
    job = Job.objects.create(
        organization_id=other_caller.organization_id,
        name="memory.embed",
        queue="interactive",
        payload={"secret": "theirs"},
        run_after=timezone.now(),
    )
    return job.id


def refusal(call: object, **arguments: object) -> tuple[str, str]:
    with pytest.raises(NotFound) as refused:
        call(**arguments)
    return refused.value.detail, refused.value.hint


def test_people_of_another_organization_are_neither_listed_nor_named(
    caller: Caller, other_caller: Caller
) -> None:
    mine = {person.user_id for person in queries.members(caller=caller)}
    names = queries.people(caller=caller, ids=(caller.user_id, other_caller.user_id))

    assert mine == set(names) == {caller.user_id}


def test_invitations_stay_inside(caller: Caller, other_caller: Caller, now: datetime) -> None:
    sent = invite(caller=other_caller, email="x@y.test", role=Role.OWNER, now=now)
    foreign, nonexistent = sent.invitation.id, uuid4()

    assert queries.invitations(caller=caller) == ()
    for act in (revoke_invitation, resend_invitation):
        answers = [
            refusal(act, caller=caller, invitation_id=i, now=now) for i in (foreign, nonexistent)
        ]
        assert answers[0] == answers[1]
    assert Invitation.objects.get().revoked_at is None


def test_tokens_stay_inside(caller: Caller, other_caller: Caller, now: datetime) -> None:
    issued = create_token(caller=other_caller, new=NewToken(name="theirs"), now=now)
    foreign, nonexistent = issued.token.id, uuid4()

    assert queries.list_tokens(caller=caller) == ()
    for act in (revoke_token, rotate_token):
        answers = [refusal(act, caller=caller, token_id=i, now=now) for i in (foreign, nonexistent)]
        assert answers[0] == answers[1]
    assert Token.objects.get().revoked_at is None


def test_jobs_stay_inside_and_show_no_payload(
    caller: Caller, other_caller: Caller, foreign_job: UUID
) -> None:
    assert jobs.list_jobs(caller=caller).items == ()
    answers = [refusal(jobs.find_job, caller=caller, job_id=i) for i in (foreign_job, uuid4())]
    assert answers[0] == answers[1]
    assert "theirs" not in repr(jobs.find_job(caller=other_caller, job_id=foreign_job))


def test_a_member_sees_only_their_own_tokens_and_a_reading_one_only_itself(
    caller: Caller, member_caller: Caller, now: datetime
) -> None:
    own = create_token(caller=caller, new=NewToken(name="owner's"), now=now)
    mine = create_token(caller=member_caller, new=NewToken(name="mine"), now=now)
    reader = replace(caller, token_id=own.token.id, scopes=frozenset({TokenScope.READ}))

    assert queries.list_tokens(caller=member_caller) == (mine.token,)
    assert queries.list_tokens(caller=reader) == (own.token,)
    assert len(queries.list_tokens(caller=caller)) == 2


def test_a_member_does_not_list_invitations(member_caller: Caller) -> None:
    with pytest.raises(RoleNotSufficient):
        queries.invitations(caller=member_caller)
