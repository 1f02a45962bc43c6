"""Communities: connected, never worse than single nodes, the same each time (Leiden)."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph import algorithms
from graph.algorithms import Edge, Graph
from graph.code.values import Layer

MOST = 24  # nodes of a drawn graph
WEIGHTS = st.floats(min_value=0.01, max_value=10)
GRAPHS = st.dictionaries(
    st.tuples(st.integers(0, MOST - 1), st.integers(0, MOST - 1)).filter(lambda e: e[0] < e[1]),
    WEIGHTS,
    max_size=80,
).map(lambda edges: [(first, second, weight) for (first, second), weight in edges.items()])


def planted(*, groups: int, size: int, seed: int) -> list[Edge]:
    """Return edges of which two thirds stay inside of a group."""
    chance = random.Random(seed)
    found: set[tuple[int, int]] = set()
    for node in range(groups * size):
        own = node // size * size
        inside = (own + chance.randrange(size) for _ in range(8))
        outside = (chance.randrange(groups * size) for _ in range(4))
        found |= {(min(node, o), max(node, o)) for o in (*inside, *outside) if o != node}
    return [(first, second, 1.0) for first, second in found]


def is_connected(graph: Graph, nodes: tuple[int, ...]) -> bool:
    """Say whether nodes hang together by edges among them."""
    reached = [nodes[0]]
    for one in reached:
        around = {node for edge in graph.edges if one in edge[:2] for node in edge[:2]}
        reached.extend(node for node in nodes if node in around and node not in reached)
    return len(reached) == len(nodes)


@given(edges=GRAPHS)
def test_communities_are_connected_and_never_worse_than_single_nodes_or_all_in_one(
    edges: list[Edge],
) -> None:
    graph = algorithms.build(nodes=MOST, edges=edges)

    found = algorithms.find(graph=graph)

    assert sorted(node for nodes in found for node in nodes) == list(range(MOST))
    assert all(is_connected(graph, nodes) for nodes in found)
    assert [len(nodes) for nodes in found] == sorted(map(len, found), reverse=True)
    everybody = tuple(range(MOST))
    singles, together, best = (
        algorithms.quality(graph=graph, communities=each)
        for each in ([[node] for node in everybody], [everybody], found)
    )
    assert best >= max(singles, together) - 1e-9


@given(edges=GRAPHS, seed=st.integers(0, 9), data=st.data())
def test_neither_the_order_of_edges_nor_their_direction_matters(
    edges: list[Edge], seed: int, data: st.DataObject
) -> None:
    shuffled = data.draw(st.permutations([(second, first, w) for first, second, w in edges]))

    once, again = (
        algorithms.find(graph=algorithms.build(nodes=MOST, edges=each), seed=seed)
        for each in (edges, shuffled)
    )

    assert once == again


@settings(max_examples=20)
@given(seed=st.integers(0, 1_000))
def test_planted_groups_are_found(seed: int) -> None:
    graph = algorithms.build(nodes=80, edges=planted(groups=4, size=20, seed=seed))
    groups = [set(range(20 * n, 20 * n + 20)) for n in range(4)]

    found = algorithms.find(graph=graph, seed=seed)

    together = sum(max(len(group & set(one)) for group in groups) for one in found)
    assert len(found) == 4
    assert together >= 76  # a node may be drawn with more edges into another group than its own


def test_modularity_is_that_of_the_formula() -> None:
    triangles = [(0, 1, 1.0), (1, 2, 1.0), (0, 2, 1.0), (3, 4, 1.0), (4, 5, 1.0), (3, 5, 1.0)]
    graph = algorithms.build(nodes=6, edges=[*triangles, (2, 3, 1.0)])
    alone = algorithms.build(nodes=3, edges=[])

    value = algorithms.quality(graph=graph, communities=[(0, 1, 2), (3, 4, 5)])

    assert value == pytest.approx(6 / 7 - 2 * (7 / 14) ** 2)  # Σ inside/m - (K/2m)²
    found = algorithms.find(graph=alone)
    assert found == ((0,), (1,), (2,))
    assert algorithms.quality(graph=alone, communities=found) == 0
    assert algorithms.find(graph=algorithms.build(nodes=0, edges=[])) == ()


def test_what_is_no_community_or_edge_is_refused_and_edges_add_up() -> None:
    graph = algorithms.build(nodes=2, edges=[(0, 1, 1.0), (1, 0, 0.5)])

    assert graph.edges == ((0, 1, 1.5),)
    with pytest.raises(ValueError, match="every node"):
        algorithms.quality(graph=graph, communities=[(0,)])
    for edge in ((0, 0, 1.0), (0, 2, 1.0), (-1, 0, 1.0), (0, 1, 0.0), (0, 1, float("nan"))):
        with pytest.raises(ValueError, match=r"edge|weight"):
            algorithms.build(nodes=2, edges=[edge])


TEMPORAL, CAUSAL = Layer.MAGMA_TEMPORAL, Layer.MAGMA_CAUSAL
ENTITY, SEMANTIC = Layer.MAGMA_ENTITY, Layer.MAGMA_SEMANTIC


def test_words_lead_to_layers() -> None:
    layers = {
        "what happened before the deploy?": (TEMPORAL, CAUSAL),  # the seed's own
        "who maintains the auth service?": (ENTITY, SEMANTIC),  # the seed's own
        "how are prices cached": (SEMANTIC,),
        "Pourquoi les prix sont-ils faux après la mise en ligne ?": (TEMPORAL, CAUSAL),
        "whenever the whole thing is beforehand": (SEMANTIC,),
        "": (SEMANTIC,),
    }

    assert {text: algorithms.route(text=text) for text in layers} == layers
