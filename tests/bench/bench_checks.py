"""Checks of plans and diffs: how often they warn rightly, and how often they should have.

Run: `BENCH_EMBEDDER=local/all-minilm-l6-v2 .venv/bin/python -m tests.bench.bench_checks` for the
half that is held out, with `train` for the other, and with `errors` behind it to see what is wrong
there; about a minute. The labelled plans and diffs are those of `tests/support/checked.py`. With
`sizes` instead, what a long plan and a large diff cost.

With `rows PLANS.tsv` instead, plans that somebody else labelled: columns `memory`, `type`, `plan`
and `label`, which is `violates` or `fine`. Each plan is checked against all memories of the file.
A stop by another memory than the row's is a false one. Such texts are not kept here: take memories
from public projects, and have plans written and labelled by somebody who has not seen the rules.
"""

import csv
import statistics
import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from memory.checks.actions import check_diff, check_plan
from memory.evaluation.dataset import JudgedMemory, JudgedSet
from memory.evaluation.sandbox import Trial, trial
from memory.taxonomy import MemoryType
from tests.bench import measures
from tests.support import checked
from tests.support.checked import Result

HELD = "held"
SIZES = "sizes"
ROWS = "rows"
TYPES = {"error_fix": "error_pattern"}  # in the labels of others
STEPS, FILES = 40, 60
PROJECT = "web-shop"
ROUNDS = 5


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


def sizes() -> None:
    """Check a long plan and a large diff, and print what each costs."""
    call_command("migrate", verbosity=0)
    now = timezone.now()
    with checked.filled(now=now) as place:
        given: dict[str, Callable[[], object]] = {
            f"plan of {STEPS} steps": partial(check_plan, plan=checked.long_plan(steps=STEPS)),
            f"diff of {FILES} files": partial(check_diff, diff=checked.large_diff(files=FILES)),
        }
        for name, check in given.items():
            _tell_cost(name, partial(check, caller=place.caller, project=PROJECT, now=now))


def rows(*, file: Path, with_errors: bool) -> None:
    """Check plans of a file and print how many of each label are stopped, hinted at and passed."""
    call_command("migrate", verbosity=0)
    with file.open(encoding="utf-8") as opened:
        given = tuple(csv.DictReader(opened, delimiter="\t", quoting=csv.QUOTE_NONE))
    kinds = {row["memory"]: TYPES.get(row["type"], row["type"]) for row in given}
    memories = tuple(
        JudgedMemory(id=text, content=text, type=MemoryType(kind), project=PROJECT)
        for text, kind in kinds.items()
    )
    judged = JudgedSet(name="rows", digest="", memories=memories, queries=())
    ends: Counter[tuple[str, str, str]] = Counter()
    with trial(judged=judged, now=timezone.now(), tell=lambda _: None) as place:
        for row in given:
            levels = _levels(place, row["plan"])
            own = levels.pop(row["memory"], "silent")
            ends[row["label"], "of the row's memory", own] += 1
            ends.update((row["label"], "of another memory", one) for one in levels.values())
            if with_errors and (own == "stop") != (row["label"] == "violates"):
                print(f"{row['label']}: {own}\n  {row['memory']}\n  {row['plan']}")
    for (label, whose, level), count in sorted(ends.items()):
        print(f"{label:10}{whose:22}{level:10}{count:5}")


def _levels(place: Trial, plan: str) -> dict[str, str]:
    """Return how heavily each memory spoke up, by its text."""
    check = check_plan(caller=place.caller, project=PROJECT, plan=plan, now=timezone.now())
    return {place.names[one.memory.id]: one.level.value for one in check.findings}


def _tell_cost(name: str, check: Callable[[], object]) -> None:
    check()  # loads, plans
    with CaptureQueriesContext(connection) as asked:
        check()
    statements = [one["sql"] for one in asked if "SAVEPOINT" not in one["sql"]]
    about = sum("related_files <> '{}'" in sql for sql in statements)
    costs = [measures.cost(check) for _ in range(ROUNDS)]
    here, there = (
        statistics.median(getattr(one, part) for one in costs) * 1_000
        for part in ("process", "backend")
    )
    measures.line(
        name,
        f"{len(statements)} statements, {about} about files; processor time"
        f" {here:.0f} ms here, {there:.0f} ms of the database",
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
    if SIZES in sys.argv[1:]:
        sizes()
    elif ROWS in sys.argv[1:2]:
        rows(file=Path(sys.argv[2]), with_errors="errors" in sys.argv[3:])
    else:
        main(half=next(iter(sys.argv[1:]), HELD), with_errors="errors" in sys.argv[2:])
