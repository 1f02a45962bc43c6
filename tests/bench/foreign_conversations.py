"""Conversations of people and agents that public repositories keep, as turns and commands.

Two kinds of files: histories that SpecStory writes (`.specstory/history/*.md`: a heading a turn,
the calls of tools among what the agent says) and aider's `.aider.chat.history.md` (`####` before
what a person says, `>` before what the program says). What an agent did is read of the former,
where they are of Claude Code, and of that program's own transcripts.
"""

import gzip
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from memory.client.transcripts import reader
from memory.sessions import event_parsing, file_paths, reducers
from memory.sessions.events import Event
from memory.sessions.scratchpad import Scratchpad, Setting
from memory.sessions.turns import Speaker, Turn

AIDER = ".aider.chat.history.md"
_HEADING = re.compile(r"^_\*\*(User|Agent)\b([^\n]*)\*\*_$", re.MULTILINE)
_CALL = re.compile(r"^(?:<tool-use\b|Tool use: \*\*)", re.MULTILINE)
_THOUGHT = re.compile(r"<think>.*?</think>", re.DOTALL)
_COMMAND = re.compile(
    r"Tool use: \*\*Bash\*\*[^`]{0,400}?(?:```bash\n(.+?)\n```|`([^`\n]+)`)", re.DOTALL
)
_ROOT = re.compile(r"/(?:Users|home)/[\w./-]+")
_AT = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:[\d.]+Z")
_MARKS = re.compile(r"</?(?:think|details)>|<summary>[^\n]*</summary>|^---$", re.MULTILINE)
_OF_PROGRAM = ("<command-", "<local-command", "[Request interrupted")
_TOOL = re.compile(
    r"^(?:<tool-use\b[^\n]*\n<summary>)?Tool use: \*\*(\w+)\*\*(?:</summary>)?", re.MULTILINE
)
_PARTS = re.compile(  # what a call was given, a block of code, how the result is called, the result
    r"(.*?)(?=^(?:```|Error:|Result:)|\Z)(?:```(?!text\n)\w+\n(.*?)\n```\s*)?"
    r"(?:(Error|Result):\s+)?(?:```(?:text)?\n(.*)\n```)?",
    re.MULTILINE | re.DOTALL,
)
_INLINE = re.compile(r"^ ?`(.+)`$", re.MULTILINE)
_NAMED = re.compile(r"(?:\b(path|pattern) )?`([^`\n]+)`")
_CHANGED = re.compile(r"(?:he file|successfully at:|edits? to) (/.+?)(?: has been|:?$| \()", re.M)
_FAILED = ("<tool_use_error>", "Exit code ", "The user doesn't want to proceed")
_RUNS = frozenset({"Bash", "exec_command", "shell_command", "run_in_terminal",
                   "run_terminal_command_v2"})  # fmt: skip
_EXITED = re.compile(r"\AChunk ID: [^`]{0,120}?^Process exited with code [1-9]", re.MULTILINE)
_NEEDED = {"Edit": "path", "MultiEdit": "path", "Write": "path", "Glob": "pattern"}
_SPEAKERS = {"User": Speaker.USER, "Agent": Speaker.ASSISTANT}


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """What was said, in order, and the shell commands that the agent ran; of SpecStory alone."""

    turns: tuple[Turn, ...]
    commands: tuple[str, ...] = ()


def is_history(*, path: str) -> bool:
    """Say whether a file is a history of either kind."""
    return path.endswith(AIDER) or ".specstory/history/" in path


def parse(*, path: str, text: str) -> Conversation:
    """Read a history of either kind, told by its path."""
    said = _aider(text) if path.endswith(AIDER) else _specstory(text)
    turns = tuple(
        Turn(sequence=number, speaker=speaker, text=words)
        for number, (speaker, words) in enumerate(said, 1)
    )
    commands = tuple(first or second for first, second in _COMMAND.findall(text))
    return Conversation(turns=turns, commands=commands)


def root_of(*, repository: str, text: str) -> str:
    """Return the folder that a conversation's repository most probably lies in."""
    name = repository.rpartition("/")[2]
    found = re.search(rf"({_ROOT.pattern}?/{re.escape(name)})(?![\w-])", text)
    return found.group(1) if found else f"/work/{name}"


def _specstory(text: str) -> Iterator[tuple[Speaker, str]]:
    for who, _, body in _entries(text):
        words = _CALL.split(_THOUGHT.sub("", body).removesuffix("---\n\n"))[0].strip()
        if words:
            yield _SPEAKERS[who], words


def _entries(text: str) -> Iterator[tuple[str, ...]]:
    """Yield who said it, what more the heading says, and what stands below it."""
    pieces = _HEADING.split(text)[1:]
    return zip(pieces[::3], pieces[1::3], pieces[2::3], strict=True)


def history_session(*, repository: str, path: str, text: str) -> Scratchpad:
    """Fold a history that SpecStory wrote, which lacks tokens, and what edits replaced."""
    top = root_of(repository=repository, text=text)
    below = path.rpartition(".specstory/")[0].rstrip("/")
    root, folder = file_paths.working_folder(root=top, folder=f"{top}/{below}".rstrip("/"))
    return _folded(Setting(root=root, folder=folder), _rows(text))


def _rows(text: str) -> Iterator[dict[str, object]]:
    """Yield the rows that a client would send; a step is all up to the end of a call."""
    step = 1
    for who, about, body in _entries(text):
        is_beside = "sidechain" in about
        same = {"at": "".join(_AT.findall(about)), "agent": "sidechain" if is_beside else ""}
        words, *calls = _TOOL.split(body)
        said = _MARKS.sub("", words).strip()
        if said and who == "Agent":
            yield {**same, "kind": "reasoning", "step": step, "text": said}
        elif said and not is_beside and not said.startswith(_OF_PROGRAM):
            yield {**same, "kind": "prompt", "step": step, "text": said}
        for name, given in zip(calls[::2], calls[1::2], strict=True):
            yield from ({**same, **row, "step": step} for row in _call_rows(name, given))
            step += 1


def _call_rows(name: str, given: str) -> tuple[dict[str, object], ...]:
    """Return a call and its result; nothing where what it was called with is left out."""
    head, block, label, result = _PARTS.findall(given)[0]
    args = {key or "path": value for key, value in _NAMED.findall(head)}
    changed = _CHANGED.search(result)
    if name in _RUNS:
        inline = _INLINE.findall(head) or [text for _, text in _NAMED.findall(head)]
        name, args = "Bash", {"command": block or "".join(inline[:1])}
    elif changed and _NEEDED.get(name) == "path":
        args = {"path": changed.group(1)}
    if name != "Bash" and block:
        for sign, side in (("-", "before"), ("+", "after")):
            lines = [line[1:] for line in block.splitlines() if line.startswith(sign)]
            args[side] = "\n".join(lines)
    if name in _NEEDED and _NEEDED[name] not in args:
        return ()
    is_error = label == "Error" or result.startswith(_FAILED) or _EXITED.match(result) is not None
    row = {"kind": "tool_result", "name": name, "text": result, "is_error": is_error}
    return {"kind": "tool_call", "name": name, "args": args}, row


def transcript_sessions(*, folder: Path) -> Iterator[tuple[str, Scratchpad]]:
    """Yield the path of each transcript of Claude Code in a folder, packed, and fold it."""
    with TemporaryDirectory() as unpacked:
        for path in folder.rglob("*.jsonl.gz"):
            plain = Path(unpacked) / path.relative_to(folder).with_suffix("")
            plain.parent.mkdir(parents=True, exist_ok=True)
            plain.write_bytes(gzip.decompress(path.read_bytes()))
        for main in reader.named_transcripts(paths=(Path(unpacked),), name="claude-code"):
            rows = (
                row
                for one in (main, *reader.subagents(of=main))
                for line in reader.read(path=one.path, parser=one.source.parser, rank=one.rank)
                for row in line.events
            )
            setting = Setting(root=reader.work_place(transcript=main).cwd)
            yield main.path.relative_to(unpacked).as_posix(), _folded(setting, rows)


def _folded(setting: Setting, rows: Iterator[dict[str, object]]) -> Scratchpad:
    read = (event_parsing.read(row={"sequence": at, **row}) for at, row in enumerate(rows, 1))
    return folded(setting=setting, events=(one for one in read if isinstance(one, Event)))


def folded(*, setting: Setting, events: Iterator[Event]) -> Scratchpad:
    """Return what a session did, by its events in any order."""
    return reducers.rebuild(setting=setting, events=events)


def _aider(text: str) -> Iterator[tuple[Speaker, str]]:
    speaker, held = Speaker.ASSISTANT, list[str]()
    for line in text.splitlines():
        is_program = line.startswith(("> ", "# aider chat"))
        said = line.removeprefix("#### ")
        now = Speaker.USER if said != line else Speaker.TOOL if is_program else Speaker.ASSISTANT
        if now is not speaker:
            if speaker is not Speaker.TOOL and "".join(held).strip():
                yield speaker, "\n".join(held).strip()
            speaker, held = now, []
        held.append(said)
    if speaker is not Speaker.TOOL and "".join(held).strip():
        yield speaker, "\n".join(held).strip()
