"""What a model judges explicit adds to be to what is known: after the answer, within bounds."""

import json
from datetime import datetime, timedelta
from typing import Any

import pytest

from accounts import tenancy
from accounts.authentication import entered
from accounts.caller import Caller
from accounts.errors import InvalidInput
from accounts.models import Job
from memory.extraction.actions import JUDGED_ADDS, Judgment, ask_model, judge_added
from memory.intake.actions.revise import revise
from memory.intake.models import ActionLog
from memory.records.models import Conflict, Memory, MemoryLink
from memory.records.queries.views import MemoryView
from memory.review.actions.verdicts import MemoryEdge, unlink
from memory.sessions.models import Statistic
from memory.tasks import job_handlers
from memory.taxonomy import LinkKind
from teams.actions import change_project
from tests.support import people, vendors, work
from tests.support.memories import as_agent, sent, stored
from tests.support.vendor_server import Fault, Vendor

OLD = "The checkout worker in `shop/checkout.py` retries a payment 3 times before it gives up."
ADDS = (
    "The checkout worker in `shop/checkout.py` retries a payment 3 times and writes each of them "
    "into the ledger."
)
FAR = "We decided to move from Redis 6 to Valkey because of the license."

pytestmark = pytest.mark.usefixtures("in_organization")


@pytest.fixture
def vendor(vendor: Vendor) -> Vendor:
    """A vendor whose chat model judges that one thing adds to another."""
    judged = {"pair": 1, "relation": "extend", "certainty": 0.8}
    vendor.answers["relations"] = json.dumps({"relations": [judged]})
    return vendor


@pytest.fixture
def wishing(caller: Caller, store: str) -> str:
    """A project whose adds a model may judge, two a day."""
    changes = {"max_llm_adds_per_day": 2}
    return change_project(caller=caller, ref=store, changes=changes, if_version=None).slug


def _queued() -> list[Job]:
    return list(Job.objects.filter(name="memory.judge_added").order_by("created_at"))


def _links() -> list[tuple[str, bool, float]]:
    with tenancy.unit():
        rows = MemoryLink.objects.order_by("id")
        return [(row.kind, row.automatic, row.confidence) for row in rows]


def _change(caller: Caller, memory: MemoryView, now: datetime, **changes: Any) -> None:
    revise(caller=caller, memory_id=memory.id, changes=changes, if_version=None, now=now)


def _pair(caller: Caller, now: datetime, project: str, **given: Any) -> MemoryView:
    stored(caller, now, OLD, project=project, **given)
    return stored(caller, now, ADDS, project=project, **given)


def test_an_add_is_judged_by_its_job_and_the_answer_asks_no_model(
    vendor: Vendor, caller: Caller, wishing: str, now: datetime
) -> None:
    stored(caller, now, OLD, project=wishing)

    added = sent(caller, now, ADDS, project=wishing)

    assert (added.outcome, vendor.asked, _links()) == ("added", [], [])
    *_, job = _queued()
    result = job_handlers.judge_what_was_added(work.taken(job.id))
    assert (result["judged"], result["integrated"], result["calls"]) == (1, 1, 1)
    assert _links() == [("extend", True, 0.8)]
    with tenancy.unit():
        assert Memory.objects.filter(status="active").count() == 2
        assert ActionLog.objects.order_by("-id").values_list("outcome", flat=True)[0] == "extended"
        assert Statistic.objects.get(kind=JUDGED_ADDS).counts == {"calls": 1}
        assert Statistic.objects.get(kind="model_use").counts["calls"] == 1


def test_it_is_off_as_usual_and_what_conversations_bring_is_not_judged_twice(
    vendor: Vendor, caller: Caller, store: str, now: datetime
) -> None:
    _pair(caller, now, store)
    changes = {"max_llm_adds_per_day": 2}
    change_project(caller=caller, ref=store, changes=changes, if_version=None)
    stored(as_agent(caller), now, FAR, project=store, source="extracted")

    assert _queued() == []
    for wrong in (-1, 10_001, True):
        changes = {"max_llm_adds_per_day": wrong}
        with pytest.raises(InvalidInput) as refused:
            change_project(caller=caller, ref=store, changes=changes, if_version=None)
        assert refused.value.errors[0].pointer == "/max_llm_adds_per_day"


def test_a_model_retires_nothing_alone_and_one_that_fails_changes_nothing(
    vendor: Vendor, caller: Caller, wishing: str, now: datetime
) -> None:
    added = _pair(caller, now, wishing)
    far = stored(caller, now, FAR, project=wishing)
    alone = judge_added(memory_id=far.id, now=now)
    asked = len(vendor.asked)
    vendor.script += [Fault.GARBAGE, Fault.REFUSAL]
    failed = [judge_added(memory_id=added.id, now=now)["degraded"] for _ in range(2)]
    left = _links()
    judged = {"pair": 1, "relation": "update", "certainty": 0.9}
    vendor.answers["relations"] = json.dumps({"relations": [judged]})

    judge_added(memory_id=added.id, now=now + timedelta(days=1))

    assert (alone["compared"], alone["calls"], asked) == (0, 0, 0)
    assert (failed, left) == ([{"model_failed": 1}] * 2, [])
    with tenancy.unit():
        assert Memory.objects.filter(status="active").count() == 3
        assert [one.cause for one in Conflict.objects.all()] == ["judged"]


def test_a_day_costs_so_many_calls_and_a_month_so_many_tokens(
    vendor: Vendor, caller: Caller, wishing: str, now: datetime
) -> None:
    added = _pair(caller, now, wishing)
    for _ in range(2):
        judge_added(memory_id=added.id, now=now)

    third = judge_added(memory_id=added.id, now=now)
    tomorrow = judge_added(memory_id=added.id, now=now + timedelta(days=1))

    assert (third["degraded"], len(vendor.asked)) == ({"day_calls_spent": 1}, 3)
    assert tomorrow["calls"] == 1
    changes = {"max_llm_tokens_per_month": 1}
    change_project(caller=caller, ref=wishing, changes=changes, if_version=None)
    spent = judge_added(memory_id=added.id, now=now + timedelta(days=2))
    assert (spent["degraded"], len(vendor.asked)) == ({"month_tokens_spent": 1}, 3)


def test_what_only_its_author_sees_is_shown_to_no_model_elsewhere(
    vendor: Vendor, caller: Caller, wishing: str, now: datetime
) -> None:
    mine = _pair(caller, now, wishing, scope="personal")
    shared = stored(caller, now, f"{ADDS} Always.", project=wishing)
    vendors.chat_at(url=vendors.by_its_name(vendor=vendor))

    alone = judge_added(memory_id=mine.id, now=now)
    beside = judge_added(memory_id=shared.id, now=now)

    assert (alone["degraded"], vendor.asked) == ({"models_not_agreed": 1}, [])
    assert (beside["compared"], beside["calls"]) == (0, 0)


def test_a_pair_that_was_told_apart_is_compared_again_only_for_another_text(
    vendor: Vendor, caller: Caller, wishing: str, now: datetime
) -> None:
    added = _pair(caller, now, wishing)
    judge_added(memory_id=added.id, now=now)
    with tenancy.unit():
        other_id = MemoryLink.objects.get().target_id
    edge = MemoryEdge(other_id=other_id, kind=LinkKind.EXTEND, outgoing=True)
    unlink(caller=caller, memory_id=added.id, edge=edge, now=now)

    stored(caller, now, FAR, project=wishing)  # what others add brings it back neither
    _change(caller, added, now, tags=["money"], pinned=True)
    same = judge_added(memory_id=added.id, now=now)
    left = _links()
    _change(caller, added, now, content=f"{ADDS} Twice.")
    other = judge_added(memory_id=added.id, now=now)

    assert (same["compared"], same["calls"], left) == (0, 0, [])
    assert (other["compared"], len(_links())) == (1, 1)


def test_what_was_judged_of_a_text_is_not_said_of_another_one(
    vendor: Vendor, caller: Caller, wishing: str, now: datetime
) -> None:
    added = _pair(caller, now, wishing)
    with tenancy.unit():
        Job.objects.filter(name="memory.judge_added").delete()

    def ask(**asked: Any) -> Judgment:
        _change(caller, added, now, content=FAR)
        return ask_model(**asked)

    result = judge_added(memory_id=added.id, now=now, ask=ask)

    assert (result["changed"], result["integrated"], result["calls"]) == (1, 0, 1)
    assert _links() == []
    assert [job.payload for job in _queued()] == [{"ids": [str(added.id)]}]


def test_what_only_its_author_sees_costs_others_no_call(
    vendor: Vendor, caller: Caller, member_caller: Caller, wishing: str, now: datetime
) -> None:
    mine = _pair(caller, now, wishing, scope="personal")
    for _ in range(2):
        judge_added(memory_id=mine.id, now=now)
    third = judge_added(memory_id=mine.id, now=now)
    stored(caller, now, f"{OLD} For all.", project=wishing)
    theirs = stored(member_caller, now, f"{ADDS} For all.", project=wishing)

    shown = judge_added(memory_id=theirs.id, now=now)
    with tenancy.unit():
        Memory.objects.filter(pk=theirs.id).update(author_user=caller.user_id)
    spent = judge_added(memory_id=theirs.id, now=now)

    assert (third.get("calls"), shown["calls"], spent.get("calls")) == (None, 1, None)
    with tenancy.unit():
        sums = dict(Statistic.objects.filter(kind=JUDGED_ADDS).values_list("audience", "counts"))
        project_id = Memory.objects.get(pk=mine.id).project_id
    assert sums == {caller.user_id: {"calls": 2}, project_id: {"calls": 1}}


def test_a_job_of_another_organization_finds_nothing(
    vendor: Vendor, caller: Caller, other_caller: Caller, wishing: str, now: datetime
) -> None:
    added = _pair(caller, now, wishing)

    with people.outside(), entered(other_caller):
        result = judge_added(memory_id=added.id, now=now)

    assert (result, vendor.asked) == ({"gone": 1}, [])
