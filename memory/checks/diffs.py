"""A unified diff, read strictly: which files change how, and which lines come and go.

What `git diff`, `git show`, `git format-patch` and plain `diff -u` print. A hunk is read by the
counts of its head, so that a line of text that looks like a head is none, and a diff that was cut
short is noticed. Combined diffs of merges are refused, because they have no one side before.
Renames, new and deleted files, changes of mode, binary files, quoted paths, CRLF and a missing line
end are all known; what is between files, such as the message of a commit, is passed over.
"""

import re
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from accounts.errors import InvalidInput, wrong_field
from accounts.messages import message

FILES_MOST: Final = 500  # default, not measured
HUNKS_MOST: Final = 10_000  # default, not measured
LINE_MOST: Final = 11_000  # characters of a line that are kept: more than are checked
NOWHERE: Final = "/dev/null"
_GIT: Final = re.compile(r"diff --git (?P<rest>.+)\Z")
_COMBINED: Final = re.compile(r"diff --(?:cc|combined) |@@@+ ")
_HUNK: Final = re.compile(
    r"@@ -(?P<old>\d{1,9})(?:,(?P<olds>\d{1,9}))? \+(?P<new>\d{1,9})(?:,(?P<news>\d{1,9}))? @@"
)
_PREFIXED: Final = re.compile(r"[abciow12]/(?=.)")
_ESCAPED: Final = re.compile(rb'\\([0-7]{1,3}|[abtnvfr"\\])')
_ESCAPES: Final = {
    b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r",
    b'"': b'"', b"\\": b"\\",
}  # fmt: skip


class Change(StrEnum):
    """What becomes of a file."""

    CHANGED = "changed"
    ADDED = "added"
    DELETED = "deleted"
    RENAMED = "renamed"
    COPIED = "copied"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hunk:
    """Lines that come and go in one place; `first` and `last` are lines of the file afterwards.

    Of a hunk that only takes lines away, both are the line behind which they stood.
    """

    first: int
    last: int
    added: tuple[str, ...]
    removed: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedFile:
    """One file: its path afterwards (before, where it is deleted), and what comes and goes."""

    path: str
    before: str
    change: Change = Change.CHANGED
    is_binary: bool = False
    hunks: tuple[Hunk, ...] = ()


@dataclass(slots=True, kw_only=True)
class _File:
    """A file while it is read."""

    paths: tuple[str, str] = ("", "")
    change: Change = Change.CHANGED
    is_binary: bool = False
    hunks: list[Hunk] = field(default_factory=list)
    is_headed: bool = False


@dataclass(slots=True, kw_only=True)
class _Reader:
    """The state of reading."""

    lines: list[str]
    at: int = 0
    files: list[_File] = field(default_factory=list)
    hunks: int = 0


def read(*, text: str) -> tuple[ChangedFile, ...]:
    """Read a diff. Raises InvalidInput for what is none, is cut short, combined or too large."""
    reader = _Reader(lines=text.split("\n"))
    while reader.at < len(reader.lines):
        _step(reader)
    files = tuple(_changed_file(one) for one in reader.files)
    found = tuple(one for one in files if one.path)
    if not found:
        raise _refused(
            message("This is no unified diff: it names no file."),
            hint="Send what `git diff` prints, all of it.",
        )
    return found


def _step(reader: _Reader) -> None:
    """Read one line outside of hunks, or one hunk."""
    line = _bare(reader.lines[reader.at])
    if _COMBINED.match(line):
        raise _refused(
            message("Line {line} begins a combined diff of a merge.", line=reader.at + 1),
            hint="Compare with one parent: `git diff PARENT MERGE`.",
        )
    found = _GIT.match(line)
    if found is not None:
        _open(reader, _File(paths=_of_git(found.group("rest"))))
    elif line.startswith("--- ") and _next(reader).startswith("+++ "):
        _head(reader, line)
    elif line.startswith("@@ "):
        _hunk(reader, line)
        return
    elif reader.files and not reader.files[-1].hunks:
        _extend(reader.files[-1], line)
    reader.at += 1


def _open(reader: _Reader, file: _File) -> None:
    reader.files.append(file)
    if len(reader.files) > FILES_MOST:
        raise _refused(
            message("The diff changes more than {most} files.", most=FILES_MOST),
            hint="Send it in parts, and leave out what is generated.",
        )


def _head(reader: _Reader, line: str) -> None:
    """Read `---` and `+++`; without a head of git's before them they begin a file themselves."""
    old, new = _named(line[4:]), _named(_next(reader)[4:])
    file = reader.files[-1] if reader.files else None
    if file is None or file.is_headed or file.hunks:
        file = _File()
        _open(reader, file)
    file.is_headed = True
    file.paths = _without_prefixes(old, new)
    if old == NOWHERE:
        file.change = Change.ADDED
    elif new == NOWHERE:
        file.change = Change.DELETED
    reader.at += 1


def _extend(file: _File, line: str) -> None:
    """Read a line of git's extended head."""
    for begins, change, place in (
        ("rename from ", Change.RENAMED, 0),
        ("rename to ", Change.RENAMED, 1),
        ("copy from ", Change.COPIED, 0),
        ("copy to ", Change.COPIED, 1),
    ):
        if line.startswith(begins):
            path = _named(line[len(begins) :])
            file.paths = (path, file.paths[1]) if place == 0 else (file.paths[0], path)
            file.change = change
    if line.startswith("new file mode "):
        file.change = Change.ADDED
    elif line.startswith("deleted file mode "):
        file.change = Change.DELETED
    elif line.startswith(("Binary files ", "GIT binary patch")):
        file.is_binary = True


def _hunk(reader: _Reader, line: str) -> None:
    """Read a hunk with as many lines as its head counts."""
    found = _HUNK.match(line)
    if found is None or not reader.files:
        raise _broken(reader.at)
    reader.hunks += 1
    if reader.hunks > HUNKS_MOST:
        raise _refused(
            message("The diff has more than {most} hunks.", most=HUNKS_MOST),
            hint="Send it in parts, and leave out what is generated.",
        )
    olds, news = (int(found.group(name) or "1") for name in ("olds", "news"))
    start = int(found.group("new"))
    reader.at += 1
    added, removed = _body(reader, olds, news)
    last = start + max(news - 1, 0)
    reader.files[-1].hunks.append(Hunk(first=start, last=last, added=added, removed=removed))


def _body(reader: _Reader, olds: int, news: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    added: list[str] = []
    removed: list[str] = []
    while olds > 0 or news > 0:
        if reader.at >= len(reader.lines):
            raise _broken(reader.at - 1)
        line = _bare(reader.lines[reader.at])
        sign, rest = line[:1] or " ", line[1 : LINE_MOST + 1]
        is_last = reader.at == len(reader.lines) - 1 and not line
        if sign not in " +-\\" or is_last:
            raise _broken(reader.at)
        olds -= sign in " -"
        news -= sign in " +"
        if sign == "+":
            added.append(rest)
        elif sign == "-":
            removed.append(rest)
        if olds < 0 or news < 0:
            raise _broken(reader.at)
        reader.at += 1
    return tuple(added), tuple(removed)


def _changed_file(file: _File) -> ChangedFile:
    old, new = file.paths
    path = old if file.change is Change.DELETED or new in {"", NOWHERE} else new
    made = ChangedFile(path="" if path == NOWHERE else path, before=old)
    return replace(made, change=file.change, is_binary=file.is_binary, hunks=tuple(file.hunks))


def _of_git(rest: str) -> tuple[str, str]:
    """Return the two paths behind `diff --git`; plain ones with spaces only where they are one."""
    if rest.startswith('"') or rest.endswith('"'):
        parts = re.findall(r'"(?:[^"\\]|\\.)*"|\S+', rest)
        return _without_prefixes(*map(_named, parts)) if len(parts) == 2 else ("", "")
    middle = len(rest) // 2
    one, other = rest[:middle], rest[middle + 1 :]
    if rest[middle : middle + 1] == " " and _PREFIXED.sub("", one, 1) == _PREFIXED.sub(
        "", other, 1
    ):
        return _without_prefixes(one, other)
    parts = rest.split(" ")
    return _without_prefixes(*parts) if len(parts) == 2 else ("", "")


def _named(text: str) -> str:
    """Return a path of a head: without a time behind it, with git's quotes taken off."""
    bare = text.rstrip("\r")
    if bare.startswith('"'):
        quoted = re.match(r'"((?:[^"\\]|\\.)*)"', bare)
        return _unescaped(quoted.group(1)) if quoted else bare
    return bare.partition("\t")[0].rstrip()


def _unescaped(text: str) -> str:
    """Return what git's C style stands for; bytes that are no UTF-8 become a sign for that."""

    def plain(match: re.Match[bytes]) -> bytes:
        sign = match.group(1)
        return _ESCAPES[sign] if sign in _ESCAPES else bytes([int(sign, 8) & 0xFF])

    return (
        _ESCAPED.sub(plain, text.encode("utf-8", "replace"))
        .decode("utf-8", "replace")
        .replace("\x00", "")
    )


def _without_prefixes(old: str, new: str) -> tuple[str, str]:
    """Take off `a/` and `b/`, unless both sides are the same path with it."""
    if old == new:
        return old, new
    return _PREFIXED.sub("", old, 1), _PREFIXED.sub("", new, 1)


def _next(reader: _Reader) -> str:
    return _bare(reader.lines[reader.at + 1]) if reader.at + 1 < len(reader.lines) else ""


def _bare(line: str) -> str:
    return line.removesuffix("\r")


def _broken(at: int) -> InvalidInput:
    return _refused(
        message("The diff cannot be read at line {line}: it is cut short or changed.", line=at + 1),
        hint="Send what `git diff` prints, all of it.",
    )


def _refused(detail: str, *, hint: str) -> InvalidInput:
    return wrong_field(pointer="/diff", detail=detail, hint=hint, code="diff")
