"""An explanation names every path with what it gave, and the parts of the score."""

from uuid import UUID

import pytest

from memory.search import explain, ranking
from memory.search import relevance as relevances
from memory.search.calibrations import CALIBRATIONS, NO_VECTORS
from memory.search.candidates import Candidate
from memory.search.evidence import Evidence
from memory.search.query import QueryKind
from memory.search.query_language import Wording
from memory.search.ranking import Task
from memory.search.relevance import Observed
from memory.search.scoring import PROFILES
from memory.taxonomy import MemoryType, Source

ID = UUID(int=1)
WORDING = Wording(words=3, is_french=False)
ROW = CALIBRATIONS[NO_VECTORS]


def _explained(profile: str) -> dict[str, object]:
    candidate = Candidate(memory_id=ID, scores={"dense": 0.8}, ranks={"graph": 4})
    known = Evidence(memory_id=ID, type=MemoryType.FACT, source=Source.USER_TAUGHT)
    task = Task(kind=QueryKind.SEMANTIC, profile=PROFILES[profile])
    (standing,) = ranking.rank(candidates=(candidate,), evidence={ID: known}, task=task)
    observed = (Observed(memory_id=ID, cosine=None, matched=0.5),)
    signs = relevances.signs_of(observed=observed, usual=ROW.rivals, wording=WORDING)[ID]
    value = relevances.relevance(signs=signs, calibration=ROW)
    return dict(explain.of(standing=standing, relevance=value, threshold=0.3, calibration=ROW))


def test_an_explanation_shows_score_rank_weight_and_value_of_each_path() -> None:
    explained = _explained("plain")

    assert explained["score"] == 1.0
    assert explained["parts"] == {"dense": 0.5 / 0.75, "graph": 0.25 / 0.75}
    assert explained["paths"] == {
        "dense": {"score": 0.8, "rank": 1, "weight": 0.5 / 0.75, "value": 0.5 / 0.75},
        "graph": {"score": None, "rank": 5, "weight": 0.25 / 0.75, "value": 0.25 / 0.75},
    }
    assert (explained["boost"], explained["rerank"]) == (None, None)


@pytest.mark.parametrize("profile", PROFILES)
def test_the_parts_sum_to_the_score_under_every_profile(profile: str) -> None:
    explained = _explained(profile)

    assert sum(explained["parts"].values()) == pytest.approx(explained["score"])  # type: ignore[attr-defined]


def test_relevance_is_shown_beside_the_threshold_and_what_it_was_made_of() -> None:
    shown = _explained("plain")["relevance"]

    assert (shown["threshold"], shown["calibration"]) == (0.3, NO_VECTORS)  # type: ignore[index]
    assert set(shown["parts"]) == {"intercept", *(sign.value for sign in ROW.slopes)}  # type: ignore[index]
    assert relevances.logistic(sum(shown["parts"].values())) == pytest.approx(shown["value"])  # type: ignore[index]
