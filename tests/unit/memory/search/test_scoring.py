"""Profiles score as specified, part by part."""

import math
from dataclasses import replace
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.customization import phases
from memory.customization.phases import Phase
from memory.records.factors import total
from memory.search import scoring
from memory.search.evidence import Evidence
from memory.search.scoring import PROFILES, Inputs, Multiplier, Term
from memory.taxonomy import MemoryType, Source

SHARES = st.floats(0, 1)
PROFILE = st.sampled_from(tuple(PROFILES.values()))
EVIDENCE = Evidence(
    memory_id=UUID(int=1), type=MemoryType.GOTCHA, source=Source.IMPORT, accesses=100
)


def _inputs(evidence: Evidence = EVIDENCE, *, phase: Phase | None = None) -> Inputs:
    weights = phases.weights_of(phase=phase, own={})
    return scoring.inputs_of(evidence=evidence, fusion=0.5, cosine=0.5, weights=weights)


def test_the_unified_score_of_the_worked_example() -> None:
    terms = {Term.FUSION: 0.03280, Term.ACTIVATION: -0.0140, Term.CONFIDENCE: 0.95}
    inputs = replace(_inputs(), terms=terms)

    score = scoring.score(profile=PROFILES["cognitive"], inputs=inputs)

    assert score.value == pytest.approx(0.15868, abs=0.00001)
    assert [factor.value for factor in score.factors] == pytest.approx([0.01968, -0.0035, 0.1425])


def test_coding_adds_fusion_closeness_recency_and_use() -> None:
    score = scoring.score(profile=PROFILES["coding"], inputs=_inputs())

    assert [factor.value for factor in score.factors] == pytest.approx([0.20, 0.10, 0.25, 0.15])


def test_coding_multiplies_by_phase_source_and_belief() -> None:
    weighed = replace(EVIDENCE, source=Source.EXTRACTED, confidence=0.5)
    inputs = _inputs(weighed, phase=Phase.IMPLEMENT)

    score = scoring.score(profile=PROFILES["coding"], inputs=inputs)

    assert score.value == pytest.approx(0.70 * 1.4 * 0.85 * 0.5)


@pytest.mark.parametrize("name", PROFILES)
def test_the_phase_of_the_work_counts_in_every_profile(name: str) -> None:
    usual = scoring.score(profile=PROFILES[name], inputs=_inputs())
    raised = scoring.score(profile=PROFILES[name], inputs=_inputs(phase=Phase.IMPLEMENT))

    assert raised.value == pytest.approx(1.4 * usual.value)


def test_activation_stays_above_the_floor_of_its_layer() -> None:
    old = replace(EVIDENCE, accesses=0, age_days=10_000, activation_floor=2.0)

    assert _inputs(old).terms[Term.ACTIVATION] == 0.2


@given(profile=PROFILE, belief=SHARES, days=st.floats(0, 1000), later=st.floats(0, 1000))
def test_no_profile_rises_with_idle_days_and_each_is_the_sum_of_its_parts(
    profile: scoring.Profile, belief: float, days: float, later: float
) -> None:
    fresh = replace(EVIDENCE, confidence=belief, idle_days=days)
    now = scoring.score(profile=profile, inputs=_inputs(fresh))
    then = scoring.score(profile=profile, inputs=_inputs(replace(fresh, idle_days=days + later)))

    assert 0.0 <= then.value <= now.value
    assert total(factors=now.factors) == now.value


def test_multipliers_are_named_beside_the_parts_they_are_in() -> None:
    score = scoring.score(profile=PROFILES["coding"], inputs=_inputs())

    assert [factor.name for factor in score.multipliers] == [item.value for item in Multiplier]


@pytest.mark.parametrize(
    "evidence",
    [
        replace(EVIDENCE, accesses=-1),
        replace(EVIDENCE, idle_days=-1.0),
        replace(EVIDENCE, age_days=-1.0),
        replace(EVIDENCE, confidence=math.nan),
    ],
)
def test_impossible_evidence_is_refused(evidence: Evidence) -> None:
    with pytest.raises(ValueError, match="must be"):
        _inputs(evidence)
