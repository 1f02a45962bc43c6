"""What holds for every unit test: no socket, and property tests that do not watch the clock."""

import socket
from typing import NoReturn

import pytest
from hypothesis import settings

settings.register_profile("unit", deadline=None, max_examples=60)
settings.load_profile("unit")


@pytest.fixture(autouse=True)
def no_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse to connect anywhere: a unit test that needs a server is in the wrong folder."""
    monkeypatch.setattr(socket.socket, "connect", _refuse)


def _refuse(*_: object) -> NoReturn:
    raise ConnectionError("a unit test tried to open a connection")
