"""How long a silent server is waited for, and whether a kept connection still leads somewhere.

A line can break so that nothing comes back and nothing ends: the driver would then wait for ever,
and a request with it. The web process bounds each exchange; workers and commands, whose
statements may rightly take minutes, do not. A connection whose other end has gone while nobody used
it is readable at once, so it is found without asking the server anything.
"""

import select
from typing import Any, Final

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.rows import TupleRow

POLL_SECONDS: Final = 0.1  # how often the driver looks for a signal of the terminal
NOT_AT_ALL: Final = 0  # milliseconds


class PatientConnection(psycopg.Connection[TupleRow]):
    """A connection that gives up on a server which has been silent for too long."""

    silence_seconds: float | None = None

    def wait(self, gen: Any, interval: float = POLL_SECONDS, timeout: float | None = None) -> Any:
        """Wait for an exchange to end. Raises OperationalError when the server stays silent."""
        if timeout is not None or self.silence_seconds is None:
            return super().wait(gen, interval, timeout)
        try:
            return super().wait(gen, interval, self.silence_seconds)
        except psycopg.OperationalError as error:
            if self.pgconn.transaction_status is not TransactionStatus.ACTIVE:
                raise
            self.pgconn.finish()
            raise psycopg.OperationalError(
                f"The server said nothing for {self.silence_seconds:g} s."
            ) from error


def limit_silence(*, seconds: float) -> None:
    """Bound every exchange of this process, from now on."""
    PatientConnection.silence_seconds = seconds


def is_lost(*, kept: psycopg.Connection[Any]) -> bool:
    """Say whether an idle connection has ended, or has something to say that nobody asked for."""
    if kept.closed:
        return True
    poller = select.poll()
    poller.register(kept.fileno(), select.POLLIN)
    return bool(poller.poll(NOT_AT_ALL))
