"""The default embedder: all-MiniLM-L6-v2 on this machine, no key, no network, no GPU.

Texts are cut at 256 tokens, which is what the model was trained for, and run in batches of like
length, because a batch costs as much as its longest text. Each text is tokenized by itself: the
tokenizer's own batch call starts threads that do not survive a fork. The graph is made at set-up
(`weights`) and loaded at the first text, once a process.
"""

import os
from pathlib import Path
from threading import Lock
from typing import Final

import numpy as np
import numpy.typing as npt
import onnxruntime
from tokenizers import Tokenizer

from accounts.messages import message
from memory.providers import weights
from memory.providers.contracts import EmbeddingModel, LocalModel, Provider, Vectors
from memory.providers.errors import ProviderUnavailable

MAX_TOKENS: Final = 256  # the model's training length
BATCH_TEXTS: Final = 16  # larger batches were not faster on two cores and take more memory
DIMENSIONS: Final = 384
MODEL: Final = EmbeddingModel(key=f"local/{weights.MINILM.name}", dimensions=DIMENSIONS)


class SentenceEncoder:
    """A loaded graph with its tokenizer; safe to use from several threads."""

    def __init__(self, *, graph: Path, tokenizer: Path, threads: int) -> None:
        self._tokenizer = Tokenizer.from_file(str(tokenizer))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MAX_TOKENS)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.enable_cpu_mem_arena = False
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = onnxruntime.InferenceSession(
            str(graph), options, providers=["CPUExecutionProvider"]
        )

    def encode(self, *, texts: tuple[str, ...]) -> Vectors:
        """Return an array (len(texts), 384) of unit rows in the order of the texts."""
        tokens = [self._tokenizer.encode(text).ids for text in texts]
        by_length = sorted(range(len(texts)), key=lambda place: len(tokens[place]))
        vectors = np.empty((len(texts), DIMENSIONS), dtype=np.float32)
        for start in range(0, len(texts), BATCH_TEXTS):
            places = by_length[start : start + BATCH_TEXTS]
            vectors[places] = self._run([tokens[place] for place in places])
        return vectors

    def _run(self, rows: list[list[int]]) -> Vectors:
        shape = (len(rows), max(len(row) for row in rows))
        ids: npt.NDArray[np.int64] = np.zeros(shape, dtype=np.int64)
        mask: npt.NDArray[np.int64] = np.zeros(shape, dtype=np.int64)
        for place, row in enumerate(rows):
            ids[place, : len(row)] = row
            mask[place, : len(row)] = 1
        answer = self._session.run(["embedding"], {"input_ids": ids, "attention_mask": mask})
        return np.asarray(answer[0], dtype=np.float32)


class LocalEmbedder(LocalModel):
    """Embeds texts with the encoder in a models folder; raises ProviderUnavailable without it."""

    model = MODEL

    def __init__(self, *, models_dir: Path, threads: int) -> None:
        self._folder = models_dir / weights.MINILM.name
        self._threads = threads
        self._lock = Lock()
        self._loaded: tuple[int, SentenceEncoder] | None = None

    def embed(self, *, texts: tuple[str, ...]) -> Vectors:
        with self._lock:
            # the runtime's threads do not survive a fork; without any, forks share the weights
            if self._loaded is None or (self._threads != 1 and self._loaded[0] != os.getpid()):
                self._loaded = (os.getpid(), self._load())
            encoder = self._loaded[1]
        return encoder.encode(texts=texts)

    def _load(self) -> SentenceEncoder:
        graph = weights.ready_graph(folder=self._folder)
        tokenizer = self._folder / weights.TOKENIZER_FILE
        if graph is not None and tokenizer.is_file():
            return SentenceEncoder(graph=graph, tokenizer=tokenizer, threads=self._threads)
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
