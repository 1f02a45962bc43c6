"""The memory browser: list, search, peek, detail, and the same as JSON and Markdown."""

import json
from dataclasses import asdict
from uuid import UUID

from django.core.serializers.json import DjangoJSONEncoder
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse

from accounts.authentication import caller_from_session, entered
from accounts.queries.directory import organizations_of
from frontend.labels import memory_labels
from frontend.presenters import memory_detail, memory_list
from frontend.views import base
from frontend.views.base import Frame
from memory.records.queries import memories as queries
from memory.records.queries.views import MemoryView
from memory.review.queries import overview


@base.member
def memories(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the list; its rows alone when the next page is asked for."""
    slug = frame.project.slug if frame.project else ""
    asked = memory_list.asked(values=request.GET)
    with memory_list.moment(asked=asked):
        shown = memory_list.shown(caller=frame.caller, project=slug, asked=asked, now=frame.now)
        context: dict[str, object] = {
            "section": "memories",
            "asked": asked,
            "shown": shown,
            "now": frame.now,
        }
        if request.headers.get("HX-Target") == "more-rows":
            return base.page(request, "partials/memory_rows.html", context)
        context["suggestions"] = memory_labels.FILTERS
        context["inspected"] = _peek(request, frame)
        tally = overview.count_project(caller=frame.caller, project=slug, now=frame.now)
        context["tally"] = tally
        context["total"] = shown.total if asked.text else tally.memories
    status = 200 if shown.error is None else shown.error.status
    return base.page(request, "pages/memories.html", context, status=status)


@base.reader
def memory(request: HttpRequest, frame: Frame, memory_id: UUID) -> HttpResponse:
    """Show one memory: as a page, or for htmx as the inspector's content."""
    inspected = _inspected(frame, base.memory_here(frame, memory_id))
    context = {"section": "memories", "inspected": inspected, "now": frame.now}
    if request.htmx:  # type: ignore[attr-defined]
        return base.page(request, "partials/inspector.html", context)
    return base.page(request, "pages/memory.html", context)


@base.reader
def as_json(request: HttpRequest, frame: Frame, memory_id: UUID) -> HttpResponse:
    """Give a memory as JSON."""
    view = base.memory_here(frame, memory_id)
    sides = queries.sides(caller=frame.caller, memory=view)
    given = {**asdict(view), "contradictions": [asdict(one) for one in sides]}
    text = json.dumps(given, cls=DjangoJSONEncoder, indent=2, ensure_ascii=False)
    return _file(text, "application/json")


@base.reader
def as_markdown(request: HttpRequest, frame: Frame, memory_id: UUID) -> HttpResponse:
    """Give a memory as Markdown."""
    view = base.memory_here(frame, memory_id)
    context = {"memory": view, "sides": queries.sides(caller=frame.caller, memory=view)}
    response = render(request, "partials/memory.md", context)
    return _file(response.content.decode(), "text/markdown")


@base.person
def permalink(request: HttpRequest, memory_id: UUID) -> HttpResponse:
    """Find a memory in any of the reader's organizations, and go there."""
    user_id = base.person_id(request)
    for organization in organizations_of(user_id=user_id):
        caller = caller_from_session(user_id=user_id, organization_slug=organization.slug)
        with entered(caller):
            found = queries.by_ids(caller=caller, memory_ids=(memory_id,), now=base.clock())
        if memory_id in found:
            project = found[memory_id].project_slug
            place = (organization.slug, *((project,) if project else ()), memory_id)
            return HttpResponseRedirect(reverse("memory", args=place))
    raise Http404


def _peek(request: HttpRequest, frame: Frame) -> memory_detail.Inspected | None:
    try:
        memory_id = UUID(request.GET.get("peek", ""))
    except ValueError:
        return None
    return _inspected(frame, base.memory_listed(frame, memory_id))


def _inspected(frame: Frame, view: MemoryView) -> memory_detail.Inspected:
    return memory_detail.inspect(memory=view, caller=frame.caller, now=frame.now)


def _file(text: str, kind: str) -> HttpResponse:
    response = HttpResponse(text, content_type=f"{kind}; charset=utf-8")
    response["Cache-Control"] = "no-store"
    return response
