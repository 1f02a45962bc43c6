"""Entries of the audit log as lines of a page and of a CSV file."""

import csv
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from io import StringIO
from typing import Any, Final
from uuid import UUID

from django.contrib.humanize.templatetags.humanize import intcomma
from django.urls import reverse
from django.utils.translation import gettext, gettext_lazy, ngettext

from accounts.caller import Caller
from accounts.queries.directory import people
from frontend.labels import memory_labels
from frontend.labels.memory_labels import Name
from teams.audit.chain import Entry

ACTS: Final[Mapping[str, Name]] = {
    "organization.created": gettext_lazy("made the organization"),
    "organization.changed": gettext_lazy("changed the organization"),
    "organization.methodology_defined": gettext_lazy("defined a methodology"),
    "organization.methodology_removed": gettext_lazy("removed a methodology"),
    "organization.style_defined": gettext_lazy("defined a style"),
    "organization.style_removed": gettext_lazy("removed a style"),
    "member.role_changed": gettext_lazy("changed a role"),
    "member.changed": gettext_lazy("changed a person"),
    "member.removed": gettext_lazy("took a member out"),
    "member.left": gettext_lazy("left"),
    "invitation.created": gettext_lazy("invited somebody"),
    "invitation.resent": gettext_lazy("invited somebody again"),
    "invitation.revoked": gettext_lazy("revoked an invitation"),
    "invitation.accepted": gettext_lazy("joined by invitation"),
    "token.created": gettext_lazy("made a token"),
    "token.approved": gettext_lazy("let a program sign in"),
    "token.rotated": gettext_lazy("replaced a token"),
    "token.revoked": gettext_lazy("revoked a token"),
    "token.leaked": gettext_lazy("found a token in the open"),
    "project.created": gettext_lazy("created the project"),
    "project.changed": gettext_lazy("changed the project"),
    "project.trust_set": gettext_lazy("changed how far they trust the memory of the project"),
    "project.opened": gettext_lazy("opened the project to everyone"),
    "project.closed": gettext_lazy("closed the project"),
    "project.code_announced": gettext_lazy("said which files the code of the project has"),
    "project.code_received": gettext_lazy("sent code of the project to be indexed"),
    "project.member_added": gettext_lazy("added somebody to the project"),
    "project.member_removed": gettext_lazy("took somebody out of the project"),
    "team.created": gettext_lazy("made a team"),
    "team.changed": gettext_lazy("changed a team"),
    "team.member_added": gettext_lazy("added somebody to a team"),
    "team.member_removed": gettext_lazy("took somebody out of a team"),
    "memory.created": gettext_lazy("stored a memory"),
    "memory.changed": gettext_lazy("changed a memory"),
    "memory.confirmed": gettext_lazy("confirmed a memory"),
    "memory.corrected": gettext_lazy("corrected a memory"),
    "memory.bulk_alarmed": gettext_lazy("raised alarms about memories"),
    "memory.bulk_integrated": gettext_lazy("replaced or contradicted memories by new ones"),
    "memory.conflict_settled": gettext_lazy("settled a conflict"),
    "memory.conflict_snoozed": gettext_lazy("snoozed a conflict"),
    "memory.conflict_reopened": gettext_lazy("took the settlement of a conflict back"),
    "memory.pinned": gettext_lazy("pinned a memory"),
    "memory.unpinned": gettext_lazy("unpinned a memory"),
    "memory.archived": gettext_lazy("archived a memory"),
    "memory.restored": gettext_lazy("restored a memory"),
    "memory.demoted": gettext_lazy("set a memory aside that harmed"),
    "entity.merged": gettext_lazy("said that two names are one thing"),
    "entity.unmerged": gettext_lazy("took two names apart again"),
    "memory.kept": gettext_lazy("kept a memory"),
    "memory.rejected": gettext_lazy("rejected a memory"),
    "memory.merged": gettext_lazy("merged a memory into another"),
    "memory.unlinked": gettext_lazy("took a link between two memories back"),
    "memory.snoozed": gettext_lazy("snoozed a memory"),
    "memory.review_undone": gettext_lazy("took a verdict back"),
    "memory.bulk_kept": gettext_lazy("kept memories together"),
    "memory.bulk_rejected": gettext_lazy("rejected memories together"),
    "memory.bulk_snoozed": gettext_lazy("snoozed memories together"),
    "memory.bulk_review_undone": gettext_lazy("took verdicts back together"),
    "memory.rolled_back": gettext_lazy("rolled back what was remembered"),
    "memory.exported": gettext_lazy("exported memories"),
    "memory.reinstated": gettext_lazy("brought an export back"),
    "memory.bulk_written": gettext_lazy("stored memories together"),
    "memory.bulk_confirmed": gettext_lazy("confirmed memories together"),
    "memory.bulk_pinned": gettext_lazy("pinned memories together"),
    "memory.bulk_archived": gettext_lazy("archived memories together"),
    "session.opened": gettext_lazy("opened a session"),
    "session.turns_appended": gettext_lazy("added turns to a session"),
    "session.decided": gettext_lazy("decided about what a session came to"),
    "session.events_appended": gettext_lazy("added events to a session"),
    "session.ended": gettext_lazy("ended a session"),
    "session.deleted": gettext_lazy("deleted a session for good"),
    "session.followed": gettext_lazy("told of a session as it went"),
    "session.taken": gettext_lazy("handed in a conversation"),
    "import.begun": gettext_lazy("began an import"),
    "import.cancelled": gettext_lazy("cancelled an import"),
    "import.retried": gettext_lazy("tried an import again"),
    "import.undone": gettext_lazy("took an import back"),
    "note.pushed": gettext_lazy("pushed a note"),
    "note.removed": gettext_lazy("removed a note"),
    "model.switch_begun": gettext_lazy("began to switch the embedding model"),
    "model.switch_cancelled": gettext_lazy("cancelled a switch of the embedding model"),
    "model.activated": gettext_lazy("switched the embedding model"),
    "model.rolled_back": gettext_lazy("went back to an earlier embedding model"),
    "model.dropped": gettext_lazy("dropped the vectors of an embedding model"),
    "job.retried": gettext_lazy("ran a job again"),
    "job.cancelled": gettext_lazy("cancelled a job"),
}
AREAS: Final[Mapping[str, Name]] = {
    "organization": gettext_lazy("Organization"),
    "member": gettext_lazy("Members"),
    "invitation": gettext_lazy("Invitations"),
    "token": gettext_lazy("Tokens"),
    "project": gettext_lazy("Projects"),
    "team": gettext_lazy("Teams"),
    "memory": gettext_lazy("Memories"),
    "entity": gettext_lazy("Names"),
    "session": gettext_lazy("Sessions"),
    "import": gettext_lazy("Imports"),
    "note": gettext_lazy("Notes"),
    "model": gettext_lazy("Embedding models"),
    "job": gettext_lazy("Jobs"),
}
SURFACES: Final[Mapping[str, Name]] = {
    "rest": "REST",
    "mcp": "MCP",
    "page": gettext_lazy("Dashboard"),
    "admin": gettext_lazy("Admin site"),
    "command": gettext_lazy("Command line"),
    "job": gettext_lazy("Background job"),
    "program": gettext_lazy("Program"),
}
COLUMNS: Final = (
    "number", "created_at", "act", "object_type", "object_id", "actor_user", "token_id", "agent",
    "source_interface", "surface", "request_id", "address", "fields", "details", "previous_hash",
    "hash",
)  # fmt: skip
FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")  # what spreadsheets compute


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One entry as the page shows it; `href` is empty where the thing has no page of its own."""

    number: int
    at: datetime
    who: str
    agent: str
    act: Name
    detail: str
    thing: str
    href: str
    surface: Name
    address: str
    request_id: str


def lines(*, caller: Caller, entries: tuple[Entry, ...]) -> tuple[Line, ...]:
    """Return entries as lines, in their order."""
    ids = {person for entry in entries for person in (entry.actor_user, _whom(entry)) if person}
    names = people(caller=caller, ids=ids) if ids else {}
    return tuple(_line(entry, names) for entry in entries)


def as_csv(*, entries: Iterable[Entry]) -> str:
    """Return entries as a table with every column; no cell is a formula to a spreadsheet."""
    written = StringIO()
    table = csv.writer(written)
    table.writerow(COLUMNS)
    table.writerows([_cell(getattr(entry, name)) for name in COLUMNS] for entry in entries)
    return written.getvalue()


def _line(entry: Entry, names: Mapping[UUID, str]) -> Line:
    is_memory = entry.object_type == "memory"
    return Line(
        number=entry.number,
        at=entry.created_at,
        who=_who(entry, names),
        agent=entry.agent,
        act=memory_labels.name_of(ACTS, entry.act),
        detail=_detail(entry, names),
        thing=entry.object_id,
        href=reverse("permalink", args=(entry.object_id,)) if is_memory else "",
        surface=memory_labels.name_of(SURFACES, entry.surface),
        address=entry.address,
        request_id=entry.request_id,
    )


def _who(entry: Entry, names: Mapping[UUID, str]) -> str:
    if entry.actor_user is None:
        return entry.agent or gettext("Someone")
    if entry.source_interface == "admin":
        return gettext("An operator")
    return names.get(entry.actor_user) or gettext("A former member")


def _whom(entry: Entry) -> UUID | None:
    """Return who was added somewhere, or taken out."""
    user = entry.details.get("user")
    return None if user is None else UUID(user)


def _detail(entry: Entry, names: Mapping[UUID, str]) -> str:
    """Say what changed, as far as the log keeps it: whom, fields, roles, how many."""
    told, whom = entry.details, _whom(entry)
    if whom is not None:
        return names.get(whom) or gettext("A former member")
    if entry.fields:
        return ", ".join(entry.fields)
    if "to" in told:
        return f"{_role(told['from'])} → {_role(told['to'])}"
    if "role" in told:
        return _role(told["role"])
    if "memories" in told:
        count = int(told["memories"])
        text = ngettext("%(number)s memory", "%(number)s memories", count)
        return text % {"number": intcomma(count)}
    return ""


def _role(value: Any) -> str:
    return str(memory_labels.name_of(memory_labels.ROLES, str(value)))


def _cell(value: Any) -> str:
    if isinstance(value, Mapping):
        return json.dumps(value, sort_keys=True)
    if isinstance(value, tuple):
        return " ".join(value)
    if isinstance(value, datetime):
        return value.isoformat()
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(FORMULA) else text
