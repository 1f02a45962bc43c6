"""The lines that pages repeat: a memory of the list, a change of the feed.

A list has thirty of them, a feed two hundred, and a socket sends them one by one. As templates they
took two thirds of a page's time (measured), so they are the two fragments written here. Every value
passes `format_html`, which escapes it.
"""

from datetime import datetime
from functools import lru_cache
from typing import Final
from uuid import UUID

from django.urls import get_script_prefix, reverse
from django.utils.formats import number_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from frontend.labels import memory_labels
from frontend.presenters import activity_feed, html, score_bar
from frontend.presenters.memory_list import Row
from memory.taxonomy import Status

LONGEST_SHOWN: Final = 300  # characters of a statement; more is in the inspector
ANY: Final = UUID(int=0)

MEMORY: Final = (
    '<div class="row{kept_back}" role="listitem" id="row-{id}" data-version="{version}">'
    '<input type="checkbox" name="memory" value="{id}" aria-label="{select} {citation}">{chip}'
    '<a class="open clip" href="{link}" hx-get="{link}" hx-target="#inspector"'
    ' data-peek="{id}">{statement}</a><code class="mut clip path">{file}</code>'
    '<span class="num sec conf" title="{meaning}" data-label="{label}">{confidence}</span>'
    '<span class="mut age">{age}</span>{why}{sides}</div>'
)
SIDES: Final = (
    '<div class="why"><span class="chip red">{label}</span> <a class="link" href="{link}">'
    "{statement}</a></div>"
)
CHANGE: Final = (
    '<div class="row{new}" id="change-{id}">{at}<span><span class="who">{who}</span> {verb}{chip}'
    '{person}</span><span class="chip">{tool}</span></div>'
)


def memory(*, row: Row, org: str, now: datetime, why: bool) -> SafeString:
    """Show a memory; `why` adds how relevant it is and what each path of the search gave."""
    shown = row.memory
    return format_html(
        MEMORY,
        id=shown.id,
        kept_back=" withheld" if row.is_withheld else "",
        version=shown.version,
        select=gettext("Select"),
        citation=shown.citation,
        chip=_state(shown.status)
        if shown.status != Status.ACTIVE
        else html.type_chip(type=shown.type, own=shown.own_type),
        link=_address(get_script_prefix(), org, shown.project_slug).replace(
            str(ANY), str(shown.id)
        ),
        statement=html.statement(text=shown.content[:LONGEST_SHOWN]),
        file=shown.related_files[0] if shown.related_files else "",
        meaning=gettext("Effective confidence"),
        label=gettext("conf."),
        confidence=number_format(round(shown.effective_confidence, 2), 2),
        age=html.ago(moment=shown.updated_at, now=now),
        why=score_bar.draw(reason=row.reason) if why and row.reason else "",
        sides=_sides(row, org),
    )


def _sides(row: Row, org: str) -> SafeString:
    """Show what contradicts a memory below it."""
    slug = row.memory.project_slug
    link = reverse("conflicts", args=(org, slug)) if slug and row.contradictions else ""
    return format_html_join(
        "",
        SIDES,
        (
            {
                "label": gettext("Contradicts"),
                "link": link
                or _address(get_script_prefix(), org, slug).replace(str(ANY), str(one.memory_id)),
                "statement": html.statement(text=one.content[:LONGEST_SHOWN]),
            }
            for one in row.contradictions
        ),
    )


def change(*, entry: activity_feed.Entry, is_new: bool) -> SafeString:
    """Show who did what; `is_new` is for one that arrives while the page is open."""
    return format_html(
        CHANGE,
        new=" new" if is_new else "",
        id=entry.id,
        at=html.clock(moment=entry.at),
        who=entry.who,
        verb=entry.verb,
        chip=_object(entry) if entry.chip else "",
        person=_person(entry.person) if entry.person else "",
        tool=entry.tool,
    )


@lru_cache(maxsize=4_096)
def _address(_prefix: str, org: str, project: str) -> str:
    """Return the address of some memory of a project or of none; asked once a mount point."""
    return reverse("memory", args=(org, *((project,) if project else ()), ANY))


def _state(status: str) -> SafeString:
    return format_html(
        '<span class="chip">{}</span>', memory_labels.name_of(memory_labels.STATUSES, status)
    )


def _object(entry: activity_feed.Entry) -> SafeString:
    if entry.href:
        return format_html(
            ' <a class="chip {}" href="{}">{}</a>', entry.color, entry.href, entry.chip
        )
    return format_html(' <span class="chip {}">{}</span>', entry.color, entry.chip)


def _person(name: str) -> SafeString:
    return format_html(' <span class="mut">{}</span>', gettext("for %(name)s") % {"name": name})
