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
from frontend import labels
from frontend.labels import ROLES, Name, name_of
from teams.audit_chain import Entry

ACTS: Final = labels.names("acts")
AREAS: Final = labels.names("areas")
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
