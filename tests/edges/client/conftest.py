"""A running server, an organization on it, and a home of one's own to run the command line in."""

import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from memory.client import cli
from tests.support.coding import CART, SHOP
from tests.support.live import Place
from tests.support.scripted import served
from tests.support.served import address, other_place, place

__all__ = ["address", "cairn", "here", "home", "other_place", "place", "served"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What a command came to."""

    code: int
    out: str
    err: str

    def rows(self) -> list[dict[str, Any]]:
        """Return the objects that were told, one a line."""
        return [json.loads(line) for line in self.out.splitlines()]


Cairn = Callable[..., Ran]
Known = Callable[[], dict[str, dict[str, Any]]]


@pytest.fixture
def known(address: str, place: Place) -> Known:
    """Return the sessions that the person sees, by their external ids."""

    def look() -> dict[str, dict[str, Any]]:
        headers = {"Authorization": f"Bearer {place.token}"}
        got = httpx.get(f"{address}/api/v1/sessions", headers=headers, params={"limit": 100})
        return {one["external_id"]: one for one in got.json()["items"]}

    return look


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home; nothing of the environment says where a server is."""
    for name in ("CAIRN_URL", "CAIRN_TOKEN", "CAIRN_PROJECT", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def cairn(home: Path, capsys: pytest.CaptureFixture[str]) -> Cairn:
    """Run a command in that home."""

    def run(*arguments: str) -> Ran:
        capsys.readouterr()
        code = cli.main(arguments)
        told = capsys.readouterr()
        return Ran(code=code, out=told.out, err=told.err)

    return run


@pytest.fixture
def here(cairn: Cairn, address: str, place: Place) -> Cairn:
    """The command line of somebody who has logged in."""
    done = cairn("--token", place.token, "login", address, "--project", "shop")
    assert done.code == 0, done.err
    return cairn


@pytest.fixture
def code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with two files, in which one is."""
    folder = tmp_path / "work"
    (folder / "shop").mkdir(parents=True)
    (folder / "shop" / "cart.py").write_text(CART)
    (folder / "shop" / "shop.py").write_text(SHOP)
    subprocess.run(("git", "init", "-q", folder), check=True)
    monkeypatch.chdir(folder)
    return folder
