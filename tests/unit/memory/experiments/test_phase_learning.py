"""Weights are proposed where a type is surely used more or less often, within the table's range."""

from hypothesis import given
from hypothesis import strategies as st

from memory.customization.phases import HIGHEST, LOWEST, Phase
from memory.experiments import phase_learning
from memory.experiments.phase_learning import LearnedWeight, outcome_side
from memory.experiments.uplift import LEAST_SESSIONS, Side
from memory.taxonomy import MemoryType

DEFINE = Phase.DEFINE
FACT, DECISION = MemoryType.FACT, MemoryType.DECISION
COUNTS = st.integers(0, 400).flatmap(
    lambda given: st.builds(outcome_side, given=st.just(given), used=st.integers(0, given))
)
OUTCOMES = st.dictionaries(
    st.tuples(st.sampled_from(Phase), st.sampled_from(MemoryType)), COUNTS, max_size=12
)


def learned(
    *types: tuple[MemoryType, int, int], now: float | None = None
) -> dict[str, LearnedWeight]:
    """Return what is learned in one phase of types that were given and used so often."""
    outcomes = {(DEFINE, type): outcome_side(given=given, used=used) for type, given, used in types}
    own = {} if now is None else {DEFINE: {FACT: now}}
    return {one.type.value: one for one in phase_learning.learn_weights(outcomes=outcomes, own=own)}


def test_a_type_that_is_used_more_counts_more_from_a_projects_own_weight_on() -> None:
    found = learned((FACT, 200, 140), (DECISION, 200, 70))
    own = learned((FACT, 200, 100), (DECISION, 200, 60), now=0.9)

    assert (found["fact"].now, found["fact"].proposed) == (1.0, 1.4)
    assert (found["decision"].now, found["decision"].proposed) == (1.1, 0.8)
    assert (own["fact"].now, own["fact"].proposed) == (0.9, 1.15)


def test_the_way_is_half_as_logarithms_go_in_steps() -> None:
    own, others = outcome_side(given=100, used=60), outcome_side(given=100, used=50)

    assert phase_learning.weight(now=1.0, own=own, others=others) == 1.1  # √1.2 = 1.0954
    assert phase_learning.weight(now=1.2, own=own, others=others) == 1.3  # 1.3145
    assert (
        phase_learning.weight(now=1.0, own=others, others=outcome_side(given=9, used=0)) == HIGHEST
    )


def test_what_few_were_given_or_differs_by_chance_is_left_as_it_is() -> None:
    few = learned((FACT, LEAST_SESSIONS - 1, 19), (DECISION, 500, 10))
    close = learned((FACT, 60, 31), (DECISION, 60, 28))
    both = (FACT, 100, 62), (DECISION, 100, 45)
    types = [type for type in MemoryType if type not in {FACT, DECISION}][:12]
    among = learned(*both, *((type, 30, 15) for type in types))

    assert {one.proposed for one in few.values()} == {None}
    assert few["fact"].difference is None
    assert {one.proposed for one in close.values()} == {None}
    assert close["fact"].difference is not None
    assert learned(*both)["fact"].proposed is not None
    assert among["fact"].difference is not None
    assert among["fact"].proposed is None  # more comparisons need more evidence


@given(outcomes=OUTCOMES)
def test_proposals_are_in_the_range_of_the_table_and_have_a_name(
    outcomes: dict[tuple[Phase, MemoryType], Side],
) -> None:
    found = phase_learning.learn_weights(outcomes=outcomes, own={})

    proposed = [one.proposed for one in found if one.proposed is not None]
    assert all(LOWEST <= value <= HIGHEST for value in proposed)
    assert bool(phase_learning.proposal_name(found=found)) == bool(proposed)
    changes = phase_learning.proposed_weights(found=found)
    assert sum(len(own) for own in changes.values()) == len(proposed)
    if len(proposed) > 1:  # another proposal has another name
        names = {phase_learning.proposal_name(found=found[place:]) for place in (0, len(found))}
        assert len(names) == 2
