"""Exports of a large organization: how long, how large, and how much memory the process takes.

Run: `.venv/bin/python -m tests.bench.bench_export 100000`. Before each format the peak of the
process is set back, so that a figure is of that export alone (Linux, /proc/self/clear_refs).
"""

import os
import sys
import time
from pathlib import Path

from django.core.management import call_command
from django.utils import timezone

from memory.documents.actions.export import ExportRequest, export
from memory.documents.writing import ExportFormat
from tests.bench import made, measures, serving
from tests.support import people

MEGABYTE = 1_048_576


def main(*, count: int) -> None:
    """Fill an organization and export all of it in each format."""
    call_command("migrate", verbosity=0)
    organization, caller = serving.place(slug="exported")
    with people.entered(organization=organization):
        made.load(caller=caller, count=count, seed=1)
        export(caller=caller, request=_of(ExportFormat.CSV, "tag:nothing"), now=timezone.now())
        for format in ExportFormat:
            Path("/proc/self/clear_refs").write_text("5")
            before, started = _peak(), time.perf_counter()
            done = export(caller=caller, request=_of(format, "is:any"), now=timezone.now())
            took, size = time.perf_counter() - started, done.file.seek(0, os.SEEK_END)
            done.file.close()
            told = f"{done.memories:,} memories, {size / MEGABYTE:.0f} MB in {took:.0f} s"
            measures.line(format.value, f"{told}, {_peak() - before:+.0f} MB of {before:.0f}")


def _of(format: ExportFormat, query: str) -> ExportRequest:
    return ExportRequest(query=query, format=format)


def _peak() -> float:
    """Return the highest resident memory of this process since it was set back, in MB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1_024
    raise OSError("this system tells no peak of memory")


if __name__ == "__main__":
    main(count=int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
