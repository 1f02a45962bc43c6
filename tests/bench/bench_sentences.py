"""Which sentences of conversations are taken: the learned score and the cues, by labeled sentences.

    BENCH_EMBEDDER=local/all-minilm-l6-v2 python -m tests.bench.bench_sentences TRAIN [--write]
    BENCH_EMBEDDER=local/all-minilm-l6-v2 python -m tests.bench.bench_sentences --test FOLDER

A folder holds conversations as `*.json`: `source` (repository and path), `turns` with speaker and
text, and `sentences` with turn from 0, text and label: `keep` is worth keeping and can be read
alone, `context` is worth it and cannot, `no` is neither. Who labels has seen no rule. TRAIN is
cross-validated by leaving out one repository after the other, and prints what each bound takes;
`--write` fits all of it and writes the weights that are shipped. `--test` prints what they and the
cues come to on a folder that nothing was fitted on. The texts are of others and are kept nowhere.

The label `context` counts as a third of a `keep`; vectors are reduced to their first principal
components before the fit, as 384 dimensions are too many for some 2,000 sentences.
"""

import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from memory.experiments import uplift
from memory.extraction import sentence_scores
from memory.extraction.extract import bare, extract
from memory.extraction.sentence_scores import Weights
from memory.providers import registry
from memory.sessions.turns import Speaker, Turn, own_words
from tests.bench import measures

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
VALUES = {"keep": 1.0, "context": 0.35, "no": 0.0}
COMPONENTS = 20
RIDGE = 80.0  # of each standardized weight
ROUNDS = 12  # of Newton's method
BOUNDS = (0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65)
LEAST_SHARED = 14  # letters of a text that stands in another one, cut otherwise
TAIL = 40  # letters by which a candidate is found again
BATCH = 64
DIGITS = 4  # of a weight


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A labeled conversation: its repository, its turns, and (turn from 1, letters, label)."""

    repository: str
    turns: tuple[Turn, ...]
    labels: tuple[tuple[int, str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Sentences as rows: where each stands, label (empty for none), features and vector."""

    places: tuple[tuple[int, int, int], ...]  # conversation, turn, place
    labels: npt.NDArray[np.str_]
    repositories: npt.NDArray[np.str_]
    names: tuple[str, ...]
    features: Array
    vectors: Array

    @property
    def is_labeled(self) -> Mask:
        """Which rows have a label."""
        return np.asarray(self.labels != "")


def read(*, folder: Path) -> tuple[Conversation, ...]:
    """Read labeled conversations."""
    return tuple(_conversation(path) for path in sorted(folder.glob("*.json")))


def _conversation(path: Path) -> Conversation:
    given = json.loads(path.read_text(encoding="utf-8"))
    turns = tuple(
        Turn(sequence=number, speaker=speaker_of(one["speaker"]), text=one["text"])
        for number, one in enumerate(given["turns"], 1)
    )
    labels = ((one["turn"] + 1, _letters(one["text"]), one["label"]) for one in given["sentences"])
    return Conversation(repository=given["source"].split()[0], turns=turns, labels=tuple(labels))


def speaker_of(name: str) -> Speaker:
    """Return who speaks; some sets call the assistant an agent."""
    return Speaker.ASSISTANT if name == "agent" else Speaker(name)


def _letters(text: str) -> str:
    return re.sub(r"\W+", "", text).lower()


def embed(texts: Sequence[str]) -> npt.NDArray[np.float32]:
    """Return the vectors of texts by the embedder of the benchmark."""
    embedder = registry.embedder()
    parts = [tuple(texts[start : start + BATCH]) for start in range(0, len(texts), BATCH)]
    return np.concatenate([embedder.embed_documents(texts=part) for part in parts])


def tabulate(*, given: tuple[Conversation, ...]) -> Table:
    """Return the sentences of conversations as a table."""
    rows = [
        (number, key, text, named)
        for number, one in enumerate(given)
        for key, text, named in sentence_scores.sentences(turns=one.turns)
    ]
    return Table(
        places=tuple((number, *key) for number, key, _, _ in rows),
        labels=np.array([_label(given[number], key[0], text) for number, key, text, _ in rows]),
        repositories=np.array([given[number].repository for number, _, _, _ in rows]),
        names=tuple(rows[0][3]),
        features=np.array([[float(one) for one in named.values()] for _, _, _, named in rows]),
        vectors=embed([text for _, _, text, _ in rows]).astype(np.float64),
    )


def _label(conversation: Conversation, turn: int, text: str) -> str:
    """Return the strongest label of the texts that are a sentence, hold it or stand in it."""
    own = _letters(text)
    found = {
        label
        for number, letters, label in conversation.labels
        if number == turn
        and (
            letters == own
            or (len(letters) > LEAST_SHARED and letters in own)
            or (len(own) > LEAST_SHARED and own in letters)
        )
    }
    return next((label for label in VALUES if label in found), "")


def fit(*, table: Table, rows: Mask) -> Weights:
    """Fit by Newton's method on some rows; the weights are those of raw features and vectors."""
    vectors = table.vectors[rows]
    center = vectors.mean(axis=0)
    _, _, axes = np.linalg.svd(vectors - center, full_matrices=False)
    axes = axes[:COMPONENTS]
    both = np.hstack([table.features[rows], (vectors - center) @ axes.T])
    mean, deviation = both.mean(axis=0), both.std(axis=0) + 1e-6
    wanted = np.array([VALUES[one] for one in table.labels[rows]])
    slopes, start = _newton((both - mean) / deviation, wanted)
    raw = slopes / deviation
    count = table.features.shape[1]
    vector = axes.T @ raw[count:]
    return Weights(
        embedder=registry.embedder().model.key,
        intercept=float(start - raw @ mean - center @ vector),
        features=dict(zip(table.names, map(float, raw[:count]), strict=True)),
        vector=vector.astype(np.float32),
    )


def _newton(values: Array, wanted: Array) -> tuple[Array, float]:
    columns = np.hstack([values, np.ones((len(values), 1))])
    pull = np.append(np.full(values.shape[1], RIDGE), 1e-9)
    found = np.zeros(columns.shape[1])
    for _ in range(ROUNDS):
        said = 1 / (1 + np.exp(-(columns @ found)))
        slope = columns.T @ (said - wanted) + pull * found
        bend = (columns * (said * (1 - said))[:, None]).T @ columns + np.diag(pull)
        found -= np.linalg.solve(bend, slope)
    return found[:-1], float(found[-1])


def score(*, table: Table, learned: Weights) -> Array:
    """Return a score of each row."""
    features = np.array([learned.features[name] for name in table.names])
    sums = table.features @ features + table.vectors @ learned.vector + learned.intercept
    return np.asarray(1 / (1 + np.exp(-sums)))


def cross_validated(*, table: Table) -> Array:
    """Return a score of each row by a fit on the other repositories."""
    found = np.zeros(len(table.labels))
    for repository in np.unique(table.repositories):
        held = table.repositories == repository
        learned = fit(table=table, rows=table.is_labeled & ~held)
        found[held] = score(table=table, learned=learned)[held]
    return found


def taken(*, given: tuple[Conversation, ...], table: Table, scored: Array | None) -> Mask:
    """Return which rows `extract` takes, by the cues or with scores besides."""
    known: list[dict[tuple[int, int], float]] = [{} for _ in given]
    if scored is not None:
        for (number, turn, place), value in zip(table.places, scored, strict=True):
            known[number][turn, place] = float(value)
    found = {
        (number, *key)
        for number, one in enumerate(given)
        for key in _taken_of(one, None if scored is None else known[number])
    }
    return np.array([place in found for place in table.places])


def _taken_of(
    given: Conversation, scores: sentence_scores.Scores | None
) -> Iterator[tuple[int, int]]:
    """Yield turn and place of the sentences that candidates end with."""
    said = {turn.sequence: own_words(turn=turn) for turn in given.turns}
    for candidate in extract(turns=given.turns, scores=scores):
        whole = _letters(candidate.content)
        for place, one in enumerate(said[candidate.turn]):
            is_line = one.line == candidate.line
            if is_line and whole.endswith(_letters(bare(text=one.text))[-TAIL:]):
                yield candidate.turn, place


def show(name: str, *, table: Table, rows: Mask) -> None:
    """Print what a way to take sentences comes to, of those that have a label."""
    rows = rows & table.is_labeled
    kept, count = int((table.labels[rows] == "keep").sum()), int(rows.sum())
    worth = int(np.isin(table.labels[rows], ("keep", "context")).sum())
    of_all = int((table.labels == "keep").sum())
    clean = uplift.share(successes=kept, trials=count)
    found = uplift.share(successes=kept, trials=of_all)
    measures.line(
        name,
        f"{kept} keep, {worth} keep or context of {count} [{clean.low:.2f}, {clean.high:.2f}]; "
        f"{kept} of {of_all} found [{found.low:.2f}, {found.high:.2f}]",
    )


def write(*, learned: Weights) -> None:
    """Write the weights that are shipped."""
    data = {
        "embedder": learned.embedder,
        "intercept": round(learned.intercept, DIGITS),
        "features": {name: round(one, DIGITS) for name, one in learned.features.items()},
        "vector": [round(float(one), DIGITS) for one in learned.vector],
    }
    sentence_scores.WEIGHTS.write_text(json.dumps(data) + "\n", encoding="utf-8")


def main(*, folder: Path, is_test: bool, is_written: bool) -> None:
    """Print the figures of a folder; fit on it and write what was learned, if wanted."""
    given = read(folder=folder)
    table = tabulate(given=given)
    if is_test:
        scored = score(table=table, learned=sentence_scores.weights())
    else:
        scored = cross_validated(table=table)
        for bound in BOUNDS:
            show(f"score {bound}", table=table, rows=scored >= bound)
    show("cues", table=table, rows=taken(given=given, table=table, scored=None))
    show("cues and score", table=table, rows=taken(given=given, table=table, scored=scored))
    if is_written:
        write(learned=fit(table=table, rows=table.is_labeled))


if __name__ == "__main__":
    (named,) = (one for one in sys.argv[1:] if not one.startswith("--"))
    main(folder=Path(named), is_test="--test" in sys.argv, is_written="--write" in sys.argv)
