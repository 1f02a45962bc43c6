"""A reranker without a vendor: weighted MaxSim over static token vectors.

In the flow: scores the first stage's best 30 for dialogue and prose; it costs quality on code,
where the caller leaves it out. Late interaction after Khattab and Zaharia 2020 (ColBERT),
weighted by the query tokens' own lengths, without which it ranks worse than the first stage.
"""

import numpy as np

from memory.providers.static import MODEL, StaticEmbedder, TokenVectors

KEY = "static/maxsim"


class LateInteractionReranker:
    """Scores texts by how well each query token is met by some token of the text."""

    key = KEY
    is_local = True

    def __init__(self, *, tokens: StaticEmbedder) -> None:
        """Use the token vectors of this embedder."""
        self._tokens = tokens
        self.model = MODEL

    def rerank(self, *, query: str, texts: tuple[str, ...]) -> tuple[float, ...]:
        """Return one relevance in [0, 1] a text; raise ProviderUnavailable."""
        asked = self._tokens.token_vectors(text=query)
        return tuple(
            max_similarity(query=asked, text=self._tokens.token_vectors(text=text))
            for text in texts
        )


def max_similarity(*, query: TokenVectors, text: TokenVectors) -> float:
    """Return Σ_t w_t · max_u cos(t, u) / Σ_t w_t over query tokens t and text tokens u.

    Cut at 0 and 1. Khattab and Zaharia 2020, with w_t the length of t's static vector.
    """
    best = (query.rows @ text.rows.T).max(axis=1)
    total = float(query.weights.sum())
    mean = float(query.weights @ best) / total if total > 0 else 0.0
    return float(np.clip(mean, 0.0, 1.0))
