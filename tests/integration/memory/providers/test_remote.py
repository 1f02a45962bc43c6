"""From a model key to the vendor's real client, against every fault of a vendor or a line."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from pytest_django import Settings

from memory.providers import registry
from memory.providers.contracts import ChatMessage, ChatRequest, ChatRole
from memory.providers.errors import (
    ProviderError,
    ProviderInvalidAnswer,
    ProviderRateLimited,
    ProviderRefused,
    ProviderTimeout,
    ProviderUnavailable,
)
from memory.providers.guard import ProviderSettings
from memory.providers.registry import Vendors
from tests.integration.memory.providers.conftest import QUICK
from tests.support import fault_proxy
from tests.support.fault_proxy import FaultProxy
from tests.support.vendor_server import Fault, Status, Vendor

TEXTS = ("retry the webhook", "paint the fence")
REQUEST = ChatRequest(
    messages=(ChatMessage(role=ChatRole.USER, text="Which facts?"),),
    schema_name="facts",
    json_schema={
        "type": "object",
        "properties": {"facts": {"type": "array", "items": {"type": "string"}}},
        "required": ["facts"],
        "additionalProperties": False,
    },
)
EXCHANGE_FAULTS = (  # one function a client translates them, for all that it sends
    (Fault.GARBAGE, ProviderInvalidAnswer),
    (Fault.HALF_JSON, ProviderInvalidAnswer),
    (Fault.WRONG_SHAPE, ProviderInvalidAnswer),
    (Fault.ENDLESS, ProviderInvalidAnswer),
    (Fault.DRIP, ProviderTimeout),
    (Fault.HANG, ProviderTimeout),
    (Fault.HANG_AFTER_HEADERS, ProviderTimeout),
    (Fault.DISCONNECT, ProviderUnavailable),
    (Status(status=500), ProviderUnavailable),
    (Status(status=401), ProviderRefused),
    (Status(status=404), ProviderRefused),
    (Status(status=429, retry_after="7"), ProviderRateLimited),
)
CHAT_FAULTS = (
    (Fault.WRONG_SCHEMA, ProviderInvalidAnswer),
    (Fault.CUT_OFF, ProviderInvalidAnswer),
    (Fault.REFUSAL, ProviderRefused),
)


def test_texts_are_embedded_in_order_and_of_their_kind(vendors: Vendors, vendor: Vendor) -> None:
    for key in ("openai/small", "cohere/embed"):
        embedder = vendors.embedder(key=key, tenant="acme")
        vectors = embedder.embed_documents(texts=TEXTS)
        query = embedder.embed_queries(texts=("webhook retry",))[0]
        assert vectors.shape == (2, 384)
        assert vectors[0] @ query > vectors[1] @ query

    told = [asked["input_type"] for asked in vendor.asked if "input_type" in asked]
    assert told == ["search_document", "search_query"]


@pytest.mark.parametrize("key", ["openai/small", "cohere/embed"])
@pytest.mark.parametrize(
    ("fault", "kind"), [*EXCHANGE_FAULTS, (Fault.WRONG_COUNT, ProviderInvalidAnswer)]
)
def test_no_faulty_embedding_is_ever_returned(
    vendors: Vendors, vendor: Vendor, key: str, fault: Fault | Status, kind: type[ProviderError]
) -> None:
    vendor.script = [fault]

    with pytest.raises(kind):
        vendors.embedder(key=key, tenant="acme").embed_documents(texts=TEXTS)


def test_chat_answers_with_data_that_fits_the_schema(vendors: Vendors, vendor: Vendor) -> None:
    model = vendors.chat_model(tenant="acme")
    assert model is not None

    answer = model.complete_json(request=REQUEST)

    assert answer.data == {"facts": ["tests pass"]}
    assert (answer.input_tokens, answer.output_tokens) == (7, 3)
    assert vendor.asked[0]["response_format"]["json_schema"]["name"] == "facts"
    vendor.script = [Fault.HANG]
    with pytest.raises(ProviderTimeout):
        model.complete_json(request=replace(REQUEST, deadline_seconds=0.1))


@pytest.mark.parametrize(("fault", "kind"), [*CHAT_FAULTS, EXCHANGE_FAULTS[0], EXCHANGE_FAULTS[5]])
def test_no_faulty_chat_answer_is_ever_returned(
    vendors: Vendors, vendor: Vendor, fault: Fault | Status, kind: type[ProviderError]
) -> None:
    vendor.script = [fault]
    model = vendors.chat_model(tenant="acme")
    assert model is not None

    with pytest.raises(kind):
        model.complete_json(request=REQUEST)


def test_a_vendor_without_its_key_is_asked_and_refuses(vendors: Vendors, vendor: Vendor) -> None:
    vendor.script = [Status(status=401)]
    settings = replace(vendors.settings, cohere_api_key="")
    embedder = Vendors(settings=settings).embedder(key="cohere/embed", tenant="acme")

    with pytest.raises(ProviderRefused):
        embedder.embed_queries(texts=("x",))


def test_no_faulty_ranking_is_returned(vendors: Vendors, vendor: Vendor) -> None:
    reranker = vendors.reranker(tenant="acme")
    assert reranker is not None

    scores = reranker.rerank(query="paint", texts=TEXTS)

    assert scores[1] > scores[0] == 0.0
    for fault in (Fault.GARBAGE, Fault.WRONG_COUNT):
        vendor.script = [fault]
        with pytest.raises(ProviderInvalidAnswer):
            reranker.rerank(query="paint", texts=TEXTS)


def test_errors_never_quote_the_vendors_sentence(vendors: Vendors, vendor: Vendor) -> None:
    vendor.script = [Status(status=400, code="context_length_exceeded")]

    with pytest.raises(ProviderRefused) as raised:
        vendors.embedder(key="openai/small", tenant="acme").embed_queries(texts=("x",))[0]

    assert raised.value.detail == "openai answered with status 400 (context_length_exceeded)."


def test_many_documents_go_in_several_requests(vendors: Vendors, vendor: Vendor) -> None:
    texts = tuple(f"text {place}" for place in range(200))

    vectors = vendors.embedder(key="cohere/embed", tenant="acme").embed_documents(texts=texts)

    assert vectors.shape == (200, 384)
    assert [len(asked["texts"]) for asked in vendor.asked] == [96, 96, 8]


def test_a_proxy_of_the_environment_is_used(
    vendors: Vendors, vendor: Vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", vendor.url)
    monkeypatch.delenv("no_proxy", raising=False)
    settings = replace(vendors.settings, openai_base_url="http://models.example/v1")
    behind_proxy = Vendors(settings=settings)

    embedder = behind_proxy.embedder(key="openai/small", tenant="acme")

    assert embedder.embed_queries(texts=("x",)).shape == (1, 384)


BROKEN = (
    (fault_proxy.HALF_OPEN, ProviderTimeout),
    (fault_proxy.Fault(stall_after=400), ProviderTimeout),
    (fault_proxy.Fault(bytes_per_second=200), ProviderTimeout),
    (fault_proxy.RESETTING, ProviderUnavailable),
    (fault_proxy.REFUSING, ProviderUnavailable),
)


@pytest.fixture
def line(vendor: Vendor) -> Iterator[FaultProxy]:
    """A line to the vendor."""
    port = urlsplit(vendor.url).port
    assert port is not None
    with FaultProxy(target=port) as running:
        yield running


@pytest.fixture
def over_line(line: FaultProxy) -> Vendors:
    """The product's vendors over that line; a few failures do not keep them from trying again."""
    settings = ProviderSettings(
        embedder="openai/small",
        openai_base_url=f"http://127.0.0.1:{line.port}/v1",
        openai_dimensions=384,
        limits=replace(QUICK, failures_to_open=100),
    )
    return Vendors(settings=settings)


@pytest.mark.parametrize(("fault", "told"), BROKEN)
def test_a_broken_line_is_told_and_a_mended_one_used(
    fault: fault_proxy.Fault, told: type[Exception], line: FaultProxy, over_line: Vendors
) -> None:
    embedder = over_line.embedder(key="openai/small", tenant="t")
    line.set(fault)
    with pytest.raises(told):
        embedder.embed_documents(texts=TEXTS)

    line.set(fault_proxy.SOUND)
    line.reset()
    mended = over_line.embedder(key="openai/small", tenant="u")

    assert mended.embed_documents(texts=TEXTS).shape == (2, 384)


@pytest.fixture(autouse=True)
def configured(models_dir: Path) -> Iterator[None]:
    """The installation's defaults on real weights; nothing of it outlives a test."""
    registry.configure(settings=ProviderSettings(models_dir=models_dir))
    yield
    registry.reset()


def test_the_default_models_are_local_and_answer() -> None:
    embedder, reranker = registry.embedder(tenant="acme"), registry.reranker(tenant="acme")

    assert embedder.model.key == "local/all-minilm-l6-v2"
    assert embedder.embed_queries(texts=("anything",))[0].shape == (384,)
    assert reranker is not None
    assert len(reranker.rerank(query="a", texts=("b", "c"))) == 2
    assert (embedder.is_local, reranker.is_local) == (True, True)
    assert registry.chat_model(tenant="acme") is None


SPACES = {
    "": (384, "local/all-minilm-l6-v2"),
    "static/potion-base-8m": (256, "static/potion-base-8m"),
    "openai/text-embedding-3-small": (1024, "openai/text-embedding-3-small@1024"),
    "openai/text-embedding-3-small@512": (512, "openai/text-embedding-3-small@512"),
    "openai/@cf/baai/bge-small": (1024, "openai/@cf/baai/bge-small@1024"),
    "cohere/embed-v4.0": (1024, "cohere/embed-v4.0@1024"),
    "cohere/embed-v4.0@256": (256, "cohere/embed-v4.0@256"),
}


def test_a_key_stands_for_one_vector_space_and_an_unknown_one_is_refused_with_the_known() -> None:
    for key, space in SPACES.items():
        model = registry.embedder(key=key).model
        assert (model.dimensions, model.key) == space
    for key in ("local/other", "nobody/x", "openai", "openai/", "x" * 1000):
        with pytest.raises(ProviderUnavailable) as raised:
            registry.embedder(key=key, tenant="acme")
        assert "local/all-minilm-l6-v2" in raised.value.hint


def test_the_name_of_an_openai_model_may_come_from_its_own_setting() -> None:
    registry.configure(settings=ProviderSettings(embedder="openai", openai_embedding_model="nomic"))

    assert registry.embedder().model.key == "openai/nomic@1024"


def test_a_server_on_this_machine_counts_as_local(vendor: Vendor) -> None:
    registry.configure(settings=ProviderSettings(openai_base_url=f"{vendor.url}/v1"))

    assert registry.embedder(key="openai/nomic").is_local
    assert not registry.embedder(key="cohere/embed-v4.0").is_local


def test_without_configuration_the_installations_settings_count(settings: Settings) -> None:
    registry.reset()
    settings.CAIRN_PROVIDERS = {"embedder": "static/potion-base-8m"}

    assert registry.embedder().model.key == "static/potion-base-8m"
