"""The points of a session, the groups of an experiment, and switches that are final."""

import pytest

from memory.experiments import points
from memory.experiments.points import POINTS, Group, Point, Switches

EXPECTED = (  # number, milliseconds
    ("system_prompt", 1, 500),
    ("first_message", 2, 2_000),
    ("tool_result", 3, 100),
    ("step", 4, 50),
)


def test_the_points_equal_the_specification() -> None:
    numbered = (row for row in POINTS.values() if row.number)
    rows = tuple((row.point.value, row.number, row.milliseconds) for row in numbered)

    assert rows == EXPECTED


@pytest.mark.parametrize(
    ("group", "open_points"),
    [
        (Group.CONTROL, set()),
        (Group.PASSIVE, {Point.SYSTEM_PROMPT, Point.FIRST_MESSAGE}),
        (Group.FULL, set(Point)),
    ],
)
def test_a_group_is_given_what_is_its_own(group: Group, open_points: set[Point]) -> None:
    found = {
        point for point in Point if points.is_open(point=point, switches=Switches(), group=group)
    }

    assert found == open_points


@pytest.mark.parametrize(
    "switches",
    [
        Switches(enabled=False),
        Switches(paused=True),
        Switches(enabled=False, experiments=False),
        Switches(off=frozenset(Point)),
    ],
)
def test_a_switch_off_is_final(switches: Switches) -> None:
    found = [
        points.is_open(point=point, switches=switches, group=group)
        for point in Point
        for group in Group
    ]

    assert not any(found)


def test_one_point_can_be_off_alone_and_without_experiments_everybody_is_in_full() -> None:
    switches = Switches(off=frozenset({Point.STEP}), experiments=False)

    found = {
        point
        for point in Point
        if points.is_open(point=point, switches=switches, group=Group.CONTROL)
    }

    assert found == set(Point) - {Point.STEP}
