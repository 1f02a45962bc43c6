"""Surprise is the distance from what is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.records import surprise as novelty
from memory.records.surprise import Nearest

EAST = np.array([1.0, 0.0])
NORTH = np.array([0.0, 2.0])
NOTHING = np.empty((0, 2))


def test_a_memory_on_a_centroid_surprises_nobody() -> None:
    nearest = novelty.nearest(embedding=NORTH, centroids=np.stack([EAST, NORTH]))

    assert nearest is not None
    assert nearest.index == 1
    assert novelty.surprise(nearest=nearest) == pytest.approx(0.0)


def test_surprise_of_the_worked_example() -> None:
    assert novelty.surprise(nearest=Nearest(index=3, cosine=0.33)) == pytest.approx(0.67)


def test_without_a_centroid_surprise_is_neutral() -> None:
    nearest = novelty.nearest(embedding=EAST, centroids=NOTHING)

    assert nearest is None
    assert novelty.surprise(nearest=nearest) == 0.5


@given(cosine=st.floats(-1.001, 1.001))
def test_surprise_is_a_share(cosine: float) -> None:
    assert 0.0 <= novelty.surprise(nearest=Nearest(index=0, cosine=cosine)) <= 1.0


def test_a_centroid_has_length_one_and_ignores_the_lengths_of_its_members() -> None:
    middle = novelty.centroid(embeddings=np.stack([EAST, NORTH]))

    assert middle == pytest.approx(np.array([0.5**0.5, 0.5**0.5]))


@pytest.mark.parametrize("bad", [np.zeros(2), np.array([np.nan, 1.0]), np.array([np.inf, 1.0])])
def test_a_vector_without_direction_is_refused(bad: np.ndarray) -> None:
    with pytest.raises(ValueError, match="vector"):
        novelty.nearest(embedding=bad, centroids=np.stack([EAST]))


def test_members_that_cancel_out_have_no_centroid() -> None:
    with pytest.raises(ValueError, match="vector"):
        novelty.centroid(embeddings=np.stack([EAST, -EAST]))
