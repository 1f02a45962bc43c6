"""Communities of a weighted graph: Leiden (Traag, Waltman and van Eck 2019), of our own.

The one good library is under a license that a product like this cannot ship, and Louvain may return
communities that hang together by nothing. Leiden repeats three steps until nothing changes: nodes
move to the community that gains most; each community is refined, from single nodes, into parts that
are well connected inside it; the parts become the nodes of a smaller graph, which begins with the
communities they came from. So each community that remains is one connected part.

Both qualities are H = Σ_c e_c - r · M_c² / 2, with e_c the weight inside of a community and M_c the
mass of its nodes. Modularity: mass is strength and r = resolution / 2m; H / m is then Q. Constant
Potts model: mass is 1 and r the resolution, apart from a constant.

The order in which nodes are visited, and which part a node joins in a refinement, come from a
generator that starts from `seed`; nothing else is random, and the order of edges does not matter.
"""

import math
import random
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from graph.algorithms import weighted
from graph.algorithms.weighted import Weighted

RANDOMNESS: Final = 0.01  # θ of the paper: how readily a refinement takes what is not best
MOST_ROUNDS: Final = 10  # over the whole graph; the second mostly changes little, the third nothing
LEAST_GAIN: Final = 1e-10  # below it, a move is rounding
ALONE: Final = -1  # stands for a community of a node's own

Communities = tuple[tuple[int, ...], ...]


class Objective(StrEnum):
    """What makes communities good."""

    MODULARITY = "modularity"
    POTTS = "potts"  # constant Potts model: no limit of resolution, which is a density then


@dataclass(frozen=True, slots=True, kw_only=True)
class _Level:
    """A graph, the mass of its nodes, and r of the quality."""

    graph: Weighted
    masses: tuple[float, ...]
    rate: float


def find(
    *,
    graph: Weighted,
    objective: Objective = Objective.MODULARITY,
    resolution: float = 1.0,
    seed: int = 0,
) -> Communities:
    """Return every node in one community, the largest first, each sorted.

    Raises ValueError for a resolution that is not positive.
    """
    level = _level(graph, objective, resolution)
    chance = random.Random(seed)  # noqa: S311 - repeatable on purpose
    found = list(range(len(graph)))
    for _ in range(MOST_ROUNDS):
        before = _quality(level, found)
        found = _connected(graph, _round(level, found, chance))
        if _quality(level, found) <= before + LEAST_GAIN:
            break
    return _ordered(found)


def quality(
    *,
    graph: Weighted,
    communities: Iterable[Iterable[int]],
    objective: Objective = Objective.MODULARITY,
    resolution: float = 1.0,
) -> float:
    """Return the quality of communities: Q of modularity, -1/2..1, or H of the Potts model.

    Raises ValueError where a node is in none.
    """
    level = _level(graph, objective, resolution)
    numbers = {node: number for number, nodes in enumerate(communities) for node in nodes}
    if numbers.keys() != set(range(len(graph))):
        raise ValueError("every node of the graph must be in a community")
    of = [numbers[node] for node in range(len(graph))]
    whole = _quality(level, of)
    if objective is Objective.POTTS:
        return whole + resolution * len(graph) / 2
    edges = math.fsum(graph.strengths) / 2
    return whole / edges if edges else 0.0


def _level(graph: Weighted, objective: Objective, resolution: float) -> _Level:
    if not (resolution > 0 and math.isfinite(resolution)):
        raise ValueError(f"the resolution {resolution} is not positive")
    if objective is Objective.POTTS:
        return _Level(graph=graph, masses=(1.0,) * len(graph), rate=resolution)
    twice_edges = math.fsum(graph.strengths)
    rate = resolution / twice_edges if twice_edges else 0.0
    return _Level(graph=graph, masses=graph.strengths, rate=rate)


def _quality(level: _Level, of: Sequence[int]) -> float:
    graph = level.graph
    masses: dict[int, float] = {}
    for node, mass in enumerate(level.masses):
        masses[of[node]] = masses.get(of[node], 0.0) + mass
    inside = math.fsum(
        [
            weight
            for node, own in enumerate(of)
            for other, weight in zip(graph.neighbors[node], graph.weights[node], strict=True)
            if of[other] == own
        ]
    )
    return inside / 2 - level.rate * math.fsum([mass * mass for mass in masses.values()]) / 2


def _round(level: _Level, start: list[int], chance: random.Random) -> list[int]:
    """Improve communities once, from the whole graph to ever smaller ones."""
    place = list(range(len(start)))  # of each node of the whole graph in the present one
    of = start
    while True:
        of = _moved(level, of, chance)
        refined = _refined(level, of, chance)
        numbers = {part: number for number, part in enumerate(dict.fromkeys(refined))}
        if len(numbers) == len(of):  # no two nodes belong together any more
            return [of[node] for node in place]
        renumbered = [numbers[part] for part in refined]
        smaller = [0] * len(numbers)
        for node, part in enumerate(renumbered):
            smaller[part] = of[node]
        level = _aggregated(level, renumbered, len(numbers))
        place = [renumbered[node] for node in place]
        of = _numbered(smaller)


def _numbered(of: Sequence[int]) -> list[int]:
    numbers: dict[int, int] = {}
    return [numbers.setdefault(one, len(numbers)) for one in of]


class _Places:
    """Which community each node is in, what each community holds, and those that hold nothing."""

    def __init__(self, level: _Level, start: Sequence[int]) -> None:
        self.level = level
        self.of = list(start)
        self.held = [0.0] * len(self.of)
        self.sizes = [0] * len(self.of)
        for node, own in enumerate(self.of):
            self.held[own] += level.masses[node]
            self.sizes[own] += 1
        self.empty = [number for number, size in enumerate(self.sizes) if not size]

    def move(self, node: int) -> bool:
        """Bring a node to where it gains most; say whether that is another community."""
        own, mass = self.of[node], self.level.masses[node]
        self.held[own] -= mass
        self.sizes[own] -= 1
        near = _nearby(self.level.graph, node, self.of)
        best = _best(near, own, self.held, self.level.rate * mass)
        if best == ALONE:
            best = self.empty.pop() if self.sizes[own] else own
        elif best != own and not self.sizes[own]:
            self.empty.append(own)
        self.held[best] += mass
        self.sizes[best] += 1
        self.of[node] = best
        return best != own


def _moved(level: _Level, start: Sequence[int], chance: random.Random) -> list[int]:
    """Move nodes to the community that gains most until none gains; look again only near a move."""
    places = _Places(level, start)
    order = list(range(len(start)))
    chance.shuffle(order)
    queue, waits = deque(order), [True] * len(order)
    while queue:
        node = queue.popleft()
        waits[node] = False
        if not places.move(node):
            continue
        near = level.graph.neighbors[node]
        own = places.of[node]
        again = [other for other in near if places.of[other] != own and not waits[other]]
        for other in again:
            waits[other] = True
        queue.extend(again)
    return places.of


def _nearby(graph: Weighted, node: int, of: Sequence[int]) -> dict[int, float]:
    """Return the weight from a node to each community around it."""
    near: dict[int, float] = {}
    for other, weight in zip(graph.neighbors[node], graph.weights[node], strict=True):
        community = of[other]
        near[community] = near.get(community, 0.0) + weight
    return near


def _best(near: dict[int, float], own: int, held: list[float], cost: float) -> int:
    """Return the community where a node gains most, its own where none is better, or ALONE."""
    best, most = own, near.get(own, 0.0) - cost * held[own]
    for community, weight in near.items():
        gain = weight - cost * held[community]
        if gain > most + LEAST_GAIN:
            best, most = community, gain
    return ALONE if most < -LEAST_GAIN else best


def _refined(level: _Level, of: Sequence[int], chance: random.Random) -> list[int]:
    """Return parts of each community that are well connected inside it, from single nodes on."""
    members: dict[int, list[int]] = {}
    for node, own in enumerate(of):
        members.setdefault(own, []).append(node)
    parts = list(range(len(of)))
    for nodes in members.values():
        if len(nodes) > 1:
            _refine(level, of, nodes, parts, chance)
    return parts


def _refine(
    level: _Level, of: Sequence[int], nodes: list[int], parts: list[int], chance: random.Random
) -> None:
    graph, masses, rate = level.graph, level.masses, level.rate
    whole = math.fsum([masses[node] for node in nodes])
    held = {node: masses[node] for node in nodes}
    cut = {node: _nearby(graph, node, of).get(of[node], 0.0) for node in nodes}
    joined: set[int] = set()
    chance.shuffle(nodes)
    for node in nodes:
        mass = masses[node]
        if node in joined or cut[node] < rate * mass * (whole - mass):
            continue
        near = {
            part: weight
            for part, weight in _nearby(graph, node, parts).items()
            if part in held and cut[part] >= rate * held[part] * (whole - held[part])
        }
        part = _chosen(near, node, held, rate * mass, chance)
        if part != node:
            parts[node] = part
            cut[part] += cut[node] - 2 * near[part]
            held[part] += held.pop(node)
            joined.add(part)


def _chosen(
    near: dict[int, float], own: int, held: dict[int, float], cost: float, chance: random.Random
) -> int:
    """Choose a part that loses nothing, likelier the more it gains; a node may stay alone."""
    gains = {own: 0.0}
    for part, weight in near.items():
        gain = weight - cost * held[part]
        if gain >= 0:
            gains[part] = gain
    most = max(gains.values())
    odds = [math.exp((gain - most) / RANDOMNESS) for gain in gains.values()]
    return chance.choices(tuple(gains), weights=odds)[0]


def _aggregated(level: _Level, parts: Sequence[int], count: int) -> _Level:
    """Return the graph whose nodes are parts; what is inside of one adds to its mass alone."""
    links: list[dict[int, float]] = [{} for _ in range(count)]
    masses = [0.0] * count
    graph = level.graph
    for node, part in enumerate(parts):
        masses[part] += level.masses[node]
        for other, weight in zip(graph.neighbors[node], graph.weights[node], strict=True):
            beside = parts[other]
            if beside > part:
                total = links[part].get(beside, 0.0) + weight
                links[part][beside] = links[beside][part] = total
    graph = weighted.from_links(links=links)
    return _Level(graph=graph, masses=tuple(masses), rate=level.rate)


def _connected(graph: Weighted, of: Sequence[int]) -> list[int]:
    """Split what hangs together by nothing; that never lowers the quality."""
    split = [0] * len(of)
    found = _ordered(of)
    pieces = (part for nodes in found for part in weighted.parts(graph=graph, among=nodes))
    for number, piece in enumerate(pieces):
        for node in piece:
            split[node] = number
    return split


def _ordered(of: Sequence[int]) -> Communities:
    members: dict[int, list[int]] = {}
    for node, own in enumerate(of):
        members.setdefault(own, []).append(node)
    return tuple(tuple(nodes) for nodes in sorted(members.values(), key=lambda n: (-len(n), n[0])))
