"""The list of memories: what the query box asks for, and what there is to show.

Words search, everything else filters. A search ranks by relevance and says why; a filter alone
lists the newest first, page by page. A filter that cannot be understood shows what would be right.

A list has thirty rows, and a socket sends them one by one. As a template a row took two thirds of
a page's time (measured), so it is written here. Every value passes `format_html`, which escapes it.
Why a hit stands where it stands is drawn as a bar of the parts of its score, and said in words.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any, Final, NamedTuple
from uuid import UUID

from django.urls import get_script_prefix, reverse
from django.utils.formats import number_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from accounts import tenancy
from accounts.caller import Caller
from accounts.errors import InvalidInput
from frontend import labels
from frontend.presenters import html
from memory.records import filters as language
from memory.records.filters import Filters, states_of
from memory.records.queries import memories
from memory.records.queries.memories import Cursor
from memory.records.queries.views import Contradiction, MemoryView
from memory.search.actions import search
from memory.search.request import SearchRequest, Silence
from memory.taxonomy import Status
from memory.text import globs

PAGE_SIZE: Final = 30
SEARCH_SIZE: Final = 50
LONGEST_QUERY: Final = 1_000  # characters
LONGEST_SHOWN: Final = 300  # characters of a statement; more is in the inspector
ANY: Final = UUID(int=0)
MEMORY: Final = (
    '<div class="row{withheld}" role="listitem" id="row-{id}" data-version="{version}">'
    '<input type="checkbox" name="memory" value="{id}" aria-label="{select} {citation}">{chip}'
    '<a class="open clip" href="{link}" hx-get="{link}" hx-target="#inspector"'
    ' data-peek="{id}">{statement}</a><code class="mut clip path">{file}</code>'
    '<span class="num sec conf" title="{meaning}" data-label="{label}">{confidence}</span>'
    '<span class="mut age">{age}</span>{why}{sides}</div>'
)
SIDE: Final = (
    '<div class="why"><span class="chip red">{}</span> <a class="link" href="{}">{}</a></div>'
)
REASON: Final = (
    '<div class="why"><span class="flex"><svg class="score" width="120" height="8" role="img"'
    ' aria-label="{label}">{bars}</svg><span>{label}</span></span>'
    '<span class="flex"><svg class="score" width="120" height="8" role="img"'
    ' aria-label="{relevant}"><rect class="track" width="100%" height="8"/>'
    '<rect class="{verdict}" width="{relevance}%" height="8"/>'
    '<rect class="tick" x="{threshold}%" width="2" height="8"/></svg><span>{relevant}</span></span>'
    "</div>"
)


class Row(NamedTuple):
    """One memory of a list."""

    memory: MemoryView
    contradictions: tuple[Contradiction, ...] = ()  # stand below: no side is shown alone
    explain: Mapping[str, Any] | None = None  # why a search found it, None without a search
    threshold: float = 0.0  # how relevant the best result must be, 0 without a search


class ListQuery(NamedTuple):
    """The query box and the page of it; `anyway` shows results where none is relevant enough."""

    text: str
    cursor: Cursor | None
    why: bool
    anyway: bool


def query_of(*, values: Mapping[str, str]) -> ListQuery:
    """Read the query box from the address; a cursor that is none starts at the beginning."""
    at, _, memory_id = values.get("after", "").partition("~")
    try:
        created_at = datetime.fromisoformat(at).astimezone(UTC)
        cursor = Cursor(created_at=created_at, memory_id=UUID(memory_id))
    except (ValueError, OverflowError):
        cursor = None
    text = values.get("q", "").strip()[:LONGEST_QUERY]
    return ListQuery(text=text, cursor=cursor, why="why" in values, anyway="anyway" in values)


def read_unit(*, asked: ListQuery) -> AbstractContextManager[None]:
    """Return the database unit in which all of a list is read; a search opens its own.

    A search asks a model for the vector of the words, which nobody may wait for inside of a unit.
    """
    try:
        searches = bool(language.parse(text=asked.text).text)
    except InvalidInput:
        return nullcontext()
    return nullcontext() if searches else tenancy.unit()


def list_memories(
    *, caller: Caller, project: str, asked: ListQuery, now: datetime
) -> dict[str, Any]:
    """Return the rows and chips of a query, and how many pass its filters; or the `error` in it.

    `answer` is how a search went; `withheld` of its hits are not relevant enough to be shown
    unasked. Raises NotFound for a project the caller cannot see.
    """
    try:
        filters = language.parse(text=asked.text, project=project)
        if filters.text:
            return _search(caller, filters, asked, now)
        return _page(caller, filters, asked, now)
    except InvalidInput as error:
        return {"error": error, "total": None}


def _search(caller: Caller, filters: Filters, asked: ListQuery, now: datetime) -> dict[str, Any]:
    whole = (globs.bare(path=pattern) for pattern in filters.files if "[" not in pattern)
    request = SearchRequest(
        query=filters.text,
        project=filters.project,
        limit=SEARCH_SIZE,
        types=filters.types,
        tags=filters.tags,
        author=filters.author,
        modules=filters.modules,
        topics=filters.topics,
        states=states_of(filters=filters),
        least_sure=filters.minimum_confidence,
        most_sure=filters.maximum_confidence,
        # a glob that lets through at least what the first pattern does
        files=tuple(f"*{pattern}*" for pattern in whole if pattern)[:1],
        silence=Silence.NONE if asked.anyway else Silence.QUERY,
    )
    answer = search(caller=caller, request=request, now=now)
    rows = tuple(
        Row(hit.memory, hit.contradictions, hit.explain, answer.funnel.threshold)
        for hit in answer.hits
        if all(_touches(hit.memory.related_files, pattern) for pattern in filters.files)
    )
    return {
        "rows": rows,
        "chips": language.chips(filters=filters),
        "total": len(rows),
        "answer": answer,
        "withheld": answer.funnel.judged - answer.funnel.shown,
    }


def _touches(files: tuple[str, ...], pattern: str) -> bool:
    return any(fnmatchcase(file, pattern) or pattern.rstrip("*") in file for file in files)


def _page(caller: Caller, filters: Filters, asked: ListQuery, now: datetime) -> dict[str, Any]:
    found = memories.page(
        caller=caller, filters=filters, cursor=asked.cursor, limit=PAGE_SIZE, now=now
    )
    is_counted = asked.cursor is None and asked.text
    after = found.next_cursor
    return {
        "rows": [Row(memory, found.sides.get(memory.id, ())) for memory in found.items],
        "chips": language.chips(filters=filters),
        "total": memories.count(caller=caller, filters=filters) if is_counted else None,
        "next_cursor": after and f"{after.created_at.isoformat()}~{after.memory_id}",
    }


def draw(row: Row, org: str, now: datetime, why: bool = False) -> SafeString:
    """Show a memory; `why` adds how relevant it is and what each path of the search gave."""
    shown, explain = row.memory, row.explain
    is_withheld = explain is not None and explain["relevance"]["value"] < row.threshold
    if shown.status == Status.ACTIVE:
        chip = html.type_chip(shown.type, shown.own_type)
    else:
        state = labels.name_of(labels.STATUSES, shown.status)
        chip = format_html('<span class="chip">{}</span>', state)
    return format_html(
        MEMORY,
        id=shown.id,
        withheld=" withheld" if is_withheld else "",
        version=shown.version,
        select=gettext("Select"),
        citation=shown.citation,
        chip=chip,
        link=_address(org, shown.project_slug, shown.id),
        statement=html.statement(shown.content[:LONGEST_SHOWN]),
        file=shown.related_files[0] if shown.related_files else "",
        meaning=gettext("Effective confidence"),
        label=gettext("conf."),
        confidence=_digits(shown.effective_confidence, 2),
        age=html.ago(shown.updated_at, now),
        why=reason(explain=explain, threshold=row.threshold) if why and explain else "",
        sides=_sides(row, org),
    )


def reason(*, explain: Mapping[str, Any], threshold: float) -> SafeString:
    """Draw the parts of a score as one bar, and the relevance with a tick where it must begin.

    The words say the same: the parts, which sum to the score, with the rank on the path that gave
    each; what multiplied them; the place before a second model moved the hit.
    """
    bars, start = [], 0.0
    for name, value in explain["parts"].items():
        width = max(0.0, min(100 * float(value), 100 - start))  # 1 is the whole width
        bars.append((name, round(start, 1), round(width, 1)))
        start += width
    relevance = float(explain["relevance"]["value"])
    return format_html(
        REASON,
        label=_score_words(explain),
        bars=format_html_join("", '<rect class="part-{}" x="{}%" width="{}%" height="8"/>', bars),
        verdict="enough" if relevance >= threshold else "short",
        relevance=round(100 * relevance),
        threshold=round(100 * threshold),
        relevant=gettext("relevance %(value)s, relevant from %(threshold)s on")
        % {"value": _digits(relevance, 2), "threshold": _digits(threshold, 2)},
    )


def _score_words(explain: Mapping[str, Any]) -> str:
    parts = []
    for name, value in explain["parts"].items():
        said = f"{labels.name_of(labels.SCORE_PARTS, name)} {_digits(value, 3)}"
        path = explain["paths"].get(name)
        parts.append(said + (f" ({gettext('rank %(n)s') % {'n': path['rank']}})" if path else ""))
    words = f"{_digits(explain['score'], 3)} = {' + '.join(parts)}"
    for name, value in explain["multipliers"].items():
        if value != 1:
            label = labels.name_of(labels.MULTIPLIERS, name)
            words += f", {label} · {_digits(value, 2)}"
    if explain["rerank"] is not None:
        before = explain["rerank"]["rank_before"]
        words += ", " + gettext("before reranking: rank %(n)s") % {"n": before}
    return words


def _sides(row: Row, org: str) -> SafeString:
    """Show what contradicts a memory below it."""
    slug = row.memory.project_slug
    conflicts = reverse("conflicts", args=(org, slug)) if slug and row.contradictions else ""
    return format_html_join(
        "",
        SIDE,
        (
            (
                gettext("Contradicts"),
                conflicts or _address(org, slug, one.memory_id),
                html.statement(one.content[:LONGEST_SHOWN]),
            )
            for one in row.contradictions
        ),
    )


def _address(org: str, project: str, memory_id: UUID) -> str:
    pattern = _address_pattern(get_script_prefix(), org, project)
    return pattern.replace(str(ANY), str(memory_id))


@lru_cache(maxsize=4_096)
def _address_pattern(_prefix: str, org: str, project: str) -> str:
    """Return the address of some memory of a project or of none; asked once a mount point."""
    return reverse("memory", args=(org, *((project,) if project else ()), ANY))


def _digits(value: float, places: int) -> str:
    """Write a number rounded; `number_format` alone cuts what is beyond the last place."""
    return str(number_format(round(float(value), places), places))
