"""The one guard of all remote models: deadline, retries, circuit, budget, counts.

In the flow: `guarded` runs each call of a remote vendor through `Guard.run`. A call gets the
seconds that are left of a total that includes its retries and waits; a Retry-After that does not
fit into it ends the call at once. Circuits are per tenant and provider, so that one tenant's
wrong key stops nobody else; they live in the process, which bounds a dead vendor to five tries a
process and minute. Clock and sleep are passed in.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import Generic, Protocol, TypeVar

from accounts.messages import message
from memory.providers import circuit as circuits
from memory.providers.circuit import Circuit
from memory.providers.errors import (
    ProviderError,
    ProviderRateLimited,
    ProviderUnavailable,
)
from memory.providers.settings import Limits

FIRST_WAIT_SECONDS = 0.25  # doubles with each retry
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Whose call goes to whom; circuits and budgets are kept apart by it."""

    tenant: str
    provider: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Metered(Generic[Answer]):
    """A checked answer and the tokens that it cost."""

    value: Answer
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """How often something happened to calls of a provider since the process started."""

    provider: str
    event: str
    times: int


class Budget(Protocol):
    """Decides whether a tenant may spend, and learns what it spent."""

    def check(self, *, scope: Scope) -> None:
        """Raise ProviderBudgetSpent where the tenant may not call the provider any more."""
        ...

    def spend(self, *, scope: Scope, tokens: int) -> None:
        """Book the tokens of an answer."""
        ...


class CircuitOpen(ProviderUnavailable):
    """The circuit of this tenant and provider is open: nothing was sent."""

    code = "provider_circuit_open"
    is_transient = False


class Unlimited:
    """The budget of an installation that sets none."""

    def check(self, *, scope: Scope) -> None:
        """Let every call pass."""

    def spend(self, *, scope: Scope, tokens: int) -> None:
        """Book nothing."""


class Guard:
    """Runs calls of remote models; one a process, shared by its threads."""

    def __init__(
        self,
        *,
        limits: Limits,
        clock: Callable[[], float],
        sleep: Callable[[float], None],
        budget: Budget,
    ) -> None:
        """Start with every circuit closed; the clock counts seconds and never goes back."""
        self._limits = limits
        self._clock = clock
        self._sleep = sleep
        self._budget = budget
        self._lock = Lock()
        self._circuits: dict[Scope, Circuit] = {}
        self._counts: Counter[tuple[str, str]] = Counter()

    def run(
        self, *, scope: Scope, seconds: float, call: Callable[[float], Metered[Answer]]
    ) -> Answer:
        """Return the answer of `call`, which is given the seconds left and checks its answer.

        Raises:
            ProviderError: as `call` does, once no retry may help or fits into `seconds`.
        """
        self._budget.check(scope=scope)
        ends_at = self._clock() + seconds
        retries = 0
        while True:
            try:
                answer = self._attempt(scope, ends_at, call)
            except ProviderError as error:
                self._wait_or_raise(error, scope, ends_at, retries)
                retries += 1
            else:
                self._budget.spend(scope=scope, tokens=answer.tokens)
                return answer.value

    def counts(self) -> tuple[Count, ...]:
        """Return what happened so far, by provider and event."""
        with self._lock:
            entries = sorted(self._counts.items())
        return tuple(
            Count(provider=provider, event=event, times=times)
            for (provider, event), times in entries
        )

    def _attempt(
        self, scope: Scope, ends_at: float, call: Callable[[float], Metered[Answer]]
    ) -> Metered[Answer]:
        self._admit(scope)
        try:
            answer = call(ends_at - self._clock())
        except ProviderError as error:
            self._note_failure(scope, error)
            raise
        self._note_success(scope)
        return answer

    def _admit(self, scope: Scope) -> None:
        now, wait = self._clock(), self._limits.open_seconds
        with self._lock:
            present = self._circuits.get(scope, circuits.CLOSED)
            admitted = circuits.admit(circuit=present, now=now, open_seconds=wait)
            if admitted is not None:
                self._circuits[scope] = admitted
                return
            self._counts[scope.provider, "circuit_open"] += 1
        left = circuits.seconds_until_probe(circuit=present, now=now, open_seconds=wait)
        raise CircuitOpen(
            detail=message(
                "{provider} failed {times} times in a row and is left alone.",
                provider=scope.provider,
                times=present.failures,
            ),
            provider=scope.provider,
            hint=message("It is tried again in {seconds} s.", seconds=round(left)),
        )

    def _note_failure(self, scope: Scope, error: ProviderError) -> None:
        now, most = self._clock(), self._limits.failures_to_open
        with self._lock:
            present = self._circuits.get(scope, circuits.CLOSED)
            self._circuits[scope] = (
                circuits.after_failure(circuit=present, now=now, failures_to_open=most)
                if error.is_transient
                else circuits.after_success()  # a refusal shows that the provider lives
            )
            self._counts[scope.provider, error.code] += 1

    def _note_success(self, scope: Scope) -> None:
        with self._lock:
            self._circuits.pop(scope, None)  # closed ones take no room, however many the tenants
            self._counts[scope.provider, "answered"] += 1

    def _wait_or_raise(
        self, error: ProviderError, scope: Scope, ends_at: float, retries: int
    ) -> None:
        if not error.is_transient or retries >= self._limits.retries:
            raise error
        wait = FIRST_WAIT_SECONDS * 2**retries
        if isinstance(error, ProviderRateLimited):
            wait = max(wait, error.retry_after_seconds)
        if self._clock() + wait >= ends_at:
            raise error
        self._sleep(wait)
        with self._lock:
            self._counts[scope.provider, "retried"] += 1
