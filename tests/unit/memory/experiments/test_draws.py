"""Groups and withheld memories follow from keyed hashes: stable, and apart from each other."""

from collections import Counter

import pytest

from memory.experiments import points
from memory.experiments.points import Group

KEY = b"of this installation"
MANY = 20_000


def groups(control: float = 5, passive: float = 10, key: bytes = KEY) -> list[Group]:
    """Return the groups of many sessions of a project."""
    return [
        points.group(key=key, session=f"s{place}", project="p", control=control, passive=passive)
        for place in range(MANY)
    ]


def test_groups_are_five_ten_and_eighty_five_of_a_hundred_or_of_the_shares_that_are_set() -> None:
    counted, other = Counter(groups()), Counter(groups(50, 0))

    assert counted[Group.CONTROL] / MANY == pytest.approx(0.05, abs=0.006)
    assert counted[Group.PASSIVE] / MANY == pytest.approx(0.10, abs=0.008)
    assert counted[Group.FULL] / MANY == pytest.approx(0.85, abs=0.010)
    assert other[Group.CONTROL] / MANY == pytest.approx(0.5, abs=0.015)
    assert other[Group.PASSIVE] == 0
    assert set(groups(0, 0)) == {Group.FULL}


def test_a_session_stays_in_its_group_and_another_project_or_key_is_another_draw() -> None:
    elsewhere = {
        points.group(key=KEY, session="s", project=str(place), control=5, passive=10)
        for place in range(300)
    }

    assert groups() == groups()
    assert elsewhere == set(Group)
    assert groups() != groups(key=b"of another")


def test_a_memory_is_withheld_from_its_share_whatever_the_group_and_the_other_memories() -> None:
    def withheld(memory: str) -> list[bool]:
        return [
            points.is_withheld(key=KEY, memory=memory, session=f"s{place}", percent=20)
            for place in range(MANY)
        ]

    one, other = withheld("m"), withheld("n")

    full = [mine for mine, group in zip(one, groups(), strict=True) if group is Group.FULL]
    both = sum(a and b for a, b in zip(one, other, strict=True))
    assert sum(one) / MANY == pytest.approx(0.2, abs=0.01)
    assert sum(full) / len(full) == pytest.approx(0.2, abs=0.01)
    assert both / MANY == pytest.approx(0.04, abs=0.006)
    assert not points.is_withheld(key=KEY, memory="m", session="s", percent=0)
    assert points.is_withheld(key=KEY, memory="m", session="s", percent=100)
