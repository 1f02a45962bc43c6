"""The default embedder: all-MiniLM-L6-v2 on this machine, no key, no network, no GPU.

In the flow: `registry` hands it out; the graph is loaded at the first text and once a process,
anew after a fork, because the runtime's threads do not survive one.
"""

import os
from pathlib import Path
from threading import Lock

from accounts.messages import message
from memory.providers import encoder_files
from memory.providers.contracts import EmbeddingModel, Provider, Vectors
from memory.providers.errors import ProviderUnavailable
from memory.providers.pins import MINILM
from memory.providers.sentences import DIMENSIONS, MAX_TOKENS, SentenceEncoder

MODEL = EmbeddingModel(
    key=f"local/{MINILM.name}",
    dimensions=DIMENSIONS,
    max_tokens=MAX_TOKENS,
    provider=Provider.LOCAL,
)


class LocalEmbedder:
    """Embeds texts with the encoder in a models folder."""

    model = MODEL
    is_local = True

    def __init__(self, *, models_dir: Path, threads: int) -> None:
        """Remember where the models are; nothing is loaded yet."""
        self._folder = models_dir / MINILM.name
        self._threads = threads
        self._lock = Lock()
        self._loaded: tuple[int, SentenceEncoder] | None = None

    def embed_documents(self, *, texts: tuple[str, ...]) -> Vectors:
        """Return an array (len(texts), 384) of unit rows; a text counts to its 256th token.

        Raises:
            ProviderUnavailable: the models are not on this machine.
        """
        return self._encoder().encode(texts=texts)

    def embed_query(self, *, text: str) -> Vectors:
        """Return an array (384,) of unit length.

        Raises:
            ProviderUnavailable: the models are not on this machine.
        """
        vector: Vectors = self._encoder().encode(texts=(text,))[0]
        return vector

    def embed_queries(self, *, texts: tuple[str, ...]) -> Vectors:
        """Return what `embed_documents` does: the model knows no difference."""
        return self.embed_documents(texts=texts)

    def _encoder(self) -> SentenceEncoder:
        with self._lock:
            if self._loaded is None or self._loaded[0] != os.getpid():
                self._loaded = (os.getpid(), self._load())
            return self._loaded[1]

    def _load(self) -> SentenceEncoder:
        graph = encoder_files.ready_graph(folder=self._folder)
        tokenizer = self._folder / encoder_files.TOKENIZER_FILE
        if graph is None or not tokenizer.is_file():
            raise ProviderUnavailable(
                detail=message(
                    "The local embedder has no model in {folder}.", folder=str(self._folder)
                ),
                provider=Provider.LOCAL,
                hint=message(
                    "Run: python -m memory.providers.weights --into {folder} "
                    "(CAIRN_MODELS names the folder).",
                    folder=str(self._folder.parent),
                ),
            )
        return SentenceEncoder(graph=graph, tokenizer=tokenizer, threads=self._threads)
