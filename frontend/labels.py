"""The names of stored values as people read them, in their language.

Stored values stay English; pages look their names up here. Most tables stand in `labels.toml`, what
needs a context or stays untranslated stands here. A value without a name is shown as it is stored,
with spaces for underscores.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from memory.taxonomy import Chip, MemoryType, type_row

Name = str | Promise
_TABLES: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def names(table: str) -> Mapping[str, Name]:
    """Return the names of a table of `labels.toml`."""
    return {value: _(text) for value, text in _TABLES[table].items()}


def pairs(table: str) -> Mapping[str, tuple[Name, Name]]:
    """Return the names of a table that has two for each value, such as a meaning."""
    return {value: (_(first), _(second)) for value, (first, second) in _TABLES[table].items()}


TYPES: Final = names("types")
SCOPES: Final = names("scopes")
SOURCES: Final = names("sources")
INTERFACES: Final[Mapping[str, Name]] = {
    "claude-code": "Claude Code",
    "cursor": "Cursor",
    "codex": "Codex",
    "chatgpt": "ChatGPT",
    "claude-ai": "Claude",
    "perplexity": "Perplexity",
    "dashboard": _("Dashboard"),
    "api": "API",
    "mcp": "MCP",
    "import": _("Import"),
    "unknown": _("Unknown"),
}
FITS: Final = names("fits")
CLOSE_NAMES: Final = names("close_names")
VERIFICATIONS: Final = names("verifications")
STATUSES: Final = names("statuses")
ROLES: Final = names("roles")
TOKEN_SCOPES: Final = names("token_scopes")
TOKEN_STATES: Final = names("token_states")
JOBS: Final = names("jobs")
JOB_STATES: Final = names("job_states")
SCHEDULED: Final = names("scheduled")
LINKS: Final = pairs("links")
HEALTH_PARTS: Final = names("health_parts")
CORRECTIONS: Final = names("corrections")

EVERY_GROUP: Final = _("Everything")
ENTITY_TYPES: Final = names("entity_types")
TYPE_BASES: Final = names("type_bases")
CLOSENESS: Final[tuple[tuple[float, Name], ...]] = (  # cosine from which two texts are called so
    (0.95, _("the same")),
    (0.88, _("nearly the same")),
    (0.75, _("close")),
    (0.0, _("related")),
)
REVIEW_GROUPS: Final = names("review_groups")
REVIEW_VERDICTS: Final = names("review_verdicts")
REVIEW_WHYS: Final = names("review_whys")
RESTS: Final = names("rests")
SEARCH_PATHS: Final = names("search_paths")
SCORE_PARTS: Final[Mapping[str, Name]] = {**SEARCH_PATHS, **names("score_parts")}
MULTIPLIERS: Final = names("multipliers")
MISSING: Final = names("missing")
SECRETS: Final = names("secrets")
UNSTORABLE: Final = names("unstorable")
FILTERS: Final = tuple(names("filters").items())
IMPORTED: Final = names("imported")
SESSION_STATES: Final = names("session_states")
SESSION_COUNTS: Final = names("session_counts")
SPEAKERS: Final = names("speakers")
IMPORT_STATES: Final = names("import_states")
FORMATS: Final[Mapping[str, Name]] = {
    "markdown": "Markdown",
    "obsidian": "Obsidian",
    "basic-memory": "basic-memory",
    "json": "JSON",
    "jsonl": _("JSON lines"),
    "mem0": "mem0",
    "memory-v3": "memory-v3",
    "cairn-json": _("Cairn export"),
    "cairn-ndjson": _("Cairn export"),
    "cairn-markdown": _("Cairn export"),
    "unknown": _("not readable"),
}

INDEX_STATES: Final = names("index_states")
LANGUAGES: Final[Mapping[str, Name]] = {
    "python": "Python",
    "javascript": "JavaScript",
    "typescript": "TypeScript",
    "tsx": "TSX",
    "go": "Go",
    "rust": "Rust",
}
ROLLBACK_FATES: Final = names("rollback_fates")
ROLLBACK_WHYS: Final = names("rollback_whys")


def name_of(table: Mapping[str, Name], value: str) -> Name:
    """Return the name of a stored value."""
    return table.get(value, value.replace("_", " "))


def type_color(*, type: str) -> str:
    """Return the color family of a type's chip; neutral for a type the registry does not know."""
    if type not in TYPES:
        return Chip.NEUTRAL.value
    return type_row(type=MemoryType(type)).chip.value


RIBBON_MARKS: Final = names("ribbon_marks")
EVENT_KINDS: Final = names("event_kinds")
INJECTION_POINTS: Final = names("injection_points")
OUTCOMES: Final = names("outcomes")
SIGNALS: Final = names("signals")
ASKED: Final = names("asked")
ALARMS: Final = names("alarms")
INJECTION_BARS: Final = names("injection_bars")
WHY_NOTHING: Final = names("why_nothing")
PHASES: Final[Mapping[str, Name]] = {
    "define": pgettext_lazy("phase of work", "Define"),
    "implement": pgettext_lazy("phase of work", "Implement"),
    "validate": pgettext_lazy("phase of work", "Validate"),
    "refine": pgettext_lazy("phase of work", "Refine"),
    "explore": pgettext_lazy("phase of work", "Explore"),
    "reflect": pgettext_lazy("phase of work", "Reflect"),
}
ENDS: Final = names("ends")
