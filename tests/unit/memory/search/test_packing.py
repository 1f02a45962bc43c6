"""What an agent reads: within budget, under files, cited, both sides together."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.customization.phases import BUDGETS, Budget, Phase
from memory.search import packing
from memory.search.packing import DISAGREE, NOTICE, Block, Entry, Packable
from memory.taxonomy import MemoryType
from memory.text import tokens

BUDGET = Budget(tokens=100, shares={MemoryType.GOTCHA: 0.5, MemoryType.DECISION: 0.3}, other=0.2)
ITEMS = st.lists(st.tuples(st.sampled_from(MemoryType), st.integers(1, 900)), max_size=16)


def _ranked(*items: tuple[MemoryType, int]) -> tuple[Packable, ...]:
    return tuple(
        Packable(memory_id=UUID(int=position), type=type, tokens=cost)
        for position, (type, cost) in enumerate(items)
    )


def _chosen(*items: tuple[MemoryType, int]) -> list[int]:
    chosen, _ = packing.pack(ranked=_ranked(*items), budget=BUDGET)
    return [item.memory_id.int for item in chosen]


def test_each_type_gets_its_share_although_another_ranks_higher() -> None:
    gotcha, decision, fact = MemoryType.GOTCHA, MemoryType.DECISION, MemoryType.FACT

    assert _chosen((gotcha, 50), (gotcha, 50), (decision, 30), (fact, 20)) == [0, 2, 3]


def test_an_unused_share_goes_to_the_others_in_order() -> None:
    gotcha = MemoryType.GOTCHA

    assert _chosen((gotcha, 40), (gotcha, 40), (gotcha, 30), (gotcha, 20)) == [0, 1, 3]


def test_a_memory_larger_than_the_budget_is_left_out_and_the_rest_packed() -> None:
    assert _chosen((MemoryType.GOTCHA, 101), (MemoryType.FACT, 20)) == [1]


@given(items=ITEMS, phase=st.sampled_from(Phase))
def test_a_budget_is_never_exceeded_and_what_is_left_out_would_not_fit(
    items: list[tuple[MemoryType, int]], phase: Phase
) -> None:
    ranked, budget = _ranked(*items), BUDGETS[phase]

    chosen, left_out = packing.pack(ranked=ranked, budget=budget)

    left = budget.tokens - sum(item.tokens for item in chosen)
    assert left >= 0
    assert all(item.tokens > left for item in left_out)
    assert sorted(item.memory_id for item in (*chosen, *left_out)) == [
        item.memory_id for item in ranked
    ]


def test_a_memory_without_a_cost_is_refused() -> None:
    with pytest.raises(ValueError, match="tokens"):
        packing.pack(ranked=_ranked((MemoryType.FACT, 0)), budget=BUDGET)


CONTENTS = st.text(min_size=1, max_size=200)
FILES = st.sampled_from(("", "a.py", "b/c.ts"))
REDIS = "Token refresh fails silently when Redis is unreachable, so catch the error."
CARTS = "Merging carts takes Postgres advisory locks instead of optimistic retries."


def _entry(number: int, content: str, file: str = "", **given: object) -> Entry:
    usual: dict[str, object] = {
        "type": "gotcha", "citation": content[:40], "verification": "unverified",
        "needs_review": False,
    }  # fmt: skip
    values = {**usual, **given}
    return Entry(memory_id=UUID(int=number), content=content, file=file, **values)  # type: ignore[arg-type]


def _block(*entries: Entry) -> Block:
    return Block(entries=entries)


def test_memories_stand_under_their_files_with_their_citations() -> None:
    blocks = (
        _block(_entry(1, "One.", "a.py")),
        _block(_entry(2, "Two.")),
        _block(_entry(3, "Three.", "a.py")),
    )

    text = packing.write(blocks=packing.by_file(blocks=blocks))

    assert text == (
        f"{NOTICE}\n\n## a.py\n- gotcha: One. [^ Memory: One.]\n"
        "- gotcha: Three. [^ Memory: Three.]\n\n## No file of its own\n"
        "- gotcha: Two. [^ Memory: Two.]\n"
    )


def test_nothing_is_written_of_nothing() -> None:
    assert packing.write(blocks=()) == ""


def test_further_lines_cannot_pass_for_a_heading() -> None:
    text = packing.write(blocks=(_block(_entry(1, "Mind this.\n## Orders\nDo it.")),))

    assert "\n  ## Orders\n  Do it." in text


def test_doubts_are_told() -> None:
    entry = _entry(1, "It was so.", verification="stale", needs_review=True)

    assert "- gotcha (stale, needs review): It was so." in packing.write(blocks=(_block(entry),))


def test_two_sides_stand_together_under_a_line_that_says_so() -> None:
    text = packing.write(blocks=(_block(_entry(1, "Yes."), _entry(2, "No.")),))

    assert f"{DISAGREE}\n- gotcha: Yes. [^ Memory: Yes.]\n- gotcha: No." in text


@given(items=st.lists(st.tuples(CONTENTS, FILES), max_size=8))
def test_a_text_never_costs_more_than_its_parts(items: list[tuple[str, str]]) -> None:
    blocks = tuple(_block(_entry(n, *item)) for n, item in enumerate(items))

    text = packing.write(blocks=packing.by_file(blocks=blocks))

    parts = sum(tokens.count(text=packing.alone(block=block)) for block in blocks)
    assert tokens.count(text=text) <= tokens.count(text=f"{NOTICE}\n") + parts


def test_what_says_the_same_is_left_out_and_named() -> None:
    ranked = (_entry(1, REDIS), _entry(2, CARTS), _entry(3, f"{REDIS} Always."))

    blocks, overlaps = packing.blocks_of(ranked=ranked, contradictions={}, others={})

    assert [block.entries[0].memory_id.int for block in blocks] == [1, 2]
    assert [(one.entry.memory_id.int, one.stands_for_it.int) for one in overlaps] == [(3, 1)]


def test_the_other_side_joins_the_better_ranked_one() -> None:
    ranked = (_entry(1, REDIS), _entry(2, CARTS), _entry(3, "Redis is never asked for tokens."))
    sides = {UUID(int=1): frozenset({UUID(int=3)}), UUID(int=3): frozenset({UUID(int=1)})}

    blocks, _ = packing.blocks_of(ranked=ranked, contradictions=sides, others={})

    assert [[one.memory_id.int for one in block.entries] for block in blocks] == [[1, 3], [2]]


def test_a_side_that_was_not_found_is_brought_in() -> None:
    other = _entry(9, "Redis is never asked for tokens.")
    sides = {UUID(int=1): frozenset({other.memory_id}), other.memory_id: frozenset({UUID(int=1)})}

    blocks, _ = packing.blocks_of(
        ranked=(_entry(1, REDIS),), contradictions=sides, others={other.memory_id: other}
    )

    assert [one.memory_id.int for one in blocks[0].entries] == [1, 9]


def test_sides_of_a_contradiction_are_no_overlap() -> None:
    ranked = (_entry(1, "Retries are switched on."), _entry(2, "Retries are switched on !"))
    sides = {UUID(int=1): frozenset({UUID(int=2)}), UUID(int=2): frozenset({UUID(int=1)})}

    blocks, overlaps = packing.blocks_of(ranked=ranked, contradictions=sides, others={})

    assert [len(block.entries) for block in blocks] == [2]
    assert overlaps == ()
