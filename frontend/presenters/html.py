"""Small pieces of HTML that templates and lines share: chips, statements, ages, times of day."""

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final

from django.utils import timezone
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import npgettext, pgettext

from frontend.labels import memory_labels
from frontend.presenters import figures
from memory.records import statement_stems

CODE: Final = re.compile(r"`([^`\n]+)`")
WORD: Final = re.compile(r"[^\W\d_]\w*")
AGES: Final[Mapping[str, Callable[[int], str]]] = {
    "minute": lambda n: npgettext("short time", "%(count)d min", "%(count)d min", n),
    "hour": lambda n: npgettext("short time", "%(count)d h", "%(count)d h", n),
    "day": lambda n: npgettext("short time", "%(count)d d", "%(count)d d", n),
    "month": lambda n: npgettext("short time", "%(count)d mo", "%(count)d mo", n),
    "year": lambda n: npgettext("short time", "%(count)d y", "%(count)d y", n),
}


def type_chip(*, type: str, own: str = "") -> SafeString:
    """Show a memory's type as a colored chip, by the name a methodology has for it if one does."""
    color, name = (
        memory_labels.type_color(type=type),
        memory_labels.name_of(memory_labels.TYPES, type),
    )
    if own:
        return format_html('<span class="chip {}" title="{} · {}">{}</span>', color, own, name, own)
    return format_html('<span class="chip {}">{}</span>', color, name)


def statement(*, text: str) -> SafeString:
    """Escape a statement and set what stands between backticks as code."""
    return mark_safe(CODE.sub(r"<code>\1</code>", conditional_escape(text)))  # noqa: S308 - escaped


def met(*, text: str, stems: frozenset[str]) -> SafeString:
    """Escape a statement and mark the words in it that have one of these stems."""

    def marked(found: re.Match[str]) -> str:
        word = found.group()
        is_met = not stems.isdisjoint(statement_stems.stems(text=word))
        return f"\x00{word}\x01" if is_met else word

    plain = text.replace("\x00", "").replace("\x01", "")
    shown = statement(text=WORD.sub(marked, plain))
    return mark_safe(shown.replace("\x00", "<mark>").replace("\x01", "</mark>"))  # noqa: S308


def ago(*, moment: datetime, now: datetime) -> SafeString:
    """Show how long ago a moment was; the page's script says the moment itself on hover."""
    age = figures.age(moment=moment, now=now)
    return format_html(
        '<time datetime="{}" data-moment>{}</time>', moment.isoformat(), _age_text(age)
    )


def clock(*, moment: datetime) -> SafeString:
    """Show a time of day; the page's script sets it to the reader's time zone."""
    return format_html(
        '<time class="mut num" datetime="{}" data-clock data-moment>{}</time>',
        moment.isoformat(),
        timezone.localtime(moment).strftime("%H:%M:%S"),
    )


def _age_text(age: figures.Age) -> str:
    if age.unit == "now":
        return pgettext("time", "now")
    return AGES[age.unit](age.count) % {"count": age.count}
