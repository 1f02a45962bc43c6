"""Hits about the files of the first ten rise, and never above their range (spec 3.1)."""

from uuid import UUID

import pytest

from memory.retrieval import neighborhood
from memory.retrieval.fusion import Fused

RANKED = tuple(
    Fused(memory_id=UUID(int=number), score=1.0 - number / 100, contributions=())
    for number in range(60)
)
TOP = {UUID(int=0): ("a.py", "b.py"), UUID(int=9): ("c.py", "d.py")}


def test_a_memory_further_down_rises_by_the_share_of_files_it_has() -> None:
    files = {**TOP, UUID(int=20): ("a.py", "d.py", "x.py")}

    boost = neighborhood.boosts(fused=RANKED, files=files)[UUID(int=20)]

    assert boost.shared == 2
    assert boost.value == pytest.approx(0.3 * 0.59 * 2 / 4)


@pytest.mark.parametrize("place", [3, 50, 59])
def test_only_the_ranks_after_ten_and_up_to_fifty_rise(place: int) -> None:
    files = {**TOP, UUID(int=place): ("a.py",)}

    assert neighborhood.boosts(fused=RANKED, files=files) == {}


def test_without_files_among_the_first_ten_nobody_rises() -> None:
    assert neighborhood.boosts(fused=RANKED, files={UUID(int=20): ("a.py",)}) == {}
    assert neighborhood.boosts(fused=(), files={}) == {}
