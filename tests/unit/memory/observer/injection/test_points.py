"""The points of spec 4.6, the groups of 10.4, and switches that are final."""

from collections import Counter

import pytest

from memory.observer.injection import points
from memory.observer.injection.points import POINTS, Group, Point, Switches

SPEC = (  # number, milliseconds: spec 4.6
    ("system_prompt", 1, 500),
    ("first_message", 2, 2_000),
    ("tool_result", 3, 100),
    ("step", 4, 50),
)


def test_the_points_equal_the_specification() -> None:
    numbered = (row for row in POINTS.values() if row.number)
    rows = tuple((row.point.value, row.number, row.milliseconds) for row in numbered)

    assert rows == SPEC


def test_groups_are_five_ten_and_eighty_five_of_a_hundred() -> None:
    sessions = 20_000
    counted = Counter(
        points.group(session=f"session-{place}", project="p") for place in range(sessions)
    )

    assert counted[Group.CONTROL] / sessions == pytest.approx(0.05, abs=0.006)
    assert counted[Group.PASSIVE] / sessions == pytest.approx(0.10, abs=0.008)
    assert counted[Group.FULL] / sessions == pytest.approx(0.85, abs=0.010)


def test_a_session_stays_in_its_group_and_another_project_is_another_draw() -> None:
    groups = [points.group(session="s", project="p") for _ in range(3)]
    others = {points.group(session="s", project=str(place)) for place in range(200)}

    assert len(set(groups)) == 1
    assert others == set(Group)


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
