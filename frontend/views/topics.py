"""What a project's memories are about: its topics, and one with its memories."""

from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpRequest, HttpResponse

from accounts.errors import NotFound
from frontend.views import base
from frontend.views.base import Frame
from memory.records.queries.memories import memories_of_topic
from memory.topics import queries
from memory.topics.queries import TopicPlace, TopicView

PAGE_SIZE = 60  # topics
MEMORIES = 30  # of one topic that are shown; the list shows them all


@base.reader
def topics(request: HttpRequest, frame: Frame) -> HttpResponse:
    """Show the topics of the project and of no project, the largest first."""
    slug = _slug(frame)
    page = queries.topics(
        caller=frame.caller,
        project=slug,
        after=_place(request.GET.get("after", "")),
        limit=PAGE_SIZE,
    )
    last = page.next_place
    largest = max((one.memories for one in page.items), default=0)
    context = {
        "section": "topics",
        "topics": page.items,
        "largest": largest,
        "next": "" if last is None else f"{last.memories}~{last.topic_id}",
        "now": frame.now,
    }
    return base.page(request, "pages/topics.html", context)


@base.reader
def topic(request: HttpRequest, frame: Frame, topic_id: UUID) -> HttpResponse:
    """Show one topic with its most central memories."""
    found = queries.topic(caller=frame.caller, topic_id=topic_id)
    if found.project not in {"", _slug(frame)}:
        raise NotFound(detail="There is no such topic here.", hint="It may be in another project.")
    memories = memories_of_topic(
        caller=frame.caller, topic_id=topic_id, limit=MEMORIES, now=frame.now
    )
    context = {
        "section": "topics",
        "topic": found,
        "memories": memories,
        "list_href": _list_href(frame, found),
        "now": frame.now,
    }
    return base.page(request, "pages/topic.html", context)


def _list_href(frame: Frame, topic: TopicView) -> str:
    """Return the list of memories narrowed to a topic, by what it is called."""
    asked = urlencode({"q": f'topic:"{topic.label}"'})
    return f"{base.address('memories', frame)}?{asked}"


def _place(text: str) -> TopicPlace | None:
    """Read where a page begins; what is none starts at the beginning."""
    memories, _, topic_id = text.partition("~")
    try:
        return TopicPlace(memories=int(memories[:9]), topic_id=UUID(topic_id))
    except ValueError:
        return None


def _slug(frame: Frame) -> str:
    return frame.project.slug if frame.project else ""
