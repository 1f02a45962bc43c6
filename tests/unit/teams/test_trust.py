"""Trust is earned by sessions and shares, kept by person, and level 4 only chosen."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounts.caller import Role
from teams import trust
from teams.trust import START, Evidence, Standing, TrustLevel

NOW = datetime(2026, 7, 1, tzinfo=UTC)
FIRST = Evidence(sessions=3, total=3, shown=10, confirmed=5, corrected=0)
LATER = Evidence(sessions=12, total=15, shown=100, confirmed=80, corrected=4)


@pytest.mark.parametrize(
    ("level", "begins_at", "least", "asking", "waits"),
    [
        (1, 1, 0.80, "each", True),
        (2, 4, 0.65, "all_at_once", True),
        (3, 16, 0.55, "needing_review", False),
        (4, None, 0.45, "nothing", False),
    ],
)
def test_a_level_says_when_it_begins_what_it_injects_and_what_waits(
    level: int, begins_at: int | None, least: float, asking: str, waits: bool
) -> None:
    row = trust.level_row(level=TrustLevel(level))

    assert (row.from_session, row.injects_from_confidence) == (begins_at, least)
    for confidence, is_sure in ((least, True), (least - 0.000_1, True), (least - 0.01, False)):
        assert trust.is_sure(confidence=confidence, least=least) == is_sure
    assert row.asking.value == asking
    assert trust.waits(level=TrustLevel(level), is_doubtful=False) == waits
    assert trust.waits(level=TrustLevel(level), is_doubtful=True)


@pytest.mark.parametrize(
    ("level", "evidence", "sessions", "confirmations"),
    [
        (1, FIRST, 0, 0),
        (1, replace(FIRST, sessions=1, total=1), 2, 0),
        (1, replace(FIRST, shown=11), 0, 1),
        (1, Evidence(sessions=9, total=9, shown=0, confirmed=0, corrected=0), 0, 1),
        (2, LATER, 0, 0),
        (2, replace(LATER, sessions=9), 1, 0),
        (2, replace(LATER, total=13), 2, 0),
        (2, replace(LATER, confirmed=76), 0, 1),
        (2, replace(LATER, confirmed=0, corrected=0), 0, 1),
    ],
)
def test_the_next_level_takes_sessions_and_confirmations(
    level: int, evidence: Evidence, sessions: int, confirmations: int
) -> None:
    following = trust.next_level(level=TrustLevel(level), evidence=evidence)

    assert following is not None
    assert (following.sessions_to_go, following.confirmations_to_go) == (sessions, confirmations)
    assert following.level is TrustLevel(level + 1)
    assert following.is_earned == (sessions == confirmations == 0)


@given(confirmed=st.integers(0, 500), corrected=st.integers(0, 50))
def test_the_confirmations_to_go_are_enough_and_no_more(confirmed: int, corrected: int) -> None:
    evidence = replace(LATER, shown=2_000, confirmed=confirmed, corrected=corrected)
    following = trust.next_level(level=TrustLevel.STANDARD, evidence=evidence)
    assert following is not None
    gap = following.confirmations_to_go

    def earned(more: int) -> bool:
        more_confirmed = replace(evidence, confirmed=confirmed + more)
        found = trust.next_level(level=TrustLevel.STANDARD, evidence=more_confirmed)
        return found is not None and found.is_earned

    assert earned(gap)
    assert gap == 0 or not earned(gap - 1)


def test_autonomy_is_never_earned() -> None:
    for level in (TrustLevel.CONFIDENT, TrustLevel.AUTONOMOUS):
        assert trust.next_level(level=level, evidence=LATER) is None


def test_what_was_earned_is_one_level_and_one_that_a_person_chose_does_not_rise() -> None:
    standard = trust.risen(standing=START, evidence=FIRST, now=NOW)
    back = trust.chosen(standing=standard, level=TrustLevel.CAUTIOUS, now=NOW)

    assert standard == Standing(
        level=TrustLevel.STANDARD, reached=TrustLevel.STANDARD, since=NOW, is_chosen=False
    )
    assert back.is_chosen
    assert trust.risen(standing=back, evidence=FIRST, now=NOW) == back
    assert not trust.chosen(standing=back, level=TrustLevel.STANDARD, now=NOW).is_chosen


@given(
    sessions=st.integers(0, 40),
    shown=st.integers(0, 40),
    confirmed=st.integers(0, 40),
    corrected=st.integers(0, 40),
    level=st.sampled_from(TrustLevel),
)
def test_no_evidence_lowers_a_level_or_raises_it_to_autonomy(
    sessions: int, shown: int, confirmed: int, corrected: int, level: TrustLevel
) -> None:
    evidence = Evidence(
        sessions=sessions,
        total=sessions,
        shown=max(shown, confirmed, corrected),
        confirmed=confirmed,
        corrected=corrected,
    )
    standing = Standing(level=level, reached=level, since=None, is_chosen=False)

    after = trust.risen(standing=standing, evidence=evidence, now=NOW).level

    assert level <= after <= max(level, TrustLevel.CONFIDENT)
    assert after - level <= 1


@pytest.mark.parametrize("role", list(Role))
def test_autonomy_is_an_owners_and_ends_with_the_role(role: Role) -> None:
    standing = Standing(
        level=TrustLevel.AUTONOMOUS, reached=TrustLevel.STANDARD, since=NOW, is_chosen=True
    )
    is_owner = role is Role.OWNER

    may = trust.may_choose(standing=START, level=TrustLevel.AUTONOMOUS, role=role)
    held = trust.in_force(standing=standing, role=role)

    assert may == is_owner
    assert held is (TrustLevel.AUTONOMOUS if is_owner else TrustLevel.STANDARD)


def test_a_person_takes_what_they_reached_or_less() -> None:
    standing = replace(START, reached=TrustLevel.STANDARD)

    assert [
        trust.may_choose(standing=standing, level=TrustLevel(level), role=Role.OWNER)
        for level in (1, 2, 3)
    ] == [True, True, False]


def test_three_wrong_memories_offer_a_step_back() -> None:
    assert [
        trust.should_offer_step_back(level=TrustLevel(level), wrong_in_session=wrong)
        for level, wrong in ((2, 3), (2, 2), (1, 9))
    ] == [True, False, False]


def test_impossible_counts_are_refused() -> None:
    for count in ({"confirmed": 101}, {"corrected": -1}, {"shown": -1}, {"total": 1}):
        with pytest.raises(ValueError, match="must be"):
            trust.next_level(level=TrustLevel.CAUTIOUS, evidence=replace(LATER, **count))
