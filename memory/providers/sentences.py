"""Run the sentence encoder's graph over texts: tokens in, unit vectors out.

In the flow: `local` keeps one per process; `quantization` compares two. Texts are cut at 256
tokens, which is what the model was trained for, and run in batches of like length, because a
batch costs as much as its longest text. Each text is encoded by itself: the tokenizer's own
batch call starts threads that do not survive a fork.
"""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnxruntime
from tokenizers import Tokenizer

from memory.providers.contracts import Vectors

MAX_TOKENS = 256  # the model's training length
BATCH_TEXTS = 16  # larger batches were not faster on two cores and take more memory
DIMENSIONS = 384


class SentenceEncoder:
    """A loaded graph with its tokenizer; safe to use from several threads."""

    def __init__(self, *, graph: Path, tokenizer: Path, threads: int) -> None:
        """Load both files; `threads` bounds the threads of one product."""
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
