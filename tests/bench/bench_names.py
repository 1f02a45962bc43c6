"""Names read at night: precision and recall on labelled sentences, sentences a second.

Run: `make ner`, then `.venv/bin/python -m tests.bench.bench_names [errors]`. A line of
`tests/support/named/sentences.txt` is a sentence of the kind developers write, made here, with
[name|type] for what a person would call a name. Which half a sentence is in follows from its hash;
what is believed of the reader was fitted on the half `train` alone, and `errors` shows that half's.
Speed is processor time of one core.
"""

import hashlib
import os
import re
import resource
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from memory.entities import accurate
from memory.entities import rules as patterns
from memory.entities.rules import ENTITY_TYPES, EntityKind, EntityType
from memory.providers import name_reader
from memory.providers.contracts import NameReader, ReadSpan
from tests.bench import measures

ROOT: Final = Path(__file__).resolve().parents[2]
SENTENCES: Final = ROOT / "tests/support/named/sentences.txt"
MODELS: Final = Path(os.environ.get("CAIRN_MODELS") or ROOT / "var/models")
LABEL: Final = re.compile(r"\[([^|\]]+)\|(\w+)\]")
TYPES: Final = ("person", "organization", "location", "date")
ROUNDS: Final = 8  # of all sentences, to measure the speed

Found = frozenset[tuple[str, str]]  # type and words


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A sentence, its half, and the names in it."""

    text: str
    half: str
    names: Found


def sentences() -> tuple[Sentence, ...]:
    """Read the labelled sentences."""
    return tuple(
        _sentence(line) for line in SENTENCES.read_text(encoding="utf-8").splitlines() if line
    )


def _sentence(line: str) -> Sentence:
    text = LABEL.sub(r"\1", line)
    is_held = int(hashlib.sha256(text.encode()).hexdigest(), 16) % 2
    names = frozenset((type, words) for words, type in LABEL.findall(line))
    return Sentence(text=text, half="held" if is_held else "train", names=names)


def marked(text: str, marks: Iterable[ReadSpan]) -> Found:
    """Return what the reader says, as it says it."""
    kept = ((accurate.KINDS.get(one.label), one) for one in marks)
    return frozenset(
        (_named(ENTITY_TYPES[kind]), text[one.start : one.end]) for kind, one in kept if kind
    )


def believed(text: str, marks: tuple[ReadSpan, ...]) -> Found:
    """Return what is stored: what is believed of the reader, and dates that the patterns find."""
    names = accurate.names_of(prose=text, read=marks)
    dates = (one for one in patterns.find_entities(text=text) if one.kind is EntityKind.DATE)
    stored = {(_named(one.type), one.written) for one in names}
    return frozenset(stored | {("date", one.text) for one in dates})


def main(*, shows_errors: bool) -> None:
    """Print a table, and the speed."""
    read, loading = measures.spent(lambda: name_reader.load(models_dir=MODELS))
    measures.line("loaded in", f"{loading:.1f} s of one core")
    every = sentences()
    for half in ("train", "held"):
        asked = tuple(one for one in every if one.half == half)
        _table(half, asked, read(tuple(one.text for one in asked)))
        if shows_errors and half == "train":
            _errors(asked, read)
    texts = tuple(one.text for one in every) * ROUNDS
    _, spent = measures.spent(lambda: read(texts))
    measures.line("speed", f"{len(texts) / spent:,.0f} sentences a second on one core")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_024
    measures.line("memory", f"{peak:,.0f} MB at most, the interpreter and our code with it")


def _table(half: str, asked: tuple[Sentence, ...], marks: tuple[tuple[ReadSpan, ...], ...]) -> None:
    print(f"\n{half}: {len(asked)} sentences | names | marked: P, R | believed: P, R")
    pairs = tuple(zip(asked, marks, strict=True))
    raw = tuple((marked(one.text, found), one.names) for one, found in pairs)
    kept = tuple((believed(one.text, found), one.names) for one, found in pairs)
    for types in (*((type,) for type in TYPES), TYPES):
        wanted = sum(1 for one in asked for type, _ in one.names if type in types)
        name = types[0] if len(types) == 1 else "all"
        print(f"{name:14}| {wanted:5} | {_shares(raw, types)} | {_shares(kept, types)}")


def _shares(pairs: tuple[tuple[Found, Found], ...], types: tuple[str, ...]) -> str:
    counts: Counter[str] = Counter()
    for found, wanted in pairs:
        given = {one for one in found if one[0] in types}
        asked = {one for one in wanted if one[0] in types}
        counts += Counter(right=len(given & asked), given=len(given), asked=len(asked))
    precision = counts["right"] / max(1, counts["given"])
    return f"{precision:.2f}, {counts['right'] / max(1, counts['asked']):.2f}"


def _errors(asked: tuple[Sentence, ...], read: NameReader) -> None:
    for one in asked:
        found = believed(one.text, read((one.text,))[0])
        if found != one.names:
            print(one.text, "\n  wrong", set(found - one.names), "missed", set(one.names - found))


def _named(type: EntityType) -> str:
    return "date" if type is EntityType.OTHER else type.value


if __name__ == "__main__":
    main(shows_errors="errors" in sys.argv[1:])
