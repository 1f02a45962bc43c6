"""The key of a cached embedding; pure (spec 3.3: kept for seven days, stored elsewhere).

In the flow: whoever embeds looks the key up first and stores the vector under it afterwards.
"""

import hashlib
import json

from memory.providers.contracts import EmbeddingModel

CACHE_DAYS = 7  # spec 3.3


def embedding_cache_key(*, text: str, model: EmbeddingModel) -> str:
    """Return the sha256 (64 hex digits) of the contextual text, the model and its dimensions.

    The three parts are joined as JSON, so that no two different triples share a key.
    """
    parts = json.dumps([text, model.key, model.dimensions], ensure_ascii=True)
    return hashlib.sha256(parts.encode("ascii")).hexdigest()
