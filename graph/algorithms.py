"""Communities of a weighted graph without directions: Leiden (Traag, Waltman and van Eck 2019).

Leiden maximizes modularity, Q = Σ_c (e_c / m - (K_c / 2m)²), with e_c the weight inside of a
community, K_c the strength of its nodes and m the weight of all edges. The library is
graspologic-native (Rust, MIT); leidenalg and igraph are under the GPL, and networkx has only
Louvain, which may return communities that hang together by nothing.

Nodes are numbers from 0. Edges are sorted and the library starts from a seed, so the same graph has
the same communities, in whichever order its edges were given.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import graspologic_native

from graph.code.values import Layer

ROUNDS: Final = 10  # over the whole graph; default, not measured
RANDOMNESS: Final = 0.01  # θ of the paper: how readily a refinement takes what is not best

Edge = tuple[int, int, float]
Communities = tuple[tuple[int, ...], ...]
WORDS: Final[Mapping[Layer, frozenset[str]]] = {
    Layer.MAGMA_TEMPORAL: frozenset({
        "before", "after", "when", "since", "until", "during", "meanwhile", "timeline", "history",
        "avant", "après", "quand", "depuis", "pendant", "chronologie", "historique",
    }),
    Layer.MAGMA_CAUSAL: frozenset({
        "why", "because", "cause", "caused", "causes", "causing", "happened", "reason", "led",
        "triggered", "resolved", "prevented", "enabled", "pourquoi", "car", "parce", "raison",
        "causé", "provoqué", "résolu", "empêché",
    }),
    Layer.MAGMA_ENTITY: frozenset({
        "who", "whom", "whose", "maintains", "maintainer", "maintained", "owns", "owner",
        "responsible", "built", "decided", "decides", "qui", "maintient", "responsable", "décide",
        "décidé",
    }),
}  # fmt: skip
_WORD: Final = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """So many nodes, and each edge once: its lower node, its higher one, its weight (> 0)."""

    nodes: int
    edges: tuple[Edge, ...]

    def __len__(self) -> int:
        return self.nodes

    def among(self, nodes: Sequence[int]) -> "Graph":
        """Return the graph of some nodes alone, numbered in their order."""
        place = {node: number for number, node in enumerate(nodes)}
        inside = (
            (place[first], place[second], weight)
            for first, second, weight in self.edges
            if first in place and second in place
        )
        return build(nodes=len(nodes), edges=inside)


def build(*, nodes: int, edges: Iterable[Edge]) -> Graph:
    """Make a graph of so many nodes; edges between the same two are added up.

    Raises ValueError for an edge from a node to itself, to no node, or of a weight that is not
    positive and finite.
    """
    weights: dict[tuple[int, int], list[float]] = {}
    for first, second, weight in edges:
        low, high = min(first, second), max(first, second)
        if low == high or low < 0 or high >= nodes:
            raise ValueError(f"there is no edge from {first} to {second} among {nodes} nodes")
        if not (weight > 0 and math.isfinite(weight)):
            raise ValueError(f"the weight {weight} of the edge {first}-{second} is not positive")
        weights.setdefault((low, high), []).append(weight)
    summed = sorted((low, high, math.fsum(parts)) for (low, high), parts in weights.items())
    return Graph(nodes=nodes, edges=tuple(summed))


def find(*, graph: Graph, seed: int = 0) -> Communities:
    """Return every node in one community, the largest first, each sorted and connected."""
    numbers: dict[int, int] = {}
    if graph.edges:
        _, found = graspologic_native.leiden(
            [(str(first), str(second), weight) for first, second, weight in graph.edges],
            starting_communities=None,
            resolution=1.0,
            randomness=RANDOMNESS,
            iterations=ROUNDS,
            use_modularity=True,
            seed=seed,
            trials=1,
        )
        numbers = {int(node): number for node, number in found.items()}
    parts = _connected_parts(graph, numbers)
    return tuple(sorted(parts, key=lambda nodes: (-len(nodes), nodes[0])))


def quality(*, graph: Graph, communities: Iterable[Iterable[int]]) -> float:
    """Return the modularity of communities, -1/2..1. Raises ValueError where a node is in none."""
    numbers = {node: number for number, nodes in enumerate(communities) for node in nodes}
    if numbers.keys() != set(range(len(graph))):
        raise ValueError("every node of the graph must be in a community")
    whole = math.fsum(weight for _, _, weight in graph.edges)
    inside: list[float] = []
    strengths: dict[int, float] = {}
    for first, second, weight in graph.edges:
        own, other = numbers[first], numbers[second]
        strengths[own] = strengths.get(own, 0.0) + weight
        strengths[other] = strengths.get(other, 0.0) + weight
        if own == other:
            inside.append(weight / whole)
    expected = math.fsum((strength / (2 * whole)) ** 2 for strength in strengths.values())
    return math.fsum(inside) - expected


def _connected_parts(graph: Graph, numbers: dict[int, int]) -> Iterable[tuple[int, ...]]:
    """Yield the connected parts of communities; a node without an edge is one by itself.

    Splitting what hangs together by nothing never lowers the modularity.
    """
    near: list[list[int]] = [[] for _ in range(len(graph))]
    for first, second, _ in graph.edges:
        if numbers[first] == numbers[second]:
            near[first].append(second)
            near[second].append(first)
    left = set(range(len(graph)))
    for node in range(len(graph)):
        if node not in left:
            continue
        left.discard(node)
        reached = [node]
        for one in reached:
            new = [other for other in near[one] if other in left]
            left.difference_update(new)
            reached.extend(new)
        yield tuple(sorted(reached))


# Which layers of the graph a question is about, by its words. Pure, no model.
#
# before, after, when: what came when; why, because, caused: what led to what; who, maintains: who
# has to do with it, and so what it is part of; anything else: what is related.


def route(*, text: str) -> tuple[Layer, ...]:
    """Return the layers that a question is about, in the order of the table; at least one."""
    words = frozenset(_WORD.findall(text.casefold()))
    found = tuple(layer for layer, telling in WORDS.items() if not telling.isdisjoint(words))
    if not found or Layer.MAGMA_ENTITY in found:
        return (*found, Layer.MAGMA_SEMANTIC)
    return found
