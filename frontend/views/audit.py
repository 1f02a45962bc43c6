"""The audit log of an organization: a page with filters, and the same as CSV."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse, QueryDict

from accounts.queries.directory import members
from accounts.rights import manages
from frontend.presenters import audit_lines
from frontend.views import base
from frontend.views.base import Frame
from teams.audit.chain import Entry
from teams.audit.queries import AREAS, Filters
from teams.audit.queries import page as page_of_audit

LENGTH = 50  # entries a page
FILE_PAGE = 1_000  # entries read at once for a file
FILE_LENGTH = 20_000  # entries a file; `manage.py audit export` writes all


@base.member
def log(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the log, newest first; who may not read it is told who may."""
    context: dict[str, object] = {"section": "audit", "now": frame.now}
    if not manages(caller=frame.caller):
        return base.page(request, "pages/settings_audit.html", context, status=403)
    page = page_of_audit(
        caller=frame.caller,
        filters=_filters(request.GET),
        cursor=request.GET.get("before") or None,
        limit=LENGTH,
    )
    context |= {
        "may_manage": True,
        "lines": audit_lines.lines(caller=frame.caller, entries=page.items),
        "next": page.next_cursor,
        "areas": audit_lines.AREAS.items(),
        "people": members(caller=frame.caller),
        "asked": request.GET,
    }
    return base.page(request, "pages/settings_audit.html", context)


@base.member
def as_csv(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Return the newest entries that pass the filters as a file. Raises RoleNotSufficient."""
    entries: list[Entry] = []
    cursor: str | None = None
    while len(entries) < FILE_LENGTH:
        page = page_of_audit(
            caller=frame.caller,
            filters=_filters(request.GET),
            cursor=cursor,
            limit=FILE_PAGE,
        )
        entries.extend(page.items)
        cursor = page.next_cursor
        if cursor is None:
            break
    name = f"audit-{frame.caller.organization_slug}.csv"
    response = HttpResponse(
        audit_lines.as_csv(entries=entries), content_type="text/csv; charset=utf-8"
    )
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["Cache-Control"] = "no-store"
    return response


def _filters(asked: QueryDict) -> Filters:
    area = asked.get("area", "")
    return Filters(
        area=area if area in AREAS else None,
        actor=_id(asked.get("who", "")),
        object_id=asked.get("thing", "").strip() or None,
        request_id=asked.get("request", "").strip() or None,
    )


def _id(text: str) -> UUID | None:
    try:
        return UUID(text) if text else None
    except ValueError:
        return UUID(int=0)  # nobody, as an unknown id would be
