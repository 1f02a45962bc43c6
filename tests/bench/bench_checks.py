"""Checks of plans and diffs: how often they warn rightly, and how often they should have.

Run: `BENCH_EMBEDDER=local/all-minilm-l6-v2 .venv/bin/python -m tests.bench.bench_checks` for the
half that is held out, with `train` for the other, and with `errors` behind it to see what is wrong
there; about a minute. The labelled plans and diffs are those of `tests/support/checked.py`.
"""

import statistics
import sys

from django.core.management import call_command
from django.utils import timezone

from tests.bench import measures
from tests.support import checked
from tests.support.checked import Result

HELD = "held"


def main(*, half: str, with_errors: bool) -> None:
    """Check the cases of a half and print the figures."""
    call_command("migrate", verbosity=0)
    results = checked.check(given=checked.cases(half=half), now=timezone.now())
    if with_errors:
        for one in results:
            _tell(one)
    for kind in ("plan", "diff", ""):
        _print(
            kind, tuple(one for one in results if one.case["kind"] == (kind or one.case["kind"]))
        )


def _print(kind: str, results: tuple[Result, ...]) -> None:
    found = checked.figures(results=results)
    took = [one.took_ms for one in results]
    measures.line(
        f"{found.cases} {kind or 'case'}s",
        f"warnings: precision {found.precision:.2f}, recall {found.recall:.2f};"
        f" stops: {found.stop_precision:.2f}, {found.stop_recall:.2f};"
        f" verdicts {found.verdicts:.2f}; clear work left alone {found.silence:.2f};"
        f" notes {found.notes:.1f}; median {statistics.median(took):.0f} ms",
    )


def _tell(one: Result) -> None:
    due = (frozenset(one.case["stop"]), frozenset(one.case["caution"]))
    if (one.stop, one.caution) != due:
        print(
            f"{one.case['id']}: to stop {sorted(due[0])}, stopped {sorted(one.stop)};"
            f" to caution {sorted(due[1])}, cautioned {sorted(one.caution)}"
        )


if __name__ == "__main__":
    main(half=next(iter(sys.argv[1:]), HELD), with_errors="errors" in sys.argv[2:])
