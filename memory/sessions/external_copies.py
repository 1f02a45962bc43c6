"""Commands that carry files: copies, archives, other hosts.

What a copy or an archive puts into the repository came from outside where its source did; what is
copied from the repository, or fetched from the own machine, is the session's own wherever it lies.
"""

import itertools
import re
from typing import Final

from memory.sessions import shell_commands
from memory.sessions.shell_commands import Command

MADE_MOST: Final = 40  # files that one copy makes the session's own, ours
_COPIES: Final = frozenset({"cp", "mv", "rsync", "scp"})
_LETTERS: Final = {"cp": "tS", "mv": "tS", "rsync": "efBT", "scp": "cDFiJloPSX", "unzip": "dPx"}
_SSH_LETTERS: Final = "BbcDEeFIiJLlmOopQRSWw"
_NAMES: Final = frozenset({
    "--target-directory", "--suffix", "--rsh", "--exclude", "--include", "--filter", "--directory",
})  # fmt: skip
_TARGETS: Final = frozenset({"-t", "--target-directory"})
_OUTPUTS: Final = re.compile(r"\A(?:--output(?:-document)?|-[A-Za-z]*[oO])\Z")
_KEEPS: Final = re.compile(
    r"\A(?:-[a-zA-Z]*[nuraR][a-zA-Z]*|--(?:no-clobber|update|recursive).*)\Z"
)
_GOES_ON: Final = frozenset({"-C", "--continue-at", "-c", "--continue"})
_REMOTE: Final = re.compile(r"\A(?:[\w.-]+@)?(?![A-Za-z]:[\\/])([\w.-]+):")


def copied(*, command: Command) -> tuple[tuple[str, ...], str]:
    """Return the files that a command copies or moves, and where to; none for any other."""
    if command.program not in _COPIES:
        return (), ""
    words = command.words
    given = shell_commands.operands(words=words, letters=_LETTERS[command.program], names=_NAMES)
    target = next((now for one, now in itertools.pairwise(words) if one in _TARGETS), "")
    if target and command.program in {"cp", "mv"}:
        return given, f"{target}/"
    return given[:-1], given[-1] if len(given) > 1 else ""


def made_by_copying(*, command: Command) -> tuple[str, ...]:
    """Return the files that a copy writes as a whole; none where it may leave what was there."""
    sources, target = copied(command=command)
    if not target or any(_KEEPS.match(word) is not None for word in command.words[1:]):
        return ()
    if "." in target.rpartition("/")[2].strip("."):
        return (target,)
    return tuple(f"{target.rstrip('/')}/{one.rpartition('/')[2]}" for one in sources[:MADE_MOST])


def unpacked(*, command: Command) -> tuple[str, ...]:
    """Return the archives that a command takes files from."""
    words = command.words
    if command.program == "unzip":
        return shell_commands.operands(words=words, letters=_LETTERS["unzip"])[:1]
    if command.program not in {"tar", "bsdtar"} or len(words) < 2:
        return ()
    is_reading = any(not one.startswith("--") and {*"xt"} & {*one} for one in words[1:2])
    if not is_reading and {"--extract", "--list", "--get", "-x", "-t"}.isdisjoint(words):
        return ()
    pairs = itertools.pairwise(words[1:])
    return tuple(now for one, now in pairs if _names_archive(one) and not now.startswith("-"))


def host_of(*, command: Command) -> str:
    """Return the other host that a command reads from, empty for none."""
    if command.program == "ssh":
        given = shell_commands.operands(words=command.words, letters=_SSH_LETTERS)
        return given[0].rpartition("@")[2] if given else ""
    if command.program not in {"scp", "rsync"}:
        return ""
    found = (_REMOTE.match(one) for one in copied(command=command)[0])
    return next((one[1] for one in found if one is not None), "")


def downloaded(*, command: Command) -> tuple[str, ...]:
    """Return the files that a program of the web writes as a whole."""
    words = command.words
    if not _GOES_ON.isdisjoint(words):
        return ()
    named = (now for one, now in itertools.pairwise(words) if _OUTPUTS.match(one) is not None)
    joined = (one.partition("=")[2] for one in words if one.startswith("--output="))
    return tuple(one for one in (*named, *joined) if one and "://" not in one)


def _names_archive(option: str) -> bool:
    return option == "--file" or (not option.startswith("--") and option.endswith("f"))
