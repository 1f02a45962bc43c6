"""An explanation names every path with what it gave (spec 3)."""

from uuid import UUID

from memory.retrieval import explain, fusion
from memory.retrieval.candidates import Candidate
from memory.retrieval.query import QueryKind


def test_an_explanation_shows_score_rank_weight_and_value_of_each_path() -> None:
    candidate = Candidate(memory_id=UUID(int=1), scores={"dense": 0.8}, ranks={"graph": 4})
    (fused,) = fusion.minmax(candidates=(candidate,), kind=QueryKind.SEMANTIC)

    explained = explain.of(fused=fused)

    assert explained == {
        "score": 1.0,
        "paths": {
            "dense": {"score": 0.8, "rank": 1, "weight": 0.5 / 0.75, "value": 0.5 / 0.75},
            "graph": {"score": None, "rank": 5, "weight": 0.25 / 0.75, "value": 0.25 / 0.75},
        },
    }
