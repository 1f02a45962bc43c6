"""Whose files are parsed keeps no connection to the database from others meanwhile."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Lock

import pytest
from django.db import connection

from accounts.authentication import entered
from graph.index import parser_process
from graph.index.queries import State
from tests.support.coding import announce, send
from tests.support.live import Place

pytestmark = pytest.mark.django_db(transaction=True)


@dataclass(slots=True)
class Noting:
    """A lock that notes whether who takes it holds a connection."""

    held: list[bool] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)

    def acquire(self, *, timeout: float) -> bool:
        """Take the lock."""
        self.held.append(connection.connection is not None)
        return self._lock.acquire(timeout=timeout)

    def release(self) -> None:
        """Let the lock go."""
        self._lock.release()


def test_no_connection_is_held_while_files_are_parsed(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, now = Noting(), datetime.now(UTC)
    monkeypatch.setattr(parser_process.PARSER, "_lock", lock)

    with entered(place.caller):
        taken = send(place.caller, now, announce(place.caller, now))

    assert (taken.indexed, taken.index.state) == (2, State.RESOLVING)
    assert lock.held == [False, False]
