"""Reading the bodies of OpenAI's protocol."""

import json

import pytest

from memory.providers import openai_compatible
from memory.providers.errors import ProviderInvalidAnswer, ProviderRefused


def embeddings(*, model: str = "small", data: object) -> str:
    return json.dumps({"model": model, "data": data, "usage": {"total_tokens": 4}})


def chat(**message: object) -> str:
    return json.dumps({"model": "m", "choices": [{"message": message, "finish_reason": "stop"}]})


def test_rows_come_back_in_the_order_of_their_index_also_of_a_version_of_the_model() -> None:
    data = [{"index": 1, "embedding": [2.0]}, {"index": 0, "embedding": [1.0]}]

    for model in ("small", "small-2", "small:latest", ""):
        body = embeddings(model=model, data=data)
        assert openai_compatible.read_embeddings(body=body, model="small") == [[1.0], [2.0]]


@pytest.mark.parametrize(
    "body",
    [
        embeddings(model="large", data=[{"index": 0, "embedding": [1.0]}]),
        embeddings(data={"0": [1.0]}),
        embeddings(data=["x"]),
        embeddings(data=[{"index": 0}]),
        embeddings(data=[{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]),
        "{}",
    ],
)
def test_bodies_that_are_no_embeddings_are_refused(body: str) -> None:
    with pytest.raises(ProviderInvalidAnswer):
        openai_compatible.read_embeddings(body=body, model="small")


def test_chat_data_is_the_json_in_the_message() -> None:
    answer = openai_compatible.read_chat(body=chat(content='{"facts": [1]}'))

    assert answer.data == {"facts": [1]}
    assert (answer.input_tokens, answer.output_tokens) == (0, 0)


def test_bodies_that_hold_no_json_object_are_refused_and_a_declined_answer_is_a_refusal() -> None:
    for body in (
        chat(content=None), chat(content="[]"), chat(content="sure!"), '{"choices": []}', "{}",
    ):  # fmt: skip
        with pytest.raises(ProviderInvalidAnswer):
            openai_compatible.read_chat(body=body)
    with pytest.raises(ProviderRefused):
        openai_compatible.read_chat(body=chat(content=None, refusal="I will not"))
