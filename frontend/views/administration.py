"""What owners look after: the audit log, background jobs, embedding models, what models cost."""

from datetime import date, timedelta
from typing import Final
from uuid import UUID

from django.http import HttpRequest, HttpResponse, QueryDict
from django.views.decorators.http import require_POST

from accounts import jobs as accounts_jobs
from accounts import queries
from accounts.actions.organizations import cancel_job, retry_job
from accounts.caller import manages
from accounts.errors import CairnError, Conflict, InvalidInput
from accounts.identifiers import as_uuid
from frontend import labels
from frontend.presenters import audit_lines
from frontend.views import base
from frontend.views.base import Frame
from memory.extraction.queries import EARLIEST, usage
from memory.index import queries as index_queries
from memory.index.actions import model_switch
from teams.audit import AREAS, Filters
from teams.audit import page as audit_page
from teams.audit_chain import Entry
from teams.permissions import Act, require

AUDIT_ENTRIES: Final = 50  # a page
AUDIT_CHUNK: Final = 1_000  # entries read at once for a file
AUDIT_FILE_ENTRIES: Final = 20_000  # a file; `manage.py audit export` writes all
JOBS: Final = 50  # a page
NOBODY: Final = UUID(int=0)  # what is no id names nobody


@base.member
def audit_log(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the audit log, newest first; who may not read it is told who may."""
    context: dict[str, object] = {}
    if not manages(caller=frame.caller):
        return base.page(request, "pages/settings_audit.html", context, status=403)
    page = audit_page(
        caller=frame.caller,
        filters=_audit_filters(request.GET),
        cursor=request.GET.get("before") or None,
        limit=AUDIT_ENTRIES,
    )
    context |= {
        "may_manage": True,
        "lines": audit_lines.lines(caller=frame.caller, entries=page.items),
        "next": page.next_place,
        "areas": audit_lines.AREAS.items(),
        "people": queries.members(caller=frame.caller),
        "asked": request.GET,
    }
    return base.page(request, "pages/settings_audit.html", context)


@base.member
def audit_csv(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Return the newest entries that pass the filters as a file. Raises RoleNotSufficient."""
    entries: list[Entry] = []
    cursor: str | None = None
    while len(entries) < AUDIT_FILE_ENTRIES:
        page = audit_page(
            caller=frame.caller,
            filters=_audit_filters(request.GET),
            cursor=cursor,
            limit=AUDIT_CHUNK,
        )
        entries.extend(page.items)
        cursor = page.next_place
        if cursor is None:
            break
    return base.file(
        audit_lines.as_csv(entries=entries),
        media="text/csv",
        name=f"audit-{frame.caller.organization_slug}.csv",
    )


def _audit_filters(asked: QueryDict) -> Filters:
    area, who = asked.get("area", ""), asked.get("who", "")
    return Filters(
        area=area if area in AREAS else None,
        actor=(as_uuid(text=who) or NOBODY) if who else None,
        object_id=asked.get("thing", "").strip() or None,
        request_id=asked.get("request", "").strip() or None,
    )


@base.member
def jobs(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the background work one may see, newest first."""
    return _jobs_page(request, frame)


@require_POST
@base.member
def job_change(request: HttpRequest, frame: Frame, job_id: UUID) -> HttpResponse:
    """Try a job again, or cancel it."""
    change = {"retry": retry_job, "cancel": cancel_job}.get(request.POST.get("verb", ""))
    job = accounts_jobs.find_job(caller=frame.caller, job_id=job_id)
    try:
        require(caller=frame.caller, act=Act.WRITE)
        if change is None:
            raise base.no_verb()
        if not change(caller=frame.caller, job_id=job.id):
            raise Conflict(
                detail="The job has changed in the meantime.", hint="Look at it as it is now."
            )
    except CairnError as error:
        return _jobs_page(request, frame, error=error)
    return base.moved(request, to=base.address("settings_jobs", frame))


def _jobs_page(
    request: HttpRequest, frame: Frame, *, error: CairnError | None = None
) -> HttpResponse:
    asked = request.GET.get("state", "")
    state = asked if asked in accounts_jobs.STATES else ""
    page = accounts_jobs.list_jobs(
        caller=frame.caller,
        state=state or None,
        cursor=request.GET.get("before") or None,
        limit=JOBS,
    )
    workload = accounts_jobs.workload(caller=frame.caller, now=frame.now)
    context = {
        "error": error,
        "state": state,
        "jobs": page.items,
        "next": page.next_place,
        "workload": workload,
        "under_way": any(workload.states[name] for name in ("queued", "running")),
        "scheduled": tuple(
            (name, workload.last_runs[key])
            for key, name in labels.SCHEDULED.items()
            if key in workload.last_runs
        ),
    }
    return base.page(request, "pages/settings_jobs.html", context)


@base.member
def models(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the embedding models and change them; who may not is told who may."""
    context: dict[str, object] = {"form": request.POST}
    if not manages(caller=frame.caller):
        return base.page(request, "pages/settings_models.html", context, status=403)
    if request.method == "POST":
        try:
            _change_models(frame, request.POST.get("verb", ""), request.POST.get("key", "").strip())
            return base.moved(request, to=base.address("settings_models", frame))
        except CairnError as error:
            context["error"] = error
    found = index_queries.models(caller=frame.caller)
    parts = {
        part.value: [model for model in found.models if model.part is part]
        for part in index_queries.Part
    }
    in_use = {model.key for model in (*parts["active"], *parts["filling"])}
    context |= {
        "may_manage": True,
        "found": found,
        "queries": index_queries.queries_kept(caller=frame.caller),
        "filling": next(iter(parts["filling"]), None),
        "back": max(parts["kept"], key=lambda model: str(model.activated_at), default=None),
        "choices": [key for key in found.known if key not in in_use],
    }
    return base.page(request, "pages/settings_models.html", context)


def _change_models(frame: Frame, verb: str, key: str) -> None:
    match verb:
        case "switch" if key:
            model_switch.switch(caller=frame.caller, key=key)
        case "cancel":
            model_switch.cancel(caller=frame.caller)
        case "rollback":
            model_switch.roll_back(caller=frame.caller)
        case "drop" if key:
            model_switch.drop(caller=frame.caller, key=key)
        case _:
            raise InvalidInput(detail="There is no such model.", hint="Choose one from the list.")


@base.reader
def month(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show what models cost in a month of the project, or of the organization.

    Who may not see it is told who may; what is no month, or is to come, is the present one.
    """
    context: dict[str, object] = {}
    if not manages(caller=frame.caller):
        return base.page(request, "pages/usage.html", context, status=403)
    today = frame.now.date()
    try:
        first = date.fromisoformat(f"{request.GET.get('month', '')}-01")
    except ValueError:
        first = today
    if not EARLIEST <= first <= today:
        first = today
    first = first.replace(day=1)
    found = usage(caller=frame.caller, project=frame.slug or None, day=first)
    later = (first + timedelta(days=32)).replace(day=1)
    context |= {
        "may_manage": True,
        "usage": found,
        "earlier": (first - timedelta(days=1)).replace(day=1) if first > EARLIEST else None,
        "later": later if later <= today else None,
    }
    return base.page(request, "pages/usage.html", context)
