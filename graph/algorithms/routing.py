"""Which layers of the graph a question is about, by its words. Pure, no model.

before, after, when: what came when; why, because, caused: what led to what; who, maintains: who has
to do with it, and so what it is part of; anything else: what is related.
"""

import re
from collections.abc import Mapping
from typing import Final

from graph.vocabulary import Layer

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


def route(*, text: str) -> tuple[Layer, ...]:
    """Return the layers that a question is about, in the order of the table; at least one."""
    words = frozenset(_WORD.findall(text.casefold()))
    found = tuple(layer for layer, telling in WORDS.items() if not telling.isdisjoint(words))
    if not found or Layer.MAGMA_ENTITY in found:
        return (*found, Layer.MAGMA_SEMANTIC)
    return found
