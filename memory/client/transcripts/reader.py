"""Find the transcripts of agents, and read them line by line, from where they were left.

A line's number fixes the sequence numbers of its rows, so reading a file twice gives the same
numbers. What is being written (a last line without its end) is left for the next time, unless it
is whole; then the end that it gets later is no line. What is no JSON, or too long to be held, is
counted and passed over.

What an agent says aloud is reasoning as well as a turn: real agents say between two calls of tools
that they were wrong. The event has its turn's number, so no other number depends on it.

A bookmark is one small file for a server, a project and a session. It is written after the server
has taken a batch, so a run that is cut off sends at most one batch again, which changes nothing. It
names the session until that has ended, so a run that was cut off before is ended by the next.
"""

import functools
import hashlib
import json
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, BinaryIO, Final

from .. import code_files, configuration, masking
from ..errors import ClientError, Misused
from . import parsers

FIRST_LINES: Final = 200  # that are read for the folder of the work; default
FIRST_LINE_MOST: Final = 1024 * 1024  # bytes of each of them
ID_MOST: Final = 200  # characters of an external id, the server's
CWD_MOST: Final = 400  # characters, the server's
BRANCH_MOST: Final = 200  # characters, the server's
SIGN_MOST: Final = 20_000  # bytes in which a transcript of Claude Code names its session
SESSIONS_MOST: Final = 4_096  # files whose sessions are remembered
NO_RANKS: Final[Mapping[str, int]] = {}
_COMMIT: Final = re.compile(r"[0-9a-f]{7,64}")
LINE_MOST: Final = 16 * 1024 * 1024  # bytes of a line that is read; default, not measured
TURN_MOST: Final = 40_000  # characters of a turn, default; the server takes 100,000
TEXT_MOST: Final = 12_000  # characters of an event's text, default; the server keeps 16,000
NAME_MOST: Final = 120  # characters of the name of a tool, a call or an agent
EARLIEST: Final = 2020  # the year from which a timestamp is believed; default
FIRST_BLOCK: Final = 2**30  # where the sequence numbers of subagents begin, of 2**31
BLOCK: Final = 2**21  # of them for each: 16,384 lines
VERSION: Final = b"1"  # of the parsers: a newer one reads transcripts anew
HEAD: Final = 512  # bytes at the start of a file, by which it is recognized
_CHUNK: Final = 1024 * 1024  # bytes
Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptSource:
    """A program that writes transcripts: where below one's home, how they are read."""

    name: str
    folder: str
    pattern: str
    parser: parsers.Parser
    work_place: Callable[[parsers.Line], parsers.WorkPlace]  # reads from a line where the work is
    session: Callable[[parsers.Line], str]  # reads from a line which session it is of
    subagents: str = ""  # pattern of their files, below the folder called like it


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """A file of one session; `rank` counts its subagents from 1, `main` names whose they are."""

    path: Path
    source: TranscriptSource
    size: int
    main: str = ""
    rank: int = 0

    @property
    def session(self) -> str:
        """The session as the file names it inside, and hooks call it."""
        begun = min(self.size, SIGN_MOST)
        return self.main or _session_of(self.path, self.source.name, begun)

    @property
    def external_id(self) -> str:
        """The session it is, the same on every machine, in every run, and for hooks."""
        return f"{self.source.name}/{self.session}"[:ID_MOST]

    @property
    def key(self) -> str:
        """What tells the file from others of its session."""
        return f"{self.external_id}\n{self.path.stem}" if self.rank else self.external_id


CLAUDE_CODE: Final = TranscriptSource(
    name="claude-code",
    folder=".claude/projects",
    pattern="*/*.jsonl",
    parser=parsers.read_claude_code,
    work_place=parsers.place_of_claude_code,
    session=parsers.session_of_claude_code,
    subagents="subagents/agent-*.jsonl",
)
CODEX: Final = TranscriptSource(
    name="codex",
    folder=".codex/sessions",
    pattern="**/rollout-*.jsonl",
    parser=parsers.read_codex,
    work_place=parsers.place_of_codex,
    session=parsers.session_of_codex,
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
            raise Misused(detail=f"{path} does not exist.")


def transcript_of_hook(*, payload: Mapping[str, Any], name: str) -> Transcript | None:
    """Return the transcript that a program's hook names; None where it is not of its session."""
    path = Path(parsers.text_of(payload, "transcript_path")).expanduser()
    if name not in SOURCES or path.suffix != ".jsonl" or not _size(path):
        return None
    found = Transcript(path=path, source=SOURCES[name], size=_size(path) or 0)
    return found if found.session == parsers.text_of(payload, "session_id") else None


def is_in_folder(*, transcript: Transcript, folder: Path) -> bool:
    """Say whether work began in a folder or below; work that has no folder did not."""
    try:
        lines = _first_lines(transcript.path)
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
        replace(of, path=path, size=size, main=of.session, rank=known[path.stem])
        for path, size in sizes.items()
        if path.stem in known
    )
    return tuple(sorted(found, key=lambda one: one.rank))


def work_place(*, transcript: Transcript) -> parsers.WorkPlace:
    """Return where the work is: the first that the file has of each part, without secrets.

    The root is that of a repository which is still there; where git refuses, there is none.
    """
    places = [transcript.source.work_place(line) for line in _first_lines(transcript.path)]
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
    return parsers.WorkPlace(
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


def _first_lines(path: Path) -> Iterator[parsers.Line]:
    """Yield the first lines of a file as objects, empty for what is none. Raises OSError."""
    with path.open("rb") as file:
        for _ in range(FIRST_LINES):
            yield parsers.json_object(file.readline(FIRST_LINE_MOST)) or {}


@functools.lru_cache(maxsize=SESSIONS_MOST)
def _session_of(path: Path, source: str, begun: int) -> str:
    """Return the session that a file names inside; `begun` is its size while that is small.

    Of several, as where one was resumed, that of the file's name, else the first; where it names
    none or cannot be read, its own name is all there is.
    """
    first = ""
    try:
        for line in _first_lines(path) if begun else ():
            named = SOURCES[source].session(line)
            if named and path.stem.endswith(named):
                return named
            first = first or named
    except OSError:
        return path.stem
    return first or path.stem


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
    line = parsers.json_object(raw) or {}
    is_whole = bool(line) or raw.endswith(b"\n") or len(raw) >= FIRST_LINE_MOST
    return parsers.text_of(line, "timestamp") if is_whole else None


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
    )


class LineStatus(StrEnum):
    """What became of a line."""

    READ = "read"
    UNKNOWN = "unknown"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """Between two lines: the byte and the number of the line before, and the parser's state."""

    offset: int = 0
    line: int = 0
    state: parsers.ParserState = field(default_factory=parsers.ParserState)


START: Final = Position()


@dataclass(slots=True, kw_only=True)
class ReadLine:
    """A line that was read: rows to send, kinds of what was masked, and the position behind it."""

    position: Position
    status: LineStatus = LineStatus.READ
    turns: list[Row] = field(default_factory=list)
    events: list[Row] = field(default_factory=list)
    masked: list[str] = field(default_factory=list)

    def add(self, entry: parsers.Entry, same: Row) -> None:
        """Add an entry as it is sent; what an agent says aloud is a thought as well."""
        row, kinds = _row(entry, self.position.state)
        self.masked += kinds
        is_turn = isinstance(entry, parsers.TranscriptTurn)
        (self.turns if is_turn else self.events).append({**same, **row})
        if isinstance(entry, parsers.TranscriptTurn) and entry.role == "assistant":
            aloud, _ = _row(
                parsers.TranscriptEvent(kind="reasoning", text=entry.text), self.position.state
            )
            self.events.append({**same, **aloud})


@dataclass(frozen=True, slots=True, kw_only=True)
class Bookmark:
    """How far a transcript was sent."""

    position: Position = START
    session_id: str = ""  # that has not ended, empty for none
    part: int = 1  # of its sessions: a full one goes on in the next
    # Of subagents, by the names of their files; once given they stay: sequence numbers follow.
    ranks: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bookmarks:
    """The bookmarks of one server and one project."""

    folder: Path
    url: str
    project: str

    def find(self, *, transcript: Transcript) -> Bookmark:
        """Return how far a transcript was sent; the start, where it is another file now.

        Raises Misused where the session that it claims to be is that of another file.
        """
        stored = self._stored(transcript)
        ranks = stored.get("ranks", {})
        position = position_of(stored.get("position"))
        if stored.get("head") != _head(transcript.path) or position.offset > transcript.size:
            other = Path(stored.get("path", ""))
            is_theirs = other != transcript.path and other.is_file()
            if is_theirs and _head(other) == stored.get("head"):
                raise Misused(
                    detail=f"{transcript.path} says that it is the session of {other}.",
                    hint="One session has one transcript: move away the one that is not its own.",
                )
            return Bookmark(ranks=ranks)
        return Bookmark(
            position=position,
            session_id=stored.get("session_id", ""),
            part=stored.get("part", 1),
            ranks=ranks,
        )

    def is_begun(self, *, transcript: Transcript) -> bool:
        """Say whether anything of a transcript was sent to a session that has not ended."""
        return bool(self._stored(transcript).get("session_id"))

    def save(self, *, transcript: Transcript, bookmark: Bookmark) -> None:
        """Store that everything before a position was taken, and which session has not ended."""
        about = {"path": str(transcript.path), "head": _head(transcript.path)}
        data = json.dumps({**about, **asdict(bookmark)}).encode()
        mode = configuration.FILE_MODE
        configuration.replace_file(path=self._file(transcript), data=data, mode=mode)

    def _stored(self, transcript: Transcript) -> Mapping[str, Any]:
        """Return what was stored; nothing where that cannot be used."""
        try:
            stored = json.loads(self._file(transcript).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        if not isinstance(stored, dict):
            return {}
        earlier = {"position": stored.get("place"), "session_id": stored.get("session", "")}
        return {**earlier, **stored}  # names of version 1, which is still read

    def _file(self, transcript: Transcript) -> Path:
        parts = "\n".join((self.url, self.project, transcript.key))
        name = hashlib.blake2b(parts.encode(), digest_size=16).hexdigest()
        return self.folder / f"{name}.json"


def read(
    *, path: Path, parser: parsers.Parser, start: Position = START, rank: int = 0
) -> Iterator[ReadLine]:
    """Yield each line behind a position; `rank` counts subagents, 0 is the main agent."""
    position = start
    if rank and start == START:
        position = Position(state=parsers.ParserState(agent=path.stem))
    with path.open("rb") as file:
        file.seek(max(0, position.offset - 1))  # a line may have been taken before it had an end
        if position.offset and file.read(1) != b"\n" and file.readline(_CHUNK).strip():
            file.seek(position.offset)
        for raw in _raw_lines(file):
            one = _line(raw, parser, position, file.tell(), rank)
            yield one
            position = one.position


def _raw_lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield lines: of one that is too long nothing, the last without its end if it is whole."""
    is_ended = True
    while is_ended and (raw := file.readline(LINE_MOST)):
        end, is_long = raw, len(raw) >= LINE_MOST
        while is_long and end and not end.endswith(b"\n"):
            raw, end = b"", file.readline(_CHUNK)
        is_ended = end.endswith(b"\n")
        if is_ended or parsers.json_object(raw) is not None:
            yield raw


def _line(raw: bytes, parser: parsers.Parser, before: Position, offset: int, rank: int) -> ReadLine:
    number, state = before.line + 1, replace(before.state)
    position = Position(offset=offset, line=number, state=state)
    line, read = parsers.json_object(raw), ReadLine(position=position)
    if line is None or (rank and (number + 1) * parsers.STRIDE > BLOCK):
        read.status = LineStatus.READ if raw.isspace() else LineStatus.BROKEN
        return read
    try:
        found = tuple(parser(state, line))
    except parsers.UnknownKind as unknown:
        read.status = LineStatus.UNKNOWN
        name = parsers.masked(text=str(unknown).strip(), most=80).text.strip()
        found = (parsers.TranscriptEvent(kind=name or "unnamed"),)
    found = tuple(_of_subagent(found)) if rank else found
    first = number * parsers.STRIDE + (FIRST_BLOCK + (rank - 1) * BLOCK if rank else 0)
    at = _timestamp(line)
    for place, entry in enumerate(found[: parsers.STRIDE - 1], 1):
        read.add(entry, {"sequence": first + place, **at})
    return read


def _of_subagent(found: tuple[parsers.Entry, ...]) -> Iterator[parsers.Entry]:
    """Yield what counts of a subagent: no person speaks to it, and what it says is reasoning."""
    for one in found:
        if isinstance(one, parsers.TranscriptTurn):
            if one.role != "user":
                yield parsers.TranscriptEvent(kind="reasoning", text=one.text)
        elif one.kind != "prompt":
            yield one


def _row(entry: parsers.Entry, state: parsers.ParserState) -> tuple[Row, tuple[str, ...]]:
    """Return an entry as it is sent, and the kinds of what was masked in it."""
    if isinstance(entry, parsers.TranscriptTurn):
        found = parsers.masked(text=entry.text, most=TURN_MOST)
        return {"text": found.text, "role": entry.role}, found.kinds
    found = parsers.masked(text=entry.text, most=TEXT_MOST)
    fields_of_event = {
        "text": found.text,
        "name": entry.name[:NAME_MOST],
        "call": entry.call[:NAME_MOST],
        "agent": state.agent[:NAME_MOST],
        "step": state.step,
        "args": dict(entry.arguments),
        "is_error": entry.is_error,
        "tokens": entry.tokens,
        "files": list(entry.files),
    }
    row = {name: value for name, value in fields_of_event.items() if value}
    return {**row, "kind": entry.kind}, () if entry.kind == "prompt" else found.kinds  # its turn's


def _timestamp(line: parsers.Line) -> Row:
    """Return when a line was written as a row has it, with its zone; nothing for what is none."""
    try:
        read = datetime.fromisoformat(parsers.text_of(line, "timestamp"))
    except ValueError:
        return {}
    is_known = read.tzinfo is not None and read.year >= EARLIEST
    return {"at": read.isoformat()} if is_known else {}


def position_of(stored: Any) -> Position:
    """Return a stored position; the start where it is of another version or broken."""
    try:
        state = parsers.ParserState(**{**stored["state"], "own": tuple(stored["state"]["own"])})
        return Position(offset=int(stored["offset"]), line=int(stored["line"]), state=state)
    except (KeyError, TypeError, ValueError):
        return START


def _head(path: Path) -> str:
    """Return a digest of the start of a file; a newer parser makes another."""
    with path.open("rb") as file:
        start = file.readline(HEAD)
    return hashlib.blake2b(VERSION + b"\n" + start, digest_size=16).hexdigest()
