"""One kind of background job, step by step, as tests of the outbox take it."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db.models.functions import Now

from accounts import jobs, tenancy
from accounts.jobs import Claim
from accounts.models import Job

NAME = "memory.embed"
QUEUE = "interactive"
LATER = timedelta(seconds=jobs.LEASE_SECONDS + 1)


def enqueued(**given: Any) -> UUID | None:
    with tenancy.unit():
        return jobs.enqueue(NAME, **{"payload": {"ids": []}, **given})


def claimed() -> Claim:
    held = jobs.claim(queue=QUEUE, worker="w")
    assert held is not None
    return held


def taken(job_id: UUID | None) -> Claim:
    """Take one job as a worker would, whatever else waits."""
    assert job_id is not None
    job = Job.objects.select_related("organization").get(pk=job_id)
    Job.objects.filter(pk=job_id).update(state=Job.State.RUNNING, attempts=1)
    tenant = tenancy.Tenant(
        organization_id=job.organization_id,
        slug=job.organization.slug,
        schema_name=job.organization.schema_name,
    )
    return Claim(id=job.id, name=job.name, payload=job.payload, attempt=1, tenant=tenant)


def the_job() -> Job:
    return Job.objects.get()


def make_due() -> None:
    Job.objects.filter(state="queued").update(run_after=Now())


def lose_worker() -> None:
    Job.objects.filter(state="running").update(lease_until=Now() - timedelta(seconds=1))
