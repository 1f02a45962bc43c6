"""The drawing of an interval, as inline SVG with attributes and classes alone."""

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from frontend.presenters.experiment_table import WIDTH, Drawn

register = template.Library()


@register.simple_tag
def interval_drawing(drawn: Drawn, color: str, label: str) -> SafeString:
    """Draw an interval, its middle, and the line at which nothing changes."""
    return format_html(
        '<svg class="interval {color}" width="160" height="16" viewBox="0 0 {w} 16" role="img"'
        ' aria-label="{label}"><path class="zero" d="M{zero} 1 V15"/>'
        '<path class="span" d="M{low} 8 H{high} M{low} 4 V12 M{high} 4 V12"/>'
        '<circle cx="{value}" cy="8" r="3.5"/></svg>',
        color=color,
        w=round(WIDTH),
        label=label,
        zero=drawn.zero,
        low=drawn.low,
        high=drawn.high,
        value=drawn.value,
    )
