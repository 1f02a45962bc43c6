"""Template tags: names, chips, ages, statements, and drawings as inline SVG.

They only present: no tag queries anything. Drawings use attributes and classes, not inline styles,
because the content security policy forbids those.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlencode

from django import template
from django.http import HttpRequest
from django.template import Context
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from frontend import labels
from frontend.presenters import html, memory_list, refusals
from memory.records.queries.views import MemoryView

register = template.Library()

register.filter("said", refusals.translate)
register.filter("correction_said", refusals.correction)
register.filter(refusals.noted)
register.filter(html.short_id)
register.filter(html.statement)
register.simple_tag(html.type_chip)
register.simple_tag(html.ago)
register.simple_tag(html.ring)
register.simple_tag(html.word_changes, name="word_diff")
register.simple_tag(memory_list.draw, name="memory_row")

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


@register.filter
def name(value: str, table: str) -> labels.Name:
    """Return the name that a table of `labels` has for a stored value."""
    return labels.name_of(getattr(labels, table), value)


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


@register.filter
def secret_names(kinds: Sequence[str]) -> str:
    """Name what a text seems to hold, with commas."""
    return ", ".join(str(labels.name_of(labels.SECRETS, kind)) for kind in kinds)


@register.filter
def why_nothing(value: str) -> labels.Name:
    """Say why nothing became of a signal, nothing if something did."""
    return labels.WHY_NOTHING.get(value, "")


@register.filter
def closeness(value: float) -> labels.Name:
    """Say in a word how near two texts are in meaning."""
    return next(name for least, name in labels.CLOSENESS if max(0.0, value) >= least)


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
def link_name(kind: str, outgoing: bool) -> labels.Name:
    """Name a relation as seen from one end."""
    names = labels.LINKS.get(kind, (kind.replace("_", " "),) * 2)
    return names[0] if outgoing else names[1]


@register.filter
def percent(value: float) -> int:
    """Return a share 0..1 as whole percent."""
    return round(value * 100)


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
def decay_curve(curve: Mapping[str, Any], label: str) -> SafeString:
    """Draw how confidence falls without use, and the floor below which agents do not get it."""
    floor = curve["floor_y"]
    drawn = format_html('<path class="floor" d="M0 {} H{}"/>', floor, round(html.CURVE_WIDTH))
    return format_html(
        '<svg class="curve" viewBox="0 0 {w} {h}" preserveAspectRatio="none" role="img"'
        ' aria-label="{label}"><path class="area" d="{area}"/>{floor}'
        '<path class="line" d="{line}"/></svg>',
        w=round(html.CURVE_WIDTH),
        h=round(html.CURVE_HEIGHT),
        label=label,
        area=curve["area"],
        floor="" if floor is None else drawn,
        line=curve["line"],
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
