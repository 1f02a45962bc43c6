"""How urgent the work behind a write is: as its firmest layer says."""

from datetime import datetime

import pytest

from accounts import jobs
from accounts.caller import Caller
from accounts.models import Job
from memory.intake.actions.remember_all import remember_all
from memory.intake.actions.revise import revise
from teams.actions.projects import change_project
from tests.support.memories import CARTS, PARSER, new, stored

pytestmark = pytest.mark.usefixtures("in_organization")


def urgency(name: str) -> list[int]:
    """Return the priorities of the jobs of a name, in the order in which they were queued."""
    found = Job.objects.filter(name=name).order_by("created_at", "id")
    return list(found.values_list("priority", flat=True))


def test_a_call_is_as_urgent_as_its_firmest_memory(
    caller: Caller, store: str, now: datetime
) -> None:
    passing = new(CARTS, project=store, type="event")
    remember_all(caller=caller, new=(passing,), now=now)
    rule = new(PARSER, project=store, pinned=True)

    remember_all(caller=caller, new=(new(project=store), rule), now=now)

    assert urgency("memory.embed_bulk") == [4, 2]


def test_what_is_changed_and_what_is_judged_are_as_urgent_as_the_memory(
    caller: Caller, store: str, now: datetime
) -> None:
    one = {"max_llm_adds_per_day": 2}
    change_project(caller=caller, ref=store, changes=one, if_version=None)
    memory = stored(caller, now, project=store, pinned=True)

    revise(caller=caller, memory_id=memory.id, changes={"content": CARTS}, if_version=None, now=now)

    assert urgency("memory.judge_added") == [2]
    assert urgency("memory.embed") == [2]


def test_the_firmer_memory_is_embedded_first(caller: Caller, store: str, now: datetime) -> None:
    remember_all(caller=caller, new=(new(CARTS, project=store),), now=now)
    remember_all(caller=caller, new=(new(project=store, pinned=True),), now=now)

    held = jobs.claim(queue="bulk", worker="w")

    assert held is not None
    assert Job.objects.get(pk=held.id).priority == 2
