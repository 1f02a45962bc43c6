"""Layers, kinds and sources of the graph's nodes and edges, stored by name."""

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
    """What a node stands for."""

    REPOSITORY = "repository"
    MODULE = "module"
    FILE = "file"
    CLASS = "class"  # also structures, enumerations and named types
    INTERFACE = "interface"  # also traits
    FUNCTION = "function"
    METHOD = "method"
    VARIABLE = "variable"
    TEST = "test"


class NodeSource(StrEnum):
    """Who says that a node or an edge exists."""

    AST = "ast"
