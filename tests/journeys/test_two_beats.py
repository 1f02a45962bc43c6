"""Two clocks run beside each other, and each slot runs once; one alone runs on."""

from collections import Counter
from collections.abc import Callable

import pytest

from tests.support.crashing import Installation, await_that

SLOTS = 4  # of the sweep, ten seconds each
ROWS = "SELECT count(*), count(DISTINCT starts_at) FROM accounts_slot WHERE name = 'sweep'"

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture
def two_beats(crash_site: Installation) -> Installation:
    """The installation with a second clock."""
    crash_site.start("other beat")
    return crash_site


def test_each_slot_of_two_beats_runs_once(
    two_beats: Installation, figure: Callable[[str], None]
) -> None:
    site, before = two_beats, len(two_beats.slots())
    rows_before = site.read(ROWS)[0][0]

    await_that(lambda: enough(Counter(site.slots(before))))
    with site.changing:
        site.kill("other beat")
        noted = Counter(site.slots(before))
        rows, distinct = site.read(ROWS)[0]

    taken, asked = noted["sweep taken"], noted["sweep taken"] + noted["sweep gone"]
    assert noted["sweep begun"] in {taken, taken - 1}  # the last may be about to begin
    assert taken in {rows - rows_before, rows - rows_before - 1}  # or about to be noted
    assert rows == distinct
    figure(f"two beats asked for {taken} slots {asked} times; each ran once")


def enough(noted: Counter[str]) -> bool:
    """Say whether so many slots were taken while the other clock came too late for as many."""
    return noted["sweep taken"] >= SLOTS and noted["sweep gone"] >= SLOTS


def test_a_beat_that_is_left_alone_goes_on(two_beats: Installation) -> None:
    site = two_beats
    site.kill("beat")
    before = len(site.slots())

    await_that(lambda: Counter(site.slots(before))["sweep taken"] >= 2)

    site.start("beat")
    site.kill("other beat")
