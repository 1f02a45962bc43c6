"""ACT-R activation: the worked example of the design, and what must always hold."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.records import activation as act_r
from memory.records.activation import TagUse
from memory.records.factors import total

COUNTS = st.integers(1, 10_000)
HOURS = st.floats(0, 1e6)
LEVELS = st.floats(-50, 50)


def test_base_level_of_the_worked_example() -> None:
    base = act_r.base_level(accesses=12, lifetime_hours=720)

    assert base == pytest.approx(3.178 - 3.288, abs=0.003)


def test_a_tag_of_eight_memories_spreads_nothing_in_the_worked_example() -> None:
    crowded = TagUse(fan=8, links=8)

    assert act_r.fan_penalty(links=8) == pytest.approx(0.659, abs=0.001)
    assert act_r.spreading(shared_tags=(crowded,), context_tags=2) == 0.0


def test_a_rare_tag_spreads_its_share() -> None:
    rare = TagUse(fan=1, links=0)

    assert act_r.spreading(shared_tags=(rare,), context_tags=2) == pytest.approx(0.8)


def test_activation_of_the_worked_example() -> None:
    result = act_r.activation(base=-0.110, spreading=0.0, noise=-0.03, floor=-0.5)

    assert result.value == pytest.approx(-0.140)
    assert result.lift == 0.0


def test_no_shared_tag_spreads_nothing() -> None:
    assert act_r.spreading(shared_tags=(), context_tags=0) == 0.0


def test_retrieval_is_even_at_the_threshold() -> None:
    assert act_r.retrieval_probability(activation=-0.5) == 0.5


def test_retrieval_probability_follows_the_logistic() -> None:
    probability = act_r.retrieval_probability(activation=-0.140)

    assert probability == pytest.approx(1 / (1 + math.exp(-(-0.140 + 0.5) / 0.25)))


def test_noise_is_zero_in_the_middle_and_odd_around_it() -> None:
    assert act_r.noise(u=0.5) == 0.0
    assert act_r.noise(u=0.9) == pytest.approx(-act_r.noise(u=0.1))


@given(base=LEVELS, spreading=LEVELS, noise=LEVELS, floor=LEVELS)
def test_activation_respects_the_floor_and_its_parts_sum_to_it(
    base: float, spreading: float, noise: float, floor: float
) -> None:
    result = act_r.activation(base=base, spreading=spreading, noise=noise, floor=floor)

    assert result.value >= floor
    assert total(factors=act_r.factors(activation=result)) == pytest.approx(result.value)


@given(accesses=COUNTS, hours=HOURS, later=HOURS)
def test_base_level_rises_with_use_and_falls_with_age(
    accesses: int, hours: float, later: float
) -> None:
    now = act_r.base_level(accesses=accesses, lifetime_hours=hours)

    assert act_r.base_level(accesses=accesses + 1, lifetime_hours=hours) > now
    assert act_r.base_level(accesses=accesses, lifetime_hours=hours + later) <= now


@given(fan=COUNTS, links=st.integers(0, 1000))
def test_a_more_crowded_tag_never_spreads_more(fan: int, links: int) -> None:
    strength = act_r.associative_strength(tag=TagUse(fan=fan, links=links))

    assert strength >= act_r.associative_strength(tag=TagUse(fan=fan + 1, links=links)) >= 0
    assert strength >= act_r.associative_strength(tag=TagUse(fan=fan, links=links + 1)) >= 0


@given(level=st.floats(-1e6, 1e6))
def test_retrieval_probability_is_a_probability(level: float) -> None:
    assert 0.0 <= act_r.retrieval_probability(activation=level) <= 1.0


@pytest.mark.parametrize("u", [0.0, 1.0, -0.1, math.nan])
def test_noise_needs_a_draw_strictly_inside(u: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        act_r.noise(u=u)


@pytest.mark.parametrize(
    ("accesses", "hours", "decay"), [(0, 1.0, 0.5), (1, -1.0, 0.5), (1, math.nan, 0.5), (1, 1, 1)]
)
def test_base_level_refuses_what_has_no_logarithm(
    accesses: int, hours: float, decay: float
) -> None:
    with pytest.raises(ValueError, match="must be"):
        act_r.base_level(accesses=accesses, lifetime_hours=hours, decay=decay)


def test_impossible_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="fan"):
        act_r.associative_strength(tag=TagUse(fan=0, links=0))
    with pytest.raises(ValueError, match="links"):
        act_r.fan_penalty(links=-1)
    with pytest.raises(ValueError, match="shared tags"):
        act_r.spreading(shared_tags=(TagUse(fan=1, links=0),), context_tags=0)
    with pytest.raises(ValueError, match="scale"):
        act_r.retrieval_probability(activation=0, scale=0)
