"""What follows from memories for a plan."""

from collections import Counter

import pytest

from memory.injection import planner
from memory.taxonomy import MemoryType
from tests.support.views import view


def test_calibrations_multiply_and_dependencies_widen() -> None:
    implied = planner.advise(
        memories=(
            view(1, MemoryType.TASK_CALIBRATION, attributes={"ratio": 1.2, "samples": 3}),
            view(2, MemoryType.TASK_CALIBRATION, attributes={"ratio": 1.8, "samples": 1}),
            view(3, MemoryType.DEAD_END),
            view(4, MemoryType.CAUSAL_DEPENDENCY, related_files=("a", "b")),
            view(5, MemoryType.CAUSAL_DEPENDENCY, related_files=("x", "y")),
        ),
        planned_steps=10,
        files=frozenset({"a"}),
    )

    assert implied.calibration == pytest.approx(1.35)
    assert implied.step_limit == 14
    assert implied.also_in_scope == ("b",)
    assert {each.int for each in implied.rests_on} == {1, 2, 3, 4, 5}


def test_a_plan_rests_on_no_more_than_the_limits_of_each_type() -> None:
    many = tuple(
        view(100 * place + number, type, attributes={"ratio": 1.0})
        for place, type in enumerate(MemoryType)
        for number in range(20)
    )

    implied = planner.advise(memories=many, planned_steps=5, files=frozenset())

    types = {one.id: MemoryType(one.type) for one in many}
    assert Counter(types[one] for one in implied.rests_on) == planner.CITED_MOST


@pytest.mark.parametrize(
    ("base", "calibration", "limit"),
    [(10, None, 10), (10, 1.25, 13), (10, 5.0, 20), (300, 2.0, 400), (10, 0.5, 5), (1, 0.1, 1)],
)
def test_advice_is_base_times_calibration_within_bounds(
    base: int, calibration: float | None, limit: int
) -> None:
    assert planner.step_limit(base=base, calibration=calibration) == limit


def test_a_base_of_no_steps_is_refused_and_complex_plans_are_worth_a_checklist() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        planner.step_limit(base=0, calibration=None)
    found = [planner.is_complex(steps=n, modules=m) for n, m in ((8, 1), (2, 2), (7, 1))]
    assert found == [True, True, False]


def test_a_checklist_is_short_and_begins_with_what_must_hold() -> None:
    types = (MemoryType.GOTCHA, MemoryType.DEAD_END, MemoryType.REQUIREMENT, MemoryType.FACT)
    memories = tuple(view(number, types[number % 4]) for number in range(16))

    found = planner.checklist(memories=memories)

    assert len(found) == planner.CHECKS_MOST
    assert [types[one.int % 4] for one in found[:5]] == [
        *[MemoryType.REQUIREMENT] * 4, MemoryType.DEAD_END,
    ]  # fmt: skip
