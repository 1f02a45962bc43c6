"""Remote models through the vendors' real clients, against every fault of a vendor or a line."""

from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import urlsplit

import pytest

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
    (Fault.GARBAGE, ProviderInvalidAnswer), (Fault.HALF_JSON, ProviderInvalidAnswer),
    (Fault.WRONG_SHAPE, ProviderInvalidAnswer), (Fault.ENDLESS, ProviderInvalidAnswer),
    (Fault.DRIP, ProviderTimeout), (Fault.HANG, ProviderTimeout),
    (Fault.HANG_AFTER_HEADERS, ProviderTimeout), (Fault.DISCONNECT, ProviderUnavailable),
    (Status(status=500), ProviderUnavailable), (Status(status=401), ProviderRefused),
    (Status(status=404), ProviderRefused),
    (Status(status=429, retry_after="7"), ProviderRateLimited),
)  # fmt: skip
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


@pytest.mark.parametrize("fault", [Fault.REFUSAL, Fault.CUT_OFF, Fault.WRONG_SCHEMA])
def test_what_a_useless_chat_answer_cost_is_told(
    vendors: Vendors, vendor: Vendor, fault: Fault
) -> None:
    vendor.script = [fault]
    model = vendors.chat_model(tenant="acme")
    assert model is not None

    with pytest.raises(ProviderError) as found:
        model.complete_json(request=REQUEST)

    cost = found.value
    assert (cost.calls, cost.input_tokens, cost.output_tokens) == (1, 7, 3)


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
