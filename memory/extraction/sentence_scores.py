"""How likely a sentence of a conversation is worth keeping, learned from labeled sentences.

A ridge logistic regression on plain features of a sentence (`tables/sentences.toml`, the cues and
talk of `chatter`, length, place, speaker) and on its vector. Weights are data
(`tables/sentence_weights.json`): they hold for the one embedder that they name, so with another one
there are no scores and `extract` decides by its cues alone.

Where a sentence has a cue, the score only has the last word against it; without one, it must be
high. `tests.bench.bench_sentences` fits the weights and prints what they are worth on conversations
of other repositories; there the two bounds come from.
"""

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from memory.extraction import chatter, statements
from memory.sessions.turns import Speaker, SpokenSentence, Turn, own_words
from memory.text.text import compile_patterns, read_tables

# Of 87 labeled sentences taken by these in cross-validation, 37 are worth keeping as they are and
# 64 with what was said around them; cues alone take 23, 11 and 16 (`tests.bench.bench_sentences`).
WITHOUT_CUE: Final = 0.45  # score from which a sentence is taken that has no cue
WITH_CUE: Final = 0.25  # score below which a cue is not believed
FEW_WORDS: Final = 6
MANY_WORDS: Final = 35
TABLES: Final = Path(__file__).with_name("tables")
WEIGHTS: Final = TABLES / "sentence_weights.json"

Vectors = npt.NDArray[np.float32]
Embed = Callable[[Sequence[str]], Vectors]
Scores = Mapping[tuple[int, int], float]  # by the turn's sequence and the sentence's place in it

_EXPRESSIONS: Final = compile_patterns(
    table=read_tables(file=TABLES / "sentences.toml")["expressions"], flags=re.IGNORECASE
)
_OF_TALK: Final = (
    "doubt", "talk", "plan", "wish", "order", "question", "pasted", "standing", "pointing",
    "states", "problem", "remedy", "reports", "asked_to_keep", "fix_of_what",
)  # fmt: skip
_OF_A_PERSON: Final = ("must", "should", "modal", "wanted", "progress", "every", "we", "pronoun",
                       "first_person", "order_start", "pointer")  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """Weights of features by name and of a vector's dimensions, for one embedder."""

    embedder: str
    intercept: float
    features: Mapping[str, float]
    vector: Vectors


@cache
def weights() -> Weights:
    """Return the weights that are shipped."""
    data = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    return Weights(
        embedder=data["embedder"],
        intercept=data["intercept"],
        features=data["features"],
        vector=np.array(data["vector"], dtype=np.float32),
    )


def score(*, turns: tuple[Turn, ...], embed: Embed) -> Scores:
    """Return how likely each sentence of each turn is worth keeping, 0..1.

    `embed` gives vectors (count, dimensions) by the embedder of `weights`; it is called once.
    """
    found = tuple(sentences(turns=turns))
    if not found:
        return {}
    learned = weights()
    vectors = embed([text for _, text, _ in found])
    sums = vectors @ learned.vector + learned.intercept
    return {
        place: 1 / (1 + math.exp(-(float(sum_) + _weigh(named, learned.features))))
        for (place, _, named), sum_ in zip(found, sums, strict=True)
    }


def _weigh(named: Mapping[str, float], learned: Mapping[str, float]) -> float:
    return sum(learned.get(name, 0.0) * value for name, value in named.items())


def sentences(
    *, turns: tuple[Turn, ...]
) -> Iterator[tuple[tuple[int, int], str, Mapping[str, float]]]:
    """Yield turn and place, text and features of each sentence that somebody said."""
    before: Turn | None = None
    for turn in turns:
        said = own_words(turn=turn)
        of_turn = _features_of_turn(turn, before, len(said))
        for place, one in enumerate(said):
            yield (turn.sequence, place), one.text, _features(said, place, turn.speaker) | of_turn
        before = turn


def _features_of_turn(turn: Turn, before: Turn | None, count: int) -> dict[str, float]:
    is_agent = turn.speaker is Speaker.ASSISTANT
    rejects = chatter.PATTERNS["rejection"].match(turn.text.strip()) is not None
    return {
        "agent": is_agent,
        "sentences": math.log1p(count),
        "agent_sentences": is_agent * math.log1p(count),
        "after_question": before is not None and before.text.rstrip().endswith("?"),
        "rejects": rejects,
    }


def _features(said: tuple[SpokenSentence, ...], place: int, speaker: Speaker) -> dict[str, float]:
    text = said[place].text
    is_agent = speaker is Speaker.ASSISTANT
    length, words = math.log1p(len(text)), len(text.split())
    before = said[place - 1].text if place else ""
    cue = chatter.cue_in(speaker=speaker, texts=(text,))
    found: dict[str, float] = {
        "length": length,
        "length_squared": length * length,
        "agent_length": is_agent * length,
        "few_words": words < FEW_WORDS,
        "many_words": words > MANY_WORDS,
        "place": place / len(said),
        "first": place == 0,
        "last": place == len(said) - 1,
        "after_colon": before.endswith(":"),
        "after_own_question": before.endswith("?"),
        "cue": cue is not None and not cue[1],
        "guessed_cue": cue is not None and cue[1],
        "points_back": statements.points_back(text=text),
        "has_substance": chatter.has_substance(text=text),
    }
    found |= {name: one.search(text) is not None for name, one in _EXPRESSIONS.items()}
    found |= {f"talk_{name}": chatter.PATTERNS[name].search(text) is not None for name in _OF_TALK}
    return found | {f"user_{name}": found[name] * (not is_agent) for name in _OF_A_PERSON}
