"""Background work of the graph: what each job name runs."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.utils import timezone

from accounts import jobs
from accounts.jobs import Claim
from graph.index.actions import resolve_code


@jobs.handler("graph.resolve")
def resolve(claim: Claim) -> Mapping[str, Any]:
    """Make the edges of a project's code anew."""
    return resolve_code(
        project_id=UUID(claim.payload["key"]),
        now=timezone.now(),
        tell=lambda done, total: jobs.progress(held=claim, done=done, total=total),
    )
