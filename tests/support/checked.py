"""Labelled plans and diffs, and how rightly they are warned of.

They are made up about the three code bases of the shipped set. Each names the memories that must
stop it or call for caution; which half it is in follows from the hash of its id. Notes warn of
nothing and are counted apart.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any, Final

from memory.checks.actions import check_diff, check_plan
from memory.checks.check_findings import Level
from memory.evaluation import dataset
from memory.evaluation.sandbox import Trial, trial

CASES: Final = Path(__file__).parent / "checks.jsonl"
SET: Final = Path(dataset.__file__).parent / "sets" / "coding"
Case = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One case, its verdict, the names of the memories that warned, and how many were notes."""

    case: Case
    verdict: str
    stop: frozenset[str]
    caution: frozenset[str]
    notes: int
    took_ms: float

    @property
    def warned(self) -> frozenset[str]:
        """The memories that warned, however loudly."""
        return self.stop | self.caution


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Precision and recall of warnings, of stops alone, verdicts, and clear work left alone."""

    cases: int
    precision: float
    recall: float
    stop_precision: float
    stop_recall: float
    verdicts: float
    silence: float
    notes: float


def cases(*, half: str) -> tuple[Case, ...]:
    """Return the cases of a half, `train` or `held`, or of both."""
    every = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
    return tuple(one for one in every if half in {"all", split(id=one["id"])})


def split(*, id: str) -> str:
    """Return the half of a case."""
    return "held" if hashlib.sha256(id.encode()).digest()[0] % 2 else "train"


def verdict_of(*, case: Case) -> str:
    """Return the verdict that a case is to get."""
    return "stop" if case["stop"] else "caution" if case["caution"] else "clear"


def check(*, given: tuple[Case, ...], now: datetime) -> tuple[Result, ...]:
    """Check each case in an organization with the shipped set that is never there."""
    with filled(now=now) as place:
        return tuple(_checked(place, case, now) for case in given)


@contextmanager
def filled(*, now: datetime) -> Iterator[Trial]:
    """Fill such an organization until the block ends."""
    memories, queries = (
        (SET / name).read_text(encoding="utf-8") for name in (dataset.MEMORIES, dataset.QUERIES)
    )
    whole = dataset.parse(name="coding", memories=memories, queries=queries)
    with trial(judged=whole, now=now, tell=lambda _: None) as place:
        yield place


def long_plan(*, steps: int) -> str:
    """Return a plan of so many steps, of those of the cases."""
    return "".join(f"{number}. {line}\n" for number, line in enumerate(_lines(steps), start=1))


def large_diff(*, files: int) -> str:
    """Return a diff of so many files, each with a line that a plan of the cases has."""
    return "".join(
        f"--- a/src/part{number % 7}/file{number}.ts\n+++ b/src/part{number % 7}/file{number}.ts\n"
        f"@@ -1,1 +1,2 @@\n+// {line}\n keep\n"
        for number, line in enumerate(_lines(files))
    )


def _lines(count: int) -> tuple[str, ...]:
    plans = (one["text"] for one in cases(half="all") if one["kind"] == "plan")
    told = (line.lstrip("0123456789.-* ") for text in plans for line in text.splitlines())
    return tuple(islice((line for line in told if len(line.split()) > 3), count))


def figures(*, results: tuple[Result, ...]) -> Figures:
    """Return the figures of some results."""
    warned = [(one.warned, {*one.case["stop"], *one.case["caution"]}) for one in results]
    stopped = [(one.stop, set(one.case["stop"])) for one in results]
    clear = [one for one in results if verdict_of(case=one.case) == "clear"]
    right = sum(one.verdict == verdict_of(case=one.case) for one in results)
    return Figures(
        cases=len(results),
        precision=_share((len(said & due), len(said)) for said, due in warned),
        recall=_share((len(said & due), len(due)) for said, due in warned),
        stop_precision=_share((len(said & due), len(said)) for said, due in stopped),
        stop_recall=_share((len(said & due), len(due)) for said, due in stopped),
        verdicts=right / len(results),
        silence=_share((not one.warned, 1) for one in clear),
        notes=sum(one.notes for one in results) / len(results),
    )


def _checked(filled: Trial, case: Case, now: datetime) -> Result:
    place, text = case["project"], case["text"]
    found = (
        check_plan(caller=filled.caller, project=place, plan=text, now=now)
        if case["kind"] == "plan"
        else check_diff(caller=filled.caller, project=place, diff=text, now=now)
    )
    said = [(one.level, filled.names[one.memory.id]) for one in found.findings]
    return Result(
        case=case,
        verdict=found.verdict,
        stop=frozenset(name for level, name in said if level is Level.STOP),
        caution=frozenset(name for level, name in said if level is Level.CAUTION),
        notes=sum(level is Level.NOTE for level, _ in said),
        took_ms=found.took_ms,
    )


def _share(counts: Iterable[tuple[int, int]]) -> float:
    pairs = tuple(counts)
    whole = sum(total for _, total in pairs)
    return sum(part for part, _ in pairs) / whole if whole else 1.0
