"""The scripted models that ship with the product."""

import pytest

from memory.providers.contracts import ChatAnswer, ChatRequest
from memory.providers.errors import ProviderTimeout, ProviderUnavailable
from memory.providers.fakes import ScriptedChatModel, ScriptedEmbedder, ScriptedReranker

REQUEST = ChatRequest(messages=(), schema_name="facts", json_schema={})


def test_embedder_fails_where_its_script_says_so_and_keeps_what_was_asked() -> None:
    embedder = ScriptedEmbedder(script=(ProviderTimeout(detail="slow"), None))

    with pytest.raises(ProviderTimeout):
        embedder.embed_query(text="first")
    vectors = embedder.embed_documents(texts=("second", "third"))

    assert vectors.shape == (2, 384)
    assert embedder.asked == (("first",), ("second", "third"))


def test_reranker_prefers_shared_words() -> None:
    scores = ScriptedReranker().rerank(query="retry", texts=("paint", "retry"))

    assert scores[1] > scores[0]


def test_the_last_entry_of_a_script_repeats() -> None:
    answer = ChatAnswer(data={"facts": []}, model="fake", input_tokens=1, output_tokens=1)
    model = ScriptedChatModel(script=(ProviderUnavailable(detail="down"), answer))

    with pytest.raises(ProviderUnavailable):
        model.complete_json(request=REQUEST)

    assert model.complete_json(request=REQUEST) is model.complete_json(request=REQUEST)


def test_an_empty_script_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        ScriptedChatModel(script=())
