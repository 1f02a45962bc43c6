"""Weights are chosen by the ground around them, and only where the gain is no accident."""

import pytest

from memory.evaluation import weights


def _measured(good: tuple[int, int, int], value: float) -> dict[tuple[int, int, int], list[float]]:
    """A hill around a point: worth `value` there, less with each step away."""
    return {
        point: [value - 0.02 * sum(abs(a - b) for a, b in zip(point, good, strict=True))] * 40
        for point in weights.grid()
    }


def test_every_point_sums_to_one_and_one_of_the_usual_paths_counts() -> None:
    points = tuple(weights.weights_of(point=point) for point in weights.grid())

    assert all(sum(point.values()) == pytest.approx(1.0) for point in points)
    assert all(point["dense"] + point["keyword"] > 0 for point in points)


def test_the_top_of_the_hill_is_found_and_better() -> None:
    found = weights.chosen(measured=_measured((6, 3, 1), 0.9), usual=[0.5] * 40)

    assert found.weights == {"dense": 0.6, "keyword": 0.3, "graph": 0.1}
    assert found.is_better


def test_a_lucky_point_alone_does_not_win() -> None:
    measured = {**_measured((6, 3, 1), 0.9), (1, 1, 8): [1.0] * 40}

    found = weights.chosen(measured=measured, usual=[0.5] * 40)

    assert found.weights["dense"] == 0.6


def test_a_gain_that_may_be_chance_is_not_better() -> None:
    noisy = {point: [0.0, 1.0] * 20 for point in weights.grid()}

    found = weights.chosen(measured=noisy, usual=[1.0, 0.0] * 20)

    assert not found.is_better


def test_without_queries_nothing_is_chosen() -> None:
    with pytest.raises(ValueError, match="there are none"):
        weights.chosen(measured={(5, 5, 0): []}, usual=[])
