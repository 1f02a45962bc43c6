"""Background work of one organization does nothing to another, whatever ids it is given."""

from typing import Any

import pytest

from accounts import jobs, tasks, tenancy
from accounts.authentication import entered
from accounts.jobs import NAMES
from accounts.models import Job
from memory.index.actions import maintenance
from memory.index.models import MemoryVector
from memory.records.models import Memory
from tests.support import work
from tests.tenancy.isolation.world import NOW, World

JOBS = tuple(name for name in sorted(NAMES) if name.startswith("memory."))
TAKES_IDS = ("memory.embed", "memory.embed_bulk")  # those of another organization are unknown
TAKES_ONE = ("memory.judge_added", "memory.consolidate", "memory.observe", "memory.synthesize")
HOSTILE = ("public", "t_" + "0" * 32, '"; DROP SCHEMA public --', "interactive; x", "")

pytestmark = pytest.mark.django_db


def rows(world: World, tenant: str) -> list[Any]:
    """Return what is stored of the memories of an organization, vectors included."""
    with entered(world.callers[f"{tenant}/owner"]), tenancy.unit():
        memories = Memory.objects.order_by("id").values_list("id", "version", "status", "audience")
        vectors = MemoryVector.objects.order_by("memory_id").values_list("memory_id", "text_hash")
        return [*memories, *vectors]


def hostile_rollback(world: World) -> dict[str, Any]:
    """Return what a rollback of globex carries that means a person of acme."""
    owner, other = world.callers["globex/owner"], world.callers["acme/owner"]
    project = world.thing("project", "globex/open").parts["ref"]
    nothing = {"token": None, "session": None, "ancestor": None, "since": None, "until": None}
    return {
        "choice": {"project": project, "person": str(other.user_id), **nothing},
        "asked_at": NOW.isoformat(),
        "by": {
            "user_id": str(owner.user_id), "token_id": None, "agent": "",
            "source_interface": "dashboard",
        },
    }  # fmt: skip


@pytest.mark.parametrize("name", JOBS)
def test_a_job_touches_nothing_of_another_organization(world: World, name: str) -> None:
    before = rows(world, "acme")
    ids = [thing.parts["id"] for thing in world.things if thing.label.startswith("acme/")
           and "id" in thing.parts]  # fmt: skip
    with entered(world.callers["globex/owner"]), tenancy.unit():
        named = ids[:1] if name in TAKES_ONE else ids
        payload = {"ids": named, "key": "hashing/words-384", "model": 1, "weekly": True, "left": 9}
        payload |= hostile_rollback(world)
        job_id = jobs.enqueue(name, payload=payload, key="hostile")

    tasks.run(held=work.taken(job_id))

    job = Job.objects.get(pk=job_id)
    assert job.state == Job.State.DONE
    assert job.result.get("embedded", 0) <= len(rows(world, "globex"))  # a switch embeds its own
    assert name not in TAKES_IDS or job.result["embedded"] == 0
    assert rows(world, "acme") == before


@pytest.mark.parametrize("queue", HOSTILE)
def test_a_wake_up_for_no_queue_of_ours_runs_nothing(world: World, queue: str) -> None:
    with entered(world.callers["globex/owner"]), tenancy.unit():
        jobs.enqueue("memory.refresh_lexicon", payload={}, key="waiting")

    assert jobs.claim(queue=queue, worker="hostile") is None


def test_upkeep_of_all_leaves_each_in_its_own(world: World) -> None:
    before = {tenant: rows(world, tenant) for tenant in ("acme", "globex")}

    for tenant in tenancy.each_organization():
        with tenancy.enter(tenant):
            maintenance.merge_access()
            maintenance.refresh_lexicon()

    assert {tenant: rows(world, tenant) for tenant in before} == before
    with pytest.raises(tenancy.NoTenant):
        tenancy.current()
