"""What is kept of a command that is too long: what tells what it reads and where from.

Taint is read from what is stored, so the texts in a command go first and its commands last: texts
that stand in it for a program to read, then the ends of long quoted words, then lines that name no
other place, and only then its middle.
"""

import re
from collections.abc import Callable
from typing import Final

from memory.sessions import shell_commands
from memory.sessions.events import COMMAND_MOST, TEXT_MOST

QUOTED_MOST: Final = 60  # characters kept of a quoted word, ours
_TAIL_SHARE: Final = 4  # of what is kept, so much is the end
_SEEN_BEFORE: Final = 60  # characters before a quoted word in which its shell stands, ours
_QUOTED: Final = re.compile(r"\\.|'[^']*'|\"(?:\\.|[^\"\\])*\"", re.DOTALL)
_TEXT: Final = re.compile(r"[\s{]")  # in a quoted word that is no path and no address
_RUNS: Final = re.compile(r"(?:\b(?:ba|z|da|k)?sh(?:\s+-[\w-]+)*|\beval|\bssh\s+\S+)\s*\Z")
_ELSEWHERE: Final = re.compile(
    r"://|(?:^|[\s\"'=<(])(?:/|~|\.\./)|\$[({\w]|`"
    r"|\b(?:curl|wget|gh|glab|ssh|scp|rsync|cd|clone|https?|xargs|for|done)\b"
)


def shortened(*, command: str) -> str:
    """Return a command in at most `COMMAND_MOST` characters; a shorter one is as it was."""
    if len(command) <= COMMAND_MOST:
        return command
    text = _ends(command, TEXT_MOST)
    for shorter in _STEPS:
        text = shorter(text)
        if len(text) <= COMMAND_MOST:
            return text
    return _ends(text, COMMAND_MOST)


def _without_texts(command: str) -> str:
    return shell_commands.without_texts(line=command)


def _with_short_words(command: str) -> str:
    return _QUOTED.sub(_short_word, command)


def _short_word(quoted: re.Match[str]) -> str:
    """Return the beginning of a long text in quotes; what is run, and what names a place, whole."""
    word = quoted.group()
    if len(word) <= QUOTED_MOST + 2 or _TEXT.search(word) is None:
        return word
    is_run = word[0] == '"' and ("$(" in word or "`" in word)
    start = quoted.start()
    if is_run or _RUNS.search(quoted.string[max(0, start - _SEEN_BEFORE) : start]) is not None:
        return word
    return word[: QUOTED_MOST + 1].rstrip("\\") + word[0]


def _without_dull_lines(command: str) -> str:
    """Return a command's first line, its last, and those that name another place or may do so."""
    first, *rest = command.split("\n")
    told = (one for one in rest[:-1] if _ELSEWHERE.search(one) is not None)
    return "\n".join((first, *told, *rest[-1:]))


def _ends(text: str, most: int) -> str:
    """Return the beginning and the end of a text."""
    if len(text) <= most:
        return text
    tail = most // _TAIL_SHARE
    return f"{text[: most - tail - 1]}\n{text[-tail:]}"


_STEPS: Final[tuple[Callable[[str], str], ...]] = (
    _without_texts, _with_short_words, _without_dull_lines,
)  # fmt: skip
