"""The states of a query box: the same memories as its filters one by one let through."""

from itertools import product

import pytest

from memory.records.filters import EITHER_END, ENDED, LIVE, Filters, parse, states_of
from memory.taxonomy import Status

BOXES = (
    "is:active", "is:archived", "is:superseded", "is:archived,superseded", "is:any", "is:stale",
    "is:active,archived", "is:active,superseded,stale", "is:pinned", "is:review,pinned",
    "is:any,review", "is:archived,stale",
)  # fmt: skip
FLAGS = ("pinned", "review", "stale")
MEMORIES = tuple(
    frozenset({status.value, *(flag for flag, on in zip(FLAGS, ons, strict=True) if on)})
    for status in Status
    for ons in product((False, True), repeat=len(FLAGS))
)


def shown(memory: frozenset[str], filters: Filters) -> bool:
    """Say whether the filters let a memory through; what is stale goes unshown unless asked for."""
    wanted = {"pinned": filters.pinned, "review": filters.needs_review, "stale": filters.stale}
    if filters.status == (Status.ACTIVE.value,) and filters.stale is None:
        wanted["stale"] = False
    return (
        Status.DELETED not in memory
        and any(status in memory for status in filters.status)
        and all(on is None or on == (flag in memory) for flag, on in wanted.items())
    )


@pytest.mark.parametrize("text", BOXES)
def test_states_let_through_what_the_filters_do(text: str) -> None:
    filters = parse(text=text)
    states = states_of(filters=filters)

    for memory in MEMORIES:
        every = memory | ({EITHER_END} if memory & set(ENDED) else set())
        none_of = states.none_of
        if none_of is None:
            none_of = (*(status.value for status in Status if status != Status.ACTIVE), "stale")
        found = set(states.all_of) <= every and every.isdisjoint(none_of)

        assert found == shown(memory, filters), sorted(memory)


def test_without_states_only_what_is_live_is_looked_for() -> None:
    assert states_of(filters=Filters()) == LIVE
