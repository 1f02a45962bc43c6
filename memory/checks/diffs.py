"""A unified diff, read strictly: which files change how, and which lines come and go.

What `git diff`, `git show`, `git format-patch` and plain `diff -u` print. A hunk is read by the
counts of its head, so that a line of text that looks like a head is none, and a diff that was cut
short is noticed. Combined diffs of merges are refused, because they have no one side before.
Renames, new and deleted files, changes of mode, binary files, quoted paths, CRLF and a missing line
end are all known; what is between files, such as the message of a commit, is passed over.
"""

import re
from dataclasses import dataclass, field
from typing import Final

from accounts.errors import InvalidInput, wrong_field
from accounts.messages import message

FILES_MOST: Final = 500  # default, not measured
HUNKS_MOST: Final = 10_000  # default, not measured
LINE_MOST: Final = 11_000  # characters of a line that are kept: more than are checked
NOWHERE: Final = "/dev/null"
IN_PARTS: Final = "Send it in parts, and leave out what is generated."
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Hunk:
    """Lines that come and go in one place; `first` and `last` are lines of the file afterwards.

    Of a hunk that only takes lines away, both are the line behind which they stood.
    """

    first: int
    last: int
    added: tuple[str, ...]
    removed: tuple[str, ...]


@dataclass(slots=True, kw_only=True)
class ChangedFile:
    """One file: its path before and afterwards, and what comes and goes; `path` names it.

    `is_headed`: `---` and `+++` were read, so the next of them begin another file.
    """

    before: str = ""
    after: str = ""
    hunks: list[Hunk] = field(default_factory=list)
    is_headed: bool = False

    @property
    def path(self) -> str:
        """Its path afterwards; before, where it is deleted; empty where neither was read."""
        named = self.before if self.after in {"", NOWHERE} else self.after
        return "" if named == NOWHERE else named


class _Reader:
    """The lines of a diff, how far they are read, and the files that were found."""

    def __init__(self, *, text: str) -> None:
        self.lines = [line.removesuffix("\r") for line in text.split("\n")]
        self.at = 0
        self.files: list[ChangedFile] = []
        self.hunks = 0

    def step(self) -> None:
        """Read one line outside of hunks, or one hunk."""
        line = self.lines[self.at]
        following = self.lines[self.at + 1] if self.at + 1 < len(self.lines) else ""
        if _COMBINED.match(line):
            raise _refused(
                message("Line {line} begins a combined diff of a merge.", line=self.at + 1),
                hint="Compare with one parent: `git diff PARENT MERGE`.",
            )
        found = _GIT.match(line)
        if found is not None:
            before, after = _of_git(found.group("rest"))
            self._open(ChangedFile(before=before, after=after))
        elif line.startswith("--- ") and following.startswith("+++ "):
            self._read_head(_path_of(line[4:]), _path_of(following[4:]))
            self.at += 1
        elif line.startswith("@@ "):
            self._read_hunk(line)
            return
        elif self.files and not self.files[-1].hunks:
            if line.startswith(("rename from ", "copy from ")):
                self.files[-1].before = _path_of(line.split(" from ", 1)[1])
            elif line.startswith(("rename to ", "copy to ")):
                self.files[-1].after = _path_of(line.split(" to ", 1)[1])
        self.at += 1

    def _open(self, file: ChangedFile) -> ChangedFile:
        self.files.append(file)
        if len(self.files) > FILES_MOST:
            raise _refused(
                message("The diff changes more than {most} files.", most=FILES_MOST), hint=IN_PARTS
            )
        return file

    def _read_head(self, old: str, new: str) -> None:
        """Take paths of `---` and `+++`; without a head of git's before, they begin a file."""
        file = self.files[-1] if self.files else None
        if file is None or file.is_headed or file.hunks:
            file = self._open(ChangedFile())
        file.is_headed = True
        file.before, file.after = _without_prefixes(old, new)

    def _read_hunk(self, line: str) -> None:
        """Read a hunk with as many lines as its head counts."""
        found = _HUNK.match(line)
        if found is None or not self.files:
            raise _broken(self.at)
        self.hunks += 1
        if self.hunks > HUNKS_MOST:
            raise _refused(
                message("The diff has more than {most} hunks.", most=HUNKS_MOST), hint=IN_PARTS
            )
        olds, news = (int(found.group(name) or "1") for name in ("olds", "news"))
        start = int(found.group("new"))
        last = start + max(news - 1, 0)
        lines: dict[str, list[str]] = {"+": [], "-": [], " ": [], "\\": []}
        self.at += 1
        while olds > 0 or news > 0:
            if self.at >= len(self.lines):
                raise _broken(self.at - 1)
            line = self.lines[self.at]
            sign = line[:1] or " "
            is_last = self.at == len(self.lines) - 1 and not line
            if sign not in lines or is_last:
                raise _broken(self.at)
            olds -= sign in " -"
            news -= sign in " +"
            lines[sign].append(line[1 : LINE_MOST + 1])
            if olds < 0 or news < 0:
                raise _broken(self.at)
            self.at += 1
        added, removed = tuple(lines["+"]), tuple(lines["-"])
        self.files[-1].hunks.append(Hunk(first=start, last=last, added=added, removed=removed))


def read(*, text: str) -> tuple[ChangedFile, ...]:
    """Read a diff. Raises InvalidInput for what is none, is cut short, combined or too large."""
    reader = _Reader(text=text)
    while reader.at < len(reader.lines):
        reader.step()
    files = tuple(file for file in reader.files if file.path)
    if not files:
        raise _refused(
            message("This is no unified diff: it names no file."),
            hint="Send what `git diff` prints, all of it.",
        )
    return files


def _of_git(rest: str) -> tuple[str, str]:
    """Return the two paths behind `diff --git`; plain ones with spaces only where they are one."""
    if rest.startswith('"') or rest.endswith('"'):
        parts = re.findall(r'"(?:[^"\\]|\\.)*"|\S+', rest)
        return _without_prefixes(*map(_path_of, parts)) if len(parts) == 2 else ("", "")
    middle = len(rest) // 2
    one, other = rest[:middle], rest[middle + 1 :]
    is_one = _PREFIXED.sub("", one, 1) == _PREFIXED.sub("", other, 1)
    if rest[middle : middle + 1] == " " and is_one:
        return _without_prefixes(one, other)
    parts = rest.split(" ")
    return _without_prefixes(*parts) if len(parts) == 2 else ("", "")


def _path_of(text: str) -> str:
    """Return a path of a head: without a time behind it, with git's quotes taken off.

    Bytes of git's C style that are no UTF-8 become a sign for that.
    """
    if not text.startswith('"'):
        return text.partition("\t")[0].rstrip()
    quoted = re.match(r'"((?:[^"\\]|\\.)*)"', text)
    if quoted is None:
        return text

    def plain(match: re.Match[bytes]) -> bytes:
        sign = match.group(1)
        return _ESCAPES[sign] if sign in _ESCAPES else bytes([int(sign, 8) & 0xFF])

    found = _ESCAPED.sub(plain, quoted.group(1).encode("utf-8", "replace"))
    return found.decode("utf-8", "replace").replace("\x00", "")


def _without_prefixes(old: str, new: str) -> tuple[str, str]:
    """Take off `a/` and `b/`, unless both sides are the same path with it."""
    if old == new:
        return old, new
    return _PREFIXED.sub("", old, 1), _PREFIXED.sub("", new, 1)


def _broken(at: int) -> InvalidInput:
    return _refused(
        message("The diff cannot be read at line {line}: it is cut short or changed.", line=at + 1),
        hint="Send what `git diff` prints, all of it.",
    )


def _refused(detail: str, *, hint: str) -> InvalidInput:
    return wrong_field(pointer="/diff", detail=detail, hint=hint, code="diff")
