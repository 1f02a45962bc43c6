"""What a manifest says of a project's files, held against what is known of them.

A manifest is whole: a file that it does not name is gone. What is other than known is missing until
its text has come once.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

LONGEST_PATH: Final = 400  # characters
LARGEST_FILE: Final = 1_048_576  # bytes that are read of a file
MOST_FILES: Final = 50_000  # of a project
_HASH: Final = re.compile(r"[0-9a-f]{64}")
_CONTROLS: Final = frozenset(map(chr, (*range(32), 127)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Announced:
    """A file as its owner has it: path below the project's folder, SHA-256 in hex, bytes."""

    path: str
    hash: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A file as it was read: its node, the hash of what was read, the one that is waited for."""

    node: int
    hash: str
    wanted: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What a manifest changes.

    `changed` are nodes whose text is waited for now, and `back` those whose text was waited for and
    is again what was read. `missing` are all files whose text has to come, `kept` counts the rest.
    """

    new: tuple[Announced, ...]
    changed: Mapping[int, Announced]
    back: tuple[int, ...]
    gone: tuple[int, ...]
    kept: int
    missing: tuple[str, ...]


def compare(*, announced: Iterable[Announced], known: Mapping[str, Known]) -> Difference:
    """Hold a manifest against what is known; every path stands in it once."""
    new: list[Announced] = []
    changed: dict[int, Announced] = {}
    back: list[int] = []
    missing: list[str] = []
    left = dict(known)
    kept = 0
    for file in announced:
        before = left.pop(file.path, None)
        if before is not None and before.hash == file.hash:
            kept += 1
            if before.wanted:
                back.append(before.node)
            continue
        missing.append(file.path)
        if before is None:
            new.append(file)
        elif before.wanted != file.hash:
            changed[before.node] = file
    return Difference(
        new=tuple(new),
        changed=changed,
        back=tuple(back),
        gone=tuple(sorted(one.node for one in left.values())),
        kept=kept,
        missing=tuple(missing),
    )


def fault_of_path(*, path: str) -> str:
    """Say why a text is no path of a file below a folder; nothing when it is one."""
    if len(path) > LONGEST_PATH:
        return "A path has at most 400 characters."
    if path.startswith("/") or path[1:3] in {":/", ":\\"}:
        return "The path is absolute; name it from the project's folder."
    if "\\" in path:
        return "Separate folders by a slash, not by a backslash."
    if not _CONTROLS.isdisjoint(path):
        return "The path holds control characters."
    if any(part in {"", ".", ".."} for part in path.split("/")):
        return "The path has an empty part, a dot or two dots for a folder."
    return ""


def is_hash(*, text: str) -> bool:
    """Say whether a text is a SHA-256 in small hexadecimal digits."""
    return _HASH.fullmatch(text) is not None


def repeated(*, paths: Iterable[str]) -> frozenset[str]:
    """Return the paths that stand there more than once."""
    return frozenset(path for path, count in Counter(paths).items() if count > 1)
