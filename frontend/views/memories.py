"""The memory browser: list, search, one memory, and what is done to it.

A memory is confirmed, pinned, corrected, archived or restored on its page; links are taken back and
put back there; and a selection of the list is changed at once.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from typing import Final
from uuid import UUID

from django.core.serializers.json import DjangoJSONEncoder
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_POST

from accounts import free_texts
from accounts.authentication import caller_from_session, entered
from accounts.errors import CairnError, InvalidInput
from accounts.queries import organizations_of
from frontend import labels
from frontend.presenters import memory_detail, memory_list
from frontend.views import base, inbox
from frontend.views.base import Frame
from memory.intake.actions.revise import revise
from memory.records import actions
from memory.records.queries import memories as queries
from memory.records.queries import views
from memory.review.actions import corrections, verdicts
from memory.review.queries import overview
from memory.taxonomy import LinkKind, Scope
from teams.permissions import Act

OFFERED_SCOPES: Final = (Scope.PERSONAL.value, Scope.PROJECT.value, Scope.ORGANIZATION.value)
VERBS: Final[
    Mapping[str, tuple[Callable[..., views.MemoryView], labels.Name]]
] = {  # of one memory: what is done, and what the toast says
    "confirm": (actions.confirm, gettext_lazy("Confirmed.")),
    "pin": (partial(actions.pin, pinned=True), gettext_lazy("Pinned.")),
    "unpin": (partial(actions.pin, pinned=False), gettext_lazy("Unpinned.")),
    "restore": (actions.restore, gettext_lazy("Restored.")),
}


@base.member
def memories(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the list; its rows alone when the next page is asked for."""
    asked = memory_list.query_of(values=request.GET)
    with memory_list.read_unit(asked=asked):
        shown = memory_list.list_memories(
            caller=frame.caller, project=frame.slug, asked=asked, now=frame.now
        )
        context: dict[str, object] = {"asked": asked, "shown": shown}
        if request.headers.get("HX-Target") == "more-rows":
            return base.page(request, "partials/memory_rows.html", context)
        try:
            memory_id = UUID(request.GET.get("peek", ""))
        except ValueError:
            inspected = None
        else:
            view = base.memory_here(frame, memory_id, or_of_no_project=True)
            inspected = memory_detail.inspect(memory=view, caller=frame.caller, now=frame.now)
        tally = overview.count_project(caller=frame.caller, project=frame.slug, now=frame.now)
        context |= {
            "suggestions": labels.FILTERS,
            "inspected": inspected,
            "tally": tally,
            "total": shown["total"] if asked.text else tally.memories,
        }
    status = shown["error"].status if "error" in shown else 200
    return base.page(request, "pages/memories.html", context, status=status)


@base.reader
def memory(request: HttpRequest, frame: Frame, memory_id: UUID) -> HttpResponse:
    """Show one memory: as a page, or for htmx as the inspector's content."""
    view = base.memory_here(frame, memory_id)
    inspected = memory_detail.inspect(memory=view, caller=frame.caller, now=frame.now)
    context = {"inspected": inspected}
    is_part = base.is_htmx(request)
    return base.page(
        request, f"{'partials/inspector' if is_part else 'pages/memory'}.html", context
    )


@base.reader
def as_json(request: HttpRequest, frame: Frame, memory_id: UUID) -> HttpResponse:
    """Give a memory as JSON."""
    view = base.memory_here(frame, memory_id)
    sides = queries.sides(caller=frame.caller, memory=view)
    given = {**asdict(view), "contradictions": [asdict(one) for one in sides]}
    text = json.dumps(given, cls=DjangoJSONEncoder, indent=2, ensure_ascii=False)
    return base.file(text, media="application/json")


@base.reader
def as_markdown(request: HttpRequest, frame: Frame, memory_id: UUID) -> HttpResponse:
    """Give a memory as Markdown."""
    view = base.memory_here(frame, memory_id)
    context = {"memory": view, "sides": queries.sides(caller=frame.caller, memory=view)}
    text = render_to_string("partials/memory.md", context, request)
    return base.file(text, media="text/markdown")


@base.person
def permalink(request: HttpRequest, memory_id: UUID) -> HttpResponse:
    """Find a memory in any of the reader's organizations, and go there."""
    user_id, now = base.person_id(request), timezone.now()
    for organization in organizations_of(user_id=user_id):
        caller = caller_from_session(user_id=user_id, organization_slug=organization.slug)
        with entered(caller):
            found = queries.by_ids(caller=caller, memory_ids=(memory_id,), now=now)
        if memory_id in found:
            project = found[memory_id].project_slug
            place = (organization.slug, *((project,) if project else ()), memory_id)
            return HttpResponseRedirect(reverse("memory", args=place))
    raise Http404


@require_POST
@base.member
def verb(request: HttpRequest, frame: Frame, memory_id: UUID, verb: str) -> HttpResponse:
    """Confirm, pin, unpin or restore a memory, and show it as it is now."""
    if verb not in VERBS:
        raise Http404
    base.memory_here(frame, memory_id)
    act, say = VERBS[verb]
    changed = act(caller=frame.caller, memory_id=memory_id, now=frame.now)
    return _changed(request, frame, changed, say=str(say))


@require_POST
@base.member
def bulk(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Do one verb to every selected memory: to all of them or, when one refuses, to none."""
    chosen = base.ids_of(request.POST.getlist("memory"))
    base.check_here(frame, chosen)
    done = actions.change_in_bulk(
        caller=frame.caller, verb=request.POST.get("verb", ""), memory_ids=chosen, now=frame.now
    )
    say = ngettext("%(count)d memory done.", "%(count)d memories done.", done) % {"count": done}
    return base.done(request, to=base.address("memories", frame), say=say, changed="memories")


@base.member
def correct(request: HttpRequest, frame: Frame, memory_id: UUID) -> HttpResponse:
    """Show the correction dialog, and correct: the new memory takes the old one's place.

    Offered are the scope of the old one and those of everybody. Visible memories that were derived
    from the old one are listed, because they rest on what is wrong.
    """
    old, form = base.memory_here(frame, memory_id), request.POST
    context: dict[str, object] = {}
    if request.method == "POST":
        correction = corrections.Correction(
            content=form.get("content", "").replace("\r\n", "\n").strip(),
            kind=form.get("kind", ""),
            reason=form.get("reason", "").strip(),
            scope=form.get("scope") or None,
        )
        try:
            done = corrections.edit(
                caller=frame.caller, memory_id=memory_id, correction=correction, now=frame.now
            )
            return _corrected(request, frame, old, done)
        except CairnError as error:
            context = {"error": error}
    links = queries.links(caller=frame.caller, memory_id=old.id)
    scopes = dict.fromkeys((old.scope, *OFFERED_SCOPES))
    if not old.project_slug:
        scopes.pop(Scope.PROJECT.value, None)
    context |= {
        "memory": old,
        "kinds": labels.CORRECTIONS,
        "scopes": tuple((name, labels.SCOPES[name]) for name in scopes),
        "affected": [one for one in links if one.kind == LinkKind.DERIVE and not one.outgoing],
        "form": form,
        "query": request.GET.urlencode(),
    }
    return base.dialog(request, "partials/correct.html", context)


def _corrected(
    request: HttpRequest, frame: Frame, old: views.MemoryView, done: corrections.Corrected
) -> HttpResponse:
    """Show the new memory, or in the inbox what waits next."""
    new = done.outcome.memory
    if new is None:
        raise Http404
    say = _("Corrected. The old text is kept.")
    if frame.project is not None and "inbox" in request.GET:
        return inbox.answer_verdict(request, frame, old, say=say, review_id=done.review_id)
    return _changed(request, frame, new, say=say)


@require_POST
@base.member
def difference(request: HttpRequest, frame: Frame, memory_id: UUID) -> HttpResponse:
    """Show what the correction dialog's text changes, while it is typed."""
    old = base.memory_here(frame, memory_id)
    new = free_texts.masked(text=request.POST.get("content", "").replace("\r\n", "\n"))
    return base.page(request, "partials/difference.html", {"old": old.content, "new": new})


@base.member
def archive(request: HttpRequest, frame: Frame, memory_id: UUID) -> HttpResponse:
    """Ask why, and archive; the toast offers to restore to whoever may."""
    view = base.memory_here(frame, memory_id)
    if request.method != "POST":
        return base.dialog(request, "partials/archive.html", {"memory": view})
    view = actions.archive(
        caller=frame.caller,
        memory_id=memory_id,
        reason=request.POST.get("reason", "").strip(),
        if_version=None,
        now=frame.now,
    )
    may_restore = view.author_user == frame.caller.user_id or frame.may(Act.RESTORE)
    undo = base.address("verb", frame, view.id, "restore") if may_restore else ""
    return _changed(request, frame, view, say=_("Archived."), undo=undo)


@require_POST
@base.member
def restore_version(
    request: HttpRequest, frame: Frame, memory_id: UUID, number: int
) -> HttpResponse:
    """Make an old version's text the present one; the present one stays in the history."""
    base.memory_here(frame, memory_id)
    history = queries.history(caller=frame.caller, memory_id=memory_id)
    wanted = next((version for version in history if version.number == number), None)
    if wanted is None:
        raise Http404
    view = revise(
        caller=frame.caller,
        memory_id=memory_id,
        changes={"content": wanted.content, "reason": f"restored version {number}"},
        if_version=history[0].number,
        now=frame.now,
    )
    return _changed(request, frame, view, say=_("The earlier text is back."))


@require_POST
@base.member
def unlink(request: HttpRequest, frame: Frame, memory_id: UUID) -> HttpResponse:
    """Take a link away, and show the memory without it."""
    base.memory_here(frame, memory_id)
    kind, others = request.POST.get("kind", ""), base.ids_of(request.POST.getlist("other")[:1])
    if kind not in set(LinkKind) or not others:
        raise InvalidInput(detail="There is no such link.", hint="Reload the page.")
    edge = verdicts.MemoryEdge(
        other_id=others[0], kind=LinkKind(kind), outgoing=request.POST.get("outgoing") == "1"
    )
    done = verdicts.unlink(caller=frame.caller, memory_id=memory_id, edge=edge, now=frame.now)
    undo_at = base.address("relink", frame, memory_id, done.review_id)
    return _changed(request, frame, done.memory, say=_("Link removed."), undo=undo_at)


@require_POST
@base.member
def relink(request: HttpRequest, frame: Frame, memory_id: UUID, review_id: UUID) -> HttpResponse:
    """Put the link back as it was."""
    base.memory_here(frame, memory_id)
    verdicts.undo(caller=frame.caller, review_id=review_id, now=frame.now)
    return _changed(request, frame, base.memory_here(frame, memory_id), say=_("Link restored."))


def _changed(
    request: HttpRequest, frame: Frame, view: views.MemoryView, *, say: str, undo: str = ""
) -> HttpResponse:
    """Answer a change of one memory: its inspector anew, and a toast."""
    if not base.is_htmx(request):
        return HttpResponseRedirect(base.address("memory", frame, view.id))
    inspected = memory_detail.inspect(memory=view, caller=frame.caller, now=frame.now)
    context = {"inspected": inspected}
    response = base.page(request, "partials/inspector.html", context)
    response["HX-Trigger"] = base.toast(text=say, undo=undo, changed="memories")
    return base.swapped(response, into="#inspector")
