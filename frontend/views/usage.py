"""What models cost: a month by day, project and model, against its cap."""

from datetime import date, timedelta

from django.http import HttpRequest, HttpResponse

from accounts.rights import manages
from frontend.views import base
from frontend.views.base import Frame
from memory.extraction.queries import EARLIEST, usage


@base.reader
def month(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show a month of the project, or of the organization; who may not see it is told who may."""
    context: dict[str, object] = {"section": "usage", "now": frame.now}
    if not manages(caller=frame.caller):
        return base.page(request, "pages/usage.html", context, status=403)
    today = frame.now.date()
    first = _month(request.GET.get("month", ""), today)
    found = usage(
        caller=frame.caller,
        project=frame.project.slug if frame.project else None,
        day=first,
    )
    later = (first + timedelta(days=32)).replace(day=1)
    context |= {
        "may_manage": True,
        "usage": found,
        "most": max((one.tokens for one in found.days), default=0),
        "earlier": (first - timedelta(days=1)).replace(day=1) if first > EARLIEST else None,
        "later": later if later <= today else None,
    }
    return base.page(request, "pages/usage.html", context)


def _month(text: str, today: date) -> date:
    """Read a month; what is none, or is to come, is the present one."""
    try:
        first = date.fromisoformat(f"{text}-01")
    except ValueError:
        return today.replace(day=1)
    return first if EARLIEST <= first <= today else today.replace(day=1)
