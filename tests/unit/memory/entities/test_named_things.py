"""Names that are said to be one thing, as groups."""

from hypothesis import given
from hypothesis import strategies as st

from memory.entities import queries

A, B, C, D = (5, "auth"), (5, "auth-svc"), (1, "maria"), (5, "redis")
NAMES = st.sampled_from([A, B, C, D])


def test_pairs_that_share_a_name_are_one_group_and_a_later_pair_joins_two() -> None:
    numbers = queries.groups(pairs=[(A, B), (C, D), (B, C)])

    assert len(set(numbers.values())) == 1
    pair = queries.groups(pairs=[(A, B)])
    assert queries.merged_names(names=[D], numbers=pair) == {D}
    assert queries.merged_names(names=[A], numbers=pair) == {A, B}


@given(st.lists(st.tuples(NAMES, NAMES), max_size=6))
def test_groups_do_not_ask_for_the_order_of_pairs(
    pairs: list[tuple[queries.Name, queries.Name]],
) -> None:
    def shape(numbers: dict[queries.Name, int]) -> set[frozenset[queries.Name]]:
        return {queries.merged_names(names=[name], numbers=numbers) for name in numbers}

    backwards = queries.groups(pairs=list(reversed(pairs)))
    assert shape(queries.groups(pairs=pairs)) == shape(backwards)
