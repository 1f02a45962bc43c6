"""Trust is earned by sessions and shares, level 4 only chosen (spec 7.4)."""

from dataclasses import replace

import pytest

from teams import trust
from teams.trust import LEVELS, Evidence, TrustLevel

GOOD = Evidence(sessions=10, shown=100, confirmed=50, corrected=4)


def test_the_levels_equal_the_spec() -> None:
    rows = [(row.level.value, row.from_session, row.injects_from_confidence) for row in LEVELS]

    assert rows == [(1, 1, 0.80), (2, 4, 0.65), (3, 16, 0.55), (4, None, 0.45)]


@pytest.mark.parametrize(
    ("level", "confidence", "injects"), [(1, 0.8, True), (1, 0.79, False), (4, 0.45, True)]
)
def test_a_level_injects_from_its_confidence(level: int, confidence: float, injects: bool) -> None:
    assert trust.injects(level=TrustLevel(level), confidence=confidence) == injects


@pytest.mark.parametrize(
    ("evidence", "is_earned"),
    [
        (replace(GOOD, sessions=3), True),
        (replace(GOOD, sessions=2), False),
        (replace(GOOD, confirmed=49), False),
        (Evidence(sessions=9, shown=0, confirmed=0, corrected=0), False),
    ],
)
def test_standard_takes_three_sessions_and_half_confirmed(
    evidence: Evidence, is_earned: bool
) -> None:
    following = trust.next_level(level=TrustLevel.CAUTIOUS, evidence=evidence)

    assert following is not None
    assert (following.level, following.is_earned) == (TrustLevel.STANDARD, is_earned)


@pytest.mark.parametrize(
    ("evidence", "is_earned"),
    [
        (GOOD, True),
        (replace(GOOD, sessions=9), False),
        (replace(GOOD, corrected=5), False),
        (Evidence(sessions=10, shown=0, confirmed=0, corrected=0), False),
    ],
)
def test_confident_takes_ten_sessions_and_few_corrections(
    evidence: Evidence, is_earned: bool
) -> None:
    following = trust.next_level(level=TrustLevel.STANDARD, evidence=evidence)

    assert following is not None
    assert (following.level, following.is_earned) == (TrustLevel.CONFIDENT, is_earned)


def test_what_is_missing_is_said() -> None:
    evidence = Evidence(sessions=2, shown=4, confirmed=1, corrected=0)

    following = trust.next_level(level=TrustLevel.CAUTIOUS, evidence=evidence)

    assert following is not None
    assert following.says == "2 of 3 sessions, 25% confirmed of at least 50%"


@pytest.mark.parametrize("level", [TrustLevel.CONFIDENT, TrustLevel.AUTONOMOUS])
def test_autonomy_is_never_earned(level: TrustLevel) -> None:
    assert trust.next_level(level=level, evidence=GOOD) is None


@pytest.mark.parametrize(("level", "wrong", "offer"), [(2, 3, True), (2, 2, False), (1, 9, False)])
def test_three_wrong_memories_offer_a_step_back(level: int, wrong: int, offer: bool) -> None:
    assert trust.should_offer_step_back(level=TrustLevel(level), wrong_in_session=wrong) == offer


@pytest.mark.parametrize(
    "evidence", [replace(GOOD, confirmed=101), replace(GOOD, corrected=-1), replace(GOOD, shown=-1)]
)
def test_impossible_counts_are_refused(evidence: Evidence) -> None:
    with pytest.raises(ValueError, match="must be"):
        trust.next_level(level=TrustLevel.CAUTIOUS, evidence=evidence)
