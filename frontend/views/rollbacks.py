"""Rolling back on a page: choose, see what it takes back, take it back, undo."""

from collections.abc import Mapping
from dataclasses import astuple, dataclass
from datetime import UTC, datetime
from typing import Final
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from accounts.errors import CairnError, NotFound, wrong_field
from accounts.identifiers import as_uuid
from accounts.queries import jobs
from accounts.queries.directory import people
from frontend.labels.memory_labels import Name
from frontend.views import base
from frontend.views.base import Frame
from memory.review.rollback import plan, selection
from memory.review.rollback.execute import MOST_AT_ONCE, MOST_REWRITTEN, roll_back
from memory.review.rollback.plan import COUNTED, MOST, LeftReason, RollbackFate, RollbackItem
from memory.review.rollback.selection import CHOICES, RollbackChoice
from memory.review.rollback.undo import undo_rollback
from teams.permissions import Act, allows

SHOWN: Final = 50  # memories a page
MOMENTS: Final = frozenset({"since", "until"})
FATES: Final[Mapping[RollbackFate, Name]] = {
    RollbackFate.ARCHIVED: _("is archived"),
    RollbackFate.REWRITTEN: _("says again what it said"),
    RollbackFate.LEFT: _("is left"),
}
WHYS: Final[Mapping[LeftReason, Name]] = {
    LeftReason.CHANGED: _("Somebody else has rewritten it since."),
    LeftReason.KEPT: _("Somebody else has kept it since."),
    LeftReason.SAME: _("It is as it was before already."),
    LeftReason.TWIN: _("Another memory says by then what it said."),
    LeftReason.MOVED: _("Others see it now than those who saw the text before."),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One memory of a preview, in words."""

    item: RollbackItem
    fate: Name
    why: Name


@base.member
def rollback(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the form and what is chosen; take it back when it is sent."""
    if request.method != "POST":
        return _asked(request, frame, request.GET)
    try:
        choice = _choice(frame, request.POST)
        done = roll_back(caller=frame.caller, choice=choice, now=frame.now)
    except CairnError as error:
        if error.status == NotFound.status:
            raise
        return _page(request, frame, sent=request.POST, error=error, status=error.status)
    after = {"job": done.job_id} if done.job_id else {"done": done.review_id or ""}
    return base.moved(request, to=f"{base.address('rollback', frame)}?{urlencode(after)}")


@require_POST
@base.member
def take_back(request: HttpRequest, frame: Frame, review_id: UUID) -> HttpResponse:
    """Undo a rollback."""
    undo_rollback(caller=frame.caller, review_id=review_id, now=frame.now)
    return base.moved(request, to=f"{base.address('rollback', frame)}?undone=1")


def _asked(request: HttpRequest, frame: Frame, sent: Mapping[str, str]) -> HttpResponse:
    """Show the form, with the preview where something is chosen."""
    if not any(sent.get(name, "").strip() for name in CHOICES):
        return _page(request, frame, sent=sent)
    try:
        choice = _choice(frame, sent)
        seen = plan.preview(
            caller=frame.caller,
            choice=choice,
            after=as_uuid(text=sent.get("after", "")),
            limit=SHOWN,
            now=frame.now,
        )
    except CairnError as error:
        return _page(request, frame, sent=sent, error=error, status=error.status)
    lines = tuple(_line(one) for one in seen.items)
    number = seen.counts.archived + seen.counts.rewritten
    takes = min(seen.counts.archived + min(seen.counts.rewritten, MOST_REWRITTEN), MOST)
    rest = number > takes
    told = {"number": takes, "rest": rest, "more": COUNTED in astuple(seen.counts)}
    return _page(request, frame, sent=sent, seen=seen, lines=lines, told=told)


def _line(item: RollbackItem) -> Line:
    return Line(item=item, fate=FATES[item.fate], why=WHYS[item.why] if item.why else "")


def _choice(frame: Frame, sent: Mapping[str, str]) -> RollbackChoice:
    """Read what was chosen. Raises InvalidInput naming the field."""
    given = {name: sent.get(name, "").strip() for name in CHOICES}
    ids = {name: _id(name, text) for name, text in given.items() if name not in MOMENTS}
    since, until = (_moment(name, given[name]) for name in ("since", "until"))
    return RollbackChoice(project=_slug(frame), since=since, until=until, **ids)


def _id(name: str, text: str) -> UUID | None:
    found = as_uuid(text=text) if text else None
    if text and found is None:
        raise wrong_field(
            pointer=f"/{name}",
            detail="This is no id.",
            hint="Copy it from the page of what is meant.",
            code="identifier",
        )
    return found


def _moment(name: str, text: str) -> datetime | None:
    """Read a date and time of a form, which is UTC where it names no offset."""
    if not text:
        return None
    try:
        said = datetime.fromisoformat(text)
        return said.replace(tzinfo=UTC) if said.tzinfo is None else said.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise wrong_field(
            pointer=f"/{name}",
            detail="This is no date and time.",
            hint="Write it like 2026-11-20T12:00.",
            code="moment",
        ) from error


def _page(
    request: HttpRequest,
    frame: Frame,
    *,
    sent: Mapping[str, str],
    status: int = 200,
    **more: object,
) -> HttpResponse:
    context = {
        "section": "settings",
        "form": sent,
        "writers": _writers(frame),
        "may_all": allows(role=frame.caller.role, act=Act.RESTORE),
        "may_own": allows(role=frame.caller.role, act=Act.WRITE),
        "at_once": MOST_AT_ONCE,
        "counted": COUNTED,
        "done": as_uuid(text=request.GET.get("done", "")),
        "job": _job(request, frame),
        "chosen": tuple((name, sent.get(name, "")) for name in CHOICES if sent.get(name, "")),
        **more,
    }
    return base.page(request, "pages/rollback.html", context, status=status)


def _writers(frame: Frame) -> tuple[tuple[str, str], ...]:
    """Return whom one may choose: oneself, or as a steward all who have written here."""
    ids = {frame.caller.user_id} if frame.caller.user_id else set()
    if allows(role=frame.caller.role, act=Act.RESTORE):
        ids |= set(selection.list_writers(caller=frame.caller, project=_slug(frame)))
    named = people(caller=frame.caller, ids=ids)
    return tuple(sorted(((str(id), name) for id, name in named.items()), key=lambda one: one[1]))


def _job(request: HttpRequest, frame: Frame) -> jobs.JobView | None:
    job_id = as_uuid(text=request.GET.get("job", ""))
    return None if job_id is None else jobs.find_job(caller=frame.caller, job_id=job_id)


def _slug(frame: Frame) -> str:
    return frame.project.slug if frame.project else ""
