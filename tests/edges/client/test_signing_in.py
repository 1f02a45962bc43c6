"""Signing a machine in with a code: the program asks, a person decides, the file is kept."""

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from memory.client.api import Client
from memory.client.commands import setup
from memory.client.configuration import Connection
from memory.client.errors import ClientError, Problem, Unreachable
from tests.edges.client.conftest import Cairn
from tests.support.fault_proxy import REFUSING, SOUND, FaultProxy
from tests.support.in_person import signed_in, token_of
from tests.support.live import Place

pytestmark = pytest.mark.django_db


def _decide(address: str, place: Place, code: str, verb: str) -> None:
    """Decide in a browser that is signed in as the owner."""
    form = {"code": code, "org": place.caller.organization_slug, "verb": verb, "scope": "read"}
    with signed_in(address=address, place=place) as browser:
        browser.post("/device", data={**form, **token_of(browser=browser)})


def _sign_in(address: str, decide: Callable[[str], object], pauses: list[float]) -> str:
    """Sign in; somebody decides while the program waits for the second time."""
    shown: list[Mapping[str, Any]] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 2:
            decide(shown[0]["user_code"])

    with Client(connection=Connection(url=address, token="")) as client:
        return setup.sign_in(client=client, show=shown.append, pause=pause)


def test_a_line_that_breaks_while_it_waits_ends_no_sign_in(address: str, place: Place) -> None:
    shown: list[Mapping[str, Any]] = []
    pauses: list[float] = []
    with FaultProxy(target=urlsplit(address).port or 0) as proxy:

        def pause(seconds: float) -> None:
            pauses.append(seconds)
            if len(pauses) == 1:
                proxy.set(REFUSING)
                proxy.reset()
            if len(pauses) == 2:
                proxy.set(SOUND)
                _decide(address, place, shown[0]["user_code"], "approve")

        url = f"http://127.0.0.1:{proxy.port}"
        with Client(connection=Connection(url=url, token=""), pause=lambda _: None) as client:
            token = setup.sign_in(client=client, show=shown.append, pause=pause)

    with Client(connection=Connection(url=address, token=token)) as client:
        assert client.me()["scopes"] == ["read"]
    assert pauses == [5.0, 10.0]


def test_a_server_that_stays_away_is_told_in_the_end(address: str) -> None:
    pauses: list[float] = []
    with FaultProxy(target=urlsplit(address).port or 0) as proxy:

        def pause(seconds: float) -> None:
            pauses.append(seconds)
            proxy.set(REFUSING)
            proxy.reset()

        url = f"http://127.0.0.1:{proxy.port}"
        with (
            Client(connection=Connection(url=url, token=""), pause=lambda _: None) as client,
            pytest.raises(Unreachable),
        ):
            setup.sign_in(client=client, show=lambda _: None, pause=pause)

    assert pauses == [5.0, 10.0, 20.0, 40.0, 80.0, 160.0]


def test_who_is_refused_is_told_so(address: str, place: Place) -> None:
    with pytest.raises(Problem) as refused:
        _sign_in(address, lambda code: _decide(address, place, code, "refuse"), [])

    assert refused.value.code == "access_denied"


def test_who_asks_too_often_waits_longer_and_gives_up_in_the_end(address: str) -> None:
    pauses: list[float] = []

    with pytest.raises(ClientError, match="Nobody approved"):
        _sign_in(address, lambda code: None, pauses)

    assert pauses[:4] == [5.0, 5.0, 10.0, 15.0]  # its pauses are none here: it is told to slow down
    assert sum(pauses) >= 600


def test_login_by_code_keeps_the_token_for_its_owner_alone(
    cairn: Cairn, home: Path, address: str, place: Place
) -> None:
    command = [sys.executable, "-m", "memory.client", "--json", "login", address, "--code"]
    environment = {**os.environ, "HOME": str(home)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as running:
        assert running.stdout is not None
        asked = json.loads(running.stdout.readline())
        _decide(address, place, asked["user_code"], "approve")
        told = json.loads(running.stdout.readline())

    assert running.returncode == 0
    assert (told["scopes"], told["project"]) == (["read"], "shop")
    kept = home / ".config" / "cairn" / "config.toml"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert kept.read_text().split('token = "')[1][:8] == "crn_pat_"
    assert cairn("whoami").code == 0
