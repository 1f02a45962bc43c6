"""Background work: what waits, runs and failed, and trying it again."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_POST

from accounts.actions.operators import cancel_job, retry_job
from accounts.errors import CairnError, Conflict, InvalidInput
from accounts.queries import jobs as work
from frontend.labels import memory_labels
from frontend.views import base
from frontend.views.base import Frame
from teams.permissions import Act, require

PAGE = "pages/settings_jobs.html"
SHOWN = 50  # jobs a page
UNDER_WAY = ("queued", "running")


@base.member
def jobs(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the work one may see, newest first."""
    return base.page(request, PAGE, _shown(request, frame))


@require_POST
@base.member
def job_change(request: HttpRequest, frame: Frame, job_id: UUID) -> HttpResponse:
    """Try a job again, or cancel it."""
    try:
        _change(request.POST.get("verb", ""), frame, job_id)
    except CairnError as error:
        if error.status == 404:
            raise
        context = _shown(request, frame) | {"error": error}
        return base.page(request, PAGE, context, status=error.status)
    return base.moved(request, to=reverse("settings_jobs", args=(frame.caller.organization_slug,)))


def _change(verb: str, frame: Frame, job_id: UUID) -> None:
    job = work.find_job(caller=frame.caller, job_id=job_id)
    require(caller=frame.caller, act=Act.WRITE)
    acts = {"retry": retry_job, "cancel": cancel_job}
    if verb not in acts:
        raise InvalidInput(detail="There is no such verb.", hint="Reload the page.")
    if not acts[verb](caller=frame.caller, job_id=job.id):
        raise Conflict(detail="The job has gone on meanwhile.", hint="Look at it as it is now.")


def _shown(request: HttpRequest, frame: Frame) -> dict[str, object]:
    state = request.GET.get("state", "")
    state = state if state in work.STATES else ""
    page = work.list_jobs(
        caller=frame.caller,
        state=state or None,
        cursor=request.GET.get("before") or None,
        limit=SHOWN,
    )
    standing = work.workload(caller=frame.caller, now=frame.now)
    return {
        "section": "jobs",
        "now": frame.now,
        "state": state,
        "jobs": page.items,
        "next": page.next_cursor,
        "standing": standing,
        "under_way": any(standing.states[name] for name in UNDER_WAY),
        "scheduled": tuple(
            (name, standing.last_runs[key])
            for key, name in memory_labels.SCHEDULED.items()
            if key in standing.last_runs
        ),
    }
