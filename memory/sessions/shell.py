"""A command line as the commands that it runs, read by the grammar of bash (tree-sitter).

Whoever asks what a line brings into view must ask it of each command: agents chain, go to folders,
substitute, wrap and quote. Variables that the line itself sets are filled in, `sh -c`, `eval` and
texts that a shell is fed are read as well. Where the grammar finds an error, as in a line that was
cut, the words there are read as commands too: rather one too many than one too few.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from memory.sessions import file_paths

# Defaults, not measured.
NESTED_MOST: Final = 3  # shells within each other
VALUES_MOST: Final = 8  # of the list that a loop goes through
VALUE_MOST: Final = 400  # characters of a variable's value

SHELLS: Final = frozenset({"sh", "bash", "zsh", "dash", "ksh"})
UNKNOWN: Final = "$_"  # the word that stands where a command was substituted
_WRAPPERS: Final = {  # what runs another command, and its short options that take a value
    "sudo": "ugpCTDRhrtU", "doas": "uC", "time": "fo", "nohup": "", "env": "uC", "exec": "a",
    "command": "", "builtin": "", "nice": "n", "ionice": "cnp", "timeout": "ks", "stdbuf": "ioe",
    "xargs": "IPLdnsEa", "caffeinate": "tw", "watch": "n", "npx": "p", "bunx": "p", "pnpx": "p",
}  # fmt: skip
_WRAPPER_NAMES: Final = frozenset({  # long options of those that take a value
    "--user", "--group", "--chdir", "--signal", "--kill-after", "--adjustment", "--unset",
    "--max-args", "--max-procs", "--delimiter", "--arg-file", "--interval", "--package",
})  # fmt: skip
_KNOWN: Final = {"HOME": ("~",), "PWD": (".",), "TMPDIR": ("/tmp",)}  # noqa: S108
_LANGUAGE: Final = Language(tree_sitter_bash.language())
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)
_COMMAND_OPTION: Final = re.compile(r"-(?!-).*c", re.DOTALL)  # a command follows: -c, -lc
_ENDS_COMMAND: Final = re.compile(r"[;&|\n()`]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One command: its words without what wraps it, or files alone that a redirection names.

    `folder` is where it runs: empty where the line began. `is_fed`: a pipe stands before it.
    `is_handed`: it is given names of files that another command finds. `writes` are files that are
    written as a whole, not those that are appended to.
    """

    words: tuple[str, ...] = ()
    folder: str = ""
    is_fed: bool = False
    is_handed: bool = False
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()

    @property
    def program(self) -> str:
        """The name of what runs; empty for none."""
        return self.words[0].rpartition("/")[2] if self.words else ""


def commands(*, line: str) -> tuple[Command, ...]:
    """Return the commands of a line in their order, substituted ones first."""
    reader = _Reader()
    reader.read(line)
    return tuple(reader.found)


def operands(
    *, words: tuple[str, ...], letters: str = "", names: frozenset[str] = frozenset()
) -> tuple[str, ...]:
    """Return what of a command's words is no option and no value of one.

    `letters` are the short options that take a value, `names` the long ones.
    """
    found: list[str] = []
    rest = iter(words[1:])
    for word in rest:
        if word == "--":
            found.extend(rest)
        elif not word.startswith("-") or word == "-":
            found.append(word)
        elif takes_next(word=word, letters=letters, names=names):
            next(rest, None)
    return tuple(found)


def takes_next(*, word: str, letters: str, names: frozenset[str]) -> bool:
    """Say whether the next word is the value of an option, or of the last of some short ones."""
    if word.startswith("--"):
        return word in names
    valued = next((at for at, one in enumerate(word) if at and one in letters), 0)
    return valued > 0 and valued == len(word) - 1


def joined(*, folder: str, path: str) -> str:
    """Return a path as it is named from where the line began."""
    if not folder or path.startswith(("/", "~", "$")) or file_paths.is_drive(path=path):
        return path
    return f"{folder.rstrip('/')}/{path}"


class _Reader:
    """Walks the tree of a line; knows the variables that are set and the folder it is in."""

    def __init__(self) -> None:
        self.found: list[Command] = []
        self.values: dict[str, tuple[str, ...]] = dict(_KNOWN)
        self.folders = [""]
        self.depth = 0

    def read(self, line: str) -> None:
        if self.depth <= NESTED_MOST:
            self.depth += 1
            self.visit(Parser(_LANGUAGE).parse(line.replace("\\\n", "").encode()).root_node)
            self.depth -= 1

    def visit(self, node: Node, *, is_fed: bool = False) -> None:
        handle = _HANDLERS.get(node.type)
        if handle is None:
            self.visit_children(node, is_fed=is_fed)
        else:
            handle(self, node, is_fed)

    def visit_children(self, node: Node, *, is_fed: bool = False) -> None:
        for child in node.named_children:
            self.visit(child, is_fed=is_fed)

    def add(self, words: tuple[str, ...], *, is_fed: bool = False) -> None:
        """Note a command; `cd` leads all that come after it in its brackets."""
        bare = _unwrapped(words)
        if not bare:
            return
        is_handed = "xargs" in words[: len(words) - len(bare)]
        command = Command(words=bare, folder=self.folders[-1], is_fed=is_fed, is_handed=is_handed)
        self.found.append(command)
        if command.program in {"cd", "pushd"}:
            path = next(iter(operands(words=bare)), "~")
            self.folders[-1] = "" if path == "-" else joined(folder=command.folder, path=path)

    def read_pipeline(self, node: Node, is_fed: bool) -> None:
        for place, child in enumerate(node.named_children):
            self.visit(child, is_fed=is_fed or place > 0)

    def read_subshell(self, node: Node, is_fed: bool) -> None:
        self.folders.append(self.folders[-1])
        self.visit_children(node, is_fed=is_fed)
        self.folders.pop()

    def read_error(self, node: Node, is_fed: bool) -> None:
        self.visit_children(node, is_fed=is_fed)
        for part in _ENDS_COMMAND.split(_text(node)):
            self.add(tuple(word.strip("'\"") for word in part.split()))

    def read_command(self, node: Node, is_fed: bool) -> None:
        self.visit_children(node)
        parts = [
            one
            for one in node.named_children
            if one.type != "variable_assignment" and not one.type.endswith("_redirect")
        ]
        words = [self.words_of(one) for one in parts]
        flat = tuple(
            word for each in words for word in each if word != UNKNOWN or each is not words[0]
        )
        script = self.script_of(parts, flat)
        if script:
            self.read(script)
        else:
            self.add(flat, is_fed=is_fed)

    def script_of(self, parts: list[Node], words: tuple[str, ...]) -> str:
        """Return what a shell is told to run, in quotes or, as some agents do, without them."""
        bare = _unwrapped(words)
        program = bare[0].rpartition("/")[2] if bare else ""
        if program == "eval":
            return " ".join(bare[1:])
        if program not in SHELLS:
            return ""
        for place, word in enumerate(words):
            if _COMMAND_OPTION.fullmatch(word) is not None:
                rest = parts[place + 1 :]
                if len(rest) > 1 and rest[0].type == "word":
                    return b" ".join(one.text or b"" for one in rest).decode()
                return "".join(words[place + 1 : place + 2])
        return ""

    def read_assignment(self, node: Node, is_fed: bool) -> None:
        self.visit_children(node, is_fed=is_fed)
        value = node.child_by_field_name("value")
        given = ("",) if value is None else self.words_of(value)
        name = _text(node.child_by_field_name("name"))
        self.values[name] = tuple(one[:VALUE_MOST] for one in given)

    def read_loop(self, node: Node, is_fed: bool) -> None:
        listed: list[str] = []
        for child in node.children_by_field_name("value"):
            self.visit(child)
            listed.extend(self.words_of(child))
        name = _text(node.child_by_field_name("variable"))
        self.values.pop(name, None)
        if listed:
            telling = sorted(
                listed, key=lambda one: not (file_paths.is_outside(path=one) or "://" in one)
            )
            self.values[name] = tuple(one[:VALUE_MOST] for one in telling[:VALUES_MOST])
        body = node.child_by_field_name("body")
        if body is not None:
            self.visit(body, is_fed=is_fed)

    def read_redirect(self, node: Node, is_fed: bool) -> None:
        """Note the file that a redirection names; a text that is fed is none."""
        self.visit_children(node, is_fed=is_fed)
        sign = next((one.type for one in node.children if one.type[-1:] in "<>&|"), "")
        named = tuple(
            word
            for one in node.children_by_field_name("destination")
            for word in self.words_of(one)
        )
        if sign in {"<", "<>"}:
            self.found.append(Command(reads=named, folder=self.folders[-1]))
        elif sign in {">", "&>", ">|"}:
            self.found.append(Command(writes=named, folder=self.folders[-1]))

    def read_heredoc(self, node: Node, _: bool) -> None:
        """Read a text within a line where a shell is fed it, else what is substituted in it."""
        before = max(0, len(self.found) - 1)
        body = next((one for one in node.named_children if one.type == "heredoc_body"), None)
        for child in node.named_children:
            if child.type != "heredoc_body":
                self.visit(child, is_fed=True)
        if body is None:
            return
        if any(one.program in SHELLS for one in self.found[before:]):
            self.read(_text(body))
        else:
            self.visit_children(body)

    def words_of(self, node: Node) -> tuple[str, ...]:
        """Return the words that a word stands for: one for each value of its variables."""
        match node.type:
            case "raw_string":
                return (_text(node)[1:-1],)
            case "ansi_c_string":
                return (_text(node)[2:-1],)
            case "command_substitution" | "process_substitution":
                return (UNKNOWN,)
            case "simple_expansion" | "expansion":
                names = [one for one in node.named_children if one.type == "variable_name"]
                is_plain = len(node.named_children) == len(names) == 1
                written = _text(node)
                return self.values.get(_text(names[0]), (written,)) if is_plain else (written,)
            case "string" | "concatenation" | "command_name":
                return self.combined(node)
            case _:
                return (_ESCAPED.sub(r"\1", _text(node)),)

    def combined(self, node: Node) -> tuple[str, ...]:
        """Return a word of several parts; what stands between them belongs to it."""
        source, start = node.text or b"", node.start_byte
        quotes = int(node.type == "string")
        at, found = quotes, [""]
        for child in node.named_children:
            gap = source[at : child.start_byte - start].decode()
            each = self.words_of(child) if child.type != "string_content" else (_text(child),)
            count = max(len(found), len(each))
            found = [
                found[place % len(found)] + gap + each[place % len(each)] for place in range(count)
            ]
            at = child.end_byte - start
        rest = source[at : len(source) - quotes].decode()
        return tuple(dict.fromkeys(one + rest for one in found))


_HANDLERS: Final[dict[str, Callable[[_Reader, Node, bool], None]]] = {
    "command": _Reader.read_command,
    "pipeline": _Reader.read_pipeline,
    "subshell": _Reader.read_subshell,
    "command_substitution": _Reader.read_subshell,
    "process_substitution": _Reader.read_subshell,
    "variable_assignment": _Reader.read_assignment,
    "for_statement": _Reader.read_loop,
    "file_redirect": _Reader.read_redirect,
    "heredoc_redirect": _Reader.read_heredoc,
    "ERROR": _Reader.read_error,
}


def _text(node: Node | None) -> str:
    return "" if node is None or node.text is None else node.text.decode()


def _unwrapped(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words of what runs, without what it is run through and told by the way."""
    wrapper, at = "", 0
    while at < len(words):
        word = words[at]
        name = word.rpartition("/")[2]
        is_assignment = "=" in word and word.partition("=")[0].isidentifier()
        if name in _WRAPPERS:
            wrapper = name
        elif wrapper and (word.startswith("-") or word[:1].isdigit()):
            at += takes_next(word=word, letters=_WRAPPERS[wrapper], names=_WRAPPER_NAMES)
        elif not is_assignment:
            return words[at:]
        at += 1
    return ()
