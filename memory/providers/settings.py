"""Which models an installation uses, as one frozen value (spec 3.3, 10.1).

In the flow: `from_environment` runs once at start; the settings module keeps the value as
CAIRN_PROVIDERS, `registry` builds the vendors from it. Keys never appear in a repr.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

DEFAULT_EMBEDDER = "local/all-minilm-l6-v2"  # spec 3.3: no key, no network, no GPU


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How long and how often one call may try before the caller goes on without it."""

    connect_seconds: float = 5.0  # spec 10.5
    total_seconds: float = 60.0  # spec 10.5, retries included
    interactive_seconds: float = 2.0  # reliability figure G11: a request waits no longer
    retries: int = 2  # spec 10.5
    failures_to_open: int = 5  # reliability figure G11
    open_seconds: float = 60.0  # reliability figure G11
    answer_bytes: int = 32 * 1024 * 1024  # 1,000 vectors of 1,024 figures as JSON text


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderSettings:
    """The models by key ("provider/name", "" = none) and how to reach them."""

    models_folder: Path = Path("var/models")
    embedder: str = DEFAULT_EMBEDDER
    reranker: str = ""
    chat: str = ""
    local_threads: int = 1
    openai_base_url: str = ""
    openai_api_key: str = field(default="", repr=False)
    openai_dimensions: int = 1024  # spec 3.3
    cohere_base_url: str = ""
    cohere_api_key: str = field(default="", repr=False)
    cohere_dimensions: int = 1024
    limits: Limits = field(default_factory=Limits)


def from_environment(*, environ: Mapping[str, str]) -> ProviderSettings:
    """Read the CAIRN_* variables of the models.

    Raises:
        ValueError: a variable is no whole number above zero; the sentence names it.
    """
    return ProviderSettings(
        models_folder=Path(environ.get("CAIRN_MODELS") or "var/models"),
        embedder=environ.get("CAIRN_EMBEDDER") or DEFAULT_EMBEDDER,
        reranker=environ.get("CAIRN_RERANKER", ""),
        chat=environ.get("CAIRN_CHAT_MODEL", ""),
        local_threads=_positive(environ, "CAIRN_EMBEDDER_THREADS", 1),
        openai_base_url=environ.get("CAIRN_OPENAI_BASE_URL", ""),
        openai_api_key=environ.get("CAIRN_OPENAI_API_KEY", ""),
        openai_dimensions=_positive(environ, "CAIRN_OPENAI_DIMENSIONS", 1024),
        cohere_base_url=environ.get("CAIRN_COHERE_BASE_URL", ""),
        cohere_api_key=environ.get("CAIRN_COHERE_API_KEY", ""),
        cohere_dimensions=_positive(environ, "CAIRN_COHERE_DIMENSIONS", 1024),
    )


def _positive(environ: Mapping[str, str], name: str, default: int) -> int:
    text = environ.get(name) or str(default)
    if not (text.isascii() and text.isdigit() and len(text) < 7 and int(text) > 0):
        raise ValueError(f"{name} must be a whole number from 1 to 999999, not {text!r}.")
    return int(text)
