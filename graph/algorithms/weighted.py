"""A small weighted graph without directions: what the algorithms over whole graphs read.

Nodes are numbers from 0. Neighbors stand in lists that are sorted, with the weight of each beside
it, so that what is computed does not depend on the order in which edges were given.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

Edge = tuple[int, int, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighted:
    """Sorted neighbors of each node, the weights to them (> 0), and each node's strength."""

    neighbors: tuple[tuple[int, ...], ...]
    weights: tuple[tuple[float, ...], ...]
    strengths: tuple[float, ...]

    def __len__(self) -> int:
        return len(self.neighbors)


def build(*, nodes: int, edges: Iterable[Edge]) -> Weighted:
    """Make a graph of so many nodes; edges between the same two are added up.

    Raises ValueError for an edge from a node to itself, to no node, or of a weight that is not
    positive and finite.
    """
    links: list[dict[int, float]] = [{} for _ in range(nodes)]
    for first, second, weight in sorted(_checked(edge, nodes) for edge in edges):
        links[first][second] = links[second][first] = links[first].get(second, 0.0) + weight
    return from_links(links=links)


def from_links(*, links: list[dict[int, float]]) -> Weighted:
    """Make a graph of what each node is linked to; both ends of a link must name it."""
    neighbors, weights = [], []
    for near in links:
        ordered = sorted(near)
        neighbors.append(tuple(ordered))
        weights.append(tuple([near[node] for node in ordered]))
    return Weighted(
        neighbors=tuple(neighbors),
        weights=tuple(weights),
        strengths=tuple([math.fsum(row) for row in weights]),
    )


def among(*, graph: Weighted, nodes: Sequence[int]) -> Weighted:
    """Return the graph of some nodes alone, numbered in their order."""
    place = {node: number for number, node in enumerate(nodes)}
    links = [
        {
            place[other]: weight
            for other, weight in zip(graph.neighbors[node], graph.weights[node], strict=True)
            if other in place
        }
        for node in nodes
    ]
    return from_links(links=links)


def parts(*, graph: Weighted, among: Iterable[int]) -> tuple[tuple[int, ...], ...]:
    """Return the connected parts of some nodes, each sorted, by their first node."""
    left = set(among)
    found = []
    for node in sorted(left):
        if node not in left:
            continue
        left.discard(node)
        reached = [node]
        for one in reached:
            near = [other for other in graph.neighbors[one] if other in left]
            left.difference_update(near)
            reached.extend(near)
        found.append(tuple(sorted(reached)))
    return tuple(found)


def _checked(edge: Edge, nodes: int) -> Edge:
    first, second, weight = edge
    low, high = min(first, second), max(first, second)
    if low == high or low < 0 or high >= nodes:
        raise ValueError(f"there is no edge from {first} to {second} among {nodes} nodes")
    if not (weight > 0 and math.isfinite(weight)):
        raise ValueError(f"the weight {weight} of the edge {first}-{second} is not positive")
    return low, high, weight
