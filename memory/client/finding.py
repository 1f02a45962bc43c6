"""Where the transcripts of agents lie, and which session each is (spec 8.3)."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from . import claude_code, codex
from .errors import Misused
from .transcripts import Line, Parser

LINES_LOOKED_AT: Final = 200  # for the folder of the work, ours
BYTES_LOOKED_AT: Final = 1024 * 1024  # of each of them
ID_MOST: Final = 200  # characters of an external id, the server's


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A program that writes transcripts: where below one's home, and how they are read.

    `work` tells the folder of the work from a line, where the line does.
    """

    name: str
    folder: str
    pattern: str
    version: int
    parser: Parser
    work: Callable[[Line], str]


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
        work=claude_code.folder,
    ),
    codex.NAME: Source(
        name=codex.NAME,
        folder=".codex/sessions",
        pattern="**/rollout-*.jsonl",
        version=codex.VERSION,
        parser=codex.read,
        work=codex.folder,
    ),
}


def everywhere(*, home: Path, names: tuple[str, ...] = ()) -> Iterator[Transcript]:
    """Yield every transcript of these sources, or of all; the oldest names first."""
    for source in SOURCES.values():
        if not names or source.name in names:
            yield from _below(home / source.folder, source)


def of_work_in(*, folder: Path, found: Iterable[Transcript]) -> Iterator[Transcript]:
    """Yield those whose work began in a folder or below; what does not tell where is left out."""
    for transcript in found:
        if _is_in(_work(transcript), folder.resolve()):
            yield transcript


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


def _work(transcript: Transcript) -> str:
    """Return where the work began; a file that nobody may read tells nothing."""
    try:
        with transcript.path.open("rb") as file:
            lines = (file.readline(BYTES_LOOKED_AT) for _ in range(LINES_LOOKED_AT))
            told = (transcript.source.work(_object(raw)) for raw in lines)
            return next((folder for folder in told if folder), "")
    except OSError:
        return ""


def _object(raw: bytes) -> Line:
    try:
        line = json.loads(raw)
    except (ValueError, RecursionError):
        return {}
    return line if isinstance(line, dict) else {}


def _is_in(told: str, folder: Path) -> bool:
    """Say whether a path that was told lies in a folder; what is no path does not."""
    try:
        return Path(told).is_absolute() and Path(told).resolve().is_relative_to(folder)
    except (ValueError, OSError):
        return False


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
