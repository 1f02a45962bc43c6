"""How well heuristics classify without a model: precision and recall on labelled texts.

Half of the texts is held out: the words of `memory.intake.markers` are chosen on the other half.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from memory import taxonomy
from memory.entities import names
from memory.entities.tools import CANONICAL
from memory.experiments.intervals import Share, share
from memory.intake import classify
from memory.intake.classify import Classification
from memory.taxonomy import MemoryType

FILE: Final = Path("tests/support/statements_labelled.tsv")
LEAST: Final = {  # precision and recall of each heuristic, on the half that was held out
    "type": (0.85, 0.85),
    "governance": (0.9, 0.9),
    "structure": (0.95, 0.95),
    "files": (1.0, 0.95),
    "modules": (1.0, 0.95),
    "entities": (0.95, 0.9),
}

Pairs = Iterable[tuple[frozenset[str], frozenset[str]]]  # what was said, and what is so


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """A text, and what should be said of it."""

    half: str
    type: MemoryType
    structure: str
    files: frozenset[str]
    tools: frozenset[str]
    text: str


@cache
def _read() -> tuple[Labelled, ...]:
    lines = FILE.read_text(encoding="utf-8").splitlines()
    rows = (line.split("\t") for line in lines if not line.startswith("#"))
    return tuple(
        Labelled(
            half=half,
            type=MemoryType(type),
            structure=structure,
            files=frozenset(filter(None, files.split(","))),
            tools=frozenset(filter(None, tools.split(","))),
            text=text.replace("\\n", "\n"),
        )
        for half, type, structure, files, tools, text in rows
    )


def _seen(one: Labelled) -> Classification:
    return classify.classify(
        content=one.text, type=None, tags=(), files=(), modules=(), pinned=False
    )


def _said(heuristic: str, one: Labelled) -> tuple[frozenset[str], frozenset[str]]:
    """Return what a heuristic says of a text, and what is so."""
    seen = _seen(one)
    layer = taxonomy.governance_of(type=one.type, tags=(), pinned=False)
    found = {name.key for name in names.names_of(spans=seen.entities)}
    modules = frozenset(filter(None, (classify.module_of(path=path) for path in one.files)))
    usual = MemoryType.FACT  # what is said where nothing is found: no finding
    answers: dict[str, tuple[frozenset[str], frozenset[str]]] = {
        "type": (frozenset({seen.type} - {usual}), frozenset({one.type} - {usual})),
        "governance": (frozenset({str(seen.governance)}), frozenset({str(layer)})),
        "structure": (frozenset({seen.structure}), frozenset({one.structure})),
        "files": (frozenset(seen.files), one.files),
        "modules": (frozenset(seen.modules), modules),
        "entities": (frozenset(found & set(CANONICAL.values())), one.tools),
    }
    return answers[heuristic]


def _precision(pairs: Pairs) -> Share:
    said = [(one, is_so) for found, is_so in pairs for one in found]
    return share(successes=sum(one in is_so for one, is_so in said), trials=len(said))


def _recall(pairs: Pairs) -> Share:
    wanted = [(one, found) for found, is_so in pairs for one in is_so]
    return share(successes=sum(one in found for one, found in wanted), trials=len(wanted))


def test_the_set_is_large_and_half_of_it_is_held_out() -> None:
    halves = [one.half for one in _read()]

    assert len(halves) >= 250
    assert halves.count("fit") == halves.count("held")


@pytest.mark.parametrize("heuristic", sorted(LEAST))
def test_a_heuristic_is_as_good_as_it_was(heuristic: str, figure: Callable[[str], None]) -> None:
    for half in ("fit", "held"):
        pairs = [_said(heuristic, one) for one in _read() if one.half == half]
        precision, recall = _precision(pairs), _recall(pairs)
        figure(f"{heuristic}, {half}: precision {_told(precision)}, recall {_told(recall)}")

    assert precision.value >= LEAST[heuristic][0]
    assert recall.value >= LEAST[heuristic][1]


def _told(one: Share) -> str:
    return f"{one.value:.2f} [{one.low:.2f}, {one.high:.2f}] of {one.trials}"
