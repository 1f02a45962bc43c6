"""Entries of the audit log as lines of a page and of a CSV file."""

import csv
import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from io import StringIO
from typing import Any, Final
from uuid import UUID

from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from accounts.caller import Caller
from accounts.queries import people
from frontend.labels import ROLES, Name, name_of
from teams.audit_chain import Entry

ACTS: Final[Mapping[str, Name]] = {
    "organization.created": _("created the organization"),
    "organization.changed": _("changed the organization"),
    "organization.methodology_defined": _("defined a methodology"),
    "organization.methodology_removed": _("removed a methodology"),
    "organization.style_defined": _("defined a style"),
    "organization.style_removed": _("removed a style"),
    "member.role_changed": _("changed a role"),
    "member.changed": _("changed a person"),
    "member.removed": _("removed a member"),
    "member.left": _("left"),
    "invitation.created": _("invited someone"),
    "invitation.resent": _("resent an invitation"),
    "invitation.revoked": _("revoked an invitation"),
    "invitation.accepted": _("joined by invitation"),
    "token.created": _("created a token"),
    "token.approved": _("approved a program"),
    "token.rotated": _("replaced a token"),
    "token.revoked": _("revoked a token"),
    "token.leaked": _("found a leaked token"),
    "project.created": _("created the project"),
    "project.changed": _("changed the project"),
    "project.trust_set": _("changed how far they trust the memory of the project"),
    "project.opened": _("opened the project to everyone"),
    "project.closed": _("closed the project"),
    "project.code_announced": _("listed the code files of the project"),
    "project.code_received": _("uploaded code of the project"),
    "project.member_added": _("added someone to the project"),
    "project.member_removed": _("removed someone from the project"),
    "team.created": _("created a team"),
    "team.changed": _("changed a team"),
    "team.member_added": _("added someone to a team"),
    "team.member_removed": _("removed someone from a team"),
    "memory.created": _("stored a memory"),
    "memory.changed": _("changed a memory"),
    "memory.confirmed": _("confirmed a memory"),
    "memory.corrected": _("corrected a memory"),
    "memory.bulk_alarmed": _("raised alarms about memories"),
    "memory.bulk_integrated": _("replaced or contradicted memories by new ones"),
    "memory.conflict_settled": _("settled a conflict"),
    "memory.conflict_snoozed": _("snoozed a conflict"),
    "memory.conflict_reopened": _("reopened a conflict"),
    "memory.pinned": _("pinned a memory"),
    "memory.unpinned": _("unpinned a memory"),
    "memory.archived": _("archived a memory"),
    "memory.restored": _("restored a memory"),
    "memory.demoted": _("set a harmful memory aside"),
    "entity.merged": _("merged two names"),
    "entity.unmerged": _("separated two names"),
    "memory.kept": _("kept a memory"),
    "memory.rejected": _("rejected a memory"),
    "memory.merged": _("merged a memory into another"),
    "memory.unlinked": _("removed a link between two memories"),
    "memory.snoozed": _("snoozed a memory"),
    "memory.review_undone": _("undid a verdict"),
    "memory.bulk_kept": _("kept several memories"),
    "memory.bulk_rejected": _("rejected several memories"),
    "memory.bulk_snoozed": _("snoozed several memories"),
    "memory.bulk_review_undone": _("undid several verdicts"),
    "memory.rolled_back": _("rolled back memories"),
    "memory.exported": _("exported memories"),
    "memory.reinstated": _("restored an export"),
    "memory.bulk_written": _("stored several memories"),
    "memory.bulk_confirmed": _("confirmed several memories"),
    "memory.bulk_pinned": _("pinned several memories"),
    "memory.bulk_archived": _("archived several memories"),
    "session.opened": _("opened a session"),
    "session.turns_appended": _("added turns to a session"),
    "session.decided": _("reviewed the memories of a session"),
    "session.events_appended": _("added events to a session"),
    "session.ended": _("ended a session"),
    "session.deleted": _("deleted a session for good"),
    "session.followed": _("reported a session live"),
    "session.taken": _("submitted a conversation"),
    "import.begun": _("began an import"),
    "import.cancelled": _("cancelled an import"),
    "import.retried": _("tried an import again"),
    "import.undone": _("undid an import"),
    "note.pushed": _("pushed a note"),
    "note.removed": _("removed a note"),
    "model.switch_begun": _("began to switch the embedding model"),
    "model.switch_cancelled": _("cancelled a switch of the embedding model"),
    "model.activated": _("switched the embedding model"),
    "model.rolled_back": _("went back to an earlier embedding model"),
    "model.dropped": _("dropped the vectors of an embedding model"),
    "job.retried": _("ran a job again"),
    "job.cancelled": _("cancelled a job"),
}
AREAS: Final[Mapping[str, Name]] = {
    "organization": _("Organization"),
    "member": _("Members"),
    "invitation": _("Invitations"),
    "token": _("Tokens"),
    "project": _("Projects"),
    "team": _("Teams"),
    "memory": _("Memories"),
    "entity": _("Names"),
    "session": _("Sessions"),
    "import": _("Imports"),
    "note": _("Notes"),
    "model": _("Embedding models"),
    "job": _("Jobs"),
}
SURFACES: Final[Mapping[str, Name]] = {
    "rest": "REST",
    "mcp": "MCP",
    "page": _("Dashboard"),
    "admin": _("Admin site"),
    "command": _("Command line"),
    "job": _("Background job"),
    "program": _("Program"),
}
COLUMNS: Final = (
    "number", "created_at", "act", "object_type", "object_id", "actor_user", "token_id", "agent",
    "source_interface", "surface", "request_id", "address", "fields", "details", "previous_hash",
    "hash",
)  # fmt: skip
FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")  # what spreadsheets compute


def lines(
    *, caller: Caller, entries: tuple[Entry, ...]
) -> list[tuple[Entry, Name, str, str, Name]]:
    """Return each entry with the act, who did it, what changed, and where, in words."""
    ids = (person for entry in entries for person in (entry.actor_user, _whom(entry)))
    names = people(caller=caller, ids=ids)
    return [
        (
            entry,
            name_of(ACTS, entry.act),
            _who(entry, names),
            _detail(entry, names),
            name_of(SURFACES, entry.surface),
        )
        for entry in entries
    ]


def as_csv(*, entries: Iterable[Entry]) -> str:
    """Return entries as a table with every column; no cell is a formula to a spreadsheet."""
    written = StringIO()
    table = csv.writer(written)
    table.writerow(COLUMNS)
    table.writerows([_cell(getattr(entry, name)) for name in COLUMNS] for entry in entries)
    return written.getvalue()


def _who(entry: Entry, names: Mapping[UUID | None, str]) -> str:
    if entry.actor_user is None:
        return entry.agent or gettext("Someone")
    if entry.source_interface == "admin":
        return gettext("An operator")
    return names.get(entry.actor_user) or gettext("A former member")


def _whom(entry: Entry) -> UUID | None:
    """Return who was added somewhere, or taken out."""
    user = entry.details.get("user")
    return None if user is None else UUID(user)


def _detail(entry: Entry, names: Mapping[UUID | None, str]) -> str:
    """Say what changed, as far as the log keeps it: whom, fields, roles, how many."""
    details, whom = entry.details, _whom(entry)
    if whom is not None:
        return names.get(whom) or gettext("A former member")
    if entry.fields:
        return ", ".join(entry.fields)
    if "to" in details:
        return " → ".join(str(name_of(ROLES, str(details[end]))) for end in ("from", "to"))
    if "role" in details:
        return str(name_of(ROLES, str(details["role"])))
    if "memories" in details:
        count = int(details["memories"])
        text = ngettext("%(number)s memory", "%(number)s memories", count)
        return text % {"number": intcomma(count)}
    return ""


def _cell(value: Any) -> str:
    if isinstance(value, Mapping):
        return json.dumps(value, sort_keys=True)
    if isinstance(value, tuple):
        return " ".join(value)
    if isinstance(value, datetime):
        return value.isoformat()
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(FORMULA) else text
