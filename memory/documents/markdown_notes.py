"""Markdown and plain text as statements worth remembering: rules files, notes of other tools.

Every statement can be read alone: its headings and the sentence that leads to it come first, unless
its own words say them already. Its id is made of the file, the headings and the words, so a second
import of an unchanged document meets the same memories, and a change elsewhere in it moves none.
Boilerplate is left out. Types are told by the form of a statement, as those of agents are
(`memory.intake.classify`). No rule gives a layer-1 type: what a file says never becomes
constitutional.

Obsidian's notes add tags and [[links]]; basic-memory's add observations,
`- [category] text #tag (context)`, and relations, `- relation_type [[Target]]` (their published
formats). What a link means between two notes is said of the first statement of each.

The head of a note, between two lines of `---`, is read for what notes really hold: `name: value`,
`name: [a, b]`, and a name followed by lines with dashes. Tried and dropped: a YAML reader. It
refuses what is common there (`globs: *.py`, `title: a: b`, `tags: #a`), and took 14 times as long
for the records of our own exports, which are JSON in one line.
"""

import ast
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Any, Final

from accounts.messages import message
from memory.documents.file_formats import (
    DocumentCandidate,
    DocumentReading,
    FileFault,
    FileFormat,
)
from memory.intake import classify, integrate
from memory.taxonomy import LinkKind, MemoryType
from memory.text import passages
from memory.text import text as texts
from memory.text.passages import Passage, PassageKind

LONGEST_CONTEXT: Final = 90  # characters of headings before a statement; default, not measured
LONGEST_LEAD: Final = 110  # characters of the sentence before a list; default, not measured
LONGEST_CONTENT: Final = 4_000  # characters of a statement; default, not measured
LONGEST_PATH: Final = 150  # characters of a path inside an id
MINIMUM_WORDS: Final = 3  # of two letters and more, with what leads to them; not measured
MINIMUM_OWN_WORDS: Final = 2  # default, not measured
BELOW: Final = " \u203a "  # between headings
DIGEST_LENGTH: Final = 16  # hexadecimal digits
LONGEST_HEAD: Final = 2_000_000  # characters searched for its end; an own memory has its versions
MOST_ITEMS: Final = 1_000  # of one list at the head; default, not measured
LONGEST_LINE: Final = 20_000  # characters; longer is no text somebody wrote; default, not measured
MOST_TAGS: Final = 64
LONGEST_TAG: Final = 64
LONGEST_ASIDE: Final = 200  # characters in parentheses at the end of an observation
_TABLES: Final = texts.read_tables(file=Path(__file__).with_name("tables") / "notes.toml")
CATEGORIES: Final = {
    category: MemoryType(type)
    for type, categories in _TABLES["categories"].items()
    for category in categories.split()
}
RELATIONS: Final = {
    relation: LinkKind(kind)
    for kind, relations in _TABLES["relations"].items()
    for relation in relations.split()
}
Link = tuple[str, str]  # its kind, and the key of the other note

_NUMBERING = re.compile(
    r"\A(?:(?:\d{1,2}|[A-Z])(?:\.\d+)*[.)]\s+|\d{1,2}(?:\.\d+)+\s+|step \d+[.:)]?\s*)",
    re.IGNORECASE,
)
_DECORATION = re.compile("[\U0001f000-\U0001faff\u2300-\u27bf\u2b00-\u2bff\ufe0f\u200d#]+")
_GENERIC: Final = frozenset(_TABLES["headings"]["generic"])
_TITLED_BY_PROJECT: Final = frozenset(_TABLES["headings"]["of_project"])
_WORD = re.compile(r"[^\W_]{4,}")
_BOILERPLATE: Final = texts.compile_patterns(table=_TABLES["boilerplate"])
_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"`[^`\n]+`")
_ADDRESS = re.compile(r"(?<!\w)\w+://\S+")  # tried once a word, or it costs a long one's square
_LETTERS = re.compile(r"[^\W\d_]{2,}")
_DRAWING = re.compile("[\u2500-\u257f]")
_OBSERVATION: Final = re.compile(r"\A[ \t]*[-*] \[([^\[\]\n]{2,40})\][ \t]+(\S.*)\Z")
_RELATION: Final = re.compile(r"\A[ \t]*[-*] ([A-Za-z][\w -]{0,60}?)[ \t]+\[\[([^\]\n]{1,200})\]\]")
_WIKILINK: Final = re.compile(
    r"!?\[\[([^\]\n|#^]{1,200})(?:[#^][^\]\n|]{0,200})?(?:\|([^\]\n]{1,200}))?\]\]"
)
_TAG: Final = re.compile(r"(?<![\w&/#`])#([^\W\d_][\w/-]{0,62}[\w])(?![\w`])")
_CODE: Final = re.compile(r"`[^`\n]*`")
_HEAD_START: Final = re.compile(r"\A---[ \t]*\n")
_HEAD_END: Final = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.MULTILINE)
_PAIR: Final = re.compile(r"\A([A-Za-z_][\w .-]{0,60}?)[ \t]*:(?:[ \t]+|\Z)(.*)\Z")
_LIST_ITEM: Final = re.compile(r"\A[ \t]*-[ \t]+(.*)\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One thing a document says: as it is stored, and where it stands."""

    content: str
    text: str
    type: MemoryType
    headings: tuple[str, ...]
    line: int
    external_id: str
    steps: tuple[str, ...] = ()


def read_document(*, text: str, path: str) -> tuple[Statement, ...]:
    """Read the statements of a Markdown or plain text document; `path` as the project sees it."""
    found: dict[str, Statement] = {}
    for passage in passages.read(text=text):
        cleaned = (
            _NUMBERING.sub("", _DECORATION.sub("", heading.text).strip()).strip(" :.")
            for heading in passage.headings
        )
        headings = tuple(filter(None, cleaned))
        if any(map(_BOILERPLATE["sections"].fullmatch, headings)):
            continue
        is_whole = passage.kind in {PassageKind.STEPS, PassageKind.ROW} or passage.code
        parts = (passage.text,) if is_whole else passages.group_sentences(text=passage.text)
        for part in parts:
            statement = _statement(part, passage, headings, path)
            if statement is not None:
                found.setdefault(statement.external_id, statement)
    return tuple(found.values())


def read_docstring(*, source: str, path: str) -> tuple[Statement, ...]:
    """Read the statements of a Python module's docstring; none when it has none.

    The first paragraph is what the module is for; the ones after it are read like a document whose
    heading is the file. Nothing is executed. Raises SyntaxError for what is not Python.
    """
    tree = ast.parse(source)
    docstring = ast.get_docstring(tree)
    if not docstring:
        return ()
    start = tree.body[0].lineno
    first, _, rest = docstring.partition("\n\n")
    text = texts.normalize(text=first)
    purpose = Statement(
        content=f"{path}: {text}",
        text=text,
        type=MemoryType.MODULE_INSIGHT,
        headings=(path,),
        line=start,
        external_id=statement_id(path=path, context="purpose", text=""),
    )
    paragraphs = (  # what is drawn with lines, such as an error tree, keeps its layout
        f"```\n{one}\n```" if _DRAWING.search(one) else one for one in rest.split("\n\n")
    )
    essay = read_document(text="\n\n".join((f"# {path}", *paragraphs)), path=path)
    offset = start + first.count("\n") - 1
    plain = {MemoryType.FACT: MemoryType.MODULE_INSIGHT}
    insights = (
        replace(one, type=plain.get(one.type, one.type), line=one.line + offset) for one in essay
    )
    return (purpose, *insights)


def statement_id(*, path: str, context: str, text: str) -> str:
    """Return the stable id of a statement: the path and a digest of what it says where."""
    told = "\x00".join((path, context, texts.normalize(text=text)))
    digest = hashlib.sha256(told.encode(errors="replace")).hexdigest()[:DIGEST_LENGTH]
    return f"{statement_ids(path=path)}{digest}"


def statement_ids(*, path: str) -> str:
    """Return what the ids of all statements of a document begin with."""
    return f"{path[-LONGEST_PATH:]}#"


def _statement(
    part: str, passage: Passage, headings: tuple[str, ...], path: str
) -> Statement | None:
    prose = _DECORATION.sub("", part[:3]).lstrip() + part[3:]
    text = "\n".join(piece for piece in (prose, *passage.code) if piece)
    lead = " — ".join(_shorten(words) for words in passage.lead)
    weight, beside = _weight(text), f"{' '.join(headings[1:])} {lead}"
    is_too_little = weight < MINIMUM_OWN_WORDS or weight + _weight(beside) < MINIMUM_WORDS
    if is_too_little or _is_boilerplate(text):
        return None
    content = _content(text, lead, headings, path)
    if len(content) > LONGEST_CONTENT:
        return None
    type = MemoryType.WORKFLOW_RECIPE
    if passage.kind is not PassageKind.STEPS:
        type, _ = classify.type_of(content=text)
    return Statement(
        content=content,
        text=text,
        type=type,
        headings=headings,
        line=passage.line,
        external_id=statement_id(path=path, context=BELOW.join((*headings, lead)), text=text),
        steps=passage.steps,
    )


def _is_boilerplate(text: str) -> bool:
    """Say whether a text is nobody's statement, or only leads to what stands elsewhere."""
    said = text.strip(" *_-—\n")
    if text.endswith(":") or _BOILERPLATE["lines"].match(said):
        return True
    is_one = len(passages.split_sentences(text=said)) == 1
    return is_one and _BOILERPLATE["signposts"].fullmatch(said) is not None


def _content(text: str, lead: str, headings: tuple[str, ...], path: str) -> str:
    """Return a passage behind what it stands under; a short one names its heading or file."""
    before = (_context(headings, path, f"{lead} {text}"), lead)
    prefix = ": ".join(part for part in before if part)
    separator = ":\n" if text.startswith(("```", "1. ")) else ": "
    content = f"{prefix}{separator}{text}" if prefix else text
    if len(content) >= integrate.MINIMUM_LENGTH:
        return content
    return f"{headings[-1] if headings else PurePosixPath(path).name}: {content}"


def _context(headings: tuple[str, ...], path: str, said: str) -> str:
    """Return the headings that say something beyond the statement, as one line."""
    name = PurePosixPath(path).name.lower()
    is_titled_by_project = "/" not in path and bool(
        {name, name.partition(".")[0]} & _TITLED_BY_PROJECT
    )
    own = headings[1:] if is_titled_by_project and len(headings) > 1 else headings
    known = _long_words(said)
    telling = [
        heading
        for heading in own
        if heading.lower() not in {*_GENERIC, name}
        and (_long_words(heading) - known or not _long_words(heading))
    ]
    if len(telling) > 2:
        telling = [telling[0], telling[-1]]
    whole = BELOW.join(telling)
    return whole if len(whole) <= LONGEST_CONTEXT else telling[-1][:LONGEST_CONTEXT]


def _long_words(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(text))


def _shorten(lead: str) -> str:
    last = lead if len(lead) <= LONGEST_LEAD else lead.partition(": ")[0]
    return last if len(last) <= LONGEST_LEAD else f"{last[: LONGEST_LEAD - 1].rsplit(' ', 1)[0]}…"


def _weight(text: str) -> int:
    """Count words, code spans and addresses; a fenced block alone is enough for a statement."""
    fences = MINIMUM_OWN_WORDS * len(_FENCE.findall(text))
    spans = len(_SPAN.findall(_FENCE.sub(" ", text)))
    addresses = len(_ADDRESS.findall(text))
    prose = _ADDRESS.sub(" ", _SPAN.sub(" ", _FENCE.sub(" ", text)))
    return fences + spans + addresses + len(_LETTERS.findall(prose))


def split_head(*, text: str) -> tuple[Mapping[str, Any], str, int]:
    """Return the fields at the head of a note, its body, and the line on which the body begins.

    Without a head, the body is everything.
    """
    opened = _HEAD_START.match(text)
    closed = _HEAD_END.search(text, opened.end(), opened.end() + LONGEST_HEAD) if opened else None
    if opened is None or closed is None:
        return {}, text, 1
    fields: dict[str, Any] = {}
    name = ""
    for line in text[opened.end() : closed.start()].split("\n"):
        pair = _PAIR.match(line)
        item = _LIST_ITEM.match(line)
        if pair is not None:
            name = pair[1].strip().lower()
            fields[name] = _read_value(pair[2].strip())
        elif item is not None and name:
            if not isinstance(fields[name], list):
                fields[name] = []
            if len(fields[name]) < MOST_ITEMS:
                fields[name].append(_unquote(item[1].strip()))
    return fields, text[closed.end() :], text.count("\n", 0, closed.end()) + 1


def read(*, name: str, text: str) -> DocumentReading:
    """Read a document of words."""
    lines, faults = text.split("\n"), list[FileFault]()
    for number, line in enumerate(lines, start=1):
        if len(line) > LONGEST_LINE:
            detail = message("The line has {count} characters; it was left out.", count=len(line))
            faults.append(FileFault(file=name, line=number, detail=detail))
            lines[number - 1] = ""
    text = "\n".join(lines)
    fields, body, first_line = split_head(text=text)
    observations, links, rest = _read_observations(name, body, first_line)
    said = read_document(text="\n" * (first_line - 1) + rest, path=name)
    found = [*observations, *(_candidate(one, name) for one in said)]
    found.sort(key=lambda one: one.line or 0)
    digest = hashlib.sha256(text.encode(errors="replace")).hexdigest()
    tags = _listed(fields.get("tags")) or _listed(fields.get("tag"))
    candidates = [
        replace(one, source_hash=digest, tags=_fitting((*tags, *one.tags))) for one in found
    ]
    if candidates:  # the first stands for the note: others link to it, and it to others
        named = (fields.get(field) for field in ("title", "aliases", "permalink"))
        keys = (PurePosixPath(name).stem, name, *chain.from_iterable(map(_listed, named)))
        first = candidates[0]
        candidates[0] = replace(
            first, keys=tuple(dict.fromkeys(map(_key, keys))), links=(*links, *first.links)
        )
    return DocumentReading.of_file(
        name=name,
        format=_format_of(fields, body, bool(observations), bool(links)),
        candidates=tuple(candidates),
        faults=tuple(faults),
    )


def _format_of(
    fields: Mapping[str, Any], body: str, has_observations: bool, has_relations: bool
) -> FileFormat:
    """Tell whose note it is, by its head and its lines."""
    if has_observations or (has_relations and "permalink" in fields):
        return FileFormat.BASIC_MEMORY
    is_plain = fields.keys().isdisjoint({"tags", "aliases"}) and not _WIKILINK.search(body)
    return FileFormat.MARKDOWN if is_plain else FileFormat.OBSIDIAN


def _read_observations(
    name: str, body: str, first_line: int
) -> tuple[tuple[DocumentCandidate, ...], tuple[Link, ...], str]:
    """Return what basic-memory's lines of a note say, its relations, and the note without them."""
    found, links, rest = [], [], []
    is_code = False
    for number, line in enumerate(body.split("\n"), start=first_line):
        if line.lstrip().startswith(("```", "~~~")):
            is_code = not is_code
        observation = None if is_code else _OBSERVATION.match(line)
        relation = None if is_code else _RELATION.match(line)
        if observation is not None:
            found.append(_observation(observation[1], observation[2], name, number))
        elif relation is not None:
            word = re.sub(r"[ -]+", "_", relation[1].strip().lower())
            known = RELATIONS.get(word, LinkKind.SEE_ALSO)
            links.append((known.value, _key(relation[2].partition("|")[0])))
        rest.append("" if observation or relation else line)
    return tuple(found), tuple(links), "\n".join(rest)


def _observation(category: str, said: str, name: str, line: int) -> DocumentCandidate:
    text = said.rstrip(" \t")  # divided from what stands in parentheses at its end
    start = text.rfind("(") if text.endswith(")") else -1
    context = text[start + 1 : -1]
    bare = text[:start].rstrip(" \t")
    if start < 0 or ")" in context or not 0 < len(context) <= LONGEST_ASIDE:
        bare, context = said, ""
    plain = _plain(_TAG.sub("", bare)).strip()
    about = f"{PurePosixPath(name).stem}: " if len(plain) < len(category) + 20 else ""
    word = category.strip().lower()
    return DocumentCandidate(
        content=f"{about}{plain}" + (f" ({context})" if context else ""),
        type=CATEGORIES[word].value if word in CATEGORIES else None,
        file=name,
        line=line,
        external_id=statement_id(path=name, context=word, text=plain),
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


def _links_in(text: str) -> tuple[Link, ...]:
    targets = dict.fromkeys(_key(match[1]) for match in _WIKILINK.finditer(text))
    return tuple((LinkKind.SEE_ALSO.value, target) for target in targets)


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
