"""The reader of names: an extra, whose model is believed by its hash alone."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from memory.entities import accurate
from memory.providers import name_reader, weights
from memory.providers.errors import ProviderRefused, ProviderUnavailable
from memory.providers.name_reader import Readiness
from memory.providers.weights import NAME_READER
from tests.support.marking import put_altered, put_library

ROOT = Path(__file__).resolve().parents[3]
MODELS = Path(os.environ.get("CAIRN_MODELS") or ROOT / "var" / "models")
INSTALLED = name_reader.readiness(models_dir=MODELS) is Readiness.READY


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A library of that name that does nothing; a file that is refused never reaches it."""
    put_library(tmp_path / "library")
    monkeypatch.syspath_prepend(str(tmp_path / "library"))


@pytest.mark.usefixtures("library")
def test_without_the_model_it_is_not_installed(tmp_path: Path) -> None:
    assert name_reader.readiness(models_dir=tmp_path) is Readiness.NOT_INSTALLED
    with pytest.raises(ProviderUnavailable, match="not installed") as refused:
        name_reader.load(models_dir=tmp_path)
    assert refused.value.hint == "Run: make ner"


@pytest.mark.usefixtures("library")
def test_a_model_of_other_bytes_is_refused_and_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_altered(tmp_path)

    with pytest.raises(ProviderRefused, match=r"config\.cfg .*not as pinned") as refused:
        name_reader.load(models_dir=tmp_path)

    assert name_reader.readiness(models_dir=tmp_path) is Readiness.ALTERED
    assert "make ner" in refused.value.hint
    monkeypatch.setattr(name_reader, "LIBRARY", "no_such_library")
    assert name_reader.readiness(models_dir=tmp_path) is Readiness.NOT_INSTALLED


def test_the_command_says_what_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert weights.main(arguments=["--into", str(tmp_path), "--names", "--check"]) == 1

    assert f"{NAME_READER.name}/ner/model is missing or not as pinned." in capsys.readouterr().err


@pytest.mark.skipif(not INSTALLED, reason="the extra is not installed here: make ner")
def test_the_pinned_model_finds_people_places_and_companies() -> None:
    text = "Priya Raman of Acme Logistics moved the cluster to Frankfurt in June 2026."
    read = name_reader.load(models_dir=MODELS)

    (marks,) = read((text,))

    found = {(one.type.value, one.key) for one in accurate.names_of(prose=text, read=marks)}
    assert {("person", "priya raman"), ("location", "frankfurt"), ("other", "june 2026")} <= found


@pytest.mark.skipif(not INSTALLED, reason="the extra is not installed here: make ner")
def test_one_altered_file_of_the_model_is_enough(tmp_path: Path) -> None:
    for file in NAME_READER.files:
        path = tmp_path / NAME_READER.name / file.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes((MODELS / NAME_READER.name / file.name).read_bytes())
    (tmp_path / NAME_READER.name / "vocab" / "key2row").write_bytes(b"\x81")

    with pytest.raises(ProviderRefused, match="key2row"):
        name_reader.load(models_dir=tmp_path)


@pytest.mark.usefixtures("library")
def test_neither_pages_nor_jobs_import_the_library_at_their_start(tmp_path: Path) -> None:
    starts = "import config.asgi, memory.tasks, config.urls"
    folders = os.pathsep.join((str(tmp_path / "library"), str(ROOT)))
    told = {"PYTHONPATH": folders, "DJANGO_SETTINGS_MODULE": "config.settings.test"}

    done = subprocess.run(
        [sys.executable, "-c", starts], env={**os.environ, **told}, capture_output=True, check=False
    )

    assert done.returncode == 0, done.stderr
