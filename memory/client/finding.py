"""Where the transcripts of agents lie, and which session each is."""

import json
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from . import claude_code, codex, masking, repository, transcripts
from .errors import ClientError, Misused
from .transcripts import About, Line, Parser

LINES_LOOKED_AT: Final = 200  # for the folder of the work, ours
BYTES_LOOKED_AT: Final = 1024 * 1024  # of each of them
ID_MOST: Final = 200  # characters of an external id, the server's
CWD_MOST: Final = 400  # characters, the server's
BRANCH_MOST: Final = 200  # characters, the server's
NO_RANKS: Final[Mapping[str, int]] = {}
_COMMIT: Final = re.compile(r"[0-9a-f]{7,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A program that writes transcripts: where below one's home, and how they are read.

    `about` tells from a line where the work is; `subagents` are files beside a transcript, below
    the folder that is called like it, of what its subagents did.
    """

    name: str
    folder: str
    pattern: str
    version: int
    parser: Parser
    about: Callable[[Line], About]
    subagents: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """A file of one session; `rank` counts its subagents from 1, `main` names whose they are."""

    path: Path
    source: Source
    size: int
    main: str = ""
    rank: int = 0

    @property
    def external_id(self) -> str:
        """The session it is, the same on every machine and in every run."""
        return f"{self.source.name}:{self.main or self.path.stem}"[:ID_MOST]

    @property
    def key(self) -> str:
        """What tells the file from others of its session."""
        return f"{self.external_id}\n{self.path.stem}" if self.rank else self.external_id


SOURCES: Final[Mapping[str, Source]] = {
    claude_code.NAME: Source(
        name=claude_code.NAME,
        folder=".claude/projects",
        pattern="*/*.jsonl",
        version=claude_code.VERSION,
        parser=claude_code.read,
        about=claude_code.about,
        subagents="subagents/agent-*.jsonl",
    ),
    codex.NAME: Source(
        name=codex.NAME,
        folder=".codex/sessions",
        pattern="**/rollout-*.jsonl",
        version=codex.VERSION,
        parser=codex.read,
        about=codex.about,
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


def beside(*, of: Transcript) -> tuple[Path, ...]:
    """Return the files of a session's subagents, in no order; none of them is opened."""
    folder = of.path.with_suffix("")
    if of.rank or not of.source.subagents:
        return ()
    try:
        return tuple(folder.glob(of.source.subagents)) if folder.is_dir() else ()
    except OSError:  # then the transcript beside it cannot be read either, and tells so
        return ()


def subagents(*, of: Transcript, ranks: Mapping[str, int] = NO_RANKS) -> tuple[Transcript, ...]:
    """Return what the subagents of a session wrote, in the order of their ranks.

    `ranks` are those that were given before, by the names of the files; who is new takes the next
    ones in the order in which they began. Of whom no line is whole yet is left for the next time.
    """
    sizes = {path: size for path in beside(of=of) if (size := _size(path)) is not None}
    began = {path: _began(path) for path in sizes if path.stem not in ranks}
    new = sorted((at, path.stem) for path, at in began.items() if at is not None)
    first = max(ranks.values(), default=0) + 1
    known = {**ranks, **{stem: rank for rank, (_, stem) in enumerate(new, first)}}
    found = (
        Transcript(path=path, source=of.source, size=size, main=of.path.stem, rank=known[path.stem])
        for path, size in sizes.items()
        if path.stem in known
    )
    return tuple(sorted(found, key=lambda one: one.rank))


def about(*, transcript: Transcript) -> About:
    """Return where the work is: the first that the file tells of each part, without secrets."""
    told = [transcript.source.about(line) for line in _first_lines(transcript)]
    names = ("cwd", "branch", "commit")
    found = {name: next(filter(None, (getattr(one, name) for one in told)), "") for name in names}
    clean = {name: masking.mask(text=text).text for name, text in found.items()}
    return About(
        cwd=clean["cwd"][:CWD_MOST],
        root=masking.mask(text=_root(found["cwd"])).text[:CWD_MOST],
        branch=clean["branch"][:BRANCH_MOST],
        commit=clean["commit"] if _COMMIT.fullmatch(clean["commit"]) else "",
    )


def _root(folder: str) -> str:
    """Return the folder of the repository that a folder is in, as far as it is still there.

    Where git refuses, a transcript is told as one that lies in no repository.
    """
    path = Path(folder)
    if not folder or not path.is_dir():
        return ""
    try:
        return repository.root_of(folder=path).as_posix()
    except ClientError:
        return ""


def named(*, paths: tuple[Path, ...], name: str = "") -> Iterator[Transcript]:
    """Yield the transcripts that are named, or lie in folders that are named.

    Raises Misused for a path that is none, and for a file that tells not whose it is.
    """
    for path in paths:
        if path.is_file():
            yield Transcript(path=path, source=_source(path, name), size=path.stat().st_size)
        elif path.is_dir():
            files = sorted(one for one in path.rglob("*.jsonl") if one.parent.name != "subagents")
            yield from named(paths=tuple(files), name=name)
        else:
            raise Misused(detail=f"{path} does not exist.", command="cairn replay --help")


def _below(folder: Path, source: Source) -> Iterator[Transcript]:
    for path in sorted(folder.glob(source.pattern)):
        size = _size(path)
        if size is not None:
            yield Transcript(path=path, source=source, size=size)


def _size(path: Path) -> int | None:
    """Return the bytes of a file, None for what is none or went; reading tells what else is wrong.

    So one file that cannot be looked at is a fault of its own, and hides no other.
    """
    try:
        seen = path.stat()
    except FileNotFoundError:
        return None
    except OSError:
        return 0
    return seen.st_size if stat.S_ISREG(seen.st_mode) else None


def _work(transcript: Transcript) -> str:
    """Return where the work began; a file that nobody may read tells nothing."""
    try:
        lines = _first_lines(transcript)
    except OSError:
        return ""
    return next(filter(None, (transcript.source.about(line).cwd for line in lines)), "")


def _first_lines(transcript: Transcript) -> list[Line]:
    with transcript.path.open("rb") as file:
        return [_object(file.readline(BYTES_LOOKED_AT)) for _ in range(LINES_LOOKED_AT)]


def _began(path: Path) -> str | None:
    """Return the moment of a file's first line, None where that is not whole yet.

    ISO moments of one zone are ordered as texts. What cannot be read tells none.
    """
    try:
        with path.open("rb") as file:
            raw = file.readline(BYTES_LOOKED_AT)
    except FileNotFoundError:
        return None
    except OSError:
        return ""
    line = _object(raw)
    is_whole = bool(line) or raw.endswith(b"\n") or len(raw) >= BYTES_LOOKED_AT
    return transcripts.text_of(line, "timestamp") if is_whole else None


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
