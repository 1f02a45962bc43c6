"""Template tags: names, chips, ages, statements, and drawings as inline SVG.

They only present: no tag queries anything. Drawings use attributes and classes, not inline styles,
because the content security policy forbids those.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from urllib.parse import urlencode

from django import template
from django.http import HttpRequest
from django.template import Context
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, pgettext

from frontend.labels import filters, memory_labels
from frontend.presenters import (
    activity_feed,
    figures,
    html,
    list_rows,
    memory_list,
    refusals,
    text_changes,
)
from memory.records.queries.views import MemoryView

register = template.Library()
filters.put_into(library=register)

ICONS: Final[Mapping[str, str]] = {
    "overview": "M3 13h4v6H3zM10 8h4v11h-4zM17 4h4v15h-4z",
    "memories": "M5 5h14M5 10h14M5 15h9M5 20h6",
    "teach": "M12 5v14M5 12h14",
    "connections": "M8 8l-4 4 4 4M16 8l4 4-4 4M13.5 6l-3 12",
    "more": "M4 12a1 1 0 102 0 1 1 0 10-2 0M11 12a1 1 0 102 0 1 1 0 10-2 0"
    "M18 12a1 1 0 102 0 1 1 0 10-2 0",
    "close": "M6 6l12 12M18 6L6 18",
    "check": "M5 12.5l4.5 4.5L19 7.5",
    "chevron": "M8 10l4 4 4-4",
    "back": "M14 6l-6 6 6 6",
    "search": "M11 18a7 7 0 100-14 7 7 0 000 14zM20 20l-4-4",
    "menu": "M4 7h16M4 12h16M4 17h16",
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


@register.filter
def said(text: str) -> str:
    """Say what a refusal says in the language of the page."""
    return refusals.said(sentence=text)


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
def type_color(value: str) -> str:
    """Return the color class of a memory's type."""
    return memory_labels.type_color(type=value)


@register.filter
def closeness(value: float) -> memory_labels.Name:
    """Say in a word how near two texts are in meaning."""
    return memory_labels.closeness(cosine=max(0.0, value))


@register.filter
def remembered(result: Mapping[str, Any]) -> int:
    """Return how many memories came of a session's turns and of what its agent did."""
    return int(result.get("added", 0)) + int(result.get("observed_added", 0))


@register.filter
def of(values: Mapping[Any, Any], key: Any) -> Any:
    """Return the value of a key, nothing without one."""
    return values.get(key, "")


@register.simple_tag
def link_name(kind: str, outgoing: bool) -> memory_labels.Name:
    """Name a relation as seen from one end."""
    return memory_labels.link_name(kind=kind, outgoing=outgoing)


@register.filter
def short_id(value: Any) -> str:
    """Return the telling end of an id (version 7 ids of one time start alike)."""
    return str(value).replace("-", "")[-8:]


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
def memory_row(row: memory_list.Row, org: str, now: datetime, why: bool = False) -> SafeString:
    """Show a memory of the list."""
    return list_rows.memory(row=row, org=org, now=now, why=why)


@register.simple_tag
def feed_row(entry: activity_feed.Entry) -> SafeString:
    """Show a change of the feed."""
    return list_rows.change(entry=entry, is_new=False)


@register.simple_tag
def clock(moment: datetime) -> SafeString:
    """Show a time of day; the page's script sets it to the reader's time zone."""
    return html.clock(moment=moment)


@register.simple_tag
def meter(value: float, label: str) -> SafeString:
    """Draw a share 0..1 as a bar."""
    return format_html(
        '<svg class="meter" width="100%" height="6" role="img" aria-label="{}">'
        '<rect width="{}%" height="6" rx="3"/></svg>',
        label,
        round(100 * min(1.0, max(0.0, value))),
    )


@register.simple_tag
def meter_of(part: float, whole: float, label: str) -> SafeString:
    """Draw a part of a whole as a bar; nothing of nothing is empty."""
    return meter(part / whole if whole else 0.0, label)


@register.filter
def at(values: Sequence[Any], position: int) -> Any:
    """Return the value at a position."""
    return values[position]


@register.simple_tag
def ring(value: float, label: str) -> SafeString:
    """Draw a score 0..100 as a ring around its number."""
    drawn, whole = figures.arc(share=value / 100)
    return format_html(
        '<svg class="ring" width="72" height="72" viewBox="0 0 72 72" role="img" aria-label="{}">'
        '<circle class="track" cx="36" cy="36" r="31" fill="none" stroke-width="7"/>'
        '<circle class="arc" cx="36" cy="36" r="31" fill="none" stroke-width="7"'
        ' stroke-linecap="round" stroke-dasharray="{} {}" transform="rotate(-90 36 36)"/>'
        '<text x="36" y="43" text-anchor="middle">{}</text></svg>',
        label,
        drawn,
        whole,
        round(value),
    )


@register.simple_tag
def decay_curve(curve: figures.Curve, label: str) -> SafeString:
    """Draw how confidence falls without use, and the floor below which agents do not get it."""
    return format_html(
        '<svg class="curve" viewBox="0 0 {w} {h}" preserveAspectRatio="none" role="img"'
        ' aria-label="{label}"><path class="area" d="{area}"/>'
        '<path class="floor" d="M0 {floor} H{w}"/><path class="line" d="{line}"/></svg>',
        w=round(figures.CURVE_WIDTH),
        h=round(figures.CURVE_HEIGHT),
        label=label,
        area=curve.area,
        floor=curve.floor_y,
        line=curve.line,
    )


@register.simple_tag
def word_diff(old: str, new: str) -> SafeString:
    """Show what changed between two texts, word by word."""
    tags = {text_changes.Change.ADDED: "ins", text_changes.Change.REMOVED: "del"}
    return format_html_join(
        "",
        "<{0}>{1}</{0}>",
        (
            (tags.get(piece.change, "span"), piece.text)
            for piece in text_changes.words(old=old, new=new)
        ),
    )


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
