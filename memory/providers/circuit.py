"""The circuit breaker as a frozen value and its three steps; pure (Nygard 2007).

In the flow: `guard` keeps one a tenant and provider. Closed: every call passes. After a number
of failures in a row it opens: no call passes for some seconds. Then one call passes as a probe
(half-open): success closes it, failure opens it anew. A probe that never reports gives way to
the next one after the same time.
"""

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class Circuit:
    """Failures in a row, when it opened (None = closed) and when the last probe passed."""

    failures: int = 0
    opened_at: float | None = None
    probed_at: float | None = None


CLOSED = Circuit()


def admit(*, circuit: Circuit, now: float, open_seconds: float) -> Circuit | None:
    """Return the circuit after letting a call pass, or None where it must not pass."""
    if circuit.opened_at is None:
        return circuit
    if seconds_until_probe(circuit=circuit, now=now, open_seconds=open_seconds) > 0:
        return None
    return replace(circuit, probed_at=now)


def seconds_until_probe(*, circuit: Circuit, now: float, open_seconds: float) -> float:
    """Return how long no call passes (0 = one may pass now)."""
    if circuit.opened_at is None:
        return 0.0
    since = max(circuit.opened_at, circuit.probed_at or circuit.opened_at)
    return max(0.0, since + open_seconds - now)


def after_failure(*, circuit: Circuit, now: float, failures_to_open: int) -> Circuit:
    """Return the circuit after a call failed."""
    failures = circuit.failures + 1
    if failures < failures_to_open:
        return replace(circuit, failures=failures)
    return Circuit(failures=failures, opened_at=now)


def after_success() -> Circuit:
    """Return the circuit after the provider showed that it lives."""
    return CLOSED
