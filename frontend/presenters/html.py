"""Small pieces of HTML that templates and lines share: chips, statements, ages, drawings.

Drawings are inline SVG in user units, with attributes and classes: inline styles are forbidden by
the content security policy.
"""

import math
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from difflib import SequenceMatcher
from typing import Any, Final

from django.utils import timezone
from django.utils.html import conditional_escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import npgettext, pgettext

from frontend import labels
from memory.records import statement_clauses

CODE: Final = re.compile(r"`([^`\n]+)`")
WORD: Final = re.compile(r"[^\W\d_]\w*")
PIECE: Final = re.compile(r"\s+|\w+|[^\w\s]")
LONGEST_COMPARED: Final = 4_000  # pieces of one text; beyond, the whole text counts as replaced

MINUTE_S: Final = 60
HOUR_S: Final = 60 * MINUTE_S
DAY_S: Final = 24 * HOUR_S
AGES: Final[tuple[tuple[int, Callable[[int], str]], ...]] = (  # seconds, and how many are written
    (365 * DAY_S, lambda n: npgettext("short time", "%(count)d y", "%(count)d y", n)),
    (30 * DAY_S, lambda n: npgettext("short time", "%(count)d mo", "%(count)d mo", n)),
    (DAY_S, lambda n: npgettext("short time", "%(count)d d", "%(count)d d", n)),
    (HOUR_S, lambda n: npgettext("short time", "%(count)d h", "%(count)d h", n)),
    (MINUTE_S, lambda n: npgettext("short time", "%(count)d min", "%(count)d min", n)),
)

RING_RADIUS: Final = 31.0
CURVE_WIDTH: Final = 360.0
CURVE_HEIGHT: Final = 60.0
CURVE_STEPS: Final = 48
CURVE_SHORTEST_DAYS: Final = 90.0
CURVE_PAST_FLOOR: Final = 1.25  # how far the curve runs past the day it meets the floor


def type_chip(type: str, own: str | None = None) -> SafeString:
    """Show a memory's type as a colored chip, by the name a methodology has for it if one does."""
    color = labels.type_color(type=type)
    name = labels.name_of(labels.TYPES, type)
    if own:
        return format_html('<span class="chip {}" title="{} · {}">{}</span>', color, own, name, own)
    return format_html('<span class="chip {}">{}</span>', color, name)


def short_id(id: object) -> str:
    """Return the telling end of an id (version 7 ids of one time start alike)."""
    return str(id).replace("-", "")[-8:]


def statement(text: str) -> SafeString:
    """Escape a statement and set what stands between backticks as code."""
    return mark_safe(CODE.sub(r"<code>\1</code>", conditional_escape(text)))  # noqa: S308 - escaped


def marked_statement(*, text: str, stems: frozenset[str]) -> SafeString:
    """Escape a statement and mark the words in it that have one of these stems."""

    def mark(found: re.Match[str]) -> str:
        word = found.group()
        is_met = not stems.isdisjoint(statement_clauses.stems(text=word))
        return f"\x00{word}\x01" if is_met else word

    plain = text.replace("\x00", "").replace("\x01", "")
    shown = statement(WORD.sub(mark, plain))
    return mark_safe(shown.replace("\x00", "<mark>").replace("\x01", "</mark>"))  # noqa: S308


def ago(moment: datetime | None, now: datetime | None = None) -> SafeString | str:
    """Show how long ago a moment was in its largest whole unit; the future counts as now.

    The page's script says the moment itself on hover.
    """
    if moment is None:
        return pgettext("time", "never")
    seconds = max(0, int(((now or timezone.now()) - moment).total_seconds()))
    for unit, written in AGES:
        if count := seconds // unit:
            age = written(count) % {"count": count}
            break
    else:
        age = pgettext("time", "now")
    return format_html('<time datetime="{}" data-moment>{}</time>', moment.isoformat(), age)


def clock(*, moment: datetime) -> SafeString:
    """Show a time of day; the page's script sets it to the reader's time zone."""
    return format_html(
        '<time class="mut num" datetime="{}" data-clock data-moment>{}</time>',
        moment.isoformat(),
        timezone.localtime(moment).strftime("%H:%M:%S"),
    )


def word_changes(old: str, new: str) -> SafeString:
    """Show what changed between two texts (Ratcliff and Obershelp 1988, as difflib computes it).

    The pieces without the deleted ones give the new text, without the inserted ones the old.
    """
    before, after = PIECE.findall(old), PIECE.findall(new)
    pieces = [("del", old), ("ins", new)]
    if max(len(before), len(after)) <= LONGEST_COMPARED:
        pieces = []
        matcher = SequenceMatcher(a=before, b=after, autojunk=False)
        for tag, start, end, new_start, new_end in matcher.get_opcodes():
            old_text, new_text = "".join(before[start:end]), "".join(after[new_start:new_end])
            is_same = tag == "equal"
            pieces += [("span", old_text)] if is_same else [("del", old_text), ("ins", new_text)]
    shown = ((tag, text) for tag, text in pieces if text)
    return format_html_join("", "<{0}>{1}</{0}>", shown)


def ring(score: float, label: str) -> SafeString:
    """Draw a score 0..100 as a ring around its number."""
    whole = 2 * math.pi * RING_RADIUS
    return format_html(
        '<svg class="ring" width="72" height="72" viewBox="0 0 72 72" role="img" aria-label="{}">'
        '<circle class="track" cx="36" cy="36" r="31" fill="none" stroke-width="7"/>'
        '<circle class="arc" cx="36" cy="36" r="31" fill="none" stroke-width="7"'
        ' stroke-linecap="round" stroke-dasharray="{} {}" transform="rotate(-90 36 36)"/>'
        '<text x="36" y="43" text-anchor="middle">{}</text></svg>',
        label,
        round(whole * min(1.0, max(0.0, score / 100)), 1),
        round(whole, 1),
        round(score),
    )


def decay_curve(
    *,
    confidence: float,
    half_life_days: float | None,
    pinned: bool,
    lowest: float,
    floor: float | None,
    now: datetime,
) -> dict[str, Any]:
    """Draw max(c · 0.5^(days / half-life), lowest) from now on (Ebbinghaus 1885): a path and its
    area.

    `lowest` is what age alone leaves of the confidence; `floor` is the confidence below which the
    reader's agents are not given it unasked, None where age hides it from nobody.
    """
    half_life = (not pinned and half_life_days) or None
    meets = None if lowest >= (floor or 0.0) else _days_until(floor, confidence, half_life)
    days = max(CURVE_SHORTEST_DAYS, (meets or 0.0) * CURVE_PAST_FLOOR)
    line = _line(confidence, min(confidence, lowest), days / (half_life or math.inf))
    return {
        "line": line,
        "area": f"{line} L{CURVE_WIDTH:.0f} {CURVE_HEIGHT:.0f} L0 {CURVE_HEIGHT:.0f} Z",
        "floor": floor,
        "floor_y": floor and round(CURVE_HEIGHT * (1.0 - floor), 1),
        "days": round(days),
        "below_at": None if meets is None else now + timedelta(days=meets),
        "flat": half_life is None,
    }


def _line(confidence: float, lowest: float, halvings: float) -> str:
    """Draw what so many half-lives leave of a confidence, as a path."""
    points = []
    for step in range(CURVE_STEPS + 1):
        share = step / CURVE_STEPS
        value = max(confidence * 0.5 ** (halvings * share), lowest)
        points.append(f"{CURVE_WIDTH * share:.1f} {CURVE_HEIGHT * (1.0 - value):.1f}")
    return "M" + " L".join(points)


def _days_until(floor: float | None, confidence: float, half_life: float | None) -> float | None:
    """Compute half-life · log2(c / floor), the days until age reaches a floor; None for never."""
    if not floor or half_life is None:
        return None
    return half_life * math.log2(max(1.0, confidence / floor))
