"""What many sessions of a place show together: said once a threshold and week, for review."""

import json
from datetime import timedelta
from typing import Any, Final

import pytest

from accounts import tenancy
from accounts.caller import Caller
from accounts.models import Job
from memory.observer.actions import synthesize as job
from memory.observer.actions.synthesize import queue_weekly, synthesize
from memory.records.models import Memory
from memory.sessions.models import Session, Statistic
from teams.actions import change_project
from tests.support import memories, vendors
from tests.support.agent_runs import ran, run_jobs
from tests.support.reviewed import World
from tests.support.vendor_server import Fault, Vendor

pytestmark = pytest.mark.usefixtures("in_organization")


def said(kind: str = "") -> list[Memory]:
    """Return what syntheses said; of one type, if it is named."""
    with tenancy.unit():
        rows = Memory.objects.filter(source_uri__startswith="synthesis:").order_by("id")
        return [row for row in rows if not kind or row.type == kind]


def lived(world: World, sessions: int, by: Caller | None = None, **given: Any) -> Session:
    """Count one session of the member's agent as if so many had done the same."""
    who = by or memories.as_agent(world.member)
    row = ran(who, world.now, project=world.store, **given)
    with tenancy.unit():
        for one in Statistic.objects.filter(kind__startswith="observed_"):
            counts = one.counts.items()
            one.counts = {name: n * sessions if isinstance(n, int) else n for name, n in counts}
            one.save()
    return row


@pytest.fixture
def fifth(world: World) -> Session:
    """The fifth session of a person that worked on one module."""
    return lived(world, 5)


def due(world: World, row: Session) -> dict[str, int]:
    """Say what is due after a session."""
    return dict(synthesize(session_id=row.id, is_weekly=False, now=world.now))


def test_the_fifth_session_makes_one_due(world: World) -> None:
    lived(world, 4)
    before = Job.objects.filter(name="memory.synthesize").count()

    who, later = memories.as_agent(world.member), world.now + timedelta(days=9)
    row = ran(who, later, project=world.store)
    after = Job.objects.filter(name="memory.synthesize").count()
    counts = due(world, row)

    found = said()
    assert (before, after, counts["syntheses"]) == (0, 1, 1)
    assert all(one.needs_review and one.audience == row.audience for one in found)
    assert "src/shop/cart.py" in said("prefetch_pattern")[0].attributes["always_read"]


def test_a_week_s_pairs_are_looked_for_in_each_place(world: World, fifth: Session) -> None:
    other = ran(memories.as_agent(world.owner), world.now, project=world.store)

    queued = queue_weekly()

    assert (queued, due(world, other), said()) == (2, {}, [])
    waiting = Job.objects.filter(name="memory.synthesize", payload__weekly=True)
    assert waiting.count() == 2


def changes(number: int) -> tuple[dict[str, object], ...]:
    """Return how a session changes files of two modules that no other session changes."""
    return tuple(
        {
            "sequence": place,
            "kind": "tool_call",
            "name": "Edit",
            "step": place,
            "args": {"file_path": f"/home/ana/shop/src/{module}/{number}.py"},
        }
        for place, module in enumerate(("cart", "tax"), start=1)
    )


def test_a_week_finds_modules_that_go_together(world: World, agent: Caller) -> None:
    for day in range(5):
        row = ran(agent, world.now + timedelta(days=day), changes(day), project=world.store)

    synthesize(session_id=row.id, is_weekly=True, now=world.now + timedelta(days=6))

    (found,) = said("causal_dependency")
    assert found.content.startswith("Work on src/cart and on src/tax goes together (5 sessions)")
    assert found.needs_review


def test_what_is_gone_is_left(world: World, fifth: Session) -> None:
    with tenancy.unit():
        Memory.objects.filter(session_id=fifth.id).delete()
        Session.objects.filter(pk=fifth.id).delete()

    assert synthesize(session_id=fifth.id, is_weekly=True, now=world.now) == {"gone": 1}
    assert run_jobs() is None


TEXT: Final = (
    "In nearly every session work on src/shop reads src/shop/pricing.py, and a change of "
    "src/shop/vouchers.py comes with a change of src/shop/cart.py."
)


TEMPLATES: Final = {"prefetch_pattern", "causal_dependency"}


def model_says(vendor: Vendor, *drafts: dict[str, Any]) -> None:
    """Let the model answer with these memories."""
    vendor.answers["syntheses"] = json.dumps({"syntheses": drafts})


def draft(text: str = TEXT, **given: Any) -> dict[str, Any]:
    """Return one memory as the model writes it."""
    return {"facts": [1, 2], "type": "module_insight", "text": text, **given}


@pytest.fixture
def agreed(world: World) -> Session:
    """The fifth session of a person that worked on one module, before there was a model.

    What sessions have shown there is near to whatever is said of them: its project lets that pass.
    """
    last = lived(world, 5, models_agreed=True)
    wished(world, novelty_cosine=1.0)
    return last


def wished(world: World, **changes: object) -> None:
    """Let the project wish for something."""
    change_project(caller=world.owner, ref=world.store, changes=changes, if_version=None)


def test_a_model_says_it_in_one_call(world: World, agreed: Session, vendor: Vendor) -> None:
    model_says(vendor, draft())
    with tenancy.unit():
        ((key, summary),) = job._thresholds(agreed)

    counts, again = due(world, agreed), due(world, agreed)
    agent = memories.as_agent(world.member)
    late = job._done_once(agent, agreed, key, summary, world.now)  # who had found it due before

    (found,) = said()
    assert (found.content, found.type) == (TEXT, "module_insight")
    assert {"src/shop/pricing.py", "src/shop/cart.py"} <= set(found.related_files)
    assert (found.needs_review, found.audience, found.scope) == (True, agreed.audience, "personal")
    assert (len(vendor.asked), counts["calls"], counts["added"]) == (1, 1, 1)
    assert (again, late) == ({}, {})
    with tenancy.unit():
        booked = Statistic.objects.get(kind="model_use").counts
        assert Session.objects.get(pk=agreed.id).result["calls"] == 1
    assert (booked["calls"], booked["fallbacks"]) == (1, 0)


def test_a_model_may_say_nothing(world: World, agreed: Session, vendor: Vendor) -> None:
    model_says(vendor)

    counts = due(world, agreed)

    assert said() == []
    assert (counts["syntheses"], counts["calls"]) == (1, 1)


def test_templates_speak_if_it_fails(world: World, agreed: Session, vendor: Vendor) -> None:
    vendor.script = [Fault.GARBAGE]

    counts = due(world, agreed)

    assert {one.type for one in said()} == TEMPLATES
    assert counts["degraded_model_failed"] == 1
    with tenancy.unit():
        booked = Statistic.objects.get(kind="model_use").counts
    assert (booked["calls"], booked["fallbacks"]) == (1, 1)


def test_what_does_not_hold_is_dropped(world: World, agreed: Session, vendor: Vendor) -> None:
    model_says(
        vendor,
        draft("Work on src/shop reads src/shop/prices.py in nearly every session."),
        draft(facts=[99]),
        draft(type="decision"),
        draft(type="task_calibration"),
    )

    counts = due(world, agreed)

    assert {one.type for one in said()} == TEMPLATES
    dropped = {name: n for name, n in counts.items() if name.startswith("dropped_")}
    assert dropped == {
        "dropped_phrase_invented": 1, "dropped_draft_facts": 1, "dropped_draft_type": 2,
    }  # fmt: skip


def test_what_is_known_is_not_novel(world: World, agreed: Session, vendor: Vendor) -> None:
    wished(world, novelty_cosine=0.88)
    world.stored(f"{TEXT} So it was seen in each session.")
    model_says(vendor, draft())

    counts = due(world, agreed)

    assert (said(), counts["dropped_known"]) == ([], 1)


@pytest.mark.parametrize(
    ("wish", "missing"),
    [
        ({"max_llm_calls_per_session": 0}, "degraded_session_calls_spent"),
        ({"extraction_mode": "heuristic"}, ""),
    ],
)
def test_what_a_project_allows_holds(
    world: World, agreed: Session, vendor: Vendor, wish: dict[str, Any], missing: str
) -> None:
    wished(world, **wish)

    counts = due(world, agreed)

    assert vendor.asked == []
    assert {one.type for one in said()} == TEMPLATES
    assert [one for one in counts if one.startswith("degraded")] == [missing] * bool(missing)


@pytest.mark.parametrize("is_agreed", [True, False])
def test_a_model_elsewhere_is_told_what_a_person_agreed_to_for_all(
    world: World, agreed: Session, vendor: Vendor, is_agreed: bool
) -> None:
    if not is_agreed:
        with tenancy.unit():
            first = Session.objects.order_by("opened_at").values("pk")[:1]
            Session.objects.filter(pk__in=first).update(models_agreed=False)
    vendors.chat_at(url=vendors.by_its_name(vendor=vendor))
    model_says(vendor, draft())

    counts = due(world, agreed)

    assert len(vendor.asked) == int(is_agreed)
    assert counts.get("degraded_models_not_agreed", 0) == int(not is_agreed)


def test_what_others_did_is_not_told(world: World, agreed: Session, vendor: Vendor) -> None:
    vendor.script = [Fault.REFUSAL] * 9
    other = memories.as_agent(world.owner)
    row = lived(world, 5, other, events=(EDIT, DONE), shared=True)
    vendor.script, vendor.asked = [], []
    model_says(vendor, draft("src/till/open.py was touched in 5 of 5 sessions.", facts=[1]))

    due(world, row)

    told = json.dumps(vendor.asked)
    assert "src/till/open.py" in told
    assert "src/shop" not in told
    assert "apply_discount" not in told
    with tenancy.unit():
        written = Memory.objects.filter(source_uri__startswith="synthesis:")
        assert {one.audience for one in written} == {row.audience}


EDIT: Final = {
    "sequence": 1, "kind": "tool_call", "name": "Edit",
    "args": {"file_path": "/home/ana/shop/src/till/open.py", "old_string": "a", "new_string": "b"},
}  # fmt: skip


DONE: Final = {"sequence": 2, "kind": "session_complete", "outcome": "success", "steps": 1}
