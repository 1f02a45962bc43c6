"""Every standing is the sum of its parts, under every profile, whatever the order given."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.customization.phases import Phase
from memory.records.factors import total
from memory.search import ranking
from memory.search.candidates import Candidate
from memory.search.evidence import Evidence
from memory.search.query import QueryKind
from memory.search.ranking import Task
from memory.search.scoring import PROFILES
from memory.taxonomy import MemoryType, Source

SCORES = st.dictionaries(
    st.sampled_from(("dense", "keyword", "graph")), st.floats(0.01, 1), min_size=1
)
EVIDENCE = st.builds(
    Evidence,
    memory_id=st.just(UUID(int=0)),
    type=st.sampled_from(MemoryType),
    source=st.sampled_from(Source),
    files=st.lists(st.sampled_from("abcdef"), max_size=3, unique=True).map(tuple),
    age_days=st.floats(0, 900),
    idle_days=st.floats(0, 900),
    accesses=st.integers(0, 500),
    confidence=st.floats(0, 1),
)
ITEMS = st.lists(st.tuples(SCORES, EVIDENCE), max_size=30)
TASKS = st.builds(
    Task,
    kind=st.sampled_from(QueryKind),
    profile=st.sampled_from(tuple(PROFILES.values())),
    phase=st.none() | st.sampled_from(Phase),
)


def _given(
    items: list[tuple[dict[str, float], Evidence]],
) -> tuple[tuple[Candidate, ...], dict[UUID, Evidence]]:
    ids = tuple(UUID(int=number) for number in range(len(items)))
    candidates = tuple(
        Candidate(memory_id=id, scores=scores) for id, (scores, _) in zip(ids, items, strict=True)
    )
    return candidates, {id: known for id, (_, known) in zip(ids, items, strict=True)}


@given(items=ITEMS, task=TASKS)
def test_parts_sum_to_the_score_and_scores_fall(
    items: list[tuple[dict[str, float], Evidence]], task: Task
) -> None:
    candidates, evidence = _given(items)

    standings = ranking.rank(candidates=candidates, evidence=evidence, task=task)

    assert len(standings) == len(items)
    assert all(total(factors=one.factors) == pytest.approx(one.score) for one in standings)
    scores = [one.score for one in standings]
    assert scores == sorted(scores, reverse=True)


@given(items=ITEMS, task=TASKS, random=st.randoms(use_true_random=False))
def test_the_order_of_candidates_does_not_matter(
    items: list[tuple[dict[str, float], Evidence]], task: Task, random: object
) -> None:
    candidates, evidence = _given(items)
    mixed = list(candidates)
    random.shuffle(mixed)  # type: ignore[attr-defined]

    assert ranking.rank(candidates=tuple(mixed), evidence=evidence, task=task) == ranking.rank(
        candidates=candidates, evidence=evidence, task=task
    )


def test_a_candidate_that_may_not_be_seen_any_more_is_left_out() -> None:
    candidate = Candidate(memory_id=UUID(int=1), scores={"dense": 0.5})
    task = Task(kind=QueryKind.SEMANTIC, profile=PROFILES["plain"])

    assert ranking.rank(candidates=(candidate,), evidence={}, task=task) == ()
