"""The guard: what is tried again, what is not, and the circuit. Time is a number here."""

from dataclasses import dataclass, field

import pytest

from memory.providers.errors import (
    CircuitOpen,
    ProviderError,
    ProviderRateLimited,
    ProviderRefused,
    ProviderUnavailable,
)
from memory.providers.guard import Guard, Limits, ProviderSettings, is_on_this_machine

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


def test_five_failures_open_the_circuit_of_their_tenant_and_sixty_seconds_close_it(
    time: Time, opened: Guard
) -> None:
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
