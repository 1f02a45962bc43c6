"""Signing a machine in with a code: the program asks, a person decides, the file is kept."""

import json
import os
import stat
import subprocess
import sys
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
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
from tests.support.scripted import Answer, Served

pytestmark = pytest.mark.django_db

CODE: Answer = (200, {}, {"device_code": "d", "user_code": "u", "interval": 5, "expires_in": 600})


def _approve(address: str, place: Place, code: str) -> None:
    """Decide in a browser that is signed in as the owner."""
    form = {"code": code, "org": place.caller.organization_slug, "verb": "approve", "scope": "read"}
    with signed_in(address=address, place=place) as browser:
        browser.post("/device", data={**form, **token_of(browser=browser)})


@pytest.mark.parametrize(
    ("comes_back", "outcome", "waited"),
    [
        (True, nullcontext(), [5.0, 10.0]),
        (False, pytest.raises(Unreachable), [5.0, 10.0, 20.0, 40.0, 80.0, 160.0]),
    ],
    ids=["it comes back", "it stays away"],
)
def test_a_server_that_goes_away_while_it_waits_is_asked_more_rarely_until_the_end(
    address: str,
    place: Place,
    comes_back: bool,
    outcome: AbstractContextManager[object],
    waited: list[float],
) -> None:
    shown: list[Mapping[str, Any]] = []
    pauses: list[float] = []
    with FaultProxy(target=urlsplit(address).port or 0) as proxy:

        def pause(seconds: float) -> None:
            pauses.append(seconds)
            proxy.set(REFUSING)
            proxy.reset()
            if len(pauses) == 2 and comes_back:
                proxy.set(SOUND)
                _approve(address, place, shown[0]["user_code"])

        connection = Connection(url=f"http://127.0.0.1:{proxy.port}", token="")
        with outcome, Client(connection=connection, pause=lambda _: None) as client:
            token = setup.sign_in(client=client, show=shown.append, pause=pause)
            assert token.startswith("crn_pat_")

    assert pauses == waited


def test_who_is_refused_is_told_so_and_who_asks_too_often_waits_longer(served: Served) -> None:
    denied = served(CODE, (403, {}, {"code": "access_denied"}))
    pauses: list[float] = []
    answers = [(400, {}, {"code": code}) for code in ("authorization_pending", "slow_down")]
    late = served(CODE, *answers)

    with denied.client() as client, pytest.raises(Problem) as refused:
        setup.sign_in(client=client, show=dict, pause=pauses.append)
    with late.client() as client, pytest.raises(ClientError, match="Nobody approved"):
        setup.sign_in(client=client, show=dict, pause=pauses.append)

    assert refused.value.code == "access_denied"
    assert pauses[:5] == [5.0, 5.0, 5.0, 10.0, 15.0]
    assert sum(pauses[1:]) >= 600


def test_login_by_code_keeps_the_token_for_its_owner_alone(
    cairn: Cairn, home: Path, address: str, place: Place
) -> None:
    command = [sys.executable, "-m", "memory.client", "--json", "login", address, "--code"]
    environment = {**os.environ, "HOME": str(home)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as running:
        assert running.stdout is not None
        asked = json.loads(running.stdout.readline())
        _approve(address, place, asked["user_code"])
        told = json.loads(running.stdout.readline())

    assert running.returncode == 0
    assert (told["scopes"], told["project"]) == (["read"], "shop")
    kept = home / ".config" / "cairn" / "config.toml"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert kept.read_text().split('token = "')[1][:8] == "crn_pat_"
    assert cairn("whoami").code == 0
