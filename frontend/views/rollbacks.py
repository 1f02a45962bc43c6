"""Rolling back on a page: choose, see what it takes back, take it back, undo."""

from collections.abc import Mapping
from dataclasses import astuple
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST

from accounts import jobs
from accounts.errors import CairnError, NotFound, wrong_field
from accounts.identifiers import as_uuid
from accounts.queries import people
from frontend.views import base
from frontend.views.base import Frame
from memory.review.actions import rollback as actions
from memory.review.queries import rollback_plan
from teams.permissions import Act

SHOWN: Final = 50  # memories a page


@base.member
def rollback(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the form and what is chosen; take it back when it is sent."""
    sent = request.POST if request.method == "POST" else request.GET
    chosen = [(name, sent[name]) for name in rollback_plan.CHOICES if sent.get(name, "").strip()]
    context: dict[str, object] = {"form": sent, "chosen": chosen}
    try:
        if request.method == "POST":
            return _roll_back(request, frame)
        if chosen:
            context |= _preview(frame, sent)
    except CairnError as error:
        if error.status == NotFound.status and request.method == "POST":
            raise
        context["error"] = error
    job_id = as_uuid(text=request.GET.get("job", ""))
    context |= {
        "writers": _writers(frame),
        "may_all": frame.may(Act.RESTORE),
        "may_own": frame.may(Act.WRITE),
        "at_once": actions.MOST_AT_ONCE,
        "counted": rollback_plan.COUNTED,
        "done": as_uuid(text=request.GET.get("done", "")),
        "job": job_id and jobs.find_job(caller=frame.caller, job_id=job_id),
    }
    return base.page(request, "pages/rollback.html", context)


def _roll_back(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Take back what was chosen, and show that it is done or the job that does it."""
    choice = _choice(frame, request.POST)
    done = actions.roll_back(caller=frame.caller, choice=choice, now=frame.now)
    after = {"job": done.job_id} if done.job_id else {"done": done.review_id or ""}
    return base.moved(request, to=f"{base.address('rollback', frame)}?{urlencode(after)}")


@require_POST
@base.member
def undo(request: HttpRequest, frame: Frame, review_id: UUID) -> HttpResponse:
    """Undo a rollback."""
    actions.undo_rollback(caller=frame.caller, review_id=review_id, now=frame.now)
    return base.moved(request, to=f"{base.address('rollback', frame)}?undone=1")


def _preview(frame: Frame, sent: Mapping[str, str]) -> dict[str, Any]:
    """Return what a choice would take back, how much of it at once, and whether more is left."""
    seen = actions.preview(
        caller=frame.caller,
        choice=_choice(frame, sent),
        after=as_uuid(text=sent.get("after", "")),
        limit=SHOWN,
        now=frame.now,
    )
    archived, rewritten = seen.counts.archived, seen.counts.rewritten
    takes = min(archived + min(rewritten, actions.MOST_REWRITTEN), rollback_plan.MOST)
    return {
        "seen": seen,
        "number": takes,
        "has_rest": archived + rewritten > takes,
        "has_more": rollback_plan.COUNTED in astuple(seen.counts),
    }


def _choice(frame: Frame, sent: Mapping[str, str]) -> rollback_plan.RollbackChoice:
    """Read what was chosen. Raises InvalidInput naming the field.

    A date and time is UTC where it names no offset.
    """
    chosen: dict[str, Any] = {}
    for name in rollback_plan.CHOICES:
        text = sent.get(name, "").strip()
        if not text:
            chosen[name] = None
        elif name in {"since", "until"}:
            chosen[name] = _time(name, text)
        else:
            chosen[name] = as_uuid(text=text)
            if chosen[name] is None:
                raise wrong_field(
                    pointer=f"/{name}",
                    detail="This is not a valid id.",
                    hint="Copy the id from its page.",
                    code="identifier",
                )
    return rollback_plan.RollbackChoice(project=frame.slug, **chosen)


def _time(name: str, text: str) -> datetime:
    try:
        time = datetime.fromisoformat(text)
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise wrong_field(
            pointer=f"/{name}",
            detail="This is not a valid date and time.",
            hint="Write it like 2026-11-20T12:00.",
            code="moment",
        ) from error


def _writers(frame: Frame) -> list[tuple[str, str]]:
    """Return whom one may choose: oneself, or as a steward all who have written here."""
    ids = {frame.caller.user_id}
    if frame.may(Act.RESTORE):
        ids |= set(rollback_plan.list_writers(caller=frame.caller, project=frame.slug))
    named = people(caller=frame.caller, ids=ids)
    return sorted(((str(id), name) for id, name in named.items()), key=lambda one: one[1])
