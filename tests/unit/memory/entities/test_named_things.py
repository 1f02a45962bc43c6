"""Names that are said to be one thing, as groups."""

from hypothesis import given
from hypothesis import strategies as st

from memory.entities import queries as named_things

A, B, C, D = (5, "auth"), (5, "auth-svc"), (1, "maria"), (5, "redis")
NAMES = st.sampled_from([A, B, C, D])


def test_pairs_that_share_a_name_are_one_group() -> None:
    numbers = named_things.groups(pairs=[(A, B), (C, B)])

    assert numbers[A] == numbers[B] == numbers[C]


def test_groups_are_joined_by_a_later_pair() -> None:
    numbers = named_things.groups(pairs=[(A, B), (C, D), (B, C)])

    assert len(set(numbers.values())) == 1


def test_a_name_of_no_pair_stands_alone() -> None:
    numbers = named_things.groups(pairs=[(A, B)])

    assert named_things.merged_names(names=[D], numbers=numbers) == {D}
    assert named_things.merged_names(names=[A], numbers=numbers) == {A, B}


@given(st.lists(st.tuples(NAMES, NAMES), max_size=6))
def test_groups_do_not_ask_for_the_order_of_pairs(
    pairs: list[tuple[named_things.Name, named_things.Name]],
) -> None:
    def shape(numbers: dict[named_things.Name, int]) -> set[frozenset[named_things.Name]]:
        return {named_things.merged_names(names=[name], numbers=numbers) for name in numbers}

    backwards = named_things.groups(pairs=list(reversed(pairs)))
    assert shape(named_things.groups(pairs=pairs)) == shape(backwards)
