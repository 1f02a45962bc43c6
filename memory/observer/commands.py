"""A line of a shell as the commands it runs, each with its words and the folder it runs in.

Agents chain commands, go to folders, substitute, wrap and quote. Whoever asks what a line brings
into view must ask it of each command. This reads what agents write, not all that shells take: what
cannot be read, such as a line that was cut, becomes words all the same. Spec 4.1, 4.3.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from memory.observer import places

NESTED_MOST: Final = 3  # substitutions and shells within each other, ours
SHELLS: Final = frozenset({"sh", "bash", "zsh", "dash", "ksh"})
_WRAPPERS: Final = frozenset({
    "sudo", "doas", "time", "nohup", "env", "exec", "command", "builtin", "nice", "ionice",
    "timeout", "stdbuf", "xargs", "caffeinate", "eval", "if", "then", "elif", "else", "while",
    "until", "do", "!", "{",
})  # fmt: skip
_WRAPPERS_VALUES: Final = frozenset({"-u", "-g", "-n", "-k", "-s", "-I", "-P", "-L", "-d", "-C"})
_HEREDOC: Final = re.compile(
    r"(?<!<)<<-?[ \t]*(['\"]?)(\w+)\1([^\n]*)\n(.*?)(?:(?:\A|(?<=\n))[ \t]*\2(?!\w)|\Z)", re.DOTALL
)
_TOKEN: Final = re.compile(
    r"(?P<out>(?:\d+|&)?>>?\|?(?:&(?:\d+|-))?)|(?P<into><<<|<)"
    r"|(?P<end>\|\||&&|\|&?|;+|&|\n|[()])"
    r"|(?P<word>(?:\\.|'[^']*(?:'|\Z)|\"(?:\\.|[^\"\\])*(?:\"|\Z)|[^\s;&|<>()'\"\\])+)",
    re.DOTALL,
)
_QUOTED: Final = re.compile(r"\\(.)|'([^']*)(?:'|\Z)|\"((?:\\.|[^\"\\])*)(?:\"|\Z)", re.DOTALL)
_SUBSTITUTED: Final = "$_"  # what stands where a command was substituted


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One command: its words without what wraps it, and the files it is fed from and writes to.

    `folder` is where it runs: empty where the line began. `is_fed`: a pipe stands before it.
    """

    words: tuple[str, ...]
    folder: str = ""
    is_fed: bool = False
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()

    @property
    def program(self) -> str:
        """The name of what runs; empty for none."""
        return self.words[0].rpartition("/")[2] if self.words else ""


def of_line(*, line: str, depth: int = 0) -> tuple[Command, ...]:
    """Return the commands of a line in their order, substituted ones first."""
    plain, inner = _lifted(_HEREDOC.sub(_kept, line))
    found: list[Command] = []
    if depth < NESTED_MOST:
        for one in inner:
            found.extend(of_line(line=one, depth=depth + 1))
    for command in _split(plain):
        script = _script(command.words)
        if script and depth < NESTED_MOST:
            found.extend(of_line(line=script, depth=depth + 1))
        else:
            found.append(command)
    return tuple(found)


def operands(
    *, words: tuple[str, ...], letters: str, names: frozenset[str] = frozenset()
) -> tuple[str, ...]:
    """Return what of a command's words is no option and no value of one.

    `letters` are the short options that take a value, `names` the long ones.
    """
    found: list[str] = []
    rest = iter(words[1:])
    for word in rest:
        if word == "--":
            found.extend(rest)
        elif word.startswith("--"):
            if word in names:
                next(rest, None)
        elif word.startswith("-") and len(word) > 1:
            if _takes_next(word[1:], letters):
                next(rest, None)
        else:
            found.append(word)
    return tuple(found)


def joined(*, folder: str, path: str) -> str:
    """Return a path as it is named from where the line began."""
    if not folder or path.startswith(("/", "~", "$")) or places.is_drive(path=path):
        return path
    return f"{folder.rstrip('/')}/{path}"


def _kept(heredoc: re.Match[str]) -> str:
    """Return what of a text within a line is run: the rest of its line, and substitutions."""
    quote, _, rest, body = heredoc.groups()
    run = "" if quote else " ".join(re.findall(r"\$\([^()]*\)", body))
    return f"{rest} {run}\n"


def _lifted(line: str) -> tuple[str, tuple[str, ...]]:
    """Return a line without comments and substituted commands, and those commands."""
    kept: list[str] = []
    inner: list[str] = []
    quote, at = "", 0
    while at < len(line):
        end, command = (at, "") if quote == "'" else _substitution(line, at)
        if end > at:
            inner.append(command)
            kept.append(_SUBSTITUTED)
            at = end
            continue
        sign = line[at]
        if sign == "#" and not quote and (at == 0 or line[at - 1] in " \t\n;"):
            at = line.find("\n", at) if "\n" in line[at:] else len(line)
            continue
        wide = 2 if sign == "\\" and quote != "'" else 1
        if sign in "'\"" and quote in {"", sign}:
            quote = "" if quote else sign
        kept.append(line[at : at + wide])
        at += wide
    return "".join(kept), tuple(inner)


def _substitution(line: str, at: int) -> tuple[int, str]:
    """Return where a substituted command that begins here ends, and it; the place for none."""
    if line[at] == "`":
        end = line.find("`", at + 1)
        end = len(line) if end < 0 else end
        return end + 1, line[at + 1 : end]
    if not line.startswith(("$(", "<(", ">("), at):
        return at, ""
    depth, end = 1, at + 2
    while end < len(line) and depth:
        depth += {"(": 1, ")": -1}.get(line[end], 0)
        end += 1
    return end, line[at + 2 : end if depth else end - 1]


def _split(line: str) -> Iterator[Command]:
    """Yield the commands between operators; `cd` leads all that come after it in its brackets."""
    folders, held, is_fed = [""], _Held(), False
    for token in (*_TOKEN.finditer(line), None):
        if token is not None and token.lastgroup != "end":
            held.take(kind=token.lastgroup or "", text=token.group())
            continue
        command = held.command(folder=folders[-1], is_fed=is_fed)
        if command is not None:
            folders[-1] = _gone_to(command)
            yield command
        sign = "" if token is None else token.group()
        is_fed = sign in {"|", "|&"}
        held = _Held()
        if sign == "(":
            folders.append(folders[-1])
        elif sign == ")" and len(folders) > 1:
            folders.pop()


class _Held:
    """The words of a command while it is read."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.files: dict[str, list[str]] = {"out": [], "into": []}
        self.waits = ""

    def take(self, *, kind: str, text: str) -> None:
        """Take a token: a word is an argument, or the file that a sign before it names."""
        if kind != "word":
            self.waits = "" if text[-1] in "0123456789-" and "&" in text else kind
            self.waits = "text" if text == "<<<" else self.waits
            return
        word = _unquoted(text)
        if self.waits:
            self.files.setdefault(self.waits, []).append(word)
        elif word not in {"$", _SUBSTITUTED} or self.words:
            self.words.append(word)
        self.waits = ""

    def command(self, *, folder: str, is_fed: bool) -> Command | None:
        """Return the command; None where nothing was held."""
        words = _unwrapped(tuple(self.words))
        if not words and not self.files["into"] and not self.files["out"]:
            return None
        return Command(
            words=words,
            folder=folder,
            is_fed=is_fed,
            reads=tuple(self.files["into"]),
            writes=tuple(self.files["out"]),
        )


def _unquoted(word: str) -> str:
    return _QUOTED.sub(lambda found: next((g for g in found.groups() if g is not None), ""), word)


def _unwrapped(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words of what runs, without what it is run through and told by the way."""
    is_within = False
    while words:
        first = words[0]
        if first in _WRAPPERS or first.rpartition("/")[2] in _WRAPPERS:
            is_within = True
        elif is_within and first in _WRAPPERS_VALUES:
            words = words[1:]
        elif not (_is_assignment(first) or (is_within and _is_aside(first))):
            return words
        words = words[1:]
    return ()


def _is_assignment(word: str) -> bool:
    name, sign, _ = word.partition("=")
    return bool(sign) and name.isidentifier()


def _is_aside(word: str) -> bool:
    return word.startswith("-") or word[:1].isdigit()


def _script(words: tuple[str, ...]) -> str:
    """Return what a shell is told to run, empty where it is not: `sh -c 'make lint'`."""
    if not words or words[0].rpartition("/")[2] not in SHELLS:
        return ""
    for place, word in enumerate(words[1:], 1):
        if not word.startswith("-"):
            return ""
        if word.endswith("c") and not word.startswith("--"):
            return words[place + 1] if place + 1 < len(words) else ""
    return ""


def _gone_to(command: Command) -> str:
    """Return the folder after a command; where nobody can tell, the one where the line began."""
    if command.program not in {"cd", "pushd"}:
        return command.folder
    named = operands(words=command.words, letters="")
    path = named[0] if named else "~"
    if path == "-" or "$" in path.removeprefix("$HOME"):
        return ""
    return joined(folder=command.folder, path=path)


def _takes_next(cluster: str, letters: str) -> bool:
    """Say whether the last of some short options written together takes the next word."""
    place = next((place for place, one in enumerate(cluster) if one in letters), None)
    return place is not None and place == len(cluster) - 1
