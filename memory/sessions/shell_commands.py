"""A line of a shell as the commands it runs, each with its words and the folder it runs in.

Agents chain commands, go to folders, substitute, wrap and quote. Whoever asks what a line brings
into view must ask it of each command. This reads what agents write, not all that shells take: what
cannot be read, such as a line that was cut, becomes words all the same.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from memory.sessions import file_paths

NESTED_MOST: Final = 3  # substitutions and shells within each other, ours
SHELLS: Final = frozenset({"sh", "bash", "zsh", "dash", "ksh"})
VALUES_MOST: Final = 8  # of the list that a loop goes through, ours
VALUE_MOST: Final = 400  # characters of a variable's value, ours
_WRAPPERS: Final = {  # what runs a command, and its short options that take a value
    "sudo": "ugpCTDRhrtU", "doas": "uC", "time": "fo", "nohup": "", "env": "uC", "exec": "a",
    "command": "", "builtin": "", "nice": "n", "ionice": "cnp", "timeout": "ks", "stdbuf": "ioe",
    "xargs": "IPLdnsEa", "caffeinate": "tw", "eval": "", "watch": "n", "npx": "p", "bunx": "p",
    "pnpx": "p", "if": "", "then": "", "elif": "", "else": "", "while": "", "until": "", "do": "",
    "!": "", "{": "",
}  # fmt: skip
_WRAPPERS_NAMES: Final = frozenset({  # long options of those that take a value
    "--user", "--group", "--chdir", "--signal", "--kill-after", "--adjustment", "--unset",
    "--max-args", "--max-procs", "--delimiter", "--arg-file", "--interval", "--package", "--prompt",
    "--class", "--classdata", "--input", "--output", "--error", "--host",
})  # fmt: skip
_DECLARES: Final = frozenset({"export", "local", "readonly", "declare", "typeset"})
_KNOWN: Final[Mapping[str, tuple[str, ...]]] = {"HOME": ("~",), "PWD": (".",), "TMPDIR": ("/tmp",)}  # noqa: S108
_HEREDOC: Final = re.compile(
    r"(?<!<)<<-?[ \t]*(['\"]?)(\w++)\1([^\n]{0,400}+)\n(.*?)(?:(?:\A|(?<=\n))[ \t]*\2(?!\w)|\Z)",
    re.DOTALL,
)
_FED_SHELL: Final = re.compile(r"(?:\A|[\s/])(?:ba|z|da|k)?sh(?=[\s;&|)]|\Z)")
_ENDS_COMMAND: Final = re.compile(r"[;&|\n(]")
_SEEN_BEFORE: Final = 200  # characters before a text within a line in which its shell stands, ours
_DULL: Final = re.compile(r"[^\\'\"`$<>#]+")
_BRACKET: Final = re.compile(r"[()]")
_MARK: Final = re.compile(r"[\\'\"$]")
_VARIABLE: Final = re.compile(r"\$(?:(\w+)|\{(\w+)\})")
_TOKEN: Final = re.compile(
    r"(?P<out>(?:\d+|&)?>>?\|?(?:&(?:\d+|-))?)|(?P<into><<<|<>|<)"
    r"|(?P<end>\|\||&&|\|&?|;+|&|\n|[()])"
    r"|(?P<word>(?:\\.|'[^']*(?:'|\Z)|\"(?:\\.|[^\"\\])*(?:\"|\Z)|[^\s;&|<>()'\"\\])+)",
    re.DOTALL,
)
_QUOTED: Final = re.compile(
    r"\\(.)|'([^']*)(?:'|\Z)|\"((?:\\.|[^\"\\])*)(?:\"|\Z)|\$(?:\w+|\{\w+\})", re.DOTALL
)
_SUBSTITUTED: Final = "$_"  # what stands where a command was substituted


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One command: its words without what wraps it, and the files it is fed from and writes to.

    `folder` is where it runs: empty where the line began. `is_fed`: a pipe stands before it.
    `is_handed`: it is given names of files that another command finds. `writes` are files that it
    writes as a whole, not those that it appends to.
    """

    words: tuple[str, ...]
    folder: str = ""
    is_fed: bool = False
    is_handed: bool = False
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()

    program: str = field(init=False)

    def __post_init__(self) -> None:
        """Name what runs, once for all who ask; empty for none."""
        name = self.words[0].rpartition("/")[2] if self.words else ""
        object.__setattr__(self, "program", name)


def of_line(*, line: str, depth: int = 0) -> tuple[Command, ...]:
    """Return the commands of a line in their order, substituted ones first."""
    plain, inner = _lifted(_HEREDOC.sub(_kept, line) if "<<" in line else line)
    found: list[Command] = []
    if depth < NESTED_MOST:
        for one in dict.fromkeys(inner):
            found.extend(of_line(line=one, depth=depth + 1))
    for command in _split(plain):
        script = _script(command.words)
        if script and depth < NESTED_MOST:
            found.extend(of_line(line=script, depth=depth + 1))
        else:
            found.append(command)
    return tuple(found)


def without_texts(*, line: str) -> str:
    """Return a line without the texts that stand in it for a command to read, unless a shell does.

    What a shell would run within such a text stays.
    """
    return _HEREDOC.sub(_emptied, line)


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
    if not folder or path.startswith(("/", "~", "$")) or file_paths.is_drive(path=path):
        return path
    return f"{folder.rstrip('/')}/{path}"


def _kept(heredoc: re.Match[str]) -> str:
    """Return what of a text within a line is run: the rest of its line, and substitutions."""
    rest, body = heredoc.group(3, 4)
    return f"{rest}\n{body}\n" if _is_run(heredoc) else f"{rest} {_run_within(heredoc)}\n"


def _emptied(heredoc: re.Match[str]) -> str:
    """Return a text within a line with nothing in it but what is run."""
    if _is_run(heredoc):
        return heredoc.group()
    quote, tag, rest, _ = heredoc.groups()
    return f"<<{quote}{tag}{quote}{rest}\n{_run_within(heredoc)}\n{tag}"


def _run_within(heredoc: re.Match[str]) -> str:
    return "" if heredoc.group(1) else " ".join(re.findall(r"\$\([^()]*\)", heredoc.group(4)))


def _is_run(heredoc: re.Match[str]) -> bool:
    """Say whether a shell is fed a text within a line: `bash <<E`, `cat <<E | sh`."""
    start = heredoc.start()
    before = _ENDS_COMMAND.split(heredoc.string[max(0, start - _SEEN_BEFORE) : start])[-1]
    piped = heredoc.group(3).partition("|")[2]
    return any(_FED_SHELL.search(text) is not None for text in (before, piped))


def _lifted(line: str) -> tuple[str, tuple[str, ...]]:
    """Return a line without comments and substituted commands, and those commands."""
    kept: list[str] = []
    inner: list[str] = []
    quote, at = "", 0
    while at < len(line):
        dull = _DULL.match(line, at)
        if dull is not None:
            kept.append(dull.group())
            at = dull.end()
            continue
        end, command = (at, "") if quote == "'" else _substitution(line, at)
        if end > at:
            inner.append(command)
            kept.append(_SUBSTITUTED)
            at = end
            continue
        at, quote, said = _sign(line, at, quote)
        kept.append(said)
    return "".join(kept), tuple(inner)


def _sign(line: str, at: int, quote: str) -> tuple[int, str, str]:
    """Return the place after a sign, the quote that is open then, and what stays of the sign."""
    sign = line[at]
    if sign == "#" and not quote and (at == 0 or line[at - 1] in " \t\n;"):
        end = line.find("\n", at)
        return (len(line) if end < 0 else end), quote, ""
    if sign == "\\" and quote != "'":
        pair = line[at : at + 2]
        return at + 2, quote, "" if pair == "\\\n" else pair
    if sign in "'\"" and quote in {"", sign}:
        quote = "" if quote else sign
    return at + 1, quote, sign


def _substitution(line: str, at: int) -> tuple[int, str]:
    """Return where a substituted command that begins here ends, and it; the place for none."""
    if line[at] == "`":
        end = line.find("`", at + 1)
        end = len(line) if end < 0 else end
        return end + 1, line[at + 1 : end]
    if not line.startswith(("$(", "<(", ">("), at):
        return at, ""
    depth = 1
    for bracket in _BRACKET.finditer(line, at + 2):
        depth += 1 if bracket.group() == "(" else -1
        if not depth:
            return bracket.end(), line[at + 2 : bracket.start()]
    return len(line), line[at + 2 :]


def _split(line: str) -> Iterator[Command]:
    """Yield the commands between operators; `cd` leads all that come after it in its brackets."""
    known = dict(_KNOWN)
    folders, held, is_fed = [""], _Held(known), False
    for token in (*_TOKEN.finditer(line), None):
        if token is not None and token.lastgroup != "end":
            held.take(kind=token.lastgroup or "", text=token.group())
            continue
        command = held.command(folder=folders[-1], is_fed=is_fed)
        known.update(_learned(held.words))
        if command is not None:
            folders[-1] = _gone_to(command)
            yield command
        sign = "" if token is None else token.group()
        is_fed = sign in {"|", "|&"}
        held = _Held(known)
        if sign == "(":
            folders.append(folders[-1])
        elif sign == ")" and len(folders) > 1:
            folders.pop()


class _Held:
    """The words of a command while it is read."""

    def __init__(self, known: Mapping[str, tuple[str, ...]]) -> None:
        self.known = known
        self.words: list[str] = []
        self.listed: set[str] = set()
        self.files: dict[str, list[str]] = {"out": [], "into": []}
        self.waits = ""

    def take(self, *, kind: str, text: str) -> None:
        """Take a token: a word is an argument, or the file that a sign before it names."""
        if kind != "word":
            self.waits = "" if text[-1] in "0123456789-" and "&" in text else kind
            self.waits = "more" if self.waits == "out" and ">>" in text else self.waits
            self.waits = "text" if text == "<<<" else self.waits
            return
        if self.waits:
            self.files.setdefault(self.waits, []).extend(_expanded(text, self.known))
        elif (text not in {"$", _SUBSTITUTED} or self.words) and text not in self.listed:
            words = _expanded(text, self.known)
            self.words.extend(words)
            if len(words) > 1:
                self.listed.add(text)
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
            is_handed="xargs" in self.words[: len(self.words) - len(words)],
            reads=tuple(self.files["into"]),
            writes=tuple(self.files["out"]),
        )


def _expanded(text: str, known: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Return the words that a word stands for: one, or one for each value of a loop's variable."""
    if _MARK.search(text) is None:
        return (text,)
    names = {first or second for first, second in _VARIABLE.findall(text)} & known.keys()
    count = max((len(known[name]) for name in names), default=1)
    each = ({name: known[name][at % len(known[name])] for name in names} for at in range(count))
    return tuple(dict.fromkeys(_unquoted(text, one) for one in each))


def _unquoted(word: str, values: Mapping[str, str]) -> str:
    """Return a word as the shell hands it on, with the values of the variables that are known."""

    def plain(found: re.Match[str]) -> str:
        escaped, single, double = found.groups()
        if double is None and (escaped is not None or single is not None):
            return escaped or single or ""
        return _VARIABLE.sub(value, found.group() if double is None else double)

    def value(found: re.Match[str]) -> str:
        return values.get(found.group(1) or found.group(2), found.group())

    return _QUOTED.sub(plain, word)


def _learned(words: list[str]) -> dict[str, tuple[str, ...]]:
    """Return the variables that a command sets: `F=a`, `export F=a`, `for f in a b`."""
    first = next((at for at, word in enumerate(words) if word not in _WRAPPERS), len(words))
    if words[first : first + 1] == ["for"] and words[first + 2 : first + 3] == ["in"]:
        listed = sorted(words[first + 3 :], key=_tells_little)
        values = tuple(word[:VALUE_MOST] for word in listed[:VALUES_MOST])
        return {words[first + 1]: values} if values else {}
    made: dict[str, tuple[str, ...]] = {}
    for word in words[first:]:
        name, _, value = word.partition("=")
        if _is_assignment(word):
            made[name] = (value[:VALUE_MOST],)
        elif word not in _DECLARES and not word.startswith("-"):
            break
    return made


def _tells_little(word: str) -> bool:
    return not (file_paths.is_outside(path=word) or "://" in word)


def _unwrapped(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words of what runs, without what it is run through and told by the way."""
    wrapper, at = "", 0
    while at < len(words):
        word = words[at]
        name = word.rpartition("/")[2]
        if name in _WRAPPERS:
            wrapper = name
        elif not (_is_assignment(word) or (wrapper and _is_aside(word))):
            return words[at:]
        elif wrapper and _has_value(word, _WRAPPERS[wrapper]):
            at += 1
        at += 1
    return ()


def _has_value(option: str, letters: str) -> bool:
    if option.startswith("--"):
        return option in _WRAPPERS_NAMES
    return option.startswith("-") and _takes_next(option[1:], letters)


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
    """Return the folder after a command; `cd -` goes back to where the line began."""
    if command.program not in {"cd", "pushd"}:
        return command.folder
    named = operands(words=command.words, letters="")
    path = named[0] if named else "~"
    return "" if path == "-" else joined(folder=command.folder, path=path)


def _takes_next(cluster: str, letters: str) -> bool:
    """Say whether the last of some short options written together takes the next word."""
    place = next((place for place, one in enumerate(cluster) if one in letters), None)
    return place is not None and place == len(cluster) - 1
