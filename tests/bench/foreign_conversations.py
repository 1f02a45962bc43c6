"""Conversations of people and agents that public repositories keep, as turns and commands.

Two kinds of files: histories that SpecStory writes (`.specstory/history/*.md`: a heading a turn,
the calls of tools among what the agent says) and aider's `.aider.chat.history.md` (`####` before
what a person says, `>` before what the program says).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memory.sessions.turns import Speaker, Turn

AIDER = ".aider.chat.history.md"
_HEADING = re.compile(r"^_\*\*(User|Agent)\b[^\n]*\*\*_$", re.MULTILINE)
_CALL = re.compile(r"^(?:<tool-use\b|Tool use: \*\*)", re.MULTILINE)
_THOUGHT = re.compile(r"<think>.*?</think>", re.DOTALL)
_COMMAND = re.compile(
    r"Tool use: \*\*Bash\*\*[^`]{0,400}?(?:```bash\n(.+?)\n```|`([^`\n]+)`)", re.DOTALL
)
_ROOT = re.compile(r"/(?:Users|home)/[\w./-]+")
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
    pieces = _HEADING.split(text)[1:]
    for who, body in zip(pieces[::2], pieces[1::2], strict=True):
        words = _CALL.split(_THOUGHT.sub("", body).removesuffix("---\n\n"))[0].strip()
        if words:
            yield _SPEAKERS[who], words


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
