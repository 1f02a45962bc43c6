"""The check of a plan or a diff before the work: handed in, answered, not kept."""

from typing import Any, Final

from django.http import HttpRequest, HttpResponse

from accounts.errors import CairnError, TooLarge, wrong_field
from accounts.messages import message
from frontend.presenters import check_report
from frontend.views import base
from frontend.views.base import Frame
from memory.checks.actions import DIFF_MOST, PLAN_MOST, check_diff, check_plan, without_secrets

LARGEST_FILE: Final = 4 * DIFF_MOST  # bytes; what is larger is longer than any diff may be


@base.member
def check(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the form; hold what was handed in against what is known.

    What is handed in counts by its size, as over REST, before it is read. The form shows again what
    was sent without secrets, but nothing to htmx, which keeps it, and nothing of a long diff.
    htmx is answered with what was found alone.
    """
    form: Any = {"kind": request.GET.get("kind", "")}
    result: dict[str, object] = {}
    if request.method == "POST":
        file = request.FILES.get("file")
        size = len(request.POST.get("text", "").encode()) + ((file.size or 0) if file else 0)
        counter = request.counter  # type: ignore[attr-defined]
        counter.count(caller=frame.caller, now_seconds=frame.now.timestamp(), size=size)
        form, kind = request.POST, request.POST.get("kind", "")
        try:
            text = _handed_in(request)
            result = {"answer": _answer(frame, text, is_diff=kind == "diff")}
            is_shown = not base.is_htmx(request) and len(text) <= PLAN_MOST
            form = {"kind": kind, "text": without_secrets(text=text)[0] if is_shown else ""}
        except CairnError as error:
            result = {"error": error}
        if base.is_htmx(request):
            return base.page(request, "partials/check_answer.html", result)
    context = {
        "section": "check",
        "form": form,
        "longest_plan": PLAN_MOST,
        "longest_diff": DIFF_MOST,
        "now": frame.now,
        **result,
    }
    return base.page(request, "pages/check.html", context)


def _answer(frame: Frame, text: str, *, is_diff: bool) -> dict[str, Any]:
    if is_diff:
        found = check_diff(caller=frame.caller, project=frame.slug, diff=text, now=frame.now)
        return check_report.answer(check=found, plan=None)
    found = check_plan(caller=frame.caller, project=frame.slug, plan=text, now=frame.now)
    return check_report.answer(check=found, plan=without_secrets(text=text)[0])


def _handed_in(request: HttpRequest) -> str:
    """Return what was pasted or the file that was chosen. Raises InvalidInput, TooLarge."""
    pasted = request.POST.get("text", "").replace("\r\n", "\n")
    file = request.FILES.get("file")
    if file is None and not pasted.strip():
        raise wrong_field(
            pointer="/text",
            detail="There is nothing to check.",
            hint="Paste a plan or a diff, or choose a file.",
        )
    if file is None:
        return pasted
    if pasted.strip():
        raise wrong_field(
            pointer="/file",
            detail="You sent both a text and a file.",
            hint="Send only one of them.",
        )
    if (file.size or 0) > LARGEST_FILE:
        raise TooLarge(
            detail=message("A file of {size} bytes.", size=file.size or 0),
            hint="Leave out what is generated, or check it in parts.",
        )
    return str(file.read().decode("utf-8-sig", "replace"))
