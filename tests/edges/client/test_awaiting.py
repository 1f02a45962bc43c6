"""`cairn index --wait`: it ends when the edges are made, and when nothing becomes of them."""

import json
from pathlib import Path

import pytest

from memory.client.commands import index
from tests.edges.client.conftest import Cairn, Ran
from tests.edges.client.scripted import Answer, Served

KNOWN: Answer = (200, {}, {"missing": [], "kept": 1, "gone": 0, "run": "r-1"})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one file; nobody pauses between two looks."""
    monkeypatch.setattr(index, "POLL_SECONDS", 0)
    made = tmp_path / "work"
    made.mkdir()
    (made / "cart.py").write_text("x = 1\n")
    return made


def _standing(state: str, *, done: int = 0, reason: str = "") -> Answer:
    return (200, {}, {"state": state, "files_total": 0, "files_done": done, "reason": reason})


def _waited(cairn: Cairn, served: Served, folder: Path, *standings: Answer) -> Ran:
    """Wait for an index that stands as is said, look after look."""
    script = served(_standing("empty"), KNOWN, *standings)
    said = ("--url", script.url, "--token", "t-1", "--json")
    return cairn(*said, "index", "--wait", "--project", "shop", str(folder))


def test_it_waits_until_the_edges_are_made(cairn: Cairn, served: Served, folder: Path) -> None:
    done = _waited(cairn, served, folder, *[_standing("resolving")] * 2, _standing("done"))

    (row,) = done.rows()
    assert (done.code, row["state"]) == (0, "done")


def test_it_ends_with_the_reason_of_a_job_that_failed(
    cairn: Cairn, served: Served, folder: Path
) -> None:
    failed = _standing("failed", reason="It took too long.")

    done = _waited(cairn, served, folder, _standing("resolving"), failed)

    assert done.code == 1
    assert json.loads(done.err)["detail"] == "The edges could not be made: It took too long."


def test_it_ends_where_nothing_moves(
    cairn: Cairn, served: Served, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "STUCK_SECONDS", 0)

    done = _waited(cairn, served, folder, _standing("resolving"))

    told = json.loads(done.err)
    assert (done.code, done.out) == (1, "")
    assert "nothing moved" in told["detail"]
    assert "worker" in told["hint"]
