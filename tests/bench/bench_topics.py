"""Sorting memories into topics: what Leiden and the whole of it cost, by number of memories.

Run: `.venv/bin/python -m tests.bench.bench_topics 1000 10000 50000`. Memories are made: directions
with noise around them, things that those of one direction share, and some that anybody may. Figures
are processor time of one core.
"""

import os
import random
import sys
from collections.abc import Callable
from functools import partial
from typing import TypeVar
from uuid import UUID

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from graph import algorithms
from memory.topics import clustering
from memory.topics.clustering import Subject, Vectors
from tests.bench import measures

SIZES = (1_000, 10_000, 50_000)
GROUP = 60  # memories of one direction
DIMENSIONS = 384
NOISE = 1.5
Result = TypeVar("Result")


def main(*, sizes: tuple[int, ...]) -> None:
    """Sort made memories, step by step and whole."""
    base = 0.0
    for size in sizes:
        subjects, vectors = made(size=size)
        near = partial(clustering.near, vectors=vectors)
        shared = partial(clustering.shared, subjects=subjects)
        edges = (*_shown("nearest vectors", near), *_shown("shared things", shared))
        graph = algorithms.build(nodes=size, edges=edges)
        found = _shown("Leiden", partial(algorithms.find, graph=graph))
        quality = algorithms.quality(graph=graph, communities=found)
        measures.line("its result", f"{len(found)} communities, Q {quality:.3f}")
        sort = partial(clustering.sort, subjects=subjects, vectors=vectors, links=())
        kept, spent = measures.spent(sort)
        base = base or spent / size
        measures.line(
            f"{size:,} memories",
            f"{len(edges):,} edges, {spent:.2f} s, {len(kept)} topics,"
            f" ratio a memory {spent / size / base:.2f}",
        )


def made(*, size: int) -> tuple[tuple[Subject, ...], Vectors]:
    """Return memories with what they share, and their unit vectors."""
    chance, generator = random.Random(1), np.random.default_rng(1)
    groups = max(1, size // GROUP)
    of = [chance.randrange(groups) for _ in range(size)]
    centers = generator.normal(size=(groups, DIMENSIONS)).astype(np.float32)
    vectors = centers[of] + NOISE * generator.normal(size=(size, DIMENSIONS)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    subjects = tuple(
        Subject(
            memory_id=UUID(int=number),
            words={f"w{group}.{chance.randrange(12)}": "w" for _ in range(6)},
            marks={
                f"name {group}.{chance.randrange(8)}": 1.0,
                f"file {chance.randrange(size // 10 + 1)}": 1.0,
            },
        )
        for number, group in enumerate(of)
    )
    return subjects, vectors


def _shown(name: str, work: Callable[[], Result]) -> Result:
    result, spent = measures.spent(work)
    measures.line(name, f"{spent:.2f} s")
    return result


if __name__ == "__main__":
    main(sizes=tuple(map(int, sys.argv[1:])) or SIZES)
