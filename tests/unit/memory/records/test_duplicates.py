"""Inside a batch the same thing is kept once."""

from cProfile import Profile
from pstats import Stats

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.records import statements

RETRY = "The gateway retries failed requests three times before giving up"


@pytest.mark.parametrize(
    ("contents", "firsts"),
    [
        ((), ()),
        ((RETRY, RETRY + "  "), (0, 0)),
        ((RETRY, "The gateway retries failed requests three times before giving up again"), (0, 0)),
        ((RETRY, "Deploys happen on Monday", RETRY), (0, 1, 0)),
        (("The limit of plan A is 10 users", "The limit of plan A is 50 users"), (0, 1)),
        (("Use tabs in all Makefiles here", "Do not use tabs in all Makefiles here"), (0, 1)),
    ],
)
def test_the_first_of_the_same_is_named(contents: tuple[str, ...], firsts: tuple[int, ...]) -> None:
    assert statements.first_of_same(contents=contents) == firsts


@given(contents=st.lists(st.text(st.characters(codec="utf-8"), max_size=20)))
def test_a_first_points_at_itself_and_never_forward(contents: list[str]) -> None:
    firsts = statements.first_of_same(contents=tuple(contents))

    assert all(first <= position for position, first in enumerate(firsts))
    assert all(firsts[first] == first for first in firsts)


def test_rows_of_one_table_are_each_read_once() -> None:
    rows = tuple(
        f"The limit of the endpoint orders on the gateway of region eu-{number} is {number} "
        "requests per minute"
        for number in range(200)
    )
    profile = Profile()

    firsts = profile.runcall(statements.first_of_same, contents=rows)

    stats = Stats(profile).get_stats_profile().func_profiles
    assert firsts == tuple(range(200))
    assert int(stats["hard_values"].ncalls) == len(rows)
