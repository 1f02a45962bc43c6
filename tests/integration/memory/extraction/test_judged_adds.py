"""What a model judges explicit adds to be to what is known: after the answer, within bounds."""

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from accounts import tenancy
from accounts.authentication import entered
from accounts.caller import Caller
from accounts.errors import InvalidInput
from accounts.models import Job
from memory.extraction.actions import JUDGED_ADDS, Judgment, ask_model, judge_added
from memory.intake.models import ActionLog
from memory.records.models import Conflict, Memory, MemoryLink
from memory.records.queries.views import MemoryView
from memory.review.actions.verdicts import MemoryEdge, unlink
from memory.sessions.models import Statistic
from memory.tasks import job_handlers
from memory.taxonomy import LinkKind
from teams.actions import change_project
from tests.support import people, vendors, work
from tests.support.memories import as_agent
from tests.support.reviewed import World
from tests.support.vendor_server import Fault, Vendor

OLD = "The checkout worker in `shop/checkout.py` retries a payment 3 times before it gives up."
ADDS = (
    "The checkout worker in `shop/checkout.py` retries a payment 3 times and writes each of them "
    "into the ledger."
)
FAR = "We decided to move from Redis 6 to Valkey because of the license."


@pytest.fixture
def vendor(vendor: Vendor) -> Vendor:
    """A vendor whose chat model judges that one thing adds to another."""
    answer = {"pair": 1, "relation": "extend", "certainty": 0.8}
    vendor.answers["relations"] = json.dumps({"relations": [answer]})
    return vendor


@pytest.fixture
def wishing(world: World) -> World:
    """A project whose adds a model may judge, two a day."""
    allow(world, max_llm_adds_per_day=2)
    return world


def allow(world: World, **changes: int) -> None:
    """Let the project allow so much."""
    change_project(caller=world.owner, ref=world.store, changes=changes, if_version=None)


def judged(world: World, memory: MemoryView, days: int = 0, **given: Any) -> Mapping[str, Any]:
    """Let a model judge what was added; return what came of it."""
    then = world.now + timedelta(days=days)
    return judge_added(memory_id=memory.id, now=then, **given)


def _queued() -> list[Job]:
    return list(Job.objects.filter(name="memory.judge_added").order_by("created_at"))


def _links() -> list[tuple[str, bool, float]]:
    with tenancy.unit():
        rows = MemoryLink.objects.order_by("id")
        return [(row.kind, row.automatic, row.confidence) for row in rows]


def _pair(world: World, **given: Any) -> MemoryView:
    world.stored(OLD, **given)
    return world.stored(ADDS, **given)


def test_an_add_is_judged_by_its_job(vendor: Vendor, wishing: World) -> None:
    wishing.stored(OLD)

    added = wishing.sent(ADDS)

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


def test_what_a_model_judges_takes_the_place_of_what_was_only_similar(
    vendor: Vendor, wishing: World
) -> None:
    wishing.stored(OLD)
    near = wishing.sent(OLD.replace("before it gives up", "before it gives up quietly"))
    before = _links()

    assert near.memory is not None
    result = judged(wishing, near.memory)

    assert ([kind for kind, _, _ in before], result["integrated"]) == (["similar"], 1)
    assert _links() == [("extend", True, 0.8)]


def test_what_conversations_bring_is_not_judged_twice(world: World, vendor: Vendor) -> None:
    _pair(world)
    allow(world, max_llm_adds_per_day=2)
    world.stored(FAR, as_agent(world.owner), source="extracted")

    assert _queued() == []
    for wrong in (-1, 10_001, True):
        with pytest.raises(InvalidInput) as refused:
            allow(world, max_llm_adds_per_day=wrong)
        assert refused.value.errors[0].pointer == "/max_llm_adds_per_day"


def test_a_model_retires_nothing_alone_or_failing(vendor: Vendor, wishing: World) -> None:
    added = _pair(wishing)
    far = wishing.stored(FAR)
    alone = judged(wishing, far)
    asked = len(vendor.asked)
    vendor.script += [Fault.GARBAGE, Fault.REFUSAL]
    failed = [judged(wishing, added)["degraded"] for _ in range(2)]
    left = _links()
    answer = {"pair": 1, "relation": "update", "certainty": 0.9}
    vendor.answers["relations"] = json.dumps({"relations": [answer]})

    judged(wishing, added, days=1)

    assert (alone["compared"], alone["calls"], asked) == (0, 0, 0)
    assert (failed, left) == ([{"model_failed": 1}] * 2, [])
    with tenancy.unit():
        assert Memory.objects.filter(status="active").count() == 3
        assert [one.cause for one in Conflict.objects.all()] == ["judged"]


def test_a_day_costs_calls_and_a_month_tokens(vendor: Vendor, wishing: World) -> None:
    added = _pair(wishing)
    for _ in range(2):
        judged(wishing, added)

    third = judged(wishing, added)
    tomorrow = judged(wishing, added, days=1)

    assert (third["degraded"], len(vendor.asked)) == ({"day_calls_spent": 1}, 3)
    assert tomorrow["calls"] == 1
    allow(wishing, max_llm_tokens_per_month=1)
    spent = judged(wishing, added, days=2)
    assert (spent["degraded"], len(vendor.asked)) == ({"month_tokens_spent": 1}, 3)


def test_what_only_its_author_sees_is_shown_to_no_model(vendor: Vendor, wishing: World) -> None:
    mine = _pair(wishing, scope="personal")
    shared = wishing.stored(f"{ADDS} Always.")
    vendors.chat_at(url=vendors.by_its_name(vendor=vendor))

    alone = judged(wishing, mine)
    beside = judged(wishing, shared)

    assert (alone["degraded"], vendor.asked) == ({"models_not_agreed": 1}, [])
    assert (beside["compared"], beside["calls"]) == (0, 0)


def test_a_pair_told_apart_is_compared_for_other_texts(vendor: Vendor, wishing: World) -> None:
    added = _pair(wishing)
    judged(wishing, added)
    with tenancy.unit():
        other_id = MemoryLink.objects.get().target_id
    edge = MemoryEdge(other_id=other_id, kind=LinkKind.EXTEND, outgoing=True)
    unlink(caller=wishing.owner, memory_id=added.id, edge=edge, now=wishing.now)

    wishing.stored(FAR)  # what others add brings it back neither
    wishing.say(added, by=wishing.owner, tags=["money"], pinned=True)
    same = judged(wishing, added)
    left = _links()
    wishing.say(added, by=wishing.owner, content=f"{ADDS} Twice.")
    other = judged(wishing, added)

    assert (same["compared"], same["calls"], left) == (0, 0, [])
    assert (other["compared"], len(_links())) == (1, 1)


def test_what_was_judged_is_not_said_of_others(vendor: Vendor, wishing: World) -> None:
    added = _pair(wishing)
    with tenancy.unit():
        Job.objects.filter(name="memory.judge_added").delete()

    def ask(**asked: Any) -> Judgment:
        wishing.say(added, by=wishing.owner, content=FAR)
        return ask_model(**asked)

    result = judged(wishing, added, ask=ask)

    assert (result["changed"], result["integrated"], result["calls"]) == (1, 0, 1)
    assert _links() == []
    assert [job.payload for job in _queued()] == [{"ids": [str(added.id)]}]


def test_what_only_its_author_sees_costs_others_no_call(vendor: Vendor, wishing: World) -> None:
    mine = _pair(wishing, scope="personal")
    for _ in range(2):
        judged(wishing, mine)
    third = judged(wishing, mine)
    wishing.stored(f"{OLD} For all.")
    theirs = wishing.theirs(f"{ADDS} For all.")

    shown = judged(wishing, theirs)
    with tenancy.unit():
        Memory.objects.filter(pk=theirs.id).update(author_user=wishing.owner.user_id)
    spent = judged(wishing, theirs)

    assert (third.get("calls"), shown["calls"], spent.get("calls")) == (None, 1, None)
    with tenancy.unit():
        sums = dict(Statistic.objects.filter(kind=JUDGED_ADDS).values_list("audience", "counts"))
        project_id = Memory.objects.get(pk=mine.id).project_id
    assert sums == {wishing.owner.user_id: {"calls": 2}, project_id: {"calls": 1}}


def test_others_jobs_find_nothing(vendor: Vendor, other_caller: Caller, wishing: World) -> None:
    added = _pair(wishing)

    with people.outside(), entered(other_caller):
        result = judged(wishing, added)

    assert (result, vendor.asked) == ({"gone": 1}, [])
