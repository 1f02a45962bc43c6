"""Which files of a folder speak about the work: agent rules, READMEs, documentation.

Only names decide, so an import can be foretold. Folders that tools or package managers fill are not
entered, links are not followed, and what is not read is named with its reason.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from memory.text import decoding_rules

LARGEST_BYTES: Final = 2_000_000  # of one document; larger ones are data
NOT_ENTERED: Final = frozenset({
    "node_modules", "bower_components", "vendor", "third_party", "site-packages", "__pycache__",
    "venv", "env", "build", "dist", "target", "out", "coverage", "htmlcov", "var", "tmp",
})  # fmt: skip
HIDDEN_ENTERED: Final = frozenset({".cursor", ".github", ".claude"})
RULE_FILES: Final = frozenset({
    "claude.md", "claude.local.md", "agents.md", "gemini.md", "copilot-instructions.md",
    ".cursorrules", ".windsurfrules", ".clinerules", "conventions.md", "contributing.md",
})  # fmt: skip
DOCUMENT_FOLDERS: Final = frozenset({"docs", "doc", "adr", "adrs", "rules", "runbooks"})
DOCUMENT_SUFFIXES: Final = frozenset({".md", ".mdc", ".markdown"})
README_SUFFIXES: Final = frozenset({"", ".md", ".markdown", ".txt"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One file of a folder: its path as the folder sees it, its text, or why it was not read."""

    path: str
    text: str
    skipped: str = ""


def documents(*, folder: Path) -> tuple[Document, ...]:
    """Read the documents of a folder in the order of their paths.

    A folder inside it that cannot be listed is one skipped document.
    """
    closed: list[OSError] = []
    paths = sorted(path for path in _files(folder, closed.append) if is_document(path=path))
    return (
        *(_read(folder, path) for path in paths),
        *(Document(path=str(error.filename), text="", skipped=_reason(error)) for error in closed),
    )


def is_document(*, path: str) -> bool:
    """Say whether a path, relative to its folder, is a document that speaks about the work."""
    pure = PurePosixPath(path)
    name, suffix = pure.name.lower(), pure.suffix.lower()
    if name in RULE_FILES:
        return True
    if name.partition(".")[0] == "readme":
        return suffix in README_SUFFIXES
    in_documents = not DOCUMENT_FOLDERS.isdisjoint(part.lower() for part in pure.parts[:-1])
    return in_documents and suffix in DOCUMENT_SUFFIXES


def tag_of(*, path: str) -> str:
    """Return the tag that says what kind of document a statement came from."""
    name = PurePosixPath(path).name.lower()
    if name in RULE_FILES or name.endswith(".mdc"):
        return "agent-rules"
    return "readme" if name.startswith("readme") else "docs"


def _files(folder: Path, on_error: Callable[[OSError], None]) -> Iterator[str]:
    for root, names, files in os.walk(folder, onerror=on_error):
        names[:] = [name for name in names if _is_entered(name)]
        for name in files:
            yield (Path(root) / name).relative_to(folder).as_posix()


def _is_entered(name: str) -> bool:
    if name.startswith("."):
        return name in HIDDEN_ENTERED
    return name.lower() not in NOT_ENTERED


def _read(folder: Path, path: str) -> Document:
    try:
        data = _bytes(folder / path)
    except OSError as error:
        return Document(path=path, text="", skipped=_reason(error))
    if data is None:
        return Document(path=path, text="", skipped="too large")
    decoded = decoding_rules.decode(data=data)
    if decoded is None:
        return Document(path=path, text="", skipped="binary")
    return Document(path=path, text=decoded.text)


def _reason(error: OSError) -> str:
    return (error.strerror or "unreadable").lower()


def _bytes(path: Path) -> bytes | None:
    return None if path.stat().st_size > LARGEST_BYTES else path.read_bytes()
