"""The local models for tests: fetched once to CAIRN_MODELS, default var/models beside the code."""

import os
from pathlib import Path

from memory.providers import weights

ROOT = Path(__file__).resolve().parents[2]


def models_dir() -> Path:
    """Return a folder with every pinned model, fetching what is missing.

    Raises:
        ProviderUnavailable: the weights cannot be had; tests that need them fail, none is skipped.
    """
    folder = Path(os.environ.get("CAIRN_MODELS") or ROOT / "var" / "models")
    given = os.environ.get("CAIRN_MODELS_FROM")
    if weights.faults(folder=folder):
        weights.fetch_models(into=folder, operator_folder=Path(given) if given else None, say=print)
    return folder
