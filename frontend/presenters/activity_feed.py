"""The change feed as people read it: one entry, one line; the page and the socket share it (9.2).

`entries` looks up the names of people once for all; `presenters.list_rows` renders them for both.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.caller import Caller
from accounts.queries.directory import people
from frontend.labels import memory_labels
from teams.queries import ChangeView

VERBS: Final[Mapping[str, memory_labels.Name]] = {
    "memory.created": gettext_lazy("taught"),
    "memory.changed": gettext_lazy("changed"),
    "memory.confirmed": gettext_lazy("confirmed"),
    "memory.corrected": gettext_lazy("corrected"),
    "memory.pinned": gettext_lazy("pinned or unpinned"),
    "memory.archived": gettext_lazy("archived"),
    "memory.superseded": gettext_lazy("replaced"),
    "memory.contradicted": gettext_lazy("contradicted"),
    "memory.conflict_settled": gettext_lazy("settled a conflict about"),
    "memory.conflict_reopened": gettext_lazy("opened a conflict again about"),
    "memory.restored": gettext_lazy("restored"),
    "memory.demoted": gettext_lazy("set aside, because sessions did better without it,"),
    "memory.merged": gettext_lazy("merged"),
    "project.created": gettext_lazy("created the project"),
    "project.changed": gettext_lazy("changed the project"),
    "project.opened": gettext_lazy("opened the project to everyone"),
    "project.closed": gettext_lazy("closed the project"),
    "project.member_added": gettext_lazy("added somebody to the project"),
    "project.member_removed": gettext_lazy("took somebody out of the project"),
    "index.progress": gettext_lazy("indexed code of"),
    "team.member_added": gettext_lazy("added somebody to the team"),
    "team.member_removed": gettext_lazy("took somebody out of the team"),
    "agent.seen": gettext_lazy("is at work"),
}
LEARNED: Final = gettext_lazy("learned")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line of the feed: who did what with which memory; `href` is empty without a target."""

    id: int
    kind: str
    who: str
    person: str
    verb: memory_labels.Name
    chip: str
    color: str
    href: str
    tool: memory_labels.Name
    at: datetime


def entries(*, caller: Caller, changes: tuple[ChangeView, ...]) -> tuple[Entry, ...]:
    """Return changes as lines, in their order."""
    ids = {change.actor_user for change in changes if change.actor_user is not None}
    names = people(caller=caller, ids=ids) if ids else {}
    return tuple(_entry(caller, change, names) for change in changes)


def _entry(caller: Caller, change: ChangeView, names: Mapping[UUID, str]) -> Entry:
    person = names.get(change.actor_user, "") if change.actor_user else ""
    by_agent = bool(change.actor_name)
    verb = VERBS.get(change.kind, change.kind)
    if change.kind == "memory.created" and by_agent:
        verb = LEARNED
    return Entry(
        id=change.id,
        kind=change.kind,
        who=change.actor_name or person or _("Someone"),
        person=person if by_agent else "",
        verb=verb,
        chip=_chip(change.summary),
        color=memory_labels.type_color(type=str(change.summary.get("type", ""))),
        href=_href(caller, change),
        tool=memory_labels.name_of(memory_labels.INTERFACES, change.source_interface),
        at=change.created_at,
    )


def _chip(summary: Mapping[str, Any]) -> str:
    return str(summary.get("citation") or summary.get("name") or "")


def _href(caller: Caller, change: ChangeView) -> str:
    if change.kind.startswith("memory."):
        return reverse("permalink", args=(change.object_id,))
    page = "connections" if change.kind == "index.progress" else "overview"
    slug = str(change.summary.get("slug", ""))
    if slug and change.kind.startswith(("project.", "index.")):
        return reverse(page, args=(caller.organization_slug, slug))
    return ""
