"""Which links belong to which layer of the graph."""

from graph.vocabulary import Layer
from memory.search import routes
from memory.taxonomy import LinkKind


def test_a_layer_has_its_links() -> None:
    assert LinkKind.CAUSED_BY in routes.kinds_of(layers=(Layer.MAGMA_CAUSAL,))
    assert LinkKind.CAUSED_BY not in routes.kinds_of(layers=(Layer.MAGMA_TEMPORAL,))
    assert routes.kinds_of(layers=(Layer.MAGMA_ENTITY,)) == ()


def test_no_link_belongs_to_two_layers() -> None:
    every = [kind for kinds in routes.KINDS.values() for kind in kinds]

    assert len(every) == len(set(every))
