"""The tools that find: search, and context packed for a piece of work."""

from typing import Any, Final

from accounts.api.schemas import FREE, ID, NUMBER, TEXT, TRUTH, WHOLE, maybe, record, several
from accounts.api.shapes import Field, Fraction, Record, Several, Text, Truth, Whole
from accounts.caller import TokenScope
from memory.customization.phases import Phase
from memory.mcp.shapes import (
    BANNER,
    FILTERS,
    MEMORY,
    Call,
    Tool,
    limit,
    narrowing,
    option,
    shown,
)
from memory.records import filters
from memory.records.filters import STATES
from memory.search.actions import Hit, search
from memory.search.context import (
    LARGEST_BUDGET,
    ContextRequest,
    LeftOut,
    PackedMemory,
    Styled,
    context,
)
from memory.search.lookups import match
from memory.search.refinement import Rerank
from memory.search.request import LONGEST_QUERY, PROFILES, Mode, SearchRequest

_FOUND: Final = {
    **MEMORY,
    "properties": {
        **MEMORY["properties"],
        "relevance": NUMBER,
        "explain": FREE,
        "excerpt": TEXT,
    },
}
PATTERN: Final = "pattern"
OWN: Final = ("phase", "methodology", "budget_tokens", "topic", "style")  # of a context
QUERY: Final = Field(
    name="query",
    shape=Text(largest=LONGEST_QUERY, smallest=1),
    says="What you want to know, in a sentence or a few words.",
    required=True,
)
RANKING: Final = (
    option(name="profile", shape=Text(largest=20, choices=PROFILES), says="How to rank."),
    option(
        name="rerank",
        shape=Text(largest=8, choices=tuple(Rerank)),
        says="Whether a second model orders the best.",
        default=Rerank.USUAL.value,
    ),
    option(name="threshold", shape=Fraction(), says="Least relevance; 0 is the bare ranking."),
)


def find(call: Call) -> dict[str, Any]:
    """Search the memories the caller may see."""
    if call.arguments["mode"] == PATTERN:
        return _grep(call)
    given = {name: value for name, value in call.arguments.items() if name != "explain"}
    place = given["project"] or call.project
    wanted = filters.named_states(names=given["states"])
    request = SearchRequest(**{**given, "project": place, "states": wanted})
    answer = search(caller=call.caller, request=request, now=call.now)
    explains = call.arguments["explain"]
    return {
        "notice": BANNER,
        "results": [_hit(hit, explains) for hit in answer.hits],
        "nothing_relevant": answer.nothing_relevant,
        "degraded": list(answer.degraded),
    }


def pack(call: Call) -> dict[str, Any]:
    """Pack what is worth knowing for a piece of work."""
    own = {name: call.arguments[name] for name in OWN}
    asked = {name: value for name, value in call.arguments.items() if name not in own}
    wanted = SearchRequest(**{**asked, "project": asked["project"] or call.project})
    request = ContextRequest(search=wanted, **own)
    packed = context(caller=call.caller, request=request, now=call.now)
    return {
        "text": packed.text,
        "style": None if packed.style is None else _style(packed.style),
        "memories": [_told(one) for one in packed.told],
        "left_out": [_left_out(one) for one in packed.left_out],
        "tokens": packed.tokens,
        "budget_tokens": packed.budget_tokens,
        "hint": packed.hint,
        "nothing_relevant": packed.nothing_relevant,
        "degraded": list(packed.degraded),
    }


def _grep(call: Call) -> dict[str, Any]:
    pattern = call.arguments["query"]
    filters.check_live(names=call.arguments["states"])
    found = match(caller=call.caller, pattern=pattern, narrowing=narrowing(call=call), now=call.now)
    return {
        "notice": BANNER,
        "results": [
            {
                **shown(view=one, sides=found.sides.get(one.id, ())),
                "relevance": 1.0,
                "excerpt": excerpt,
            }
            for one, excerpt in found.items
        ],
        "nothing_relevant": not found.items,
        "degraded": [],
    }


def _hit(hit: Hit, explains: bool) -> dict[str, Any]:
    found = {**shown(view=hit.memory, sides=hit.contradictions), "relevance": hit.relevance}
    return {**found, "explain": hit.explain} if explains else found


def _told(one: PackedMemory) -> dict[str, Any]:
    """Return where a memory of the text can be looked up; the text holds what it says."""
    return {
        "id": one.memory.id,
        "type": one.memory.type,
        "citation": one.memory.citation,
        "relevance": one.relevance,
        "contradicts": one.contradicts,
    }


def _style(found: Styled) -> dict[str, Any]:
    composed = found.composed
    return {
        "name": composed.style.name,
        "reason": composed.fit,
        "topic": composed.topic,
        "told": bool(found.text),
    }


def _left_out(one: LeftOut) -> dict[str, Any]:
    return {
        "id": one.memory.id,
        "type": one.memory.type,
        "citation": one.memory.citation,
        "reason": one.reason,
        "stands_for_it": one.stands_for_it,
    }


SEARCH: Final = Tool(
    name="search",
    title="Search team memory",
    says=(
        "Look up what the team already knows: decisions, gotchas, fixes, conventions. Use it "
        "before you start on an unfamiliar part, when an error looks familiar, and before you "
        "decide something. Ask in plain words. It says so when nothing is relevant."
    ),
    scope=TokenScope.READ,
    takes=Record(
        name="search",
        fields=(
            QUERY,
            *FILTERS,
            option(
                name="states",
                shape=Several(of=Text(largest=10, choices=STATES), largest=len(STATES)),
                says="Also what is not live: archived, superseded, stale, any; or only pinned.",
                default=(),
            ),
            limit(default=8),
            option(
                name="mode",
                shape=Text(largest=8, choices=(*Mode, PATTERN)),
                says="hybrid; keyword: by words alone; pattern: query is a regular expression.",
                default=Mode.HYBRID.value,
            ),
            option(name="phase", shape=Text(largest=12, choices=tuple(Phase)), says="Of the work."),
            *RANKING,
            option(name="explain", shape=Truth(), says="Say why each stands there.", default=False),
        ),
    ),
    gives=record(
        notice=TEXT,
        results=several(_FOUND),
        nothing_relevant=TRUTH,
        degraded=several(TEXT),
    ),
    run=find,
)
CONTEXT: Final = Tool(
    name="context",
    title="Get context for the work ahead",
    says=(
        "What the team knows that bears on the work ahead, as one text within a token budget, "
        "grouped by file, with citations. Call it once when you start a task, with the task in "
        "a sentence and the phase you are in. `nothing_relevant` says that nothing is known; "
        "a style, where the text begins with one, is how your answers should read."
    ),
    scope=TokenScope.READ,
    takes=Record(
        name="context",
        fields=(
            QUERY,
            option(
                name="phase",
                shape=Text(largest=40, smallest=1),
                says=f"{', '.join(Phase)}, or your methodology's own name.",
            ),
            option(
                name="methodology",
                shape=Text(largest=40, smallest=1),
                says="native, tdd, bmad, or one of your organization's.",
            ),
            option(
                name="budget_tokens",
                shape=Whole(smallest=1, largest=LARGEST_BUDGET),
                says="Tokens the text may take; the phase's own when left out.",
            ),
            option(
                name="topic",
                shape=Text(largest=LONGEST_QUERY, smallest=1),
                says="What the session is about, for the style of answers; else the query is.",
            ),
            option(name="style", shape=Truth(), says="Begin with that style.", default=True),
            *FILTERS,
            *RANKING,
        ),
    ),
    gives=record(
        text=TEXT,
        style=maybe(record(name=TEXT, reason=TEXT, topic=TEXT, told=TRUTH)),
        memories=several(
            record(
                id=ID,
                type=TEXT,
                citation=TEXT,
                relevance=maybe(NUMBER),
                contradicts=several(ID),
            )
        ),
        left_out=several(
            record(id=ID, type=TEXT, citation=TEXT, reason=TEXT, stands_for_it=maybe(ID))
        ),
        tokens=WHOLE,
        budget_tokens=WHOLE,
        hint=TEXT,
        nothing_relevant=TRUTH,
        degraded=several(TEXT),
    ),
    run=pack,
)
