"""What is accepted from a model, and what is not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.providers import contracts
from memory.providers.contracts import EmbeddingModel, Provider
from memory.providers.errors import ProviderInvalidAnswer

MODEL = EmbeddingModel(key="fake/a", dimensions=3, max_tokens=10, provider=Provider.FAKE)
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
FIGURES = st.floats(min_value=-1e6, max_value=1e6, allow_nan=False)


@given(row=st.lists(FIGURES, min_size=3, max_size=3).filter(lambda row: np.linalg.norm(row) > 1))
def test_accepted_vectors_have_unit_length(row: list[float]) -> None:
    vectors = contracts.unit_vectors(rows=[row], count=1, model=MODEL)

    assert vectors.dtype == np.float32
    assert abs(float(np.linalg.norm(vectors[0])) - 1) < 1e-5


@pytest.mark.parametrize(
    ("rows", "count"),
    [
        ([[1.0, 0.0, float("nan")]], 1),
        ([[0.0, 0.0, 0.0]], 1),
        ([[1e300, 1e300, 1e300]], 1),
        ([[1.0, 0.0, 0.0], [1.0]], 2),
        ([[1.0, 0.0, 0.0]], 2),
        ([["a", "b", "c"]], 1),
        ([[10**400, 1, 1]], 1),
        (None, 1),
        ([], 1),
    ],
)
def test_malformed_vectors_are_refused(rows: object, count: int) -> None:
    with pytest.raises(ProviderInvalidAnswer):
        contracts.unit_vectors(rows=rows, count=count, model=MODEL)


def test_no_texts_need_no_vectors_and_other_dimensions_say_how_to_fix_the_setting() -> None:
    assert contracts.unit_vectors(rows=[], count=0, model=MODEL).shape == (0, 3)
    with pytest.raises(ProviderInvalidAnswer) as raised:
        contracts.unit_vectors(rows=[[1.0, 0.0]], count=1, model=MODEL)

    assert "2 dimensions instead of 3" in raised.value.detail
    assert "Set the provider's dimensions to 2" in raised.value.hint


def test_scores_are_put_in_the_order_of_the_texts() -> None:
    given_scores = ((1, 0.9), (0, 0.2))

    scores = contracts.scores_in_order(scores=given_scores, count=2, provider="fake")

    assert scores == (0.2, 0.9)


@pytest.mark.parametrize(
    "pairs",
    [
        ((0, 0.5),),
        ((0, 0.5), (0, 0.6)),
        ((0, 0.5), (2, 0.6)),
        ((0, 0.5), (1, 1.2)),
        ((0, 0.5), (1, float("nan"))),
        ((0, 0.5), (1, 0.1), (1, 0.2)),
    ],
)
def test_scores_that_do_not_match_the_texts_are_refused(
    pairs: tuple[tuple[int, float], ...],
) -> None:
    with pytest.raises(ProviderInvalidAnswer):
        contracts.scores_in_order(scores=pairs, count=2, provider="fake")


def test_text_that_is_no_json_object_is_refused() -> None:
    for text in ("", "no", '{"n": 1', "[1]", '{"n": NaN}', "[" * 100_000):
        with pytest.raises(ProviderInvalidAnswer):
            contracts.json_object(text=text, provider="fake")


def test_data_of_another_schema_is_refused_without_quoting_it() -> None:
    contracts.check_schema(data={"n": 1}, schema=SCHEMA, provider="fake")
    with pytest.raises(ProviderInvalidAnswer) as raised:
        contracts.check_schema(data={"n": "private words"}, schema=SCHEMA, provider="fake")

    assert "$.n" in raised.value.detail
    assert "private" not in raised.value.detail
