"""Jobs are paged newest first, filtered by state, and refuse what is not ours."""

from datetime import datetime, timedelta

import pytest

from accounts.caller import Caller
from accounts.errors import InvalidInput
from accounts.jobs import list_jobs
from accounts.models import Job


def add(caller: Caller, now: datetime, *, state: str = "queued", key: str = "") -> Job:
    return Job.objects.create(
        organization_id=caller.organization_id,
        name="memory.embed",
        queue="interactive",
        state=state,
        key=key,
        run_after=now,
    )


def test_pages_follow_one_another_without_gaps(caller: Caller, now: datetime) -> None:
    for number in range(5):
        job = add(caller, now)
        Job.objects.filter(pk=job.pk).update(created_at=now + timedelta(seconds=number // 2))

    first = list_jobs(caller=caller, limit=2)
    second = list_jobs(caller=caller, limit=2, cursor=first.next_place)
    third = list_jobs(caller=caller, limit=2, cursor=second.next_place)

    seen = [job.id for page in (first, second, third) for job in page.items]
    assert seen == [job.id for job in list_jobs(caller=caller).items]
    assert (len(seen), third.next_place) == (5, None)


@pytest.mark.parametrize("cursor", ["", "zz-1", "f" * 40 + "-" + "0" * 32, "1-\x00"])
def test_a_cursor_that_is_not_ours_is_named(caller: Caller, cursor: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        list_jobs(caller=caller, cursor=cursor)

    assert refused.value.errors[0].pointer == "/cursor"


def test_one_sees_what_one_has_set_going_and_managers_see_all(
    caller: Caller, member_caller: Caller, now: datetime
) -> None:
    add(caller, now)
    mine = add(member_caller, now)
    Job.objects.filter(pk=mine.pk).update(created_by=member_caller.user_id)

    assert [job.id for job in list_jobs(caller=member_caller).items] == [mine.id]
    assert len(list_jobs(caller=caller).items) == 2
    assert list_jobs(caller=caller, state="failed").items == ()
