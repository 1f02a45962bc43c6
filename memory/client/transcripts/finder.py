"""Where the transcripts of agents lie, and which session each is."""

import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from .. import code_files, masking
from ..errors import ClientError, Misused
from . import claude_code, codex, events
from .events import Line, Parser, WorkPlace

FIRST_LINES: Final = 200  # that are read for the folder of the work; default
FIRST_LINE_MOST: Final = 1024 * 1024  # bytes of each of them
ID_MOST: Final = 200  # characters of an external id, the server's
CWD_MOST: Final = 400  # characters, the server's
BRANCH_MOST: Final = 200  # characters, the server's
NO_RANKS: Final[Mapping[str, int]] = {}
_COMMIT: Final = re.compile(r"[0-9a-f]{7,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A program that writes transcripts: where below one's home, and how they are read.

    `work_place` reads from a line where the work is; `subagents` are files of its subagents, below
    the folder that is called like the transcript.
    """

    name: str
    folder: str
    pattern: str
    version: int
    parser: Parser
    work_place: Callable[[Line], WorkPlace]
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
        work_place=claude_code.work_place,
        subagents="subagents/agent-*.jsonl",
    ),
    codex.NAME: Source(
        name=codex.NAME,
        folder=".codex/sessions",
        pattern="**/rollout-*.jsonl",
        version=codex.VERSION,
        parser=codex.read,
        work_place=codex.work_place,
    ),
}


def find_transcripts(*, home: Path, names: tuple[str, ...] = ()) -> Iterator[Transcript]:
    """Yield every transcript of these sources, or of all; the oldest names first."""
    for source in SOURCES.values():
        if not names or source.name in names:
            yield from _below(home / source.folder, source)


def in_folder(*, folder: Path, found: Iterable[Transcript]) -> Iterator[Transcript]:
    """Yield those whose work began in a folder or below; one that has no folder is left out."""
    for transcript in found:
        if _is_in(_work(transcript), folder.resolve()):
            yield transcript


def subagent_files(*, of: Transcript) -> tuple[Path, ...]:
    """Return the files of a session's subagents, in no order; none of them is opened."""
    folder = of.path.with_suffix("")
    if of.rank or not of.source.subagents:
        return ()
    try:
        return tuple(folder.glob(of.source.subagents)) if folder.is_dir() else ()
    except OSError:  # then the transcript cannot be read either, which is reported
        return ()


def subagents(*, of: Transcript, ranks: Mapping[str, int] = NO_RANKS) -> tuple[Transcript, ...]:
    """Return what the subagents of a session wrote, in the order of their ranks.

    `ranks` are those that were given before, by the names of the files; who is new takes the next
    ones in the order in which they began. Of whom no line is whole yet is left for the next time.
    """
    sizes = {path: size for path in subagent_files(of=of) if (size := _size(path)) is not None}
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


def work_place(*, transcript: Transcript) -> WorkPlace:
    """Return where the work is: the first that the file has of each part, without secrets."""
    places = [transcript.source.work_place(line) for line in _first_lines(transcript)]
    names = ("cwd", "branch", "commit")
    found = {name: next(filter(None, (getattr(one, name) for one in places)), "") for name in names}
    clean = {name: masking.mask(text=text).text for name, text in found.items()}
    return WorkPlace(
        cwd=clean["cwd"][:CWD_MOST],
        root=masking.mask(text=_root(found["cwd"])).text[:CWD_MOST],
        branch=clean["branch"][:BRANCH_MOST],
        commit=clean["commit"] if _COMMIT.fullmatch(clean["commit"]) else "",
    )


def _root(folder: str) -> str:
    """Return the folder of the repository that a folder is in, as far as it is still there.

    Where git refuses, a transcript counts as one that lies in no repository.
    """
    path = Path(folder)
    if not folder or not path.is_dir():
        return ""
    try:
        return code_files.root_of(folder=path).as_posix()
    except ClientError:
        return ""


def named_transcripts(*, paths: tuple[Path, ...], name: str = "") -> Iterator[Transcript]:
    """Yield the transcripts that are named, or lie in folders that are named.

    Raises Misused for a path that is none, and for a file of an unknown program.
    """
    for path in paths:
        if path.is_file():
            yield Transcript(path=path, source=_source(path, name), size=path.stat().st_size)
        elif path.is_dir():
            files = sorted(one for one in path.rglob("*.jsonl") if one.parent.name != "subagents")
            yield from named_transcripts(paths=tuple(files), name=name)
        else:
            raise Misused(detail=f"{path} does not exist.", command="cairn replay --help")


def _below(folder: Path, source: Source) -> Iterator[Transcript]:
    for path in sorted(folder.glob(source.pattern)):
        size = _size(path)
        if size is not None:
            yield Transcript(path=path, source=source, size=size)


def _size(path: Path) -> int | None:
    """Return the bytes of a file, None for what is none or went; reading reports other faults.

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
    """Return where the work began; a file that cannot be read has none."""
    try:
        lines = _first_lines(transcript)
    except OSError:
        return ""
    return next(filter(None, (transcript.source.work_place(line).cwd for line in lines)), "")


def _first_lines(transcript: Transcript) -> list[Line]:
    with transcript.path.open("rb") as file:
        return [
            events.json_object(file.readline(FIRST_LINE_MOST)) or {} for _ in range(FIRST_LINES)
        ]


def _began(path: Path) -> str | None:
    """Return the timestamp of a file's first line, None where that is not whole yet.

    ISO timestamps of one zone are ordered as texts. What cannot be read has none.
    """
    try:
        with path.open("rb") as file:
            raw = file.readline(FIRST_LINE_MOST)
    except FileNotFoundError:
        return None
    except OSError:
        return ""
    line = events.json_object(raw) or {}
    is_whole = bool(line) or raw.endswith(b"\n") or len(raw) >= FIRST_LINE_MOST
    return events.text_of(line, "timestamp") if is_whole else None


def _is_in(path: str, folder: Path) -> bool:
    """Say whether a path lies in a folder; what is no path does not."""
    try:
        return Path(path).is_absolute() and Path(path).resolve().is_relative_to(folder)
    except (ValueError, OSError):
        return False


def _source(path: Path, name: str) -> Source:
    """Return the program of a file: the named one, or by its name, or by where it lies."""
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
        return b'"sessionId"' in file.read(20_000)
