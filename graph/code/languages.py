"""Which language a file is written in, by its name: one literal table."""

from enum import StrEnum
from posixpath import splitext


class Language(StrEnum):
    """The languages that are parsed; files of every other are cut into chunks by lines."""

    PYTHON = "python"
    JAVASCRIPT = "javascript"  # JSX is part of its grammar
    TYPESCRIPT = "typescript"
    TSX = "tsx"
    GO = "go"
    RUST = "rust"


EXTENSIONS: dict[str, Language] = {
    ".py": Language.PYTHON,
    ".pyi": Language.PYTHON,
    ".js": Language.JAVASCRIPT,
    ".jsx": Language.JAVASCRIPT,
    ".mjs": Language.JAVASCRIPT,
    ".cjs": Language.JAVASCRIPT,
    ".ts": Language.TYPESCRIPT,
    ".mts": Language.TYPESCRIPT,
    ".cts": Language.TYPESCRIPT,
    ".tsx": Language.TSX,
    ".go": Language.GO,
    ".rs": Language.RUST,
}


def language_of(*, path: str) -> Language | None:
    """Return the language of a file by its extension; none for one that is not parsed."""
    return EXTENSIONS.get(splitext(path)[1].lower())
