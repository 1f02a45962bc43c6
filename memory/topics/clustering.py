"""Topics: memories of one place sorted by what holds them together.

A place is an audience and a project: whoever may see one memory of it may see them all, so a topic
tells nobody of what they may not see. Its memories are the nodes of a graph; links, named things,
files, tags and nearest vectors are the edges; communities of three and more (Leiden) are topics.

Edges: a link counts its confidence. What k memories share counts 1 / (k - 1) between each two of
them (Newman 2001), so a memory hangs on each thing it shares by 1, however many share it; beyond
eleven, each is joined with the five after it alone, by a tenth, which comes to the same. What very
many share says nothing. A nearest vector counts how much nearer it is than two memories of the
place usually are, (c - b) / (1 - b): models differ in what cosine is usual. Modularity does not see
what is small beside the whole, so a large community is divided again where it has parts.

A topic keeps its id where most of its memories stay together, and its words where they also are
most of the new one; so names and addresses do not change each night.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from sys import intern
from typing import Final
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from graph import algorithms
from memory.text.text import read_words

# What a topic is called: the words that tell its memories from those of other topics.
#
# c-TF-IDF (Grootendorst 2022), counted in memories: W = tf · ln(1 + A / f), with tf the memories
# of the topic that have the word, f the memories of all topics that have it, A the mean number of
# words a topic. A word that fewer than two memories of the topic have is none of its words: it
# would tell what one of them says. Spellings of one word count together; it is shown as it is
# written most.

MOST_WORDS: Final = 8  # a topic; one bit of a small number each
LEAST_HOLDERS: Final = 2  # memories that must have a word, for it to be told
LONGEST: Final = 40  # characters of a word
SHORTEST: Final = 3
_WORD: Final = re.compile(r"[^\W\d_][\w-]*[^\W_]|[^\W\d_]")
_PLURAL: Final = re.compile(r"(?<=\w\w[^\Wsuiao])s\Z")
_SAYS_NOTHING: Final = read_words(file=Path(__file__).with_name("tables") / "small.txt")


def words_of(*, text: str) -> dict[str, str]:
    """Return the words of a text that may name something: each by its key, as it is written."""
    found: dict[str, str] = {}
    for match in _WORD.finditer(text):
        written = match.group()
        plain = written.casefold()
        if SHORTEST <= len(plain) <= LONGEST and plain not in _SAYS_NOTHING:
            found.setdefault(intern(_PLURAL.sub("", plain)), intern(written))
    return found


def distinctive(*, topics: Sequence[Sequence[Mapping[str, str]]]) -> tuple[tuple[str, ...], ...]:
    """Return the keys of each topic's words, the most distinctive first; none where it shares none.

    A topic is the words of its memories, by key.
    """
    held = [Counter(key for words in memories for key in words) for memories in topics]
    everywhere = Counter[str]()
    for counted in held:
        everywhere.update(counted)
    mean = everywhere.total() / max(len(held), 1)

    found = []
    for counted in held:
        weights = {
            key: count * math.log1p(mean / everywhere[key])
            for key, count in counted.items()
            if count >= LEAST_HOLDERS
        }
        best = sorted(weights, key=lambda key: (-weights[key], key))
        found.append(tuple(best[:MOST_WORDS]))
    return tuple(found)


def usual_spelling(*, key: str, memories: Iterable[Mapping[str, str]]) -> str:
    """Return a word as most memories write it."""
    written = Counter(words[key] for words in memories if key in words)
    return min(written, key=lambda one: (-written[one], one))


SMALLEST: Final = 3  # memories of a topic; ours
LARGE: Final = 60  # memories of a topic, beyond which it is looked at whether it is several
STRUCTURE: Final = 0.3  # modularity from which a division is one (Newman and Girvan 2004)
MOST_SHARING: Final = 200  # memories that share a thing, beyond which it says nothing
RING: Final = 5  # memories after one that it is joined with, where many share a thing
NEAREST: Final = 6  # vectors that count, of each memory
BLOCK: Final = 512  # rows of cosines that are held at once
REACH: Final = 0.25  # of its memories are farther from a center than the topic reaches

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A memory to sort: its words by key, and the marks it may share with others, with weights."""

    memory_id: UUID
    words: Mapping[str, str]
    marks: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Before:
    """A topic as it was: its words as they are shown, and its memories."""

    id: UUID
    words: tuple[str, ...]
    members: frozenset[UUID]


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A memory of a topic: which of its words it has (bits), and its cosine with the center."""

    memory_id: UUID
    holds: int
    closeness: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """A topic to keep: its id (None: a new one), words, memories, center and how far it reaches."""

    id: UUID | None
    words: tuple[str, ...]
    members: tuple[Member, ...]
    center: Vectors | None
    reach: float


def sort(
    *,
    subjects: Sequence[Subject],
    vectors: Vectors,
    links: Iterable[algorithms.Edge],
    before: Sequence[Before] = (),
) -> tuple[Topic, ...]:
    """Sort memories into topics, the largest first; those that belong to none are in none.

    `vectors` are of unit length, a row each, zeros for a memory that has none; `links` name
    subjects by their places.
    """
    edges = (*links, *shared(subjects=subjects), *near(vectors=vectors))
    graph = algorithms.build(nodes=len(subjects), edges=edges)
    found = sorted(_divided(graph, tuple(range(len(graph)))), key=lambda n: (-len(n), n[0]))
    large = tuple(nodes for nodes in found if len(nodes) >= SMALLEST)
    ids = [frozenset(subjects[node].memory_id for node in nodes) for nodes in large]
    kept = matched(before=before, now=ids)
    keys = distinctive(topics=[[subjects[n].words for n in nodes] for nodes in large])
    topics = []
    for number, nodes in enumerate(large):
        own = [subjects[node] for node in nodes]
        topic = _topic(own, keys[number], vectors[list(nodes)], kept.get(number))
        if topic.words:
            topics.append(topic)
    return tuple(topics)


def shared(*, subjects: Sequence[Subject]) -> tuple[algorithms.Edge, ...]:
    """Return edges between memories that share a mark; those of a memory sum to its weight."""
    sharing: dict[str, list[int]] = {}
    weights: dict[str, float] = {}
    for place, subject in enumerate(subjects):
        for mark, weight in subject.marks.items():
            sharing.setdefault(mark, []).append(place)
            weights[mark] = weight
    return tuple(
        (first, second, weights[mark] / min(len(places) - 1, 2 * RING))
        for mark, places in sharing.items()
        if 1 < len(places) <= MOST_SHARING
        for first, second in _pairs(places)
    )


def near(*, vectors: Vectors) -> tuple[algorithms.Edge, ...]:
    """Return edges from each memory to those with the nearest vectors, at most six."""
    places = np.flatnonzero(np.any(vectors, axis=1))
    if len(places) < 2:
        return ()
    units = vectors[places].astype(np.float32)
    # the mean cosine of two different memories: (|Σ u|² - n) / (n² - n), from 0 on
    count = len(units)
    together = float(np.square(units.sum(axis=0, dtype=np.float64)).sum())
    usual = min(0.99, max(0.0, (together - count) / (count * (count - 1))))
    edges: dict[tuple[int, int], float] = {}
    for start in range(0, len(units), BLOCK):
        for row, column, cosine in _nearest(units, start):
            closeness = (cosine - usual) / (1 - usual)
            if closeness > 0:
                first, second = sorted((int(places[row]), int(places[column])))
                edges[first, second] = closeness
    return tuple((first, second, closeness) for (first, second), closeness in edges.items())


def matched(*, before: Sequence[Before], now: Sequence[frozenset[UUID]]) -> dict[int, Before]:
    """Return which earlier topic each is: the one most of whose memories it has, each once."""
    present = frozenset().union(*now)
    candidates = sorted(
        (-len(old.members & members), str(old.id), number, old)
        for old in before
        for number, members in enumerate(now)
        if 2 * len(old.members & members) > len(old.members & present)
    )
    kept: dict[int, Before] = {}
    for _, _, number, old in candidates:
        kept.setdefault(number, old)
    return kept


def _pairs(places: list[int]) -> Iterable[tuple[int, int]]:
    """Return every two of some places; of many, each with the five after it, around."""
    if len(places) <= 2 * RING + 1:
        return combinations(places, 2)
    ring = (*places, *places[:RING])
    return ((ring[at], ring[at + step]) for at in range(len(places)) for step in range(1, RING + 1))


def _divided(graph: algorithms.Graph, nodes: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return the communities of some nodes; large ones that have parts are divided further."""
    part = graph.among(nodes)
    found = algorithms.find(graph=part)
    is_whole = len(nodes) == len(graph)
    if not is_whole and algorithms.quality(graph=part, communities=found) < STRUCTURE:
        return [nodes]
    kept: list[tuple[int, ...]] = []
    for piece in found:
        own = tuple(nodes[place] for place in piece)
        is_divisible = LARGE < len(own) < len(nodes)
        kept.extend(_divided(graph, own) if is_divisible else [own])
    return kept


def _nearest(units: Vectors, start: int) -> Iterable[tuple[int, int, float]]:
    """Yield the nearest of each row of a block: its place, theirs, and the cosine."""
    most = min(NEAREST, len(units) - 1)
    cosines = units[start : start + BLOCK] @ units.T
    rows = np.arange(len(cosines))
    cosines[rows, start + rows] = -np.inf
    best = np.argpartition(-cosines, most - 1, axis=1)[:, :most]
    for row, columns in enumerate(best):
        for column in columns:
            yield start + row, int(column), float(cosines[row, column])


def _topic(
    subjects: list[Subject], keys: tuple[str, ...], vectors: Vectors, old: Before | None
) -> Topic:
    texts = [subject.words for subject in subjects]
    words = tuple(usual_spelling(key=key, memories=texts) for key in keys)
    members = frozenset(subject.memory_id for subject in subjects)
    keys, words = _still_told(old, texts, members) or (keys, words)
    whole = vectors.sum(axis=0, dtype=np.float64)
    length = float(np.linalg.norm(whole))
    center = None if length == 0 else (whole / length).astype(np.float32)
    closenesses = _closenesses(vectors, center)
    return Topic(
        id=None if old is None else old.id,
        words=words,
        members=tuple(
            Member(
                memory_id=subject.memory_id,
                holds=sum(1 << bit for bit, key in enumerate(keys) if key in subject.words),
                closeness=closeness,
            )
            for subject, closeness in zip(subjects, closenesses, strict=True)
        ),
        center=center,
        reach=_reach(vectors),
    )


def _closenesses(vectors: Vectors, center: Vectors | None) -> list[float | None]:
    """Return the cosine of each vector to the center, None for what has none."""
    if center is None:
        return [None] * len(vectors)
    return [
        round(float(cosine), 4) if vector.any() else None
        for vector, cosine in zip(vectors, vectors @ center, strict=True)
    ]


def _still_told(
    old: Before | None, texts: list[Mapping[str, str]], members: frozenset[UUID]
) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Return keys and words of an earlier topic that most members were in.

    None where a word is not told any more.
    """
    if old is None or 2 * len(old.members & members) <= len(members):
        return None
    keys = tuple(next(iter(words_of(text=word)), "") for word in old.words)
    counts = (sum(key in words for words in texts) for key in keys)
    if not keys or any(count < LEAST_HOLDERS for count in counts):
        return None
    return keys, old.words


def _reach(vectors: Vectors) -> float:
    """Return how close most vectors are to the center of the others; 1 where there are no others.

    To the center of all each would be closer than one that comes later: it has drawn it near.
    """
    units = vectors[vectors.any(axis=1)].astype(np.float64)
    if len(units) < 2:
        return 1.0
    others = units.sum(axis=0) - units
    lengths = np.maximum(np.linalg.norm(others, axis=1), 1e-9)
    return float(np.quantile((others * units).sum(axis=1) / lengths, REACH))
