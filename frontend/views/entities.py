"""What a project's memories name: a list, the profile of one name, and names that are one (2.6)."""

from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST

from accounts.errors import CairnError, InvalidInput
from accounts.messages import message
from frontend.labels import memory_labels
from frontend.views import base
from frontend.views.base import Frame
from memory.entities.rules import EntityType
from memory.review.actions.entity_merges import Pair, merge_names, scope_of, unmerge_names
from memory.search.entity_profile import TYPES, Place, about, list_things, suggest_names
from memory.search.request import Narrowing
from memory.taxonomy import Scope
from teams.permissions import Act, allows

PAGE_SIZE = 60  # names
MEMORIES = 20  # of one name that are shown; a search shows them all
LONGEST = 120  # characters of a name


@base.reader
def entities(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show what the memories of the project name, the most often named first."""
    kind = _kind(request.GET.get("kind", ""))
    begins = request.GET.get("q", "").strip()[:LONGEST]
    things, last = list_things(
        caller=frame.caller,
        begins=begins,
        type=kind,
        narrowing=Narrowing(project=_slug(frame)),
        after=_place(request.GET.get("after", "")),
        limit=PAGE_SIZE,
    )
    context = {
        "section": "entities",
        "things": things,
        "largest": max((one.memories for one in things), default=0),
        "next": "" if last is None else f"{last[0]}~{last[2].value}~{last[1]}",
        "kinds": tuple((name, memory_labels.ENTITY_TYPES[name]) for name in TYPES),
        "kind": kind or "",
        "begins": begins,
    }
    return base.page(request, "pages/entities.html", context)


@base.member
def entity(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the profile of a name; a form that comes says that another name is the same thing."""
    sent = request.POST if request.method == "POST" else request.GET
    name, kind = request.GET.get("name", "").strip()[:LONGEST], _kind(request.GET.get("kind", ""))
    error: CairnError | None = None
    if request.method == "POST":
        pair = Pair(
            name=name,
            same_as=sent.get("same_as", "").strip()[:LONGEST],
            type=kind,
            scope=sent.get("scope", Scope.PERSONAL.value),
            project=_slug(frame),
        )
        try:
            merge_names(caller=frame.caller, pair=pair, now=frame.now)
            return base.moved(request, to=_address(frame, name, kind))
        except CairnError as refused:
            if refused.status == 404 and not _is_known(frame, name, kind):
                raise
            error = refused
    status = 200 if error is None else error.status
    context = {**_profile(frame, name, kind), "form": sent, "error": error}
    return base.page(request, "pages/entity.html", context, status=status)


@require_POST
@base.member
def unmerge(request: HttpRequest, frame: Frame, merge_id: UUID) -> HttpResponse:
    """Take back that two names are one thing."""
    unmerge_names(caller=frame.caller, merge_id=merge_id, now=frame.now)
    name = request.GET.get("name", "").strip()[:LONGEST]
    to = _address(frame, name, None) if name else base.address("entities", frame)
    return base.moved(request, to=to)


def _profile(frame: Frame, name: str, kind: str | None) -> dict[str, object]:
    found = about(
        caller=frame.caller,
        name=name,
        type=kind,
        narrowing=Narrowing(project=_slug(frame), limit=MEMORIES),
        now=frame.now,
    )
    may_merge = allows(role=frame.caller.role, act=Act.MERGE)
    return {
        "section": "entities",
        "name": name,
        "kind": kind or "",
        "profile": found,
        "close": ()
        if found.thing is None
        else suggest_names(
            caller=frame.caller, thing=found.thing, narrowing=Narrowing(project=_slug(frame))
        ),
        "merges": tuple((one, scope_of(merge=one, caller=frame.caller)) for one in found.merges),
        "may_merge": may_merge,
        "may_change": allows(role=frame.caller.role, act=Act.WRITE),
        "now": frame.now,
    }


def _is_known(frame: Frame, name: str, kind: str | None) -> bool:
    narrowing = Narrowing(project=_slug(frame), limit=1)
    found = about(caller=frame.caller, name=name, type=kind, narrowing=narrowing, now=frame.now)
    return found.thing is not None


def _kind(text: str) -> str | None:
    """Read a kind of the address; refuse what is none."""
    if not text:
        return None
    if text not in TYPES:
        raise InvalidInput(
            detail="There is no such kind of name.",
            hint=message("Use one of: {names}.", names=TYPES),
        )
    return text


def _place(text: str) -> Place | None:
    """Read where a page begins; what is none starts at the beginning."""
    memories, _sign, rest = text.partition("~")
    kind, _sign, key = rest.partition("~")
    if not memories.isdecimal() or len(memories) > 9 or kind not in TYPES:
        return None
    return int(memories), key[:LONGEST], EntityType(kind)


def _address(frame: Frame, name: str, kind: str | None) -> str:
    asked = {"name": name, **({"kind": kind} if kind else {})}
    return f"{base.address('entity', frame)}?{urlencode(asked)}"


def _slug(frame: Frame) -> str:
    return frame.project.slug if frame.project else ""
