"""Which links of memories belong to which layer of the graph."""

from collections.abc import Iterable, Mapping
from typing import Final

from graph.vocabulary import Layer
from memory.taxonomy import LinkKind

KINDS: Final[Mapping[Layer, tuple[LinkKind, ...]]] = {  # ours
    Layer.MAGMA_TEMPORAL: (LinkKind.SUPERSEDES, LinkKind.UPDATE),
    Layer.MAGMA_CAUSAL: (LinkKind.CAUSED_BY, LinkKind.RESOLVED_BY, LinkKind.DERIVE),
    Layer.MAGMA_SEMANTIC: (
        LinkKind.EXTEND,
        LinkKind.DEPENDS_ON,
        LinkKind.REQUIRED_WITH,
        LinkKind.SEE_ALSO,
    ),
}


def kinds_of(*, layers: Iterable[Layer]) -> tuple[LinkKind, ...]:
    """Return the kinds of links that belong to some layers, in the order of the table."""
    wanted = frozenset(layers)
    return tuple(kind for layer, kinds in KINDS.items() if layer in wanted for kind in kinds)
