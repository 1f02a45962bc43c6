"""What a project's memories are about: topics, and names with the ones that are one thing."""

from typing import Final
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST

from accounts.errors import CairnError, InvalidInput, NotFound
from accounts.messages import message
from frontend import labels
from frontend.views import base
from frontend.views.base import Frame
from memory.entities.rules import EntityType
from memory.records.queries.memories import memories_of_topic
from memory.review.actions.entity_merges import MergePair, merge_names, scope_of, unmerge_names
from memory.search import entity_profile
from memory.search.request import Narrowing
from memory.taxonomy import Scope
from memory.topics import queries
from teams.permissions import Act

PAGE_SIZE: Final = 60  # topics or names
TOPIC_MEMORIES: Final = 30  # that are shown; the list shows them all
NAME_MEMORIES: Final = 20  # that are shown; a search shows them all
LONGEST_NAME: Final = 120  # characters


@base.reader
def topics(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the topics of the project and of no project, the largest first.

    A place that is none starts at the beginning.
    """
    memories, _sign, topic_id = request.GET.get("after", "").partition("~")
    try:
        after = queries.TopicPlace(memories=int(memories[:9]), topic_id=UUID(topic_id))
    except ValueError:
        after = None
    page = queries.topics(caller=frame.caller, project=frame.slug, after=after, limit=PAGE_SIZE)
    last = page.next_place
    context = {
        "topics": page.items,
        "largest": max((one.memories for one in page.items), default=0),
        "next": "" if last is None else f"{last.memories}~{last.topic_id}",
    }
    return base.page(request, "pages/topics.html", context)


@base.reader
def topic(request: HttpRequest, frame: Frame, topic_id: UUID) -> HttpResponse:
    """Show one topic with its most central memories."""
    found = queries.topic(caller=frame.caller, topic_id=topic_id)
    if found.project not in {"", frame.slug}:
        raise NotFound(detail="There is no such topic here.", hint="It may be in another project.")
    asked = urlencode({"q": f'topic:"{found.label}"'})
    context = {
        "topic": found,
        "memories": memories_of_topic(
            caller=frame.caller, topic_id=topic_id, limit=TOPIC_MEMORIES, now=frame.now
        ),
        "list_href": f"{base.address('memories', frame)}?{asked}",
    }
    return base.page(request, "pages/topic.html", context)


@base.reader
def entities(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show what the memories of the project name, the most often named first.

    A place that is none starts at the beginning.
    """
    kind = _kind(request.GET.get("kind", ""))
    begins = request.GET.get("q", "").strip()[:LONGEST_NAME]
    memories, _, rest = request.GET.get("after", "").partition("~")
    type, _, key = rest.partition("~")
    after, number = None, base.number_of(memories)
    if number is not None and type in entity_profile.TYPES:
        after = (number, key[:LONGEST_NAME], EntityType(type))
    things, last = entity_profile.list_things(
        caller=frame.caller,
        begins=begins,
        type=kind,
        narrowing=Narrowing(project=frame.slug),
        after=after,
        limit=PAGE_SIZE,
    )
    kinds = tuple((name, labels.ENTITY_TYPES[name]) for name in entity_profile.TYPES)
    context = {
        "things": things,
        "largest": max((one.memories for one in things), default=0),
        "next": "" if last is None else f"{last[0]}~{last[2].value}~{last[1]}",
        "kinds": kinds,
        "kind": kind or "",
        "begins": begins,
    }
    return base.page(request, "pages/entities.html", context)


@base.member
def entity(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the profile of a name; a form that comes says that another name is the same thing."""
    sent = request.POST if request.method == "POST" else request.GET
    name = request.GET.get("name", "").strip()[:LONGEST_NAME]
    kind = _kind(request.GET.get("kind", ""))
    error: CairnError | None = None
    if request.method == "POST":
        pair = MergePair(
            name=name,
            same_as=sent.get("same_as", "").strip()[:LONGEST_NAME],
            type=kind,
            scope=sent.get("scope", Scope.PERSONAL.value),
            project=frame.slug,
        )
        try:
            merge_names(caller=frame.caller, pair=pair, now=frame.now)
            return base.moved(request, to=request.get_full_path())
        except CairnError as refused:
            error = refused
    narrowing = Narrowing(project=frame.slug, limit=NAME_MEMORIES)
    found = entity_profile.about(
        caller=frame.caller, name=name, type=kind, narrowing=narrowing, now=frame.now
    )
    if error is not None and error.status == NotFound.status and found.thing is None:
        raise error
    context = {
        "name": name,
        "kind": kind or "",
        "profile": found,
        "close": ()
        if found.thing is None
        else entity_profile.suggest_names(
            caller=frame.caller, thing=found.thing, narrowing=Narrowing(project=frame.slug)
        ),
        "merges": tuple((one, scope_of(merge=one, caller=frame.caller)) for one in found.merges),
        "may_merge": frame.may(Act.MERGE),
        "may_change": frame.may(Act.WRITE),
        "form": sent,
        "error": error,
    }
    return base.page(request, "pages/entity.html", context)


@require_POST
@base.member
def unmerge(request: HttpRequest, frame: Frame, merge_id: UUID) -> HttpResponse:
    """Take back that two names are one thing."""
    unmerge_names(caller=frame.caller, merge_id=merge_id, now=frame.now)
    name = request.GET.get("name", "").strip()[:LONGEST_NAME]
    profile = f"{base.address('entity', frame)}?{urlencode({'name': name})}"
    return base.moved(request, to=profile if name else base.address("entities", frame))


def _kind(text: str) -> str | None:
    """Read a kind of the address. Raises InvalidInput for what is none."""
    if text and text not in entity_profile.TYPES:
        raise InvalidInput(
            detail="There is no such kind of name.",
            hint=message("Use one of: {names}.", names=entity_profile.TYPES),
        )
    return text or None
