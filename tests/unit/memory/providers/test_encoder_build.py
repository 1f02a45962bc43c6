"""Which form of the weights suits a processor."""

from pathlib import Path

import pytest

from memory.providers.encoder_build import Precision, precision_of


@pytest.mark.parametrize(
    ("flags", "precision"),
    [
        ("flags : fpu sse avx2 avx512_vnni\n", Precision.INT8),
        ("flags : fpu sse avx2 avx_vnni\n", Precision.INT8),
        ("flags : fpu sse avx2 avx512f\n", Precision.FP32),
    ],
)
def test_small_integers_are_for_processors_that_multiply_them(
    tmp_path: Path, flags: str, precision: Precision
) -> None:
    (tmp_path / "cpuinfo").write_text(flags)

    assert precision_of(processor_file=tmp_path / "cpuinfo") is precision


def test_an_unknown_processor_gets_the_exact_graph(tmp_path: Path) -> None:
    assert precision_of(processor_file=tmp_path / "absent") is Precision.FP32
