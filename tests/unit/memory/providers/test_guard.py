"""The guard: what is tried again, what is not, and what is counted. Time is a number here."""

from dataclasses import dataclass, field

import pytest

from memory.providers.errors import (
    ProviderBudgetSpent,
    ProviderError,
    ProviderInvalidAnswer,
    ProviderRateLimited,
    ProviderRefused,
    ProviderUnavailable,
)
from memory.providers.guard import CircuitOpen, Guard, Metered, Scope, Unlimited
from memory.providers.settings import Limits

SCOPE = Scope(tenant="acme", provider="fake")
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

    def __call__(self, seconds: float) -> Metered[str]:
        self.given.append(seconds)
        self.time.now += 1.0
        entry = self.script.pop(0)
        if isinstance(entry, ProviderError):
            raise entry
        return Metered(value=entry, tokens=7)


@dataclass(slots=True)
class Purse:
    """A budget of a number of tokens."""

    left: int
    spent: int = 0

    def check(self, *, scope: Scope) -> None:
        if self.spent >= self.left:
            raise ProviderBudgetSpent(detail="nothing left", provider=scope.provider)

    def spend(self, *, scope: Scope, tokens: int) -> None:
        self.spent += tokens


def guard_of(time: Time, *, budget: Purse | None = None) -> Guard:
    return Guard(limits=Limits(), clock=time.clock, sleep=time.sleep, budget=budget or Unlimited())


def fail(guard: Guard, time: Time, *, scope: Scope = SCOPE) -> None:
    refusal = ProviderRateLimited(detail="slow down", retry_after_seconds=1000)
    with pytest.raises(ProviderRateLimited):
        guard.run(scope=scope, seconds=60, call=Calls(time, [refusal]))


def test_a_passing_fault_is_tried_again() -> None:
    time = Time()

    answer = guard_of(time).run(scope=SCOPE, seconds=60, call=Calls(time, [DOWN, DOWN, "yes"]))

    assert answer == "yes"
    assert time.slept == [0.25, 0.5]


def test_two_retries_are_the_most() -> None:
    time = Time()
    calls = Calls(time, [DOWN, DOWN, DOWN, "never asked for"])

    with pytest.raises(ProviderUnavailable):
        guard_of(time).run(scope=SCOPE, seconds=60, call=calls)

    assert len(calls.given) == 3


def test_a_refusal_is_not_tried_again() -> None:
    time = Time()
    calls = Calls(time, [ProviderRefused(detail="bad key"), "never asked for"])

    with pytest.raises(ProviderRefused):
        guard_of(time).run(scope=SCOPE, seconds=60, call=calls)

    assert len(calls.given) == 1


def test_retry_after_is_honored() -> None:
    time = Time()
    limited = ProviderRateLimited(detail="slow down", retry_after_seconds=7)

    guard_of(time).run(scope=SCOPE, seconds=60, call=Calls(time, [limited, "yes"]))

    assert time.slept == [7]


def test_a_wait_beyond_the_deadline_ends_the_call_at_once() -> None:
    time = Time()

    fail(guard_of(time), time)

    assert time.slept == []


def test_each_try_is_given_the_seconds_that_are_left() -> None:
    time = Time()
    calls = Calls(time, [DOWN, DOWN, "yes"])

    guard_of(time).run(scope=SCOPE, seconds=60, call=calls)

    assert calls.given == [60, 58.75, 57.25]


def test_five_failures_open_the_circuit_and_sixty_seconds_close_it() -> None:
    time = Time()
    guard = guard_of(time)
    for _ in range(5):
        fail(guard, time)

    with pytest.raises(CircuitOpen):
        guard.run(scope=SCOPE, seconds=60, call=Calls(time, ["not asked"]))
    time.now += 60

    assert guard.run(scope=SCOPE, seconds=60, call=Calls(time, ["back"])) == "back"


def test_one_tenants_open_circuit_is_nobody_elses() -> None:
    time = Time()
    guard = guard_of(time)
    for _ in range(5):
        fail(guard, time)

    other = Scope(tenant="globex", provider="fake")

    assert guard.run(scope=other, seconds=60, call=Calls(time, ["fine"])) == "fine"


def test_refusals_never_open_the_circuit() -> None:
    time = Time()
    guard = guard_of(time)

    for _ in range(9):
        with pytest.raises(ProviderRefused):
            guard.run(scope=SCOPE, seconds=60, call=Calls(time, [ProviderRefused(detail="no")]))

    assert guard.run(scope=SCOPE, seconds=60, call=Calls(time, ["fine"])) == "fine"


def test_a_spent_budget_stops_the_call_before_it_is_made() -> None:
    time = Time()
    guard = guard_of(time, budget=Purse(left=7))
    guard.run(scope=SCOPE, seconds=60, call=Calls(time, ["costs 7"]))
    second = Calls(time, ["not asked"])

    with pytest.raises(ProviderBudgetSpent):
        guard.run(scope=SCOPE, seconds=60, call=second)

    assert second.given == []


def test_everything_is_counted_by_provider_and_event() -> None:
    time = Time()
    guard = guard_of(time)
    rubbish = ProviderInvalidAnswer(detail="rubbish")

    guard.run(scope=SCOPE, seconds=60, call=Calls(time, [rubbish, "yes"]))

    counted = {count.event: count.times for count in guard.counts()}
    assert counted == {"provider_invalid_answer": 1, "retried": 1, "answered": 1}
