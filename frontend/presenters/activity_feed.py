"""The change feed as people read it: one change, one line.

Pages, the socket and the polling page show the same lines. A live message says what changed and
carries the rendered line, and for a memory its row; whoever may not see a change never gets its
message, because both come through the visibility predicate.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.caller import Caller
from accounts.queries import people
from frontend import labels
from frontend.presenters import html, memory_list
from memory.records.queries import memories
from teams.queries import ChangeView, changes_since

MESSAGES: Final = 50  # a read
CURSOR_DIGITS: Final = 18  # of the largest id that is read
VERBS: Final = labels.names("verbs")
LINE: Final = (
    '<div class="row{new}" id="change-{id}">{at}<span><span class="who">{who}</span> {verb}{chip}'
    '{person}</span><span class="chip">{tool}</span></div>'
)

Entry = tuple[datetime, SafeString]


def entries(
    *, caller: Caller, changes: tuple[ChangeView, ...], are_new: bool = False
) -> tuple[Entry, ...]:
    """Return when each change happened and its line, in their order.

    `are_new` is for changes that arrive while the page is open.
    """
    names = people(caller=caller, ids=(change.actor_user for change in changes))
    return tuple(
        (change.created_at, _line(caller, change, names, is_new=are_new)) for change in changes
    )


def messages(*, caller: Caller, after: int, project: str | None) -> list[dict[str, Any]]:
    """Return the messages after a cursor, oldest first. Raises NotFound for a foreign project."""
    changes = changes_since(caller=caller, after=after, limit=MESSAGES, project=project)
    now = timezone.now()
    ids = tuple({change.object_id for change in changes if change.kind.startswith("memory.")})
    found = memories.by_ids(caller=caller, memory_ids=ids, now=now) if ids else {}
    lines = entries(caller=caller, changes=changes, are_new=True)
    made = []
    for change, (_at, line) in zip(changes, lines, strict=True):
        fragments = {"feed": line}
        memory = found.get(change.object_id)
        if memory is not None and memory.project_slug:
            row = memory_list.Row(memory=memory)
            fragments["row"] = memory_list.draw(row, caller.organization_slug, now)
        made.append(
            {
                "type": "change",
                "id": change.id,
                "kind": change.kind,
                "object": str(change.object_id),
                "html": fragments,
            }
        )
    return made


def _line(
    caller: Caller, change: ChangeView, names: Mapping[UUID | None, str], *, is_new: bool
) -> SafeString:
    """Show who did what with which memory, project or team."""
    agent, person = change.actor_name, names.get(change.actor_user, "")
    whom = ""
    if agent and person:
        text = gettext("for %(name)s") % {"name": person}
        whom = format_html(' <span class="mut">{}</span>', text)
    is_learned = agent and change.kind == "memory.created"
    return format_html(
        LINE,
        new=" new" if is_new else "",
        id=change.id,
        at=html.clock(moment=change.created_at),
        who=agent or person or gettext("Someone"),
        verb=_("learned") if is_learned else VERBS.get(change.kind, change.kind),
        chip=_chip(caller, change),
        person=whom,
        tool=labels.name_of(labels.INTERFACES, change.source_interface),
    )


def _chip(caller: Caller, change: ChangeView) -> str:
    """Show what changed, with a link where it has a page; nothing where it has no name."""
    summary = change.summary
    name = str(summary.get("citation") or summary.get("name") or "")
    if not name:
        return ""
    color = labels.type_color(type=str(summary.get("type", "")))
    if change.kind.startswith("memory."):
        href = reverse("permalink", args=(change.object_id,))
    elif summary.get("slug") and change.kind.startswith(("project.", "index.")):
        page = "connections" if change.kind == "index.progress" else "overview"
        href = reverse(page, args=(caller.organization_slug, summary["slug"]))
    else:
        return format_html(' <span class="chip {}">{}</span>', color, name)
    return format_html(' <a class="chip {}" href="{}">{}</a>', color, href, name)
