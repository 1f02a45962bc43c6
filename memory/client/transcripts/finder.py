"""Where the transcripts of agents lie, and which session each is."""

import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from .. import code_files, masking
from ..errors import ClientError, Misused
from . import claude_code, codex, entries
from .entries import Line, Parser, WorkPlace

FIRST_LINES: Final = 200  # that are read for the folder of the work; default
FIRST_LINE_MOST: Final = 1024 * 1024  # bytes of each of them
ID_MOST: Final = 200  # characters of an external id, the server's
CWD_MOST: Final = 400  # characters, the server's
BRANCH_MOST: Final = 200  # characters, the server's
SIGN_MOST: Final = 20_000  # bytes in which a transcript of Claude Code names its session
NO_RANKS: Final[Mapping[str, int]] = {}
_COMMIT: Final = re.compile(r"[0-9a-f]{7,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptSource:
    """A program that writes transcripts: where below one's home, and how they are read.

    `version` is that of its parser: a newer one reads transcripts anew. `work_place` reads from a
    line where the work is; `subagents` are files of its subagents, below the folder that is called
    like the transcript.
    """

    name: str
    folder: str
    pattern: str
    parser: Parser
    work_place: Callable[[Line], WorkPlace]
    version: int = 1
    subagents: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """A file of one session; `rank` counts its subagents from 1, `main` names whose they are."""

    path: Path
    source: TranscriptSource
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


CLAUDE_CODE: Final = TranscriptSource(
    name="claude-code",
    folder=".claude/projects",
    pattern="*/*.jsonl",
    parser=claude_code.read,
    work_place=claude_code.work_place,
    subagents="subagents/agent-*.jsonl",
)
CODEX: Final = TranscriptSource(
    name="codex",
    folder=".codex/sessions",
    pattern="**/rollout-*.jsonl",
    parser=codex.read,
    work_place=codex.work_place,
)
SOURCES: Final[Mapping[str, TranscriptSource]] = {one.name: one for one in (CLAUDE_CODE, CODEX)}


def find_transcripts(*, home: Path, name: str = "") -> Iterator[Transcript]:
    """Yield every transcript of this source, or of all; the oldest names first."""
    for source in SOURCES.values():
        is_wanted = name in {"", source.name}
        for path in sorted((home / source.folder).glob(source.pattern)) if is_wanted else ():
            if (size := _size(path)) is not None:
                yield Transcript(path=path, source=source, size=size)


def named_transcripts(*, paths: Iterable[Path], name: str = "") -> Iterator[Transcript]:
    """Yield the transcripts that are named, or lie in folders that are named.

    Raises Misused for a path that is none, and for a file of an unknown program.
    """
    for path in paths:
        if path.is_file():
            yield Transcript(path=path, source=_source(path, name), size=path.stat().st_size)
        elif path.is_dir():
            files = sorted(one for one in path.rglob("*.jsonl") if one.parent.name != "subagents")
            yield from named_transcripts(paths=files, name=name)
        else:
            raise Misused(detail=f"{path} does not exist.", command="cairn replay --help")


def is_in_folder(*, transcript: Transcript, folder: Path) -> bool:
    """Say whether work began in a folder or below; work that has no folder did not."""
    try:
        lines = _first_lines(transcript)
        path = next(filter(None, (transcript.source.work_place(line).cwd for line in lines)), "")
        return Path(path).is_absolute() and Path(path).resolve().is_relative_to(folder.resolve())
    except (ValueError, OSError):  # what cannot be read, or is no path
        return False


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
    """Return where the work is: the first that the file has of each part, without secrets.

    The root is that of a repository which is still there; where git refuses, there is none.
    """
    places = [transcript.source.work_place(line) for line in _first_lines(transcript)]
    cwd, branch, commit = (
        next(filter(None, (getattr(one, name) for one in places)), "")
        for name in ("cwd", "branch", "commit")
    )
    root = ""
    try:
        if cwd and Path(cwd).is_dir():
            root = code_files.root_of(folder=Path(cwd)).as_posix()
    except ClientError:
        root = ""
    return WorkPlace(
        cwd=masking.mask(text=cwd).text[:CWD_MOST],
        root=masking.mask(text=root).text[:CWD_MOST],
        branch=masking.mask(text=branch).text[:BRANCH_MOST],
        commit=commit if _COMMIT.fullmatch(commit) else "",
    )


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


def _first_lines(transcript: Transcript) -> list[Line]:
    with transcript.path.open("rb") as file:
        raws = [file.readline(FIRST_LINE_MOST) for _ in range(FIRST_LINES)]
    return [entries.json_object(raw) or {} for raw in raws]


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
    line = entries.json_object(raw) or {}
    is_whole = bool(line) or raw.endswith(b"\n") or len(raw) >= FIRST_LINE_MOST
    return entries.text_of(line, "timestamp") if is_whole else None


def _source(path: Path, name: str) -> TranscriptSource:
    """Return the program of a file: the named one, or by its name, or by where it lies."""
    if name:
        return SOURCES[name]
    if path.name.startswith("rollout-") or ".codex" in path.parts:
        return CODEX
    with path.open("rb") as file:
        if ".claude" in path.parts or b'"sessionId"' in file.read(SIGN_MOST):
            return CLAUDE_CODE
    raise Misused(
        detail=f"{path} does not tell which program wrote it.",
        hint="Say so with --from claude-code or --from codex.",
        command="cairn replay --help",
    )
