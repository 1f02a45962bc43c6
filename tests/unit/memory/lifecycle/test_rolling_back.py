"""Which version held the text before a run of changes."""

import pytest

from memory.lifecycle.rolling_back import text_before


@pytest.mark.parametrize(
    ("theirs", "place"),
    [
        ((), None),
        ((True,), 0),
        ((True, True, False, True), 1),
        ((False, True), None),
    ],
)
def test_text_before_is_the_oldest_of_the_run_on_top(
    theirs: tuple[bool, ...], place: int | None
) -> None:
    assert text_before(theirs=theirs) == place
