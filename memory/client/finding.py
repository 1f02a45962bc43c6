"""Where the transcripts of agents lie, and which session each is (spec 8.3)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from . import claude_code, codex
from .errors import Misused
from .transcripts import Parser

ID_MOST: Final = 200  # characters of an external id, the server's


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A program that writes transcripts: where below one's home, and how they are read."""

    name: str
    folder: str
    pattern: str
    version: int
    parser: Parser


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """A file of one session."""

    path: Path
    source: Source
    size: int

    @property
    def external_id(self) -> str:
        """The session it is, the same on every machine and in every run."""
        return f"{self.source.name}:{self.path.stem}"[:ID_MOST]


SOURCES: Final[Mapping[str, Source]] = {
    claude_code.NAME: Source(
        name=claude_code.NAME,
        folder=".claude/projects",
        pattern="*/*.jsonl",
        version=claude_code.VERSION,
        parser=claude_code.read,
    ),
    codex.NAME: Source(
        name=codex.NAME,
        folder=".codex/sessions",
        pattern="**/rollout-*.jsonl",
        version=codex.VERSION,
        parser=codex.read,
    ),
}


def everywhere(*, home: Path, names: tuple[str, ...] = ()) -> Iterator[Transcript]:
    """Yield every transcript of these sources, or of all; the oldest names first."""
    for source in SOURCES.values():
        if not names or source.name in names:
            yield from _below(home / source.folder, source)


def named(*, paths: tuple[Path, ...], name: str = "") -> Iterator[Transcript]:
    """Yield the transcripts that are named, or lie in folders that are named.

    Raises Misused for a path that is none, and for a file that tells not whose it is.
    """
    for path in paths:
        if path.is_file():
            yield Transcript(path=path, source=_source(path, name), size=path.stat().st_size)
        elif path.is_dir():
            files = sorted(path.rglob("*.jsonl"))
            yield from named(paths=tuple(files), name=name)
        else:
            raise Misused(detail=f"{path} does not exist.", command="cairn replay --help")


def _below(folder: Path, source: Source) -> Iterator[Transcript]:
    for path in sorted(folder.glob(source.pattern)):
        if path.is_file():
            yield Transcript(path=path, source=source, size=path.stat().st_size)


def _source(path: Path, name: str) -> Source:
    """Tell whose a file is: by what is said, by its name, by where it lies."""
    if name:
        return SOURCES[name]
    if path.name.startswith("rollout-") or ".codex" in path.parts:
        return SOURCES[codex.NAME]
    if ".claude" in path.parts or _looks_like_claude(path):
        return SOURCES[claude_code.NAME]
    raise Misused(
        detail=f"{path} does not tell which program wrote it.",
        hint="Say so with --from claude-code or --from codex.",
        command="cairn replay --help",
    )


def _looks_like_claude(path: Path) -> bool:
    with path.open("rb") as file:
        start = file.read(20_000)
    return b'"sessionId"' in start
