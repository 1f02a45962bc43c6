"""Names that are said to be one thing, as groups."""

from hypothesis import given
from hypothesis import strategies as st

from memory.entities import same_names

A, B, C, D = (5, "auth"), (5, "auth-svc"), (1, "maria"), (5, "redis")
NAMES = st.sampled_from([A, B, C, D])


def test_pairs_that_share_a_name_are_one_group() -> None:
    numbers = same_names.groups(pairs=[(A, B), (C, B)])

    assert numbers[A] == numbers[B] == numbers[C]


def test_groups_are_joined_by_a_later_pair() -> None:
    numbers = same_names.groups(pairs=[(A, B), (C, D), (B, C)])

    assert len(set(numbers.values())) == 1


def test_a_name_of_no_pair_stands_alone() -> None:
    numbers = same_names.groups(pairs=[(A, B)])

    assert same_names.together(names=[D], numbers=numbers) == {D}
    assert same_names.together(names=[A], numbers=numbers) == {A, B}


@given(st.lists(st.tuples(NAMES, NAMES), max_size=6))
def test_groups_do_not_ask_for_the_order_of_pairs(
    pairs: list[tuple[same_names.Name, same_names.Name]],
) -> None:
    def shape(numbers: dict[same_names.Name, int]) -> set[frozenset[same_names.Name]]:
        return {same_names.together(names=[name], numbers=numbers) for name in numbers}

    backwards = same_names.groups(pairs=list(reversed(pairs)))
    assert shape(same_names.groups(pairs=pairs)) == shape(backwards)
