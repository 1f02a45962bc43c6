"""Communication styles, the organization's and one's own, and which one fits."""

import re
from typing import Any, Final
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from accounts.errors import CairnError
from accounts.rights import manages
from frontend.views import base
from frontend.views.base import Frame
from memory.customization.actions import put_style, remove_style
from memory.customization.queries import choose_style, find_style, list_styles
from memory.customization.style import INTERFACES, LONGEST_TEXT, NewStyle, Style
from memory.taxonomy import Scope
from teams.permissions import Act, allows

STYLES: Final = "pages/settings_styles.html"
STYLE: Final = "pages/settings_style.html"
LONGEST_SAID: Final = 1_000  # characters of what a session is about, ours
_APART: Final = re.compile(r"[,\n]")


@base.member
def styles(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the styles and which of them fits a session, and define one."""
    if request.method != "POST":
        return base.page(request, STYLES, _of_styles(request, frame))
    name, scope = request.POST.get("name", "").strip(), request.POST.get("scope", "")
    try:
        _put(request, frame, name, scope)
    except CairnError as error:
        sent = {"error": error, "form": request.POST, "chosen": _chosen(request)}
        context = _of_styles(request, frame) | sent
        return base.page(request, STYLES, context, status=error.status)
    return base.moved(request, to=_address(frame))


@base.member
def style(request: HttpRequest, frame: Frame, style_id: UUID) -> HttpResponse:
    """Show a style, save it, or remove it."""
    view = find_style(caller=frame.caller, style_id=style_id)
    if request.method != "POST":
        return base.page(request, STYLE, _of_style(frame, view))
    try:
        if request.POST.get("verb", "") == "remove":
            remove_style(caller=frame.caller, style_id=view.id)
        else:
            _put(request, frame, view.name, view.scope)
    except CairnError as error:
        sent = {"error": error, "form": request.POST, "chosen": _chosen(request)}
        return base.page(request, STYLE, _of_style(frame, view) | sent, status=error.status)
    return base.moved(request, to=_address(frame))


def _put(request: HttpRequest, frame: Frame, name: str, scope: str) -> None:
    new = NewStyle(
        name=name,
        scope=scope,
        text=request.POST.get("text", ""),
        topics=_topics(request.POST.get("topics", "")),
        interfaces=_chosen(request),
        is_default="is_default" in request.POST,
    )
    put_style(caller=frame.caller, new=new, now=frame.now)


def _of_styles(request: HttpRequest, frame: Frame) -> dict[str, Any]:
    topic = request.GET.get("topic", "")[:LONGEST_SAID]
    interface = request.GET.get("interface", "")
    has_asked = "topic" in request.GET
    found = choose_style(caller=frame.caller, topic=topic, interface=interface)
    return {
        "section": "styles",
        "styles": list_styles(caller=frame.caller),
        "asked": {"topic": topic, "interface": interface} if has_asked else None,
        "composed": found if has_asked else None,
        **_of_forms(frame),
    }


def _of_style(frame: Frame, view: Style) -> dict[str, Any]:
    is_own = view.scope is Scope.PERSONAL
    return {
        "section": "styles",
        "style": view,
        "topics": ", ".join(view.topics),
        "chosen": view.interfaces,
        "may_change": _writes(frame) if is_own else manages(caller=frame.caller),
        **_of_forms(frame),
    }


def _of_forms(frame: Frame) -> dict[str, Any]:
    return {
        "interfaces": INTERFACES,
        "longest": LONGEST_TEXT,
        "may_manage": manages(caller=frame.caller),
        "may_write": _writes(frame),
    }


def _writes(frame: Frame) -> bool:
    return allows(role=frame.caller.role, act=Act.WRITE)


def _topics(text: str) -> tuple[str, ...]:
    """Return the topics between commas; what is empty is none."""
    return tuple(topic.strip() for topic in _APART.split(text) if topic.strip())


def _chosen(request: HttpRequest) -> tuple[str, ...]:
    return tuple(request.POST.getlist("interface"))


def _address(frame: Frame) -> str:
    return reverse("settings_styles", args=(frame.caller.organization_slug,))
