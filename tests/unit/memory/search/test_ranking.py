"""Profiles score as specified, and every standing is the sum of its parts in whatever order."""

import math
from dataclasses import replace
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.customization.phases import Phase, weights_of
from memory.records.formulas import total
from memory.search import ranking
from memory.search.fusion import WEIGHTS, FusedCandidate
from memory.search.query import QueryKind
from memory.search.ranking import PROFILES, Evidence, Task
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
    profile=st.sampled_from(tuple(PROFILES.values())),
    weights=st.sampled_from(tuple(WEIGHTS.values())),
    types=st.sampled_from((None, *Phase)).map(lambda phase: weights_of(phase=phase, own={})),
)


def _given(
    items: list[tuple[dict[str, float], Evidence]],
) -> tuple[tuple[FusedCandidate, ...], dict[UUID, Evidence]]:
    ids = tuple(UUID(int=number) for number in range(len(items)))
    candidates = tuple(
        FusedCandidate(memory_id=id, scores=scores)
        for id, (scores, _) in zip(ids, items, strict=True)
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


def test_a_candidate_that_may_not_be_seen_any_more_is_left_out() -> None:
    candidate = FusedCandidate(memory_id=UUID(int=1), scores={"dense": 0.5})
    task = Task(profile=PROFILES["plain"], weights=WEIGHTS[QueryKind.SEMANTIC])

    assert ranking.rank(candidates=(candidate,), evidence={}, task=task) == ()


CLOSE = 0.5  # cosine, and fusion score, of what is weighed below
GOTCHA = Evidence(memory_id=UUID(int=1), type=MemoryType.GOTCHA, source=Source.IMPORT, accesses=100)


def _parts(profile: str, evidence: Evidence = GOTCHA, phase: Phase | None = None) -> list[float]:
    """Return the part of the fusion and those of the other terms."""
    types = weights_of(phase=phase, own={})
    task = Task(profile=PROFILES[profile], weights={}, types=types)
    share, others, _ = ranking.weigh(evidence=evidence, cosine=CLOSE, task=task)
    return [share * CLOSE, *(factor.value for factor in others)]


def test_the_unified_score_of_the_worked_example_and_the_floor_of_activation() -> None:
    hours = 4 * math.exp(0.28)  # so that ln 2 - ln(hours) / 2 is -0.14
    fresh = replace(GOTCHA, accesses=0, age_days=hours / 24, activation_floor=-2.0, confidence=0.95)
    old = replace(GOTCHA, accesses=0, age_days=10_000, activation_floor=2.0)

    _, *others = _parts("cognitive", fresh)

    assert others == pytest.approx([0.25 * -0.0140, 0.15 * 0.95])
    assert _parts("cognitive", old)[1] == pytest.approx(0.25 * 0.2)


def test_coding_adds_its_parts_and_multiplies_by_phase_source_and_belief() -> None:
    weighed = replace(GOTCHA, source=Source.EXTRACTED, confidence=0.5)

    assert _parts("coding") == pytest.approx([0.20, 0.10, 0.25, 0.15])
    assert sum(_parts("coding", weighed, Phase.IMPLEMENT)) == pytest.approx(0.70 * 1.4 * 0.85 * 0.5)


@given(
    name=st.sampled_from(tuple(PROFILES)),
    belief=st.floats(0, 1),
    days=st.floats(0, 1000),
    later=st.floats(0, 1000),
)
def test_no_profile_rises_with_idle_days_and_the_phase_counts_in_every_one(
    name: str, belief: float, days: float, later: float
) -> None:
    fresh = replace(GOTCHA, confidence=belief, idle_days=days)

    idle = sum(_parts(name, replace(fresh, idle_days=days + later)))
    usual = sum(_parts(name, fresh))
    assert 0.0 <= idle <= usual
    assert sum(_parts(name, fresh, Phase.IMPLEMENT)) == pytest.approx(1.4 * usual)
