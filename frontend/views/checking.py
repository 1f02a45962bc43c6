"""The check of a plan or a diff before the work: handed in, answered, not kept."""

from collections.abc import Mapping
from typing import Final

from django.http import HttpRequest, HttpResponse

from accounts.errors import CairnError, TooLarge, wrong_field
from accounts.messages import message
from frontend.presenters import check_report
from frontend.presenters.check_report import Answer
from frontend.views import base
from frontend.views.base import Frame
from memory.checks.actions import DIFF_MOST, PLAN_MOST, check_diff, check_plan, without_secrets

DIFF: Final = "diff"
LARGEST_FILE: Final = 4 * DIFF_MOST  # bytes; what is larger is longer than any diff may be


@base.member
def check(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the form; hold what was handed in against what is known."""
    if request.method != "POST":
        return _page(request, frame, form={"kind": request.GET.get("kind", "")})
    _count(request, frame)
    is_diff = request.POST.get("kind") == DIFF
    try:
        text = _handed(request)
        answer = _answer(frame, text, is_diff=is_diff)
    except CairnError as error:
        return _answered(request, frame, form=request.POST, error=error, status=error.status)
    form = {"kind": request.POST.get("kind", ""), "text": _again(request, text)}
    return _answered(request, frame, form=form, answer=answer)


def _count(request: HttpRequest, frame: Frame) -> None:
    """Count what is handed in by its size, as over REST, before it is read. Raises RateLimited."""
    file = request.FILES.get("file")
    size = len(request.POST.get("text", "").encode()) + ((file.size or 0) if file else 0)
    counter = request.counter  # type: ignore[attr-defined]
    counter.count(caller=frame.caller, now_seconds=frame.now.timestamp(), size=size)


def _again(request: HttpRequest, text: str) -> str:
    """Return what stands in the form again: nothing for htmx, which keeps it, or of a long diff."""
    if request.htmx or len(text) > PLAN_MOST:  # type: ignore[attr-defined]
        return ""
    return without_secrets(text=text)[0]


def _answer(frame: Frame, text: str, *, is_diff: bool) -> Answer:
    project = frame.project.slug if frame.project else ""
    if is_diff:
        found = check_diff(caller=frame.caller, project=project, diff=text, now=frame.now)
        return check_report.answer(check=found, text="", is_diff=True)
    found = check_plan(caller=frame.caller, project=project, plan=text, now=frame.now)
    clean, _ = without_secrets(text=text)
    return check_report.answer(check=found, text=clean, is_diff=False)


def _handed(request: HttpRequest) -> str:
    """Return what was pasted or the file that was chosen. Raises InvalidInput, TooLarge."""
    pasted = request.POST.get("text", "").replace("\r\n", "\n")
    file = request.FILES.get("file")
    if file is None:
        if not pasted.strip():
            raise wrong_field(
                pointer="/text",
                detail="There is nothing to check.",
                hint="Paste a plan or a diff, or choose a file.",
            )
        return pasted
    if pasted.strip():
        raise wrong_field(
            pointer="/file",
            detail="There is a text and a file.",
            hint="Hand in one of the two.",
        )
    if (file.size or 0) > LARGEST_FILE:
        raise TooLarge(
            detail=message("A file of {size} bytes.", size=file.size or 0),
            hint="Leave out what is generated, or check it in parts.",
        )
    return str(file.read().decode("utf-8-sig", "replace"))


def _answered(
    request: HttpRequest,
    frame: Frame,
    *,
    form: Mapping[str, str],
    status: int = 200,
    **extra: object,
) -> HttpResponse:
    """Answer htmx with what was found alone, others with the whole page."""
    if request.htmx:  # type: ignore[attr-defined]
        return base.page(request, "partials/check_answer.html", extra, status=status)
    return _page(request, frame, form=form, status=status, **extra)


def _page(
    request: HttpRequest,
    frame: Frame,
    *,
    form: Mapping[str, str],
    status: int = 200,
    **extra: object,
) -> HttpResponse:
    context = {
        "section": "check",
        "form": form,
        "longest_plan": PLAN_MOST,
        "longest_diff": DIFF_MOST,
        "now": frame.now,
        **extra,
    }
    return base.page(request, "pages/check.html", context, status=status)
