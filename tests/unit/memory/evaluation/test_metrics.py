"""Measures of rankings, silence and packs: worked examples, bounds, and what does not matter."""

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memory.evaluation import metrics
from memory.evaluation.metrics import Discount, Share

# The gains of the article, and what it prints for them (Järvelin and Kekäläinen 2002, section 2).
GAINS = (3, 2, 3, 0, 0, 1, 2, 2, 3, 0)
DISCOUNTED = (3, 5, 6.89, 6.89, 6.89, 7.28, 7.99, 8.66, 9.61, 9.61)
IDEAL = (3, 3, 3, 2, 2, 2, 1, 1, 1, 1)
IDEAL_DISCOUNTED = (3, 6, 7.89, 8.89, 9.75, 10.52, 10.88, 11.21, 11.53, 11.83)
GRADES = {"a": 3, "b": 2, "c": 1}

ids = st.sampled_from([f"m{number}" for number in range(12)])
rankings = st.lists(ids, unique=True, max_size=12)
judgments = st.dictionaries(ids, st.integers(1, 3), min_size=1, max_size=6)
ranks = st.integers(1, 12)
RANKED = (metrics.recall_at, metrics.precision_at, metrics.reciprocal_rank, metrics.ndcg_at)


@pytest.mark.parametrize(("gains", "expected"), [(GAINS, DISCOUNTED), (IDEAL, IDEAL_DISCOUNTED)])
def test_gains_are_discounted_as_in_the_article(
    gains: tuple[int, ...], expected: tuple[float, ...]
) -> None:
    found = [metrics.dcg(gains=gains[:rank], discount=Discount.FROM_THIRD) for rank in range(1, 11)]

    assert found == pytest.approx(expected, abs=0.01)  # cut after two decimals


def test_every_rank_is_discounted_as_benchmarks_do() -> None:
    found = metrics.dcg(gains=(3, 0, 1), discount=Discount.EVERY_RANK)

    assert found == pytest.approx(3 / math.log2(2) + 1 / math.log2(4))


def test_recall_is_the_share_of_relevant_ids_found() -> None:
    assert metrics.recall_at(ranked=("a", "x", "c"), grades=GRADES, k=10) == pytest.approx(2 / 3)
    assert metrics.recall_at(ranked=("a", "x", "c"), grades=GRADES, k=2) == pytest.approx(1 / 3)


def test_precision_counts_empty_ranks_as_noise() -> None:
    assert metrics.precision_at(ranked=("a", "x"), grades=GRADES, k=10) == pytest.approx(0.1)


def test_the_reciprocal_rank_is_that_of_the_first_relevant_id() -> None:
    assert metrics.reciprocal_rank(ranked=("x", "y", "b"), grades=GRADES, k=10) == 1 / 3
    assert metrics.reciprocal_rank(ranked=("x", "y", "b"), grades=GRADES, k=2) == 0


def test_a_swap_of_the_best_two_costs_what_the_discount_says() -> None:
    found = metrics.ndcg_at(ranked=("b", "a", "c"), grades=GRADES, k=10)

    best = 3 + 2 / math.log2(3) + 1 / 2
    assert found == pytest.approx((2 + 3 / math.log2(3) + 1 / 2) / best)


def test_an_id_without_relevance_is_worth_nothing() -> None:
    assert metrics.recall_at(ranked=("a",), grades={"a": 1, "z": 0}, k=10) == 1.0


@pytest.mark.parametrize("measure", RANKED)
@given(ranked=rankings, grades=judgments, k=ranks)
def test_measures_stay_within_0_and_1(measure, ranked, grades, k) -> None:  # type: ignore[no-untyped-def]
    assert 0.0 <= measure(ranked=ranked, grades=grades, k=k) <= 1.0 + 1e-12


@pytest.mark.parametrize("measure", [metrics.reciprocal_rank, metrics.ndcg_at])
@given(grades=judgments)
def test_the_best_order_gets_1(measure, grades) -> None:  # type: ignore[no-untyped-def]
    ranked = sorted(grades, key=lambda id: -grades[id])

    assert measure(ranked=ranked, grades=grades, k=10) == pytest.approx(1.0)


@given(ranked=rankings, grades=judgments, k=ranks)
def test_raising_a_better_id_never_lowers_ndcg(
    ranked: list[str], grades: dict[str, int], k: int
) -> None:
    worse = next((i for i in range(len(ranked) - 1) if _gain(ranked, grades, i) < 0), None)
    assume(worse is not None)
    better = [*ranked]
    better[worse], better[worse + 1] = better[worse + 1], better[worse]

    before, after = (
        metrics.ndcg_at(ranked=order, grades=grades, k=k) for order in (ranked, better)
    )

    assert after >= before - 1e-12


def _gain(ranked: list[str], grades: dict[str, int], position: int) -> int:
    return grades.get(ranked[position], 0) - grades.get(ranked[position + 1], 0)


@given(ranked=rankings, grades=judgments, random=st.randoms(use_true_random=False))
def test_the_order_within_the_first_k_does_not_matter_to_recall(
    ranked: list[str], grades: dict[str, int], random: object
) -> None:
    shuffled = sorted(ranked, key=lambda _: random.random())  # type: ignore[attr-defined]

    assert metrics.recall_at(ranked=shuffled, grades=grades, k=12) == metrics.recall_at(
        ranked=ranked, grades=grades, k=12
    )


@given(ranked=rankings, grades=judgments, k=st.integers(1, 11))
def test_recall_never_falls_with_more_ranks(
    ranked: list[str], grades: dict[str, int], k: int
) -> None:
    less, more = (metrics.recall_at(ranked=ranked, grades=grades, k=n) for n in (k, k + 1))

    assert less <= more


@pytest.mark.parametrize(
    ("ranked", "grades", "k", "message"),
    [
        (("a",), {}, 10, "nothing answers"),
        (("a",), {"a": 0}, 10, "nothing answers"),
        (("a", "a"), {"a": 1}, 10, "each id once"),
        (("a",), {"a": 1}, 0, "at least 1"),
    ],
)
@pytest.mark.parametrize("measure", RANKED)
def test_what_has_no_measure_is_refused(measure, ranked, grades, k, message) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=message):
        measure(ranked=ranked, grades=grades, k=k)


def test_abstention_counts_right_missed_and_wrong_silences() -> None:
    said = [(True, False)] * 6 + [(True, True)] * 2 + [(False, True)] * 3 + [(False, False)]

    found = [metrics.abstention(answerable=each, silent=silent) for each, silent in said]

    assert _quotient([item.precision for item in found]) == 3 / 5
    assert _quotient([item.recall for item in found]) == 3 / 4
    assert _quotient([item.withheld for item in found]) == 2 / 8


def test_an_answer_that_is_there_and_given_counts_as_not_withheld_alone() -> None:
    found = metrics.abstention(answerable=True, silent=False)

    assert (found.precision, found.recall) == (metrics.NOTHING, metrics.NOTHING)
    assert found.withheld == Share(above=0.0)


def _quotient(shares: list[Share]) -> float:
    return sum(share.above for share in shares) / sum(share.below for share in shares)


def test_a_pack_contradicts_itself_where_it_holds_both_sides() -> None:
    pairs = (("a", "b"), ("c", "d"))

    assert metrics.contradictions(pack=("a", "x", "b", "c"), pairs=pairs) == (("a", "b"),)
    assert metrics.contradictions(pack=("a", "c"), pairs=pairs) == ()
