"""Whether a model learned from labelled pairs finds changed statements better than the rules do.

    BENCH_EMBEDDER=local/all-minilm-l6-v2 python -m tests.bench.bench_decider PAIRS.tsv… [CLONES]

PAIRS are those of `bench_changes`, with a column `source` that begins with `owner/name`. CLONES is
a folder of bare clones of public repositories (`owner+name/repo`): statements of one document are
look-alikes that are true beside each other, which real projects hold most. They are taken for no
changes, in training as well. The model is ridge logistic regression over what the comparison sees
anyway, the verdict of the rules among it. Each figure is of repositories that it was not trained
on; its threshold is the least that is right in PRECISION of the pairs.

On 1,548 pairs by three labellers and 986 neighbors of six repositories, at a precision of .90, it
found .42 of the changes and the rules .36; of the neighbors it took .005 for changes, they .019.
That is of other repositories, not of other labellers. Trained on two of the sets, it found .10, .23
(precision .68) and .16 of the third; the rules .67, .17 and .39. It learns how a labeller writes,
so the rules decide. Boosted trees and word vectors did no better, and without neighbors in training
trees took .20 of them for changes.
"""

import csv
import subprocess
import sys
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from memory.documents.markdown_notes import read_document
from memory.evaluation.fitting import fit_logistic
from memory.intake.integrate import CONFLICT_COSINE
from memory.providers import registry
from memory.records import changes, statement_words
from memory.records.statement_words import ParsedStatement, Part
from tests.bench.bench_changes import CHANGED

PRECISION: Final = 0.9
FOLDS: Final = 8
DOCUMENTS: Final = 6  # of a repository
STATEMENTS: Final = 40  # of a document
NEAREST: Final = 2  # earlier statements of a document that one is compared with
NEIGHBORS: Final = "neighbors"

Bits = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


class Pair(NamedTuple):
    """Two statements, whether one changes the other, of which set and which repository."""

    old: str
    new: str
    is_change: bool
    of: str
    repository: str


def main(*, files: Sequence[Path], clones: Path | None) -> None:
    """Print what rules and model find: by set of pairs, of all pairs, and of neighbors."""
    pairs = [pair for file in files for pair in _labelled(file)]
    pairs += _neighbors(clones) if clones else ()
    told = {text for pair in pairs for text in (pair.old, pair.new)}
    read = {text: statement_words.read(text=text) for text in told}
    found = [changes.compare(old=read[one.old], new=read[one.new]) for one in pairs]
    signs = np.array(
        [
            _signs(read[one.old], read[one.new], change)
            for one, change in zip(pairs, found, strict=True)
        ]
    )
    near = _cosines(pairs) >= CONFLICT_COSINE
    said = np.where(near, _cross_validated(pairs, signs), 0.0)
    _print("rules", pairs, near & np.array([change is not None for change in found]))
    _print("model", pairs, said >= _threshold(pairs, said))


def _labelled(file: Path) -> Iterator[Pair]:
    with file.open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
            repository = "/".join(row["source"].split()[0].split("/")[:2]).lower()
            yield Pair(row["old"], row["new"], row["kind"] in CHANGED, file.stem, repository)


def _neighbors(clones: Path) -> Iterator[Pair]:
    """Yield each statement of some documents with the earlier ones that are nearest to it."""
    for folder in sorted(clones.glob("*+*/repo")):
        repository = folder.parent.name.replace("+", "/", 1).lower()
        paths = [one for one in _git(folder, "ls-tree", "-r", "--name-only", "HEAD").splitlines()
                 if one.endswith(".md")]  # fmt: skip
        for path in paths[:: max(1, len(paths) // DOCUMENTS)][:DOCUMENTS]:
            content = _git(folder, "show", f"HEAD:{path}")
            told = [one.content for one in read_document(text=content, path=path)[:STATEMENTS]]
            vectors = _vectors(told)
            for place in range(1, len(told)):
                nearest = np.argsort(-(vectors[:place] @ vectors[place]))[:NEAREST]
                for other in nearest:
                    yield Pair(told[int(other)], told[place], False, NEIGHBORS, repository)


def _signs(
    old: ParsedStatement, new: ParsedStatement, change: changes.Change | None
) -> list[float]:
    """Return what the comparison sees of a pair, as figures."""
    kind = None if change is None else change.kind
    verdicts = (kind is one for one in (*changes.Kind, None))
    of_words = (*verdicts, *_where_they_differ(old, new), *_what_differs(old, new))
    return [float(one) for one in of_words]


def _where_they_differ(old: ParsedStatement, new: ParsedStatement) -> tuple[float, ...]:
    """Return how many runs differ and where the first begins, and what the subjects share."""
    known, told = (
        [one.key for one in each.tokens if one.part is not Part.SMALL] for each in (old, new)
    )
    laid = SequenceMatcher(None, known, told, autojunk=False).get_opcodes()
    steps = [step for step, *_ in laid if step != "equal"]
    begins = next((start for step, start, *_ in laid if step != "equal"), len(known))
    return (
        not steps,
        steps.count("replace"),
        steps.count("insert"),
        steps == ["insert"],
        begins / max(1, len(known)),
        len(told),
        len(new.subject - old.words),
        min(1, len(old.subject - new.words), len(new.subject - old.words)),
        len(new.subject & old.words) / max(1, len(new.subject)),
    )


def _what_differs(old: ParsedStatement, new: ParsedStatement) -> tuple[float, ...]:
    """Return how many words, names, numbers, denials and announcements are of one alone."""
    only_old, only_new = old.words - new.words, new.words - old.words
    known, told = (
        {one.key for one in each.tokens if one.part is Part.NUMBER} for each in (old, new)
    )
    denials = [sum(one.part is Part.NEGATOR for one in each.tokens) for each in (old, new)]
    return (
        min(len(only_old), 10),
        min(len(only_old), len(only_new), 10),
        len(old.words & new.words) / max(1, len(old.words | new.words)),
        len(old.names & new.names),
        min(1, len(known - told), len(told - known)),
        denials[0] % 2 != denials[1] % 2,
        min(denials[1], 2),
        bool(new.announcements) > bool(old.announcements),
        len(new.announcements - old.announcements),
    )


def _cross_validated(pairs: Sequence[Pair], signs: Floats) -> Floats:
    """Return for each pair the probability of a change, by a model of other repositories."""
    repositories = sorted({one.repository for one in pairs})
    fold = {name: place % FOLDS for place, name in enumerate(repositories)}
    places = np.array([fold[one.repository] for one in pairs])
    changed = np.array([one.is_change for one in pairs], dtype=float)
    said = np.zeros(len(pairs))
    for unseen in range(FOLDS):
        seen = places != unseen
        mean, spread = signs[seen].mean(axis=0), signs[seen].std(axis=0) + 1e-9
        beta = fit_logistic(standard=(signs[seen] - mean) / spread, answers=changed[seen])
        score = beta[0] + ((signs[~seen] - mean) / spread) @ beta[1:]
        said[~seen] = 0.5 * (1.0 + np.tanh(score / 2.0))
    return said


def _threshold(pairs: Sequence[Pair], said: Floats) -> float:
    """Return the least threshold at which PRECISION of the labelled pairs found are changes."""
    labelled = np.array([one.of != NEIGHBORS for one in pairs])
    changed = np.array([one.is_change for one in pairs])
    good = (
        float(least)
        for least in np.unique(said[labelled & (said > 0)])
        if changed[labelled & (said >= least)].mean() >= PRECISION
    )
    return next(good, 1.0)


def _print(name: str, pairs: Sequence[Pair], found: Bits) -> None:
    changed, of = np.array([one.is_change for one in pairs]), np.array([one.of for one in pairs])
    for each in (*dict.fromkeys(one.of for one in pairs), "all pairs"):
        own = of != NEIGHBORS if each == "all pairs" else of == each
        hits, false = int((own & found & changed).sum()), float(found[own & ~changed].mean())
        figures = f"{name:6}{each:12} false {false:.3f} of {int((own & ~changed).sum())}"
        if (own & changed).any():
            figures += f", recall {hits / int((own & changed).sum()):.3f}"
            figures += f", precision {hits / max(1, int((own & found).sum())):.3f}"
        print(figures)


def _cosines(pairs: Sequence[Pair]) -> Floats:
    told = list(dict.fromkeys(text for one in pairs for text in (one.old, one.new)))
    row = dict(zip(told, _vectors(told), strict=True))
    return np.array([row[one.old] @ row[one.new] for one in pairs], dtype=float)


def _vectors(told: Sequence[str]) -> npt.NDArray[np.float32]:
    embedder = registry.embedder()
    return embedder.embed_documents(texts=tuple(told)) if told else np.zeros((0, 1), np.float32)


def _git(folder: Path, *command: str) -> str:
    run = subprocess.run(
        ["git", "--git-dir", str(folder), *command],
        capture_output=True, check=True, encoding="utf-8", errors="replace",
    )  # fmt: skip
    return run.stdout


if __name__ == "__main__":
    paths = [Path(one) for one in sys.argv[1:]]
    main(
        files=[one for one in paths if one.is_file()],
        clones=next((one for one in paths if one.is_dir()), None),
    )
