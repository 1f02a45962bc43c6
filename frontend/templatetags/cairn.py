"""Template tags: names, chips, ages, statements, and drawings as inline SVG.

They only present: no tag queries anything. Drawings use attributes and classes, not inline styles,
because the content security policy forbids those.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Final
from urllib.parse import urlencode

from django import template
from django.http import HttpRequest
from django.template import Context
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, pgettext

from frontend.labels import memory_labels, session_labels
from frontend.presenters import audit_lines, html, memory_rows, refusals
from memory.records.queries.views import MemoryView

register = template.Library()

FILTERS: Final[Mapping[str, Mapping[str, memory_labels.Name]]] = {  # stored values in words
    "scope_name": memory_labels.SCOPES,
    "source_name": memory_labels.SOURCES,
    "interface_name": memory_labels.INTERFACES,
    "fit_name": memory_labels.FITS,
    "close_name_reason": memory_labels.CLOSE_NAMES,
    "verification_name": memory_labels.VERIFICATIONS,
    "status_name": memory_labels.STATUSES,
    "job_name": memory_labels.JOBS,
    "job_state_name": memory_labels.JOB_STATES,
    "role_name": memory_labels.ROLES,
    "token_scope_name": memory_labels.TOKEN_SCOPES,
    "token_state_name": memory_labels.TOKEN_STATES,
    "path_name": memory_labels.SEARCH_PATHS,
    "missing_name": memory_labels.MISSING,
    "health_part_name": memory_labels.HEALTH_PARTS,
    "entity_type_name": memory_labels.ENTITY_TYPES,
    "basis_name": memory_labels.TYPE_BASES,
    "review_group_name": memory_labels.REVIEW_GROUPS,
    "verdict_name": memory_labels.REVIEW_VERDICTS,
    "review_why": memory_labels.REVIEW_WHYS,
    "imported_name": memory_labels.IMPORTED,
    "session_state_name": memory_labels.SESSION_STATES,
    "session_count_name": memory_labels.SESSION_COUNTS,
    "speaker_name": memory_labels.SPEAKERS,
    "import_state_name": memory_labels.IMPORT_STATES,
    "format_name": memory_labels.FORMATS,
    "rollback_fate": memory_labels.ROLLBACK_FATES,
    "rollback_why": memory_labels.ROLLBACK_WHYS,
    "index_state_name": memory_labels.INDEX_STATES,
    "code_language_name": memory_labels.LANGUAGES,
    "event_kind_name": session_labels.EVENT_KINDS,
    "point_name": session_labels.INJECTION_POINTS,
    "mark_name": session_labels.RIBBON_MARKS,
    "outcome_name": session_labels.OUTCOMES,
    "signal_name": session_labels.SIGNALS,
    "phase_name": session_labels.PHASES,
    "end_name": session_labels.ENDS,
    "act_name": audit_lines.ACTS,
    "surface_name": audit_lines.SURFACES,
}
for _name, _table in FILTERS.items():
    register.filter(_name, partial(memory_labels.name_of, _table))

ICONS: Final[Mapping[str, str]] = {
    "overview": "M3 13h4v6H3zM10 8h4v11h-4zM17 4h4v15h-4z",
    "memories": "M5 5h14M5 10h14M5 15h9M5 20h6",
    "connections": "M8 8l-4 4 4 4M16 8l4 4-4 4M13.5 6l-3 12",
    "more": "M4 12a1 1 0 102 0 1 1 0 10-2 0M11 12a1 1 0 102 0 1 1 0 10-2 0"
    "M18 12a1 1 0 102 0 1 1 0 10-2 0",
    "close": "M6 6l12 12M18 6L6 18",
    "check": "M5 12.5l4.5 4.5L19 7.5",
    "chevron": "M8 10l4 4 4-4",
    "back": "M14 6l-6 6 6 6",
    "search": "M11 18a7 7 0 100-14 7 7 0 000 14zM20 20l-4-4",
}


@register.simple_tag
def icon(name: str, size: int = 20) -> SafeString:
    """Draw one of our icons, hidden from assistive technology."""
    return format_html(
        '<svg width="{}" height="{}" viewBox="0 0 24 24" fill="none" stroke="currentColor"'
        ' stroke-width="1.7" stroke-linecap="round" stroke-linejoin="round"'
        ' aria-hidden="true"><path d="{}"/></svg>',
        size,
        size,
        ICONS[name],
    )


@register.simple_tag(takes_context=True)
def memory_url(context: Context, name: str, memory: MemoryView, *more: object) -> str:
    """Return the address of a memory's page, or of something to do with it there."""
    project = (memory.project_slug,) if memory.project_slug else ()
    organization = context["frame"].organization.slug
    return reverse(name, args=(organization, *project, memory.id, *more))


@register.simple_tag
def type_chip(type: str, own: str = "") -> SafeString:
    """Show a memory's type as a colored chip, by a methodology's own name if it has one."""
    return html.type_chip(type=type, own=own or "")


@register.filter(name="said")
def translate_refusal(text: str) -> str:
    """Say what a refusal says in the language of the page."""
    return refusals.translate(sentence=text)


@register.filter
def correction_said(text: str) -> str:
    """Say why a memory was replaced: what was wrong with it, and what was written about that."""
    return refusals.correction(reason=text)


@register.filter
def noted(text: str) -> str:
    """Say why a version was followed by another."""
    return refusals.noted(reason=text)


@register.filter
def secret_names(kinds: Sequence[str]) -> str:
    """Name what a text seems to hold, with commas."""
    return ", ".join(str(memory_labels.name_of(memory_labels.SECRETS, kind)) for kind in kinds)


@register.filter
def why_nothing(value: str) -> memory_labels.Name:
    """Say why nothing became of a signal, nothing if something did."""
    return session_labels.WHY_NOTHING.get(value, "")


@register.filter
def closeness(value: float) -> memory_labels.Name:
    """Say in a word how near two texts are in meaning."""
    return next(name for least, name in memory_labels.CLOSENESS if max(0.0, value) >= least)


@register.filter
def remembered(result: Mapping[str, Any]) -> int:
    """Return how many memories came of a session's turns and of what its agent did."""
    return int(result.get("added", 0)) + int(result.get("observed_added", 0))


@register.filter
def of(values: Mapping[Any, Any], key: Any) -> Any:
    """Return the value of a key, nothing without one."""
    return values.get(key, "")


@register.filter
def at(values: Sequence[Any], position: int) -> Any:
    """Return the value at a position."""
    return values[position]


@register.simple_tag
def link_name(kind: str, outgoing: bool) -> memory_labels.Name:
    """Name a relation as seen from one end."""
    names = memory_labels.LINKS.get(kind, (kind.replace("_", " "),) * 2)
    return names[0] if outgoing else names[1]


@register.filter
def short_id(value: Any) -> str:
    """Return the telling end of an id (version 7 ids of one time start alike)."""
    return html.short_id(id=value)


@register.filter
def percent(value: float) -> int:
    """Return a share 0..1 as whole percent."""
    return round(value * 100)


@register.filter
def statement(text: str) -> SafeString:
    """Escape a statement and set what stands between backticks as code."""
    return html.statement(text=text)


@register.simple_tag
def ago(moment: datetime | None, now: datetime | None = None) -> SafeString | str:
    """Show how long ago a moment was; the page's script says the moment itself on hover."""
    if moment is None:
        return pgettext("time", "never")
    return html.ago(moment=moment, now=now or timezone.now())


@register.simple_tag
def memory_row(row: memory_rows.Row, org: str, now: datetime, why: bool = False) -> SafeString:
    """Show a memory of the list."""
    return memory_rows.draw(row=row, org=org, now=now, why=why)


@register.simple_tag
def meter_of(part: float, whole: float, label: str) -> SafeString:
    """Draw a part of a whole as a bar; nothing of nothing is empty."""
    share = part / whole if whole else 0.0
    return format_html(
        '<svg class="meter" width="100%" height="6" role="img" aria-label="{}">'
        '<rect width="{}%" height="6" rx="3"/></svg>',
        label,
        round(100 * min(1.0, max(0.0, share))),
    )


@register.simple_tag
def ring(value: float, label: str) -> SafeString:
    """Draw a score 0..100 as a ring around its number."""
    return html.ring(score=value, label=label)


@register.simple_tag
def decay_curve(curve: html.Curve, label: str) -> SafeString:
    """Draw how confidence falls without use, and the floor below which agents do not get it."""
    return format_html(
        '<svg class="curve" viewBox="0 0 {w} {h}" preserveAspectRatio="none" role="img"'
        ' aria-label="{label}"><path class="area" d="{area}"/>'
        '<path class="floor" d="M0 {floor} H{w}"/><path class="line" d="{line}"/></svg>',
        w=round(html.CURVE_WIDTH),
        h=round(html.CURVE_HEIGHT),
        label=label,
        area=curve.area,
        floor=curve.floor_y,
        line=curve.line,
    )


@register.simple_tag
def word_diff(old: str, new: str) -> SafeString:
    """Show what changed between two texts, word by word."""
    return html.word_changes(old=old, new=new)


@register.simple_tag(takes_context=True)
def with_query(context: Mapping[str, Any], **changes: str) -> str:
    """Return the query string of the present address with some values replaced."""
    request: HttpRequest = context["request"]
    values = {**request.GET.dict(), **changes}
    return "?" + urlencode({name: value for name, value in values.items() if value})


@register.simple_tag
def health_word(value: float) -> str:
    """Say a health score in a word."""
    if value >= 80:
        return gettext("Healthy")
    return gettext("Fair") if value >= 60 else gettext("Needs care")
