"""The page that takes back what was produced: chosen, looked at, taken back, undone."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from accounts import jobs, tasks, tenancy
from accounts.authentication import entered
from accounts.caller import Caller
from memory.records.filters import Filters
from memory.records.models import ReviewVerdict
from memory.records.queries import memories
from memory.review.actions import rollback
from memory.review.queries import rollback_plan
from tests.edges.pages.conftest import remembered
from tests.edges.pages.session_pages import Pages
from tests.support import work
from tests.support.memories import CARTS, REDIS


def kept(caller: Caller) -> list[str]:
    """Return what the project's list shows."""
    with entered(caller):
        found = memories.page(
            caller=caller, filters=Filters(project="shop"), cursor=None, limit=50,
            now=datetime.now(UTC),
        )  # fmt: skip
    return sorted(one.content for one in found.items)


def test_a_session_is_taken_back_from_its_page_and_undone(pages: Pages) -> None:
    made = pages.opened().id
    remembered(pages.caller, REDIS, session_id=made)
    remembered(pages.caller, CARTS)

    session = pages.owner.get(f"{pages.shop}sessions/{made}").text
    seen = pages.owner.get(f"{pages.shop}rollback", {"session": str(made)}).text
    answer = pages.owner.post(f"{pages.shop}rollback", {"session": str(made)})
    after = kept(pages.caller)
    told = pages.owner.get(answer["Location"]).text
    undo_at = told.split('<form class="notice"')[1].split('action="')[1].split('"')[0]
    pages.owner.post(undo_at)

    assert f"rollback?session={made}" in session
    assert "Roll back 1 memory" in seen
    assert REDIS[:30] in seen
    assert after == [CARTS]
    assert kept(pages.caller) == sorted([CARTS, REDIS])


def test_members_roll_back_their_own_alone(pages: Pages, member_caller: Caller) -> None:
    remembered(pages.caller, REDIS)
    remembered(member_caller, CARTS)

    page = pages.member.get(f"{pages.shop}rollback").text
    refused = pages.member.post(f"{pages.shop}rollback", {"person": str(pages.caller.user_id)})
    pages.member.post(f"{pages.shop}rollback", {"person": str(member_caller.user_id)})

    assert str(member_caller.user_id) in page
    assert str(pages.caller.user_id) not in page
    assert refused.status_code == 403
    assert kept(pages.caller) == [REDIS]


@pytest.fixture
def fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a job fail for good after it has done its work."""
    monkeypatch.setattr(rollback, "MOST_AT_ONCE", 0)
    told = jobs.progress

    def end(*given: Any) -> None:
        told(*given)
        raise jobs.PermanentFailure("The disk is full.")

    monkeypatch.setattr(jobs, "progress", end)


@pytest.mark.usefixtures("fails")
def test_a_job_takes_back_in_person_and_what_a_failed_one_took_back_is_undone(
    pages: Pages, member_caller: Caller
) -> None:
    for text in (REDIS, CARTS):
        remembered(member_caller, text)

    asked = pages.owner.post(f"{pages.shop}rollback", {"person": str(member_caller.user_id)})
    tasks.run(held=work.taken(UUID(asked["Location"].partition("job=")[2])))
    told = pages.text(asked["Location"])
    with entered(pages.caller), tenancy.unit():
        made = list(ReviewVerdict.objects.values_list("decided_by", "decided_agent"))
    undo_at = told.split('id="rollback-job"')[1].split('action="')[1].split('"')[0]
    left = kept(pages.caller)
    pages.owner.post(undo_at)

    assert "The disk is full." in told
    assert (made, left) == ([(pages.caller.user_id, "")] * 2, [])
    assert kept(pages.caller) == sorted([CARTS, REDIS])


def test_an_offset_of_a_time_counts_and_a_preview_of_no_id_and_no_moment_says_so(
    pages: Pages,
) -> None:
    remembered(pages.caller, REDIS)
    then = datetime.now(UTC).replace(tzinfo=None) - timedelta(minutes=30)
    for offset, left in (("-01:00", [REDIS]), ("+00:00", [])):  # from now, and ago
        pages.owner.post(f"{pages.shop}rollback", {"since": f"{then.isoformat()}{offset}"})
        assert (offset, kept(pages.caller)) == (offset, left)
    for field, says in (("session", "not a valid id"), ("since", "not a valid date and time")):
        answer = pages.owner.get(f"{pages.shop}rollback", {field: "<b>x"})
        assert (answer.status_code, says in answer.text) == (422, True)
        assert "<b>x" not in answer.text


def test_counts_that_end_are_said(pages: Pages, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rollback_plan, "COUNTED", 1)
    for text in (REDIS, CARTS):
        remembered(pages.caller, text)
    ago = {"until": "2020-01-01T00:00"}

    seen = pages.owner.get(f"{pages.shop}rollback", {"person": str(pages.caller.user_id)}).text
    none = pages.owner.get(f"{pages.shop}rollback", ago).text
    answer = pages.owner.post(f"{pages.shop}rollback", ago)

    assert "1 means that many or more." in seen
    assert "means that many or more." not in none
    assert "No memories match, or they were already rolled back" in none
    told = pages.owner.get(answer["Location"]).text
    assert "There was nothing to roll back." in told
