"""From a document to statements worth remembering, each with its type.

Every statement can be read alone: its headings and the sentence that leads to it come first, unless
its own words say them already. Its id is made of the file, the headings and the words, so a second
import of an unchanged document meets the same memories, and a change elsewhere in it moves none.

Boilerplate is left out. Types are told by the form of a statement, as those of agents are
(`memory.intake.classify`). No rule gives a layer-1 type: what a file says never becomes
constitutional.
"""

import ast
import hashlib
import re
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Final

from memory.intake import classify, integrate
from memory.taxonomy import MemoryType
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

_NUMBERING = re.compile(
    r"\A(?:(?:\d{1,2}|[A-Z])(?:\.\d+)*[.)]\s+|\d{1,2}(?:\.\d+)+\s+|step \d+[.:)]?\s*)",
    re.IGNORECASE,
)
_DECORATION = re.compile("[\U0001f000-\U0001faff\u2300-\u27bf\u2b00-\u2bff\ufe0f\u200d#]+")
_GENERIC = frozenset({
    "about", "additional notes", "basics", "background", "description", "details", "example",
    "examples", "features", "general", "getting started", "important", "info", "information",
    "intro", "introduction", "misc", "miscellaneous", "more", "note", "notes", "other", "overview",
    "readme", "rules", "summary", "tl;dr", "usage", "guidelines", "instructions",
})  # fmt: skip
_TITLED_BY_PROJECT = frozenset({
    "readme", "claude", "agents", "index", "gemini", ".cursorrules", "copilot-instructions",
})  # fmt: skip
_WORD = re.compile(r"[^\W_]{4,}")
_BOILERPLATE_SECTIONS = re.compile(
    r"(?:(?:the )?(?:mit|apache|bsd|gpl) )?licen[cs](?:e|ing)s?(?: .{0,30})?|copyright|contributors"
    r"|(?:our |all )?(?:contributors|sponsors|backers|supporters|authors?)|maintainers"
    r"|acknowledge?ments?|credits|thanks(?: to)?|(?:table of )?contents|toc|star history"
    r"|stargazers|change ?log|release (?:notes|history)|what'?s new|funding|donat(?:e|ions?)"
    r"|code of conduct|badges|(?:show )?your support|testimonials"
    r"|who uses .{0,40}|used by|translations|community|citations?|citing.{0,30}|in this document",
    re.IGNORECASE,
)
_BOILERPLATE_LINES = re.compile(
    r"(?:(?:\(c\)|copyright|©)|made with|built with (?:love|❤)|back to top"
    r"|this file provides guidance to|\|[\w-]+\||\.\. [\w_|]|⬆|t\.?b\.?d\b|coming soon"
    r"|n/?a$|none\.?$|this project is licensed|licensed under|distributed under|all rights reserved"
    r"|released under|see (?:the )?\W?license|if you (?:like|find) this|give (?:it|us) a star"
    r"|table of contents|this file is (?:auto|generated)|do not edit)",
    re.IGNORECASE,
)
_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"`[^`\n]+`")
_ADDRESS = re.compile(r"\w+://\S+")
_LETTERS = re.compile(r"[^\W\d_]{2,}")
_DRAWING = re.compile("[\u2500-\u257f]")


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
        headings = tuple(heading for heading in cleaned if heading)
        if any(_BOILERPLATE_SECTIONS.fullmatch(one.strip(" :")) for one in headings):
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
    return (
        purpose,
        *(
            replace(one, type=plain.get(one.type, one.type), line=one.line + offset)
            for one in essay
        ),
    )


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
    if is_too_little or _BOILERPLATE_LINES.match(text.strip(" *_-—\n")):
        return None
    before = (_context(headings, path, f"{lead} {text}"), lead)
    prefix = ": ".join(part for part in before if part)
    separator = ":\n" if text.startswith(("```", "1. ")) else ": "
    content = f"{prefix}{separator}{text}" if prefix else text
    if len(content) < integrate.MINIMUM_LENGTH:
        content = f"{headings[-1] if headings else PurePosixPath(path).name}: {content}"
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


def _context(headings: tuple[str, ...], path: str, said: str) -> str:
    """Return the headings that say something beyond the statement, as one line."""
    name = PurePosixPath(path).name.lower()
    is_titled_by_project = bool({name, name.partition(".")[0]} & _TITLED_BY_PROJECT)
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
