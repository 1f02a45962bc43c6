"""Profiles score as specified, part by part (spec 3.1)."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.formulas.factors import total
from memory.retrieval import scoring
from memory.retrieval.scoring import CodingEvidence

SHARES = st.floats(0, 1)
EVIDENCE = CodingEvidence(
    cosine=0.5,
    days_since_access=0,
    volatility=0.1,
    accesses=100,
    phase_weight=1.0,
    trust_multiplier=1.0,
    effective_confidence=1.0,
)


def test_the_unified_score_of_the_worked_example() -> None:
    score = scoring.cognitive(fusion=0.03280, activation=-0.140, confidence=0.95)

    assert score.value == pytest.approx(0.15868, abs=0.00001)
    assert [factor.value for factor in score.factors] == pytest.approx([0.01968, -0.0035, 0.1425])


def test_coding_adds_closeness_recency_and_use() -> None:
    score = scoring.coding(evidence=EVIDENCE)

    assert [factor.value for factor in score.factors] == pytest.approx([0.30, 0.25, 0.15])


def test_coding_multiplies_by_phase_source_and_belief() -> None:
    weighed = replace(EVIDENCE, phase_weight=1.4, trust_multiplier=0.85, effective_confidence=0.5)

    score = scoring.coding(evidence=weighed)

    assert score.value == pytest.approx(0.70 * 1.4 * 0.85 * 0.5)


@given(confidence=SHARES, days=st.floats(0, 1000), later=st.floats(0, 1000))
def test_coding_never_rises_with_age_and_is_the_sum_of_its_parts(
    confidence: float, days: float, later: float
) -> None:
    fresh = replace(EVIDENCE, effective_confidence=confidence, days_since_access=days)
    now = scoring.coding(evidence=fresh)
    then = scoring.coding(evidence=replace(fresh, days_since_access=days + later))

    assert 0.0 <= then.value <= now.value
    assert total(factors=now.factors) == now.value


def test_a_raw_fusion_score_above_one_is_refused() -> None:
    with pytest.raises(ValueError, match="fusion"):
        scoring.cognitive(fusion=1.2, activation=0.0, confidence=0.5)


@pytest.mark.parametrize(
    "evidence",
    [
        replace(EVIDENCE, accesses=-1),
        replace(EVIDENCE, days_since_access=-1),
        replace(EVIDENCE, effective_confidence=math.nan),
        replace(EVIDENCE, trust_multiplier=-1),
    ],
)
def test_impossible_evidence_is_refused(evidence: CodingEvidence) -> None:
    with pytest.raises(ValueError, match="must be"):
        scoring.coding(evidence=evidence)
