"""Search over REST, and ways to ask without words: what is alike, about a file, in time."""

from datetime import datetime
from typing import Any
from uuid import UUID

from accounts.api.endpoints import Answer, Call, get, post
from accounts.api.schemas import Page
from accounts.caller import TokenScope
from memory.api.schemas import search as search_schemas
from memory.api.schemas.memories import with_sides
from memory.extraction.made_up import Writer
from memory.records import filters
from memory.search.actions import SearchAnswer, lay_out
from memory.search.actions import search as find
from memory.search.lookups import Lookup, match, recall, similar
from memory.search.lookups import timeline as tell
from memory.sessions.actions import binding


@post(
    "search",
    tag="search",
    scope=TokenScope.READ,
    answer=search_schemas.SearchResults,
    idempotent=False,
)
def search(call: Call, body: search_schemas.Search) -> dict[str, Any]:
    """Search memories.

    By meaning and by words. When nothing is relevant it says so instead of guessing; `threshold` 0
    returns the ranking anyway. With `mode` keyword by words alone; with `mode` pattern `query` is a
    regular expression, and the newest matches come first.
    """
    if body.mode == search_schemas.PATTERN:
        filters.check_live(names=body.states)
        chosen = search_schemas.narrowing(body, limit=body.limit)
        placed = binding.in_work(caller=call.caller, asked=chosen, everywhere=body.everywhere)
        found = match(caller=call.caller, pattern=body.query, narrowing=placed, now=call.now)
        return {  # as results of a search: a match is wholly relevant
            "results": [one | {"relevance": 1.0} for one in _with_sides(found, "excerpt")],
            "nothing_relevant": not found.items,
            "degraded": (),
            "took_ms": found.took_ms,
            "profile": "pattern",
        }
    request = binding.in_work(caller=call.caller, asked=body.request(), everywhere=body.everywhere)
    asked: dict[str, Any] = {"caller": call.caller, "request": request, "now": call.now}
    if request.hyde:
        asked["writer"] = Writer(caller=call.caller, project=request.project, now=call.now)
    if not body.organize:
        return _results(find(**asked), with_reasons=body.explain)
    layout = lay_out(**asked)
    shown = _results(layout.answer, with_reasons=body.explain)
    for one, hit in zip(shown["results"], layout.answer.hits, strict=True):
        one["neighbors"] = layout.neighbors[hit.memory.id]
        one["see_also"] = layout.see_also[hit.memory.id]
    return {**shown, "order": layout.order, "hint": layout.hint}


@get("memories/{id}/similar", tag="search", answer=search_schemas.SimilarMemories)
def list_similar(call: Call, query: search_schemas.SimilarQuery) -> dict[str, Any]:
    """Find what is like a memory.

    Nearest by meaning; by words, and `degraded` says so, while it has no vector.
    """
    chosen = search_schemas.narrowing(query, limit=query.limit)
    found = similar(caller=call.caller, memory_id=call.id, narrowing=chosen, now=call.now)
    items = _with_sides(found, "similarity")
    return {"items": items, "degraded": found.degraded, "took_ms": found.took_ms}


@get("files/memories", tag="search", answer=search_schemas.Recalled)
def recall_file(call: Call, query: search_schemas.RecallQuery) -> dict[str, Any]:
    """Recall what is known about a file.

    Of the very path first, then of paths that end alike, then of its folder.
    """
    found = recall(
        caller=call.caller,
        path=query.path,
        closeness=query.closeness,
        narrowing=search_schemas.narrowing(query, limit=query.limit),
        now=call.now,
    )
    return {"items": _with_sides(found, "closeness"), "took_ms": found.took_ms}


@get("timeline", tag="search", answer=Page[search_schemas.Happened])
def timeline(call: Call, query: search_schemas.TimelineQuery) -> Answer:
    """Tell what happened.

    Oldest first, by when it happened, or else by when it was learned; `since` and `until` are about
    that moment.
    """
    found = tell(
        caller=call.caller,
        narrowing=search_schemas.narrowing(query),
        after=call.after(tuple[datetime, UUID]),
        limit=query.limit,
        now=call.now,
    )
    return Answer(_with_sides(found, "at"), following=found.next_place)


def _results(answer: SearchAnswer, *, with_reasons: bool) -> dict[str, Any]:
    """Show the results of a search; with reasons, also what each step kept."""
    return {
        "results": [
            {
                "memory": hit.memory,
                "relevance": hit.relevance,
                "contradictions": hit.contradictions or None,
                "explain": hit.explain if with_reasons else None,
            }
            for hit in answer.hits
        ],
        "nothing_relevant": answer.nothing_relevant,
        "degraded": answer.degraded,
        "took_ms": answer.took_ms,
        "profile": answer.profile,
        "made_up": answer.made_up or None,
        "topic": answer.topic,
        "funnel": answer.funnel if with_reasons else None,
    }


def _with_sides(found: Lookup[Any], name: str) -> list[dict[str, Any]]:
    """Show memories with what contradicts each, and what the lookup says of each by this name."""
    return [
        {"memory": with_sides(memory, found.sides.get(memory.id, ())), name: value}
        for memory, value in found.items
    ]
