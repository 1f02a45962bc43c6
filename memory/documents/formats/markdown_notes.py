"""Markdown and plain text as candidates: rules files, Obsidian's and basic-memory's notes.

Statements are found as in every document (`memory.documents.statements`). Obsidian's notes add tags
and [[links]]; basic-memory's add observations, `- [category] text #tag (context)`, and relations,
`- relation_type [[Target]]` (their published formats). What a link means between two notes is said
of the first statement of each.

The head of a note, between two lines of `---`, is read for what notes really hold: `name: value`,
`name: [a, b]`, and a name followed by lines with dashes. Tried and dropped: a YAML reader. It
refuses what is common there (`globs: *.py`, `title: a: b`, `tags: #a`), and took 14 times as long
for the records of our own exports, which are JSON in one line.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any, Final

from accounts.messages import message
from memory.documents import statements
from memory.documents.candidates import (
    CandidateLink,
    DocumentCandidate,
    DocumentReading,
    FileFault,
    FileFormat,
)
from memory.documents.statements import Statement
from memory.taxonomy import LinkKind, MemoryType

LONGEST_HEAD: Final = 2_000_000  # characters searched for its end; an own memory has its versions
MOST_ITEMS: Final = 1_000  # of one list at the head; default, not measured
LONGEST_LINE: Final = 20_000  # characters; longer is no text somebody wrote; default, not measured
MOST_TAGS: Final = 64
LONGEST_TAG: Final = 64
LONGEST_CONTEXT: Final = 200  # characters in parentheses at the end of an observation
CATEGORIES: Final[Mapping[str, MemoryType]] = {  # basic-memory's customary ones
    "decision": MemoryType.DECISION,
    "requirement": MemoryType.REQUIREMENT,
    "preference": MemoryType.PREFERENCE,
    "fact": MemoryType.FACT,
    "gotcha": MemoryType.GOTCHA,
    "warning": MemoryType.GOTCHA,
    "issue": MemoryType.GOTCHA,
    "problem": MemoryType.ERROR_PATTERN,
    "bug": MemoryType.ERROR_PATTERN,
    "fix": MemoryType.FIX,
    "solution": MemoryType.FIX,
    "technique": MemoryType.PATTERN,
    "pattern": MemoryType.PATTERN,
    "method": MemoryType.PATTERN,
    "tool": MemoryType.TOOL,
    "reference": MemoryType.REFERENCE,
    "resource": MemoryType.REFERENCE,
    "design": MemoryType.DECISION,
    "convention": MemoryType.REQUIREMENT,
}
RELATIONS: Final[Mapping[str, LinkKind]] = {
    "depends_on": LinkKind.DEPENDS_ON,
    "requires": LinkKind.DEPENDS_ON,
    "contradicts": LinkKind.CONTRADICTS,
    "extends": LinkKind.EXTEND,
    "caused_by": LinkKind.CAUSED_BY,
    "resolved_by": LinkKind.RESOLVED_BY,
    "supersedes": LinkKind.EXTEND,  # what a note says of another retires nothing
    "derived_from": LinkKind.DERIVE,
    "validates": LinkKind.VALIDATES,
}
_OBSERVATION: Final = re.compile(r"\A[ \t]*[-*] \[([^\[\]\n]{2,40})\][ \t]+(\S.*)\Z")
_RELATION: Final = re.compile(r"\A[ \t]*[-*] ([A-Za-z][\w -]{0,60}?)[ \t]+\[\[([^\]\n]{1,200})\]\]")
_WIKILINK: Final = re.compile(
    r"!?\[\[([^\]\n|#^]{1,200})(?:[#^][^\]\n|]{0,200})?(?:\|([^\]\n]{1,200}))?\]\]"
)
_TAG: Final = re.compile(r"(?<![\w&/#`])#([^\W\d_][\w/-]{0,62}[\w])(?![\w`])")
_CODE: Final = re.compile(r"`[^`\n]*`")
_HEAD_START: Final = re.compile(r"\A---[ \t]*\n")
_HEAD_END: Final = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.MULTILINE)
_PAIR: Final = re.compile(r"\A([A-Za-z_][\w .-]{0,60}?)[ \t]*:(?:[ \t]+(.*))?\Z")
_LIST_ITEM: Final = re.compile(r"\A[ \t]*-[ \t]+(.*)\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteText:
    """A note: the fields at its head, its body, and the line on which the body begins."""

    fields: Mapping[str, Any]
    body: str
    first_line: int


def split_head(*, text: str) -> NoteText:
    """Split a note; without a head, the body is everything."""
    opened = _HEAD_START.match(text)
    closed = _HEAD_END.search(text, opened.end(), opened.end() + LONGEST_HEAD) if opened else None
    if opened is None or closed is None:
        return NoteText(fields={}, body=text, first_line=1)
    fields: dict[str, Any] = {}
    name = ""
    for line in text[opened.end() : closed.start()].split("\n"):
        pair = _PAIR.match(line)
        item = _LIST_ITEM.match(line)
        if pair is not None:
            name = pair[1].strip().lower()
            fields[name] = _read_value((pair[2] or "").strip())
        elif item is not None and name:
            if not isinstance(fields[name], list):
                fields[name] = []
            if len(fields[name]) < MOST_ITEMS:
                fields[name].append(_unquote(item[1].strip()))
    return NoteText(
        fields=fields,
        body=text[closed.end() :],
        first_line=text.count("\n", 0, closed.end()) + 1,
    )


def read(*, name: str, text: str) -> DocumentReading:
    """Read a document of words."""
    lines = text.split("\n")
    faults = []
    for number, line in enumerate(lines, start=1):
        if len(line) > LONGEST_LINE:
            detail = message("The line has {count} characters; it was left out.", count=len(line))
            faults.append(FileFault(file=name, line=number, detail=detail))
            lines[number - 1] = ""
    text = "\n".join(lines)
    note = split_head(text=text)
    observations, links, rest = _read_observations(name, note)
    format = FileFormat.MARKDOWN
    if observations or (links and "permalink" in note.fields):
        format = FileFormat.BASIC_MEMORY
    elif {"tags", "aliases"} & set(note.fields) or _WIKILINK.search(note.body):
        format = FileFormat.OBSIDIAN
    below = "\n" * (note.first_line - 1)
    said = statements.read_document(text=below + rest, path=name)
    found = (*observations, *(_candidate(one, name) for one in said))
    digest = hashlib.sha256(text.encode(errors="replace")).hexdigest()
    candidates = (replace(one, source_hash=digest) for one in _share(name, note, found, links))
    return DocumentReading.of_file(
        name=name, format=format, candidates=tuple(candidates), faults=tuple(faults)
    )


def _read_observations(
    name: str, note: NoteText
) -> tuple[tuple[DocumentCandidate, ...], tuple[CandidateLink, ...], str]:
    """Return what basic-memory's lines of a note say, its relations, and the note without them."""
    found, links, rest = [], [], []
    is_code = False
    for number, line in enumerate(note.body.split("\n"), start=note.first_line):
        if line.lstrip().startswith(("```", "~~~")):
            is_code = not is_code
        observation = None if is_code else _OBSERVATION.match(line)
        relation = None if is_code else _RELATION.match(line)
        if observation is not None:
            found.append(_observation(observation[1], observation[2], name, number))
        elif relation is not None:
            word = re.sub(r"[ -]+", "_", relation[1].strip().lower())
            known = RELATIONS.get(word, LinkKind.SEE_ALSO)
            target = _key(relation[2].partition("|")[0])
            links.append(CandidateLink(kind=known.value, target=target))
        rest.append("" if observation or relation else line)
    return tuple(found), tuple(links), "\n".join(rest)


def _observation(category: str, said: str, name: str, line: int) -> DocumentCandidate:
    text = said.rstrip(" \t")  # divided from what stands in parentheses at its end
    start = text.rfind("(") if text.endswith(")") else -1
    context = text[start + 1 : -1]
    bare = text[:start].rstrip(" \t")
    if start < 0 or ")" in context or not 0 < len(context) <= LONGEST_CONTEXT:
        bare, context = said, ""
    plain = _plain(_TAG.sub("", bare)).strip()
    about = f"{PurePosixPath(name).stem}: " if len(plain) < len(category) + 20 else ""
    word = category.strip().lower()
    return DocumentCandidate(
        content=f"{about}{plain}" + (f" ({context})" if context else ""),
        type=CATEGORIES[word].value if word in CATEGORIES else None,
        file=name,
        line=line,
        external_id=statements.statement_id(path=name, context=word, text=plain),
        tags=_fitting((*_tags_in(bare), word.replace(" ", "-"))),
        links=_links_in(bare),
        source_uri=name,
        source_line=line,
    )


def _candidate(one: Statement, name: str) -> DocumentCandidate:
    steps = tuple(
        {"order": order, "description": step[:500]} for order, step in enumerate(one.steps, start=1)
    )
    is_recipe = one.type is MemoryType.WORKFLOW_RECIPE and bool(steps)
    title = one.headings[-1] if one.headings else PurePosixPath(name).stem
    return DocumentCandidate(
        content=_plain(one.content),
        type=one.type.value if is_recipe or one.type is not MemoryType.WORKFLOW_RECIPE else None,
        attributes={"task_pattern": title, "steps": list(steps)} if is_recipe else {},
        file=name,
        line=one.line,
        external_id=one.external_id,
        tags=_tags_in(_CODE.sub("", one.text)),
        links=_links_in(one.text),
        source_uri=name,
        source_line=one.line,
    )


def _share(
    name: str,
    note: NoteText,
    found: tuple[DocumentCandidate, ...],
    links: tuple[CandidateLink, ...],
) -> tuple[DocumentCandidate, ...]:
    """Give what is said of the whole note to its statements: tags to all, links to the first."""
    tags = _listed(note.fields.get("tags")) or _listed(note.fields.get("tag"))
    in_order = sorted(found, key=lambda one: one.line or 0)
    tagged = [replace(one, tags=_fitting((*tags, *one.tags))) for one in in_order]
    if not tagged:
        return ()
    titles = (PurePosixPath(name).stem, name, *_listed(note.fields.get("title")))
    keys = (*titles, *_listed(note.fields.get("aliases")), *_listed(note.fields.get("permalink")))
    first = tagged[0]
    tagged[0] = replace(
        first,
        keys=tuple(dict.fromkeys(_key(key) for key in keys)),
        links=(*links, *first.links),
    )
    return tuple(tagged)


def _links_in(text: str) -> tuple[CandidateLink, ...]:
    targets = dict.fromkeys(_key(match[1]) for match in _WIKILINK.finditer(text))
    return tuple(CandidateLink(kind=LinkKind.SEE_ALSO.value, target=target) for target in targets)


def _plain(text: str) -> str:
    """Return a text with [[links]] as the words that readers see."""
    return _WIKILINK.sub(lambda match: match[2] or match[1], text)


def _key(title: str) -> str:
    """Return the key of a note: the last part of its path without its ending, in small letters."""
    return PurePosixPath(title.strip()).name.removesuffix(".md").strip().lower()[:200]


def _tags_in(text: str) -> tuple[str, ...]:
    return _fitting(tuple(match[1].lower() for match in _TAG.finditer(_CODE.sub("", text))))


def _fitting(tags: tuple[str, ...]) -> tuple[str, ...]:
    whole = dict.fromkeys(tag.strip().lstrip("#").lower() for tag in tags)
    return tuple(tag for tag in whole if 0 < len(tag) <= LONGEST_TAG)[:MOST_TAGS]


def _listed(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(part for part in re.split(r"[,\s]+", value) if part)
    if isinstance(value, list):
        return tuple(str(part) for part in value if isinstance(part, str | int))
    return ()


def _read_value(text: str) -> Any:
    """Return JSON as JSON, since our own exports write it, and `[a, b]` as a list."""
    if text[:1] in {"[", "{", '"'}:
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            is_list = text.startswith("[") and text.endswith("]") and not text.startswith("[[")
            if not is_list:
                return text
            return [_unquote(part.strip()) for part in text[1:-1].split(",") if part.strip()]
    return _unquote(text)


def _unquote(text: str) -> str:
    is_quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1] if is_quoted else text
