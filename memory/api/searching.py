"""Search over REST: the busiest call, so it does nothing but translate."""

from typing import Final

from accounts.api.endpoints import Answer, Ask, Endpoint, Reply
from accounts.caller import TokenScope
from memory.api import examples, injections, inputs, output
from memory.api.inputs import PATTERN
from memory.injection.actions.trigger_points import deliver_at_point
from memory.records import states
from memory.search.actions import lay_out, search
from memory.search.context import context
from memory.search.lookups import match


def find(ask: Ask) -> Answer:
    """Return what fits the query, best first, or say that nothing does."""
    if ask.body["mode"] == PATTERN:
        states.check_live(names=ask.body["states"])
        narrowing = inputs.narrowing(given=ask.body)
        found = match(
            caller=ask.caller, pattern=ask.body["query"], narrowing=narrowing, now=ask.now
        )
        return Answer(body=output.matches(found))
    request = inputs.search_request(body=ask.body)
    if ask.body["organize"]:
        layout = lay_out(caller=ask.caller, request=request, now=ask.now)
        return Answer(body=output.layout(layout, with_reasons=ask.body["explain"]))
    result = search(caller=ask.caller, request=request, now=ask.now)
    return Answer(body=output.answer(result, with_reasons=ask.body["explain"]))


def pack(ask: Ask) -> Answer:
    """Return what is worth knowing for a piece of work, or what a point of a session gives."""
    if ask.body["point"] is not None:
        asked = inputs.at_point(body=ask.body)
        given = deliver_at_point(caller=ask.caller, request=asked, now=ask.now)
        return Answer(body=injections.at_point(given, point=asked.point))
    request = inputs.context_request(body=ask.body)
    return Answer(body=output.context(context(caller=ask.caller, request=request, now=ask.now)))


ENDPOINTS: Final = (
    Endpoint(
        method="POST",
        path="search",
        name="search",
        tag="search",
        summary="Search memories",
        says=(
            "By meaning and by words. When nothing is relevant it says so instead of guessing; "
            "`threshold` 0 returns the ranking anyway. With `mode` keyword by words alone; with "
            "`mode` pattern `query` is a regular expression, and the newest matches come first."
        ),
        scope=TokenScope.READ,
        run=find,
        body=inputs.SEARCH,
        example={"query": "stale prices in tests", "project": "shop", "limit": 5},
        replies=(
            Reply(
                status=200,
                says="The results, best first.",
                schema="SearchResults",
                example=examples.RESULTS,
            ),
        ),
    ),
    Endpoint(
        method="POST",
        path="context",
        name="context",
        tag="search",
        summary="Pack a context",
        says=(
            "What an agent should know for a piece of work, as text within a token budget: whole "
            "memories, grouped by file, cited, both sides of a contradiction together. "
            "`left_out` names what was found and is not in the text, and why. With `point` and "
            "`session` it gives what that point has for the session instead, and enters it into "
            "the session's ledger: the brief (system_prompt), files to have at hand and unfinished "
            "work (first_message), warnings (tool_result), what belongs between steps (step), and "
            "what a plan should know (planner). Most often nothing."
        ),
        scope=TokenScope.READ,
        run=pack,
        body=inputs.CONTEXT,
        example={
            "query": "clear the price cache in the cart tests",
            "project": "shop",
            "phase": "implement",
            "budget_tokens": 1500,
        },
        replies=(
            Reply(
                status=200,
                says="The text and what it is made of.",
                schema="ContextAnswer",
                example=examples.CONTEXT,
            ),
        ),
    ),
)
