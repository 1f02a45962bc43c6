"""Which models an installation uses, as one frozen value.

Django's CAIRN_PROVIDERS names its fields. Keys of vendors never appear in a repr.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

DEFAULT_EMBEDDER = "local/all-minilm-l6-v2"  # no key, no network, no GPU
DEFAULT_RERANKER = "static/maxsim"  # without a key, late interaction


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How long and how often one call may try before the caller goes on without it."""

    connect_seconds: float = 5.0
    total_seconds: float = 60.0  # retries included
    interactive_seconds: float = 2.0  # reliability figure G11: a request waits no longer
    retries: int = 2
    failures_to_open: int = 5  # reliability figure G11
    open_seconds: float = 60.0  # reliability figure G11
    answer_bytes: int = 32 * 1024 * 1024  # 1,000 vectors of 1,024 figures as JSON text


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderSettings:
    """The models by key ("provider/name", "" = none) and how to reach them.

    The name may be left out of the key "openai": it is then `openai_embedding_model`.
    """

    models_dir: Path = Path("var/models")
    embedder: str = DEFAULT_EMBEDDER
    reranker: str = DEFAULT_RERANKER
    local_threads: int = 1
    openai_base_url: str = ""  # "" = the vendor's own
    openai_api_key: str = field(default="", repr=False)
    openai_embedding_model: str = ""
    openai_chat_model: str = ""  # "" = no chat model
    openai_dimensions: int = 1024
    openai_asks_dimensions: bool = True  # some servers refuse to be asked
    cohere_base_url: str = ""  # "" = the vendor's own
    cohere_api_key: str = field(default="", repr=False)
    cohere_dimensions: int = 1024
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        """Refuse figures that no vendor can mean."""
        for name in ("local_threads", "openai_dimensions", "cohere_dimensions"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be 1 or more.")


def from_mapping(*, given: Mapping[str, object]) -> ProviderSettings:
    """Return the settings whose fields a mapping names; the rest keep their defaults.

    Raises:
        ValueError: a name is not a field; the sentence lists those that are.
    """
    known = {each.name for each in fields(ProviderSettings)}
    unknown = sorted(given.keys() - known)
    if unknown:
        raise ValueError(
            f"Unknown model settings: {', '.join(unknown)}. Known: {', '.join(sorted(known))}."
        )
    values: dict[str, Any] = dict(given)
    return ProviderSettings(**values)
