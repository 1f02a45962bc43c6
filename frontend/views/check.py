"""The check of a plan or a diff before the work: handed in, answered, not kept.

The answer is findings by level, each with its place, reason and advice. The words that a memory and
the work share are marked in the memory and in the quoted step. What is quoted is the text without
its secrets, as it was checked.
"""

from collections.abc import Mapping
from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.utils.text import Truncator
from django.utils.translation import gettext_lazy as _

from accounts.errors import CairnError, TooLarge, wrong_field
from accounts.messages import message
from frontend import labels
from frontend.labels import MISSING, Name, name_of
from frontend.presenters import html
from frontend.views import base
from frontend.views.base import Frame
from memory.checks import actions, work
from memory.checks.check_findings import Level, Verdict

LARGEST_FILE: Final = 4 * actions.DIFF_MOST  # bytes; what is larger is longer than any diff may be
LONGEST_QUOTE: Final = 240  # characters of a step
Summary = tuple[str, Name, Name]  # a color, what is said of the work, what to do about it

SUMMARIES: Final[Mapping[Verdict, Summary]] = {
    Verdict.STOP: (
        "bad",
        _("Stop and read first"),
        _("Part of this was tried and failed, or was decided against. See the findings below."),
    ),
    Verdict.CAUTION: (
        "warn",
        _("Proceed with care"),
        _("Nothing rules this out, but some memories do not fit. See the findings below."),
    ),
}
KNOWN: Final[Summary] = ("good", _("No objections"), _("Read the findings below before you start."))
UNKNOWN: Final[Summary] = (
    "good",
    _("No objections found"),
    _("No memory that you can see is about this. That does not prove it is safe."),
)
NOT_CHECKED: Final[Summary] = (
    "warn",
    _("Not checked"),
    _("This project is paused, so nothing was checked. Resume it on the Connections page."),
)
LEVELS: Final[Mapping[Level, tuple[Name, str]]] = {  # with the color of a chip
    Level.STOP: (_("Stop"), "red"),
    Level.CAUTION: (_("Caution"), "amber"),
    Level.NOTE: (_("Good to know"), ""),
}
REASONS: Final = labels.pairs("reasons")
LEFT_OUT: Final[Mapping[str, Name]] = {**MISSING, **labels.names("left_out")}


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
            is_shown = not base.is_htmx(request) and len(text) <= actions.PLAN_MOST
            form = {"kind": kind, "text": actions.without_secrets(text=text)[0] if is_shown else ""}
        except CairnError as error:
            result = {"error": error}
        if base.is_htmx(request):
            return base.page(request, "partials/check_answer.html", result)
    context = {
        "form": form,
        "longest_plan": actions.PLAN_MOST,
        "longest_diff": actions.DIFF_MOST,
        **result,
    }
    return base.page(request, "pages/check.html", context)


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


def _answer(frame: Frame, text: str, *, is_diff: bool) -> dict[str, Any]:
    """Check a text. Lines of a diff are not quoted; steps of a plan are, without their secrets."""
    steps: dict[int, str] = {}
    if is_diff:
        check = actions.check_diff(
            caller=frame.caller, project=frame.slug, diff=text, now=frame.now
        )
    else:
        check = actions.check_plan(
            caller=frame.caller, project=frame.slug, plan=text, now=frame.now
        )
        plan = actions.without_secrets(text=text)[0]
        steps = {one.place.step: one.text for one in work.read_plan(text=plan)[0]}
    if actions.PAUSED in check.degraded:
        summary = NOT_CHECKED
    else:
        known = KNOWN if check.findings or check.ties else UNKNOWN
        summary = SUMMARIES.get(check.verdict, known)
    return {
        "check": check,
        "summary": summary,
        "is_diff": is_diff,
        "groups": [
            (
                level.value,
                *words,
                [_finding(one, steps) for one in check.findings if one.level is level],
            )
            for level, words in LEVELS.items()
        ],
        "without": [name_of(LEFT_OUT, one) for one in check.degraded],
    }


def _finding(found: actions.CheckFinding, steps: Mapping[int, str]) -> dict[str, Any]:
    """Return a memory that speaks up: its words, where it meets the work, why, what to do."""
    matched = frozenset(found.matched)
    why, advice = REASONS[found.why]
    quoted = {number: Truncator(text).chars(LONGEST_QUOTE) for number, text in steps.items()}
    return {
        "memory": found.memory,
        "sides": found.sides,
        "missing": found.missing,
        "statement": html.marked_statement(text=found.memory.content, stems=matched),
        "where": [
            (at, html.marked_statement(text=quoted.get(at.step, ""), stems=matched))
            for at in found.places
        ],
        "why": why,
        "advice": advice,
    }
