"""How well the observer's signals see what labelled sessions show: precision and recall of each.

Run: `.venv/bin/python -m tests.bench.bench_signals`, with `errors` to read what is wrong. Twelve
sessions (`tests/support/labelled_sessions.jsonl`) are written by hand, as real ones go: long ways
round, little order; each is the calls that tell a `Story`. A label says what their writer meant,
not what a signal computes. A sighting is right when a label of its signal names its key, a part of
it, or one of its files; a label without a target takes any. Brackets are 95 % bootstrap intervals
over sessions.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memory.evaluation import measures
from memory.observer import detect
from memory.observer.detections import Sighting
from memory.observer.detections import SignalKind as K
from memory.sessions.scratchpad import SessionType
from tests.support import stories
from tests.support.stories import Story

SESSIONS = Path(stories.__file__).with_name("labelled_sessions.jsonl")
Label = tuple[K, str]


def main(*, errors: bool) -> None:
    """Print how well each signal does, and what is wrong."""
    seen = []
    for name, told, labels in _sessions():
        found = detect.find_all(scratchpad=told.done().scratchpad(), rejected={})
        seen.append((name, labels, found))
    print(f"{'signal':<20} {'sighted':>7} {'precision':>18} {'labelled':>8} {'recall':>18}")
    for kind in detect.FINDERS:
        print(_row(kind, [(labels, found) for _, labels, found in seen]))
    for name, labels, found in seen if errors else ():
        for each in found:
            if not any(_names(label, each) for label in labels):
                print(f"{name}: sighted {each.kind.value} {each.key} {each.files}")
        for label in labels:
            if not any(_names(label, each) for each in found):
                print(f"{name}: missed {label[0].value} {label[1]}")


def _sessions() -> Iterator[tuple[str, Story, tuple[Label, ...]]]:
    for row in map(json.loads, SESSIONS.read_text(encoding="utf-8").splitlines()):
        told = Story(type=SessionType(row.get("type", "build")), planned=row.get("planned", 0))
        for method, *given in row["calls"]:
            more: dict[str, Any] = given.pop() if isinstance(given[-1], dict) else {}
            getattr(told, method)(*given, **more)
        yield row["name"], told, tuple((K(kind), target) for kind, target in row["labels"])


def _row(kind: K, seen: list[tuple[tuple[Label, ...], tuple[Sighting, ...]]]) -> str:
    sighted = [[each for each in found if each.kind is kind] for _, found in seen]
    labelled = [[label for label in labels if label[0] is kind] for labels, _ in seen]
    both = list(zip(labelled, sighted, strict=True))
    right = [sum(any(_names(one, each) for one in labels) for each in at) for labels, at in both]
    met = [sum(any(_names(one, each) for each in at) for one in labels) for labels, at in both]
    precision, recall = (_share(right, sighted), _share(met, labelled))
    counts = sum(map(len, sighted)), sum(map(len, labelled))
    return f"{kind.value:<20} {counts[0]:>7} {precision:>18} {counts[1]:>8} {recall:>18}"


def _share(parts: list[int], wholes: list[list[Sighting]] | list[list[Label]]) -> str:
    found = measures.quotient(numerators=parts, denominators=[len(one) for one in wholes])
    return "-" if found is None else f"{found.mean:.2f} [{found.low:.2f}, {found.high:.2f}]"


def _names(label: Label, sighting: Sighting) -> bool:
    kind, target = label
    is_named = target in sighting.key or target in sighting.files
    return kind is sighting.kind and (is_named or not target)


if __name__ == "__main__":
    main(errors="errors" in sys.argv)
