"""Which layers of the graph a question is about."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph import algorithms
from graph.code.values import Layer

TEMPORAL, CAUSAL = Layer.MAGMA_TEMPORAL, Layer.MAGMA_CAUSAL
ENTITY, SEMANTIC = Layer.MAGMA_ENTITY, Layer.MAGMA_SEMANTIC


@pytest.mark.parametrize(
    ("question", "layers"),
    [
        ("what happened before the deploy?", (TEMPORAL, CAUSAL)),  # the seed's own
        ("who maintains the auth service?", (ENTITY, SEMANTIC)),  # the seed's own
        ("how are prices cached", (SEMANTIC,)),
        ("Pourquoi les prix sont-ils faux après la mise en ligne ?", (TEMPORAL, CAUSAL)),
        ("whenever the whole thing is beforehand", (SEMANTIC,)),
        ("", (SEMANTIC,)),
    ],
)
def test_words_lead_to_layers(question: str, layers: tuple[Layer, ...]) -> None:
    assert algorithms.route(text=question) == layers


@given(text=st.text(max_size=200))
def test_every_text_leads_somewhere(text: str) -> None:
    layers = algorithms.route(text=text)

    assert layers
    assert len(set(layers)) == len(layers)
