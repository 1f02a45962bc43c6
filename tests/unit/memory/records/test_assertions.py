"""What statements assert differently, and which of a batch say the same."""

from cProfile import Profile
from pstats import Stats

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.records import assertions
from memory.records.assertions import Difference


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("Use tabs in Makefiles.", "Never use tabs in Makefiles.", Difference.POLARITY),
        ("The cache is enabled in tests.", "The cache is disabled in tests.", Difference.POLARITY),
        ("The cache isn't shared.", "The cache is shared.", Difference.POLARITY),
        ("Requests time out after 30 s.", "Requests time out after 60 s.", Difference.VALUE),
        ("We run Postgres 16 here.", "We run Postgres 18 here.", Difference.VALUE),
        ("The flag is `--fast` in CI.", "The flag is `--slow` in CI.", Difference.VALUE),
        ("The API keeps data in MySQL.", "The API keeps data in SQLite.", Difference.VALUE),
        ("Use tabs in Makefiles.", "In Makefiles, use tabs.", Difference.NONE),
        ("Requests time out after 30 s.", "Requests time out after 30s.", Difference.NONE),
        ("It times out after 30 s.", "It times out after 30 s, in 2 regions.", Difference.NONE),
        ("Use Postgres 16.", "Use Postgres 18 now.", Difference.VALUE),
        ("The Redis pod uses port 63.", "The Mongo pod uses port 27.", Difference.NONE),
        ("Deploy the Billing app on Monday.", "Deploy the Auth app on Monday.", Difference.NONE),
        ("The build takes 3 minutes.", "Never push 5 tags at once.", Difference.NONE),
    ],
)  # fmt: skip
def test_differences(old: str, new: str, expected: Difference) -> None:
    assert assertions.difference(old=old, new=new) is expected


@given(text=st.text(), other=st.text())
def test_difference_is_symmetric(text: str, other: str) -> None:
    forth = assertions.difference(old=text, new=other)

    assert forth is assertions.difference(old=other, new=text)
    assert assertions.difference(old=text, new=text) is Difference.NONE


def test_words_of_change_and_withdrawal_are_known_and_two_negations_affirm() -> None:
    for text in ("We now use uv.", "CI migrated to GitHub.", "Use uv instead of pip."):
        assert assertions.marks_update(text=text)
    for text in ("We no longer use pip.", "The v1 API was removed."):
        assert assertions.marks_retraction(text=text)
    assert not assertions.is_negated(text="It is not true that the cache is not shared.")
    assert assertions.jaccard(left=frozenset(), right=frozenset()) == 1.0


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
    assert assertions.first_of_same(contents=contents) == firsts


@given(contents=st.lists(st.text(st.characters(codec="utf-8"), max_size=20)))
def test_a_first_points_at_itself_and_never_forward(contents: list[str]) -> None:
    firsts = assertions.first_of_same(contents=tuple(contents))

    assert all(first <= position for position, first in enumerate(firsts))
    assert all(firsts[first] == first for first in firsts)


def test_rows_of_one_table_are_each_read_once() -> None:
    rows = tuple(
        f"The limit of the endpoint orders on the gateway of region eu-{number} is {number} "
        "requests per minute"
        for number in range(200)
    )
    profile = Profile()

    firsts = profile.runcall(assertions.first_of_same, contents=rows)

    stats = Stats(profile).get_stats_profile().func_profiles
    assert firsts == tuple(range(200))
    assert int(stats["hard_values"].ncalls) == len(rows)
