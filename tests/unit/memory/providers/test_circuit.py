"""The steps of the circuit breaker."""

from hypothesis import given
from hypothesis import strategies as st

from memory.providers import circuit as circuits
from memory.providers.circuit import CLOSED, Circuit

OPEN = Circuit(failures=5, opened_at=100.0)


def after_failures(count: int, *, now: float = 100.0) -> Circuit:
    circuit = CLOSED
    for _ in range(count):
        circuit = circuits.after_failure(circuit=circuit, now=now, failures_to_open=5)
    return circuit


def admits(circuit: Circuit, *, now: float) -> bool:
    return circuits.admit(circuit=circuit, now=now, open_seconds=60.0) is not None


def test_four_failures_leave_it_closed_and_the_fifth_opens_it() -> None:
    assert admits(after_failures(4), now=100.0)
    assert not admits(after_failures(5), now=100.0)


def test_it_lets_one_probe_pass_after_sixty_seconds() -> None:
    probing = circuits.admit(circuit=OPEN, now=160.0, open_seconds=60.0)

    assert probing is not None
    assert not admits(probing, now=161.0)


def test_a_probe_that_never_reports_gives_way_to_another() -> None:
    probing = circuits.admit(circuit=OPEN, now=160.0, open_seconds=60.0)

    assert probing is not None
    assert admits(probing, now=220.0)


def test_a_failed_probe_opens_it_anew() -> None:
    reopened = circuits.after_failure(circuit=OPEN, now=160.0, failures_to_open=5)

    assert not admits(reopened, now=219.0)
    assert admits(reopened, now=220.0)


def test_success_closes_it() -> None:
    assert circuits.after_success() == CLOSED


@given(failures=st.integers(0, 20), now=st.floats(0, 1e6), wait=st.floats(0, 59))
def test_an_open_circuit_admits_nothing_before_its_time(
    failures: int, now: float, wait: float
) -> None:
    circuit = after_failures(failures, now=now)

    assert admits(circuit, now=now + wait) == (failures < 5)
