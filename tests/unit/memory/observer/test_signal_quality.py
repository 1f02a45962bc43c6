"""What signals see of the labelled half that nobody fit anything on; figures: bench_signals.

The set is made to be hard where its writer knew how, so the floors say that nothing got worse, not
how well signals do in the field. A file that was read and left is hard to tell from one that was
read for another reason: that is why it takes three sessions.
"""

from functools import cache

import pytest

from memory.observer.detections import SignalKind
from tests.support.behavior import quality, sessions
from tests.support.behavior.quality import Quality

PRECISION = 0.8
WEAKER = {SignalKind.READ_ABANDON: 0.35}
RECALL = 0.7


@cache
def held() -> dict[SignalKind, Quality]:
    """Return what was measured of the half that is held out."""
    chosen = (one for one in sessions.sessions() if one.is_held)
    return {row.kind: row for row in quality.measure(sessions=chosen)}


def test_the_set_is_large_and_half_of_it_is_held_out() -> None:
    every = sessions.sessions()

    assert len(every) == 92
    assert sum(one.is_held for one in every) == 46
    assert len({one.name for one in every}) == 92


@pytest.mark.parametrize("kind", list(SignalKind))
def test_both_halves_show_every_signal(kind: SignalKind) -> None:
    halves = {
        one.is_held for one in sessions.sessions() for shown, _ in one.labels if shown is kind
    }

    assert halves == {True, False}


@pytest.mark.parametrize("kind", list(SignalKind))
def test_what_is_sighted_is_mostly_there(kind: SignalKind) -> None:
    precision = held()[kind].precision

    assert precision is not None
    assert precision.mean >= WEAKER.get(kind, PRECISION)


@pytest.mark.parametrize("kind", list(SignalKind))
def test_what_is_there_is_mostly_sighted(kind: SignalKind) -> None:
    recall = held()[kind].recall

    assert recall is not None
    assert recall.mean >= RECALL
