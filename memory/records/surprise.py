"""Surprise: how far a memory lies from everything a project already talks about.

Topics have centroids; a memory close to one says little new. It is carried on by intake into
importance and never refuses anything. Vectors are numpy arrays, float32 or float64, of one model.
Source: surprise as a signal for what to keep, Behrouz et al. (2024).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.floating]

NEUTRAL = 0.5  # with no centroid


@dataclass(frozen=True, slots=True, kw_only=True)
class Nearest:
    """The nearest centroid: its row and its cosine with the embedding."""

    index: int
    cosine: float


def nearest(*, embedding: Vector, centroids: Vector) -> Nearest | None:
    """Find the nearest of k centroids (k x d) to an embedding (d); None when k is 0.

    The first wins a tie. Raises ValueError for zero vectors, NaN or sizes that do not fit.
    """
    if len(centroids) == 0:
        return None
    cosines = _unit_rows(centroids) @ _unit_rows(embedding[np.newaxis, :])[0]
    index = int(np.argmax(cosines))
    return Nearest(index=index, cosine=float(cosines[index]))


def surprise(*, nearest: Nearest | None) -> float:
    """Compute 1 - max cos(e, centroid) within 0..1; 0.5 with no centroid."""
    if nearest is None:
        return NEUTRAL
    return min(1.0, max(0.0, 1.0 - nearest.cosine))


def centroid(*, embeddings: Vector) -> Vector:
    """Compute the L2-normalized mean of n embeddings (n x d, n ≥ 1).

    Raises ValueError when they cancel out to a zero vector.
    """
    mean: Vector = np.mean(_unit_rows(embeddings), axis=0)
    unit: Vector = _unit_rows(mean[np.newaxis, :])[0]
    return unit


def _unit_rows(rows: Vector) -> Vector:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not np.all(lengths > 1e-9) or not np.all(np.isfinite(lengths)):
        raise ValueError("a vector is zero, infinite or not a number")
    unit: Vector = rows / lengths
    return unit
