"""Layers, node kinds and edge types of the graph, one literal table.

Layers are stored by name. The same word may name an edge in two layers (`implements` in code and
between concepts), so an edge is always a pair of layer and type.
"""

from dataclasses import dataclass
from enum import StrEnum


class Layer(StrEnum):
    """Where edges come from: three layers of code and knowledge, four of MAGMA."""

    STRUCTURAL = "structural"
    SEMANTIC = "semantic"
    KNOWLEDGE = "knowledge"
    MAGMA_SEMANTIC = "magma_semantic"
    MAGMA_TEMPORAL = "magma_temporal"
    MAGMA_CAUSAL = "magma_causal"
    MAGMA_ENTITY = "magma_entity"


class NodeKind(StrEnum):
    """What a node stands for (the kinds of code are ours)."""

    REPOSITORY = "repository"
    MODULE = "module"
    FILE = "file"
    CLASS = "class"  # also structures, enumerations and named types
    INTERFACE = "interface"  # also traits
    FUNCTION = "function"
    METHOD = "method"
    VARIABLE = "variable"
    TEST = "test"
    MEMORY = "memory"
    ENTITY = "entity"
    SESSION = "session"
    EVENT = "event"
    CONCEPT = "concept"


class NodeSource(StrEnum):
    """Who says that a node or an edge exists."""

    AST = "ast"
    SCIP = "scip"
    LLM = "llm"
    AGENT = "agent"


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerRow:
    """One layer: what it is made from, the edge types it holds, the node kinds it joins."""

    layer: Layer
    made_from: str
    edge_types: tuple[str, ...]
    node_kinds: frozenset[NodeKind]


CODE_KINDS: frozenset[NodeKind] = frozenset({
    NodeKind.REPOSITORY, NodeKind.MODULE, NodeKind.FILE, NodeKind.CLASS, NodeKind.INTERFACE,
    NodeKind.FUNCTION, NodeKind.METHOD, NodeKind.VARIABLE, NodeKind.TEST,
})  # fmt: skip
_MEMORY, _ENTITY = frozenset({NodeKind.MEMORY}), frozenset({NodeKind.ENTITY})

LAYERS: tuple[LayerRow, ...] = (
    LayerRow(
        layer=Layer.STRUCTURAL,
        made_from="tree-sitter",
        edge_types=("imports", "defines", "calls", "inherits", "implements", "tests"),
        node_kinds=CODE_KINDS,
    ),
    LayerRow(
        layer=Layer.SEMANTIC,
        made_from="a model over structural subgraphs",
        edge_types=("is_entrypoint_for", "flows_to", "part_of", "responsible_for"),
        node_kinds=CODE_KINDS | {NodeKind.CONCEPT},
    ),
    LayerRow(
        layer=Layer.KNOWLEDGE,
        made_from="memories",
        edge_types=("applies_pattern", "documents", "governs", "warns_about"),
        node_kinds=CODE_KINDS | _MEMORY | {NodeKind.CONCEPT},
    ),
    LayerRow(
        layer=Layer.MAGMA_SEMANTIC,
        made_from="memories, entities",
        edge_types=("related_to", "uses", "part_of", "implements", "depends_on", "similar_to"),
        node_kinds=_MEMORY | _ENTITY,
    ),
    LayerRow(
        layer=Layer.MAGMA_TEMPORAL,
        made_from="sessions, events",
        edge_types=(
            "preceded_by", "followed_by", "concurrent_with", "overlaps_with", "same_session",
        ),
        node_kinds=frozenset({NodeKind.SESSION, NodeKind.EVENT}) | _MEMORY,
    ),
    LayerRow(
        layer=Layer.MAGMA_CAUSAL,
        made_from="memories",
        edge_types=("caused", "enabled", "prevented", "motivated", "triggered_by", "resolved"),
        node_kinds=_MEMORY,
    ),
    LayerRow(
        layer=Layer.MAGMA_ENTITY,
        made_from="entities",
        edge_types=("built", "decided", "maintains", "member_of", "responsible_for"),
        node_kinds=_ENTITY,
    ),
)  # fmt: skip

INVERSES: dict[str, str] = {"preceded_by": "followed_by", "followed_by": "preceded_by"}
SYMMETRIC: frozenset[str] = frozenset({  # ours
    "related_to", "similar_to", "concurrent_with", "overlaps_with", "same_session",
})  # fmt: skip

_ROWS = {row.layer: row for row in LAYERS}


def layer_row(*, layer: Layer) -> LayerRow:
    """Return the row of a layer."""
    return _ROWS[layer]


def is_edge_type(*, layer: Layer, edge_type: str) -> bool:
    """Say whether a layer has such edges."""
    return edge_type in layer_row(layer=layer).edge_types


def layers_of(*, edge_type: str) -> tuple[Layer, ...]:
    """Return the layers that have such edges, in the order of the table; empty when none has."""
    return tuple(row.layer for row in LAYERS if edge_type in row.edge_types)
