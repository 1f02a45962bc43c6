"""Hits about the files of the first ten rise, and never above their range."""

from uuid import UUID

import pytest

from memory.search import neighborhood
from memory.search.fusion import Fused, FusedCandidate
from memory.search.neighborhood import Neighbors

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


def _turns(*ids: int) -> dict[UUID, Neighbors]:
    whole = (None, *(UUID(int=id) for id in ids), None)
    return {
        id: Neighbors(previous=before, next=after)
        for before, id, after in zip(whole, whole[1:], whole[2:], strict=False)
        if id is not None
    }


def test_an_episode_gains_half_of_what_stands_before_it_and_a_quarter_of_what_stands_after() -> (
    None
):
    candidates = tuple(
        FusedCandidate(memory_id=UUID(int=id), scores={"dense": score})
        for id, score in ((1, 0.9), (2, 0.4), (3, 0.6), (9, 0.2))
    )

    found = neighborhood.with_sessions(candidates=candidates, turns=_turns(1, 2, 3))

    scores = {one.memory_id.int: one.scores["dense"] for one in found}
    assert scores[1] == pytest.approx(0.9 + 0.25 * 0.2)
    assert scores[2] == pytest.approx(0.4 + 0.5 * 0.7 + 0.25 * 0.4)
    assert scores[3] == pytest.approx(0.6 + 0.5 * 0.2)
    assert scores[9] == 0.2


def test_an_answer_that_no_path_found_comes_with_its_question() -> None:
    asked = FusedCandidate(memory_id=UUID(int=1), scores={"keyword": 8.0})
    other = FusedCandidate(memory_id=UUID(int=9), scores={"keyword": 2.0})

    found = neighborhood.with_sessions(candidates=(asked, other), turns=_turns(1, 2, 3))

    scores = {one.memory_id.int: one.scores for one in found}
    assert scores[2] == {"keyword": pytest.approx(2.0 + 0.5 * 6.0)}
    assert scores[3] == {}


def test_what_is_beside_a_turn_knows_what_is_beside_it() -> None:
    around = neighborhood.turns_around(turns={UUID(int=2): _turns(1, 2, 3)[UUID(int=2)]})

    assert around[UUID(int=1)].next == UUID(int=2)
    assert around[UUID(int=3)].previous == UUID(int=2)
