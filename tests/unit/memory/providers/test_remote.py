"""What is accepted from a vendor, what is tried again, and the circuit."""

import json
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.providers import contracts, errors, openai_compatible
from memory.providers.contracts import EmbeddingModel
from memory.providers.errors import (
    CircuitOpen,
    ProviderError,
    ProviderInvalidAnswer,
    ProviderRateLimited,
    ProviderRefused,
    ProviderUnavailable,
)
from memory.providers.guard import Guard, Limits, ProviderSettings, is_on_this_machine

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


DOWN = ProviderUnavailable(detail="down")


@dataclass(slots=True)
class Time:
    """A clock that only sleeping and calls move."""

    now: float = 0.0
    slept: list[float] = field(default_factory=list)

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@dataclass(slots=True)
class Calls:
    """A scripted call that takes one second and keeps the seconds it was given."""

    time: Time
    script: list[ProviderError | str]
    given: list[float] = field(default_factory=list)

    def __call__(self, seconds: float) -> str:
        self.given.append(seconds)
        self.time.now += 1.0
        entry = self.script.pop(0)
        if isinstance(entry, ProviderError):
            raise entry
        return entry


def guard_of(time: Time) -> Guard:
    return Guard(limits=Limits(), clock=time.clock, sleep=time.sleep)


def run(guard: Guard, call: Calls, *, tenant: str = "acme") -> str:
    return guard.run(tenant=tenant, provider="fake", seconds=60, call=call)


def fail(guard: Guard, time: Time, times: int = 1) -> None:
    for _ in range(times):
        refusal = ProviderRateLimited(detail="slow down", retry_after_seconds=1000)
        with pytest.raises(ProviderRateLimited):
            run(guard, Calls(time, [refusal]))


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def opened(time: Time) -> Guard:
    """A guard whose circuit five failures have opened for a tenant."""
    guard = guard_of(time)
    fail(guard, time, 5)
    return guard


def test_a_passing_fault_is_tried_again_in_the_seconds_that_are_left(time: Time) -> None:
    calls = Calls(time, [DOWN, DOWN, "yes"])

    assert run(guard_of(time), calls) == "yes"
    assert time.slept == [0.25, 0.5]
    assert calls.given == [60, 58.75, 57.25]


def test_two_retries_are_the_most_and_a_refusal_has_none(time: Time) -> None:
    for fault, tries in ((DOWN, 3), (ProviderRefused(detail="no"), 1)):
        calls = Calls(time, [fault] * 4)
        with pytest.raises(type(fault)):
            run(guard_of(time), calls)
        assert len(calls.given) == tries


def test_retry_after_is_honored_and_a_wait_beyond_the_deadline_ends_the_call(time: Time) -> None:
    limited = ProviderRateLimited(detail="slow down", retry_after_seconds=7)

    fail(guard_of(time), time)
    assert time.slept == []
    run(guard_of(time), Calls(time, [limited, "yes"]))

    assert time.slept == [7]


def test_five_failures_open_a_circuit_for_sixty_seconds(time: Time, opened: Guard) -> None:
    with pytest.raises(CircuitOpen):
        run(opened, Calls(time, ["not asked"]))
    assert run(opened, Calls(time, ["fine"]), tenant="globex") == "fine"
    time.now += 60

    assert run(opened, Calls(time, ["back"])) == "back"


def test_refusals_never_open_the_circuit(time: Time) -> None:
    guard = guard_of(time)
    refused: list[ProviderError | str] = [ProviderRefused(detail="no")]

    for _ in range(9):
        with pytest.raises(ProviderRefused):
            run(guard, Calls(time, [*refused]))

    assert run(guard, Calls(time, ["fine"])) == "fine"


def test_a_probe_that_fails_opens_the_circuit_anew(time: Time, opened: Guard) -> None:
    for _ in range(2):
        time.now += 60
        fail(opened, time)
        with pytest.raises(CircuitOpen):
            run(opened, Calls(time, ["not asked"]))
    time.now += 60

    assert run(opened, Calls(time, ["back"])) == "back"
    assert run(opened, Calls(time, ["still"])) == "still"


def test_while_a_probe_is_under_way_no_other_call_passes(time: Time, opened: Guard) -> None:
    time.now += 60

    def probe(_: float) -> str:
        with pytest.raises(CircuitOpen):
            run(opened, Calls(time, ["not asked"]))
        time.now += 60
        return run(opened, Calls(time, ["a probe that never reports gives way"]))

    assert opened.run(tenant="acme", provider="fake", seconds=600, call=probe)


def test_only_loopback_addresses_are_on_this_machine() -> None:
    here = ("localhost:11434/v1", "127.0.0.1:8080/v1", "127.9.9.9/", "[::1]:8000/v1")
    elsewhere = ("localhost.example/v1", "127.0.0.1.example/v1", "user:127.0.0.1@a.example")

    assert all(is_on_this_machine(url=f"http://{one}") for one in here)
    for url in ("", *(f"http://{one}" for one in (*elsewhere, "10.0.0.5"))):
        assert not is_on_this_machine(url=url), url


def test_settings_refuse_what_no_vendor_can_mean_and_show_no_key() -> None:
    with pytest.raises(ValueError, match="openai_dimensions"):
        ProviderSettings(openai_dimensions=0)
    settings = ProviderSettings(openai_api_key="sk-private", cohere_api_key="co-private")

    assert "private" not in repr(settings)
