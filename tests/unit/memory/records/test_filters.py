"""The query box: text becomes filters, filters the same text again, and states."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.records.filters import (
    EITHER_END,
    ENDED,
    KEYS,
    LIVE,
    FilterError,
    Filters,
    chips,
    parse,
    render,
    states_of,
)
from memory.taxonomy import Status

TERM = st.one_of(
    st.sampled_from(("is:stale", "is:archived,pinned", "is:any", "type:gotcha,fact", "conf:>0.7")),
    st.sampled_from(("tag:", "file:", "module:", "by:")).flatmap(
        lambda key: st.text("abc /*.-\"'\t", min_size=1, max_size=8).map(lambda v: f'{key}"{v}"')
    ),
    st.text("ab:\"' \\", max_size=8),
)


def test_every_key_is_read() -> None:
    filters = parse(
        text="is:stale,archived type:gotcha,decision module:auth file:middleware/* "
        'by:claude-code conf:>0.7 conf:<0.9 tag:x tag:"two words" redis  cache',
        project="store",
    )

    assert filters == Filters(
        project="store",
        text="redis cache",
        types=("gotcha", "decision"),
        status=("archived",),
        tags=("x", "two words"),
        files=("middleware/*",),
        modules=("auth",),
        author="claude-code",
        minimum_confidence=0.7,
        maximum_confidence=0.9,
        stale=True,
    )


def test_nothing_means_everything_that_is_active_and_states_add_up() -> None:
    assert parse(text="  ") == Filters()
    assert render(filters=Filters()) == ""
    assert chips(filters=Filters()) == ()
    assert states_of(filters=Filters()) == LIVE
    assert parse(text="is:archived is:pinned") == parse(text="is:archived,pinned")
    assert parse(text="is:archived is:superseded") == parse(text="is:archived,superseded")


def test_a_wrong_part_is_named_with_what_would_do() -> None:
    for part in ("is:lost", "type:no!", "conf:high", "conf:>2", "conf:nan", "tag:", "type:,"):
        with pytest.raises(FilterError) as refused:
            parse(text=f"redis {part}")
        assert part in refused.value.detail
        assert refused.value.hint


def test_what_is_no_filter_is_searched_for() -> None:
    for text in ("http://x:80/y", "note: this", 'an "open quote', "it's fine", ":"):
        filters = parse(text=text)
        assert filters == Filters(text=filters.text)
        assert filters.text


def test_a_chip_takes_away_only_itself_and_a_confidence_comes_back_as_it_was() -> None:
    filters = parse(text="is:stale tag:x tag:y redis")

    left = {chip.label: parse(text=chip.without) for chip in chips(filters=filters)}

    assert left["tag:x"] == parse(text="is:stale tag:y redis")
    assert left["is:stale"] == parse(text="tag:x tag:y redis")
    for value in (0.1, 0.123456789, 1.0, 0.0):
        sure = Filters(minimum_confidence=value)
        assert parse(text=render(filters=sure)) == sure


@given(st.lists(TERM, max_size=5).map(" ".join))
def test_what_was_read_is_written_so_that_it_reads_the_same(text: str) -> None:
    try:
        filters = parse(text=text)
    except FilterError:
        return

    assert parse(text=render(filters=filters)) == filters


@given(st.text(max_size=60).filter(lambda text: not any(f"{key}:" in text for key in KEYS)))
def test_a_text_without_keys_is_searched_for_as_it_is(text: str) -> None:
    filters = parse(text=text)

    assert "".join(filters.text.split()) == "".join(text.split())


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
