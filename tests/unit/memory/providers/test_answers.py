"""What is accepted from a vendor, and what is not: vectors, scores, bodies, and statuses."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.providers import contracts, errors, openai_compatible
from memory.providers.contracts import EmbeddingModel
from memory.providers.errors import (
    ProviderError,
    ProviderInvalidAnswer,
    ProviderRateLimited,
    ProviderRefused,
    ProviderUnavailable,
)

MODEL = EmbeddingModel(key="fake/a", dimensions=3)
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
FIGURES = st.floats(min_value=-1e6, max_value=1e6, allow_nan=False)


@given(row=st.lists(FIGURES, min_size=3, max_size=3).filter(lambda row: np.linalg.norm(row) > 1))
def test_accepted_vectors_have_unit_length(row: list[float]) -> None:
    vectors = contracts.unit_vectors(rows=[row], count=1, model=MODEL)

    assert vectors.dtype == np.float32
    assert abs(float(np.linalg.norm(vectors[0])) - 1) < 1e-5


def test_malformed_vectors_are_refused_and_other_dimensions_say_how_to_fix_the_setting() -> None:
    for rows, count in (
        ([[1.0, 0.0, float("nan")]], 1),
        ([[0.0, 0.0, 0.0]], 1),
        ([[1e300, 1e300, 1e300]], 1),
        ([[1.0, 0.0, 0.0], [1.0]], 2),
        ([[1.0, 0.0, 0.0]], 2),
        ([["a", "b", "c"]], 1),
        ([[10**400, 1, 1]], 1),
        (None, 1),
        ([], 1),
    ):
        with pytest.raises(ProviderInvalidAnswer):
            contracts.unit_vectors(rows=rows, count=count, model=MODEL)
    with pytest.raises(ProviderInvalidAnswer) as raised:
        contracts.unit_vectors(rows=[[1.0, 0.0]], count=1, model=MODEL)

    assert contracts.unit_vectors(rows=[], count=0, model=MODEL).shape == (0, 3)
    assert "2 dimensions instead of 3" in raised.value.detail
    assert "Set the provider's dimensions to 2" in raised.value.hint


def test_scores_are_put_in_the_order_of_the_texts_and_others_refused() -> None:
    assert contracts.scores_in_order(scores=((1, 0.9), (0, 0.2)), count=2, provider="fake") == (
        0.2,
        0.9,
    )
    for pairs in (
        ((0, 0.5),),
        ((0, 0.5), (0, 0.6)),
        ((0, 0.5), (2, 0.6)),
        ((0, 0.5), (1, 1.2)),
        ((0, 0.5), (1, float("nan"))),
        ((0, 0.5), (1, 0.1), (1, 0.2)),
    ):
        with pytest.raises(ProviderInvalidAnswer):
            contracts.scores_in_order(scores=pairs, count=2, provider="fake")


def test_text_that_is_no_json_object_or_of_another_schema_is_refused_without_quoting_it() -> None:
    for text in ("", "no", '{"n": 1', "[1]", '{"n": NaN}', "[" * 100_000):
        with pytest.raises(ProviderInvalidAnswer):
            contracts.json_object(text=text, provider="fake")
    contracts.check_schema(data={"n": 1}, schema=SCHEMA, provider="fake")
    with pytest.raises(ProviderInvalidAnswer) as raised:
        contracts.check_schema(data={"n": "private words"}, schema=SCHEMA, provider="fake")

    assert "$.n" in raised.value.detail
    assert "private" not in raised.value.detail


def embeddings(*, model: str = "small", data: object) -> str:
    return json.dumps({"model": model, "data": data, "usage": {"total_tokens": 4}})


def chat(**message: object) -> str:
    return json.dumps({"model": "m", "choices": [{"message": message, "finish_reason": "stop"}]})


def test_rows_come_back_in_the_order_of_their_index_and_bodies_without_them_are_refused() -> None:
    data = [{"index": 1, "embedding": [2.0]}, {"index": 0, "embedding": [1.0]}]

    for model in ("small", "small-2", "small:latest", ""):
        body = embeddings(model=model, data=data)
        assert openai_compatible.read_embeddings(body=body, model="small") == [[1.0], [2.0]]
    for wrong in (
        embeddings(model="large", data=[{"index": 0, "embedding": [1.0]}]),
        embeddings(data={"0": [1.0]}),
        embeddings(data=["x"]),
        embeddings(data=[{"index": 0}]),
        embeddings(data=[{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]),
        "{}",
    ):
        with pytest.raises(ProviderInvalidAnswer):
            openai_compatible.read_embeddings(body=wrong, model="small")


def test_chat_data_is_the_json_in_the_message_and_a_declined_answer_is_a_refusal() -> None:
    answer = openai_compatible.read_chat(body=chat(content='{"facts": [1]}'))

    assert (answer.data, answer.input_tokens, answer.output_tokens) == ({"facts": [1]}, 0, 0)
    for body in (
        chat(content=None), chat(content="[]"), chat(content="sure!"), '{"choices": []}', "{}",
    ):  # fmt: skip
        with pytest.raises(ProviderInvalidAnswer):
            openai_compatible.read_chat(body=body)
    with pytest.raises(ProviderRefused):
        openai_compatible.read_chat(body=chat(content=None, refusal="I will not"))


def test_status_becomes_the_error_that_says_whether_to_retry() -> None:
    refused, down, limited = ProviderRefused, ProviderUnavailable, ProviderRateLimited
    kinds: dict[tuple[int, str], type[ProviderError]] = {
        (400, ""): refused, (401, "invalid_api_key"): refused, (402, ""): refused,
        (404, ""): refused, (408, ""): down, (429, ""): limited,
        (429, "insufficient_quota"): refused, (500, ""): down, (503, ""): down,
    }  # fmt: skip
    found = {
        (status, code): errors.error_of_status(
            provider="fake", status=status, headers={}, code=code
        )
        for status, code in kinds
    }
    odd = errors.error_of_status(provider="fake", status=400, headers={}, code="key sk-123")

    assert {given: type(error) for given, error in found.items()} == kinds
    assert odd.detail == "fake answered with status 400."  # a code that is no plain word


def test_retry_after_is_read_as_seconds_or_as_a_moment() -> None:
    moment, now = "Sat, 21 Nov 2026 12:00:30 GMT", "Sat, 21 Nov 2026 12:00:00 GMT"

    def seconds(value: str, **headers: str) -> float:
        return errors.retry_after_seconds(headers={"Retry-After": value, **headers})

    assert seconds("7") == 7.0
    assert seconds(moment, date=now) == 30.0
    assert [seconds(value) for value in (moment, "soon", "-4", "9" * 4000)] == [0.0] * 4
    assert errors.retry_after_seconds(headers={}) == 0.0
