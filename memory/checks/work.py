"""Work to check as parts: the steps of a plan, the changed places of a unified diff.

A plan is Markdown or plain sentences. An item of a list is a step with the lines that belong to it,
a heading is one, and where there is no list each paragraph is taken by its sentences. Steps are
counted from 1, whatever numbers the plan gives them.

A diff is what `git diff`, `git show`, `git format-patch` and plain `diff -u` print, read strictly.
A hunk is read by the counts of its head, so that a line of text that looks like a head is none, and
a diff that was cut short is noticed. Combined diffs of merges are refused, because they have no one
side before. Renames, new and deleted files, changes of mode, binary files, quoted paths, CRLF and a
missing line end are all known; what is between files, such as the message of a commit, is passed
over.

A part knows its location, what it is for, what it takes away and which files it is about; a plan
has that in words, a diff in lines that are added and removed.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from accounts.errors import InvalidInput, wrong_field
from accounts.messages import message
from memory.extraction import extract
from memory.records import statement_clauses
from memory.sessions import file_paths, tools

STEPS_MOST: Final = 60  # that are checked; this and what follows: defaults, not measured
STEP_MOST: Final = 2_000  # characters of a step that are checked
BEGIN_MOST: Final = 400  # characters of a line in which an item or a heading begins
LINE_MOST: Final = 1_000  # characters of a line that are checked
PLACE_MOST: Final = 8_000  # characters of a changed place that are checked
PROSE: Final = (".md", ".mdx", ".rst", ".txt", ".adoc")
QUESTION_MOST: Final = 60  # words of code that are searched for
_ITEM: Final = re.compile(
    r"\s{0,40}(?:[-*+\u2022]|\(?\d{1,4}[.)]|[a-zA-Z][.)]|(?:step|étape)\s+\d{1,4}\s*[:.)-])\s+"
    r"(?:\[[ xX]\]\s+)?(?P<text>\S)",
    re.IGNORECASE,
)
_HEADING: Final = re.compile(r"\s{0,3}#{1,6}\s+(?P<text>\S)")
_FENCE: Final = re.compile(r"\s*(?:```|~~~)")
_RULE: Final = re.compile(r"\s*(?:[-*_=]\s*){3,}\Z")
_TEST_RUN: Final = re.compile(
    r"\W*(?:re-?)?run(?: all| the| our| its)* (?:\w+ )?tests?\b", re.IGNORECASE
)
_SENTENCES: Final = re.compile(r"(?<=[.!?])\s+(?=[^\W\d_a-z])")
FILES_MOST: Final = 500  # default, not measured
HUNKS_MOST: Final = 10_000  # default, not measured
LINE_KEPT: Final = 11_000  # characters of a line that are kept: more than are checked
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
    """Lines that come and go in one place of a file."""

    first: int  # line of the file afterwards
    last: int  # where lines only go, both are the line behind which they stood
    added: tuple[str, ...]
    removed: tuple[str, ...]


@dataclass(slots=True, kw_only=True)
class ChangedFile:
    """One file: its path before and afterwards, and what comes and goes."""

    before: str = ""
    after: str = ""
    hunks: list[Hunk] = field(default_factory=list)
    is_headed: bool = False  # `---` and `+++` were read: the next of them begin another file

    @property
    def path(self) -> str:
        """Its path afterwards; before, where it is deleted; empty where neither was read."""
        named = self.before if self.after in {"", NOWHERE} else self.after
        return "" if named == NOWHERE else named


@dataclass(frozen=True, slots=True, kw_only=True)
class PartLocation:
    """A step and its line in the plan, or lines of a file."""

    step: int = 0
    file: str = ""
    first_line: int = 0
    last_line: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkPart:
    """One part: its location, its text, and what the text comes to.

    `stems` are those of all of it, `proposes` those of what it is for, `named` the names among
    them, `identifiers` those of code as they are written, `taken` the stems of each thing that it
    takes away, `values` its numbers by their unit, `files` the paths it is about. `is_code` parts
    are lines of a file, rarely sentences; one that `runs_tests` does nothing else.
    """

    place: PartLocation
    text: str
    stems: frozenset[str]
    proposes: frozenset[str]
    named: frozenset[str]
    taken: tuple[frozenset[str], ...] = ()
    values: Mapping[str, frozenset[str]] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    identifiers: frozenset[str] = frozenset()
    is_code: bool = False
    runs_tests: bool = False


@dataclass(slots=True, kw_only=True)
class _Block:
    """An item, a heading or a paragraph, with the lines that belong to it."""

    line: int
    is_paragraph: bool
    lines: list[str]


def read_plan(*, text: str) -> tuple[tuple[WorkPart, ...], int]:
    """Return the steps of a plan that are checked, as parts, and how many are not."""
    found = []
    for block in _blocks(text):
        whole = " ".join(" ".join(block.lines).split())
        sentences = _SENTENCES.split(whole) if block.is_paragraph else [whole]
        found += [(block.line, one) for one in sentences if any(map(str.isalpha, one))]
    steps = tuple(
        _of_step(number, line, step[:STEP_MOST])
        for number, (line, step) in enumerate(found[:STEPS_MOST], start=1)
    )
    return steps, max(0, len(found) - STEPS_MOST)


def read_diff(*, text: str) -> tuple[ChangedFile, ...]:
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


def of_file(*, file: ChangedFile) -> tuple[WorkPart, ...]:
    """Return the changed places of a file; one without a line where none of it is text.

    Its lines are without secrets: here they are cut, and half a secret is not recognized.
    """
    found = tuple(_of_hunk(file, hunk) for hunk in file.hunks)
    if found:
        return found
    part = WorkPart(
        place=PartLocation(file=file.path),
        text="",
        stems=statement_clauses.stems(text=file.path),
        proposes=frozenset(),
        named=frozenset(),
        files=_paths(file),
        is_code=True,
    )
    return (part,)


def question(*, files: tuple[str, ...], text: str) -> str:
    """Return what to search for, for a changed file: its paths and the words of its code."""
    return " ".join((*files, *statement_clauses.compounds(text=text)[:QUESTION_MOST]))


def _blocks(text: str) -> list[_Block]:
    blocks: list[_Block] = []
    is_open = in_fence = False
    for number, line in enumerate(text.splitlines(), start=1):
        if _FENCE.match(line):
            in_fence = not in_fence
            continue
        begun = None if in_fence else _begin(number, line)
        is_gap = not in_fence and (not line.strip() or _RULE.match(line) is not None)
        if begun is not None:
            blocks.append(begun)
        elif is_open and not is_gap:
            blocks[-1].lines.append(line)
        elif not is_gap:
            blocks.append(_Block(line=number, is_paragraph=True, lines=[line]))
        is_open = not is_gap
    return blocks


def _begin(number: int, line: str) -> _Block | None:
    """Return the block that a line begins, None where it continues another."""
    heading = _HEADING.match(line, 0, BEGIN_MOST)
    found = heading or _ITEM.match(line, 0, BEGIN_MOST)
    if found is None or _RULE.match(line):
        return None
    text = line[found.start("text") :]
    text = text.rstrip().rstrip("#") if heading else text
    return _Block(line=number, is_paragraph=False, lines=[text])


def _of_step(number: int, line: int, text: str) -> WorkPart:
    said = statement_clauses.read(text=text)
    files = (file_paths.relative(path=path, root="") for path in extract.files_in(text=text))
    return WorkPart(
        place=PartLocation(step=number, first_line=line, last_line=line),
        text=text,
        stems=statement_clauses.stems(text=text),
        proposes=statement_clauses.stems(text=said.affirmed),
        named=statement_clauses.names(text=said.affirmed),
        taken=tuple(found for one in said.taken if (found := statement_clauses.stems(text=one))),
        values=statement_clauses.quantities(text=said.affirmed),
        files=tuple(dict.fromkeys(files)),
        identifiers=statement_clauses.identifiers(text=said.affirmed),
        runs_tests=_TEST_RUN.match(text) is not None or tools.names_a_test_run(text=text),
    )


def _of_hunk(file: ChangedFile, hunk: Hunk) -> WorkPart:
    added, removed = (
        "\n".join(line[:LINE_MOST] for line in lines)[:PLACE_MOST]
        for lines in (hunk.added, hunk.removed)
    )
    before, after = statement_clauses.stems(text=removed), statement_clauses.stems(text=added)
    gone = statement_clauses.names(text=removed) - after
    is_prose = file.path.endswith(PROSE)  # which may say what one must not use
    meant = statement_clauses.read(text=added).affirmed if is_prose else added
    return WorkPart(
        place=PartLocation(file=file.path, first_line=hunk.first, last_line=hunk.last),
        text=added,
        stems=before | after | statement_clauses.stems(text=file.path),
        proposes=statement_clauses.stems(text=meant) - before,
        named=statement_clauses.names(text=added) - before,
        identifiers=statement_clauses.identifiers(text=meant)
        - statement_clauses.identifiers(text=removed),
        taken=(gone,) if gone else (),
        files=_paths(file),
        is_code=True,
    )


def _paths(file: ChangedFile) -> tuple[str, ...]:
    """Return the paths that a file has and had."""
    return tuple(path for path in dict.fromkeys((file.path, file.before)) if path)


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
        following = "".join(self.lines[self.at + 1 : self.at + 2])
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

    def _read_hunk_head(self, line: str) -> tuple[int, int, int]:
        """Return where a hunk begins in the new file, and how many old and new lines it has."""
        found = _HUNK.match(line)
        if found is None or not self.files:
            raise _broken(self.at)
        self.hunks += 1
        if self.hunks > HUNKS_MOST:
            raise _refused(
                message("The diff has more than {most} hunks.", most=HUNKS_MOST), hint=IN_PARTS
            )
        olds, news = (int(found.group(name) or "1") for name in ("olds", "news"))
        return int(found.group("new")), olds, news

    def _read_hunk(self, line: str) -> None:
        """Read a hunk with as many lines as its head counts."""
        start, olds, news = self._read_hunk_head(line)
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
            lines[sign].append(line[1 : LINE_KEPT + 1])
            if olds < 0 or news < 0:
                raise _broken(self.at)
            self.at += 1
        added, removed = tuple(lines["+"]), tuple(lines["-"])
        self.files[-1].hunks.append(Hunk(first=start, last=last, added=added, removed=removed))


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
