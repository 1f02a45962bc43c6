"""Layers and edge types of the graph."""

import pytest

from graph import vocabulary
from graph.vocabulary import INVERSES, LAYERS, SYMMETRIC, Layer

SPEC = {
    "structural": "imports defines calls inherits implements tests",
    "semantic": "is_entrypoint_for flows_to part_of responsible_for",
    "knowledge": "applies_pattern documents governs warns_about",
    "magma_semantic": "related_to uses part_of implements depends_on similar_to",
    "magma_temporal": "preceded_by followed_by concurrent_with overlaps_with same_session",
    "magma_causal": "caused enabled prevented motivated triggered_by resolved",
    "magma_entity": "built decided maintains member_of responsible_for",
}


def test_layers_and_edge_types_equal_the_spec() -> None:
    assert {row.layer.value: " ".join(row.edge_types) for row in LAYERS} == SPEC
    assert [row.layer for row in LAYERS] == list(Layer)


def test_an_edge_type_belongs_to_its_layers_only() -> None:
    assert vocabulary.is_edge_type(layer=Layer.STRUCTURAL, edge_type="calls")
    assert not vocabulary.is_edge_type(layer=Layer.KNOWLEDGE, edge_type="calls")


@pytest.mark.parametrize(
    ("edge_type", "layers"),
    [
        ("calls", (Layer.STRUCTURAL,)),
        ("implements", (Layer.STRUCTURAL, Layer.MAGMA_SEMANTIC)),
        ("part_of", (Layer.SEMANTIC, Layer.MAGMA_SEMANTIC)),
        ("sings", ()),
    ],
)
def test_a_type_may_stand_in_several_layers(edge_type: str, layers: tuple[Layer, ...]) -> None:
    assert vocabulary.layers_of(edge_type=edge_type) == layers


def test_inverses_lead_back_and_symmetric_types_exist() -> None:
    assert all(INVERSES[inverse] == type for type, inverse in INVERSES.items())
    assert all(vocabulary.layers_of(edge_type=type) for type in (*INVERSES, *SYMMETRIC))
