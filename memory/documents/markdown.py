"""From a document to statements worth remembering: the importer's decisions.

Every statement can be read alone: its headings and the sentence that leads to it come first, unless
its own words say them already. Its id is made of the file, the headings and the words, so a second
import of an unchanged document meets the same memories, and a change elsewhere in it moves none.
"""

import hashlib
import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from memory.documents import boilerplate, document_types
from memory.records import gates
from memory.taxonomy import MemoryType
from memory.text import passages, sentences
from memory.text import text as texts
from memory.text.passages import Passage, PassageKind

LONGEST_CONTEXT = 90  # characters of headings before a statement, ours
LONGEST_LEAD = 110  # characters of the sentence that leads to a list, ours
LONGEST_CONTENT = 4_000  # characters; what is longer is no atomic statement, ours
LONGEST_PATH = 150  # characters of a path inside an id
BELOW = " \u203a "  # between headings
DIGEST_LENGTH = 16  # hexadecimal digits

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


def read(*, text: str, path: str) -> tuple[Statement, ...]:
    """Read the statements of a Markdown or plain text document; `path` as the project sees it."""
    found: dict[str, Statement] = {}
    for passage in passages.read(text=text):
        headings = _headings(passage)
        if any(boilerplate.is_section(heading=heading) for heading in headings):
            continue
        for part in _parts(passage):
            statement = _statement(part, passage, headings, path)
            if statement is not None:
                found.setdefault(statement.external_id, statement)
    return tuple(found.values())


def statement_id(*, path: str, context: str, text: str) -> str:
    """Return the stable id of a statement: the path and a digest of what it says where."""
    told = "\x00".join((path, context, texts.normalized(text=text)))
    digest = hashlib.sha256(told.encode(errors="replace")).hexdigest()[:DIGEST_LENGTH]
    return f"{statement_ids(path=path)}{digest}"


def statement_ids(*, path: str) -> str:
    """Return what the ids of all statements of a document begin with."""
    return f"{path[-LONGEST_PATH:]}#"


def _parts(passage: Passage) -> tuple[str, ...]:
    is_whole = passage.kind in {PassageKind.STEPS, PassageKind.ROW} or passage.code
    return (passage.text,) if is_whole else sentences.grouped(text=passage.text)


def _statement(
    part: str, passage: Passage, headings: tuple[str, ...], path: str
) -> Statement | None:
    prose = _DECORATION.sub("", part[:3]).lstrip() + part[3:]
    text = "\n".join(piece for piece in (prose, *passage.code) if piece)
    lead = " — ".join(_shortened(words) for words in passage.lead)
    if boilerplate.is_text(text=text, context=f"{' '.join(headings[1:])} {lead}"):
        return None
    context = _context(headings, path, f"{lead} {text}")
    content = _joined((context, lead), text)
    if len(content) < gates.MINIMUM_LENGTH:
        content = f"{headings[-1] if headings else PurePosixPath(path).name}: {content}"
    if len(content) > LONGEST_CONTENT:
        return None
    return Statement(
        content=content,
        text=text,
        type=_type(prose, passage, headings),
        headings=headings,
        line=passage.line,
        external_id=statement_id(path=path, context=BELOW.join((*headings, lead)), text=text),
        steps=passage.steps,
    )


def _type(prose: str, passage: Passage, headings: tuple[str, ...]) -> MemoryType:
    if passage.kind is PassageKind.STEPS:
        return MemoryType.WORKFLOW_RECIPE
    told = (*headings, *passage.lead)
    return document_types.type_of(
        prose=prose,
        code="\n".join(passage.code),
        headings=told,
        is_warning=passage.is_warning,
    )


def _headings(passage: Passage) -> tuple[str, ...]:
    cleaned = (
        _NUMBERING.sub("", _DECORATION.sub("", heading.text).strip()).strip(" :.")
        for heading in passage.headings
    )
    return tuple(heading for heading in cleaned if heading)


def _context(headings: tuple[str, ...], path: str, said: str) -> str:
    own = headings[1:] if _is_titled_by_project(path) and len(headings) > 1 else headings
    known = frozenset(word.lower() for word in _WORD.findall(said))
    telling = [
        heading
        for heading in own
        if heading.lower() not in {*_GENERIC, PurePosixPath(path).name.lower()}
        and not _is_said(heading, known)
    ]
    if len(telling) > 2:
        telling = [telling[0], telling[-1]]
    whole = BELOW.join(telling)
    return whole if len(whole) <= LONGEST_CONTEXT else telling[-1][:LONGEST_CONTEXT]


def _is_titled_by_project(path: str) -> bool:
    name = PurePosixPath(path).name.lower()
    return name in _TITLED_BY_PROJECT or name.partition(".")[0] in _TITLED_BY_PROJECT


def _is_said(heading: str, known: frozenset[str]) -> bool:
    words = frozenset(word.lower() for word in _WORD.findall(heading))
    return bool(words) and words <= known


def _shortened(lead: str) -> str:
    last = lead if len(lead) <= LONGEST_LEAD else lead.partition(": ")[0]
    return last if len(last) <= LONGEST_LEAD else f"{last[: LONGEST_LEAD - 1].rsplit(' ', 1)[0]}…"


def _joined(before: tuple[str, ...], text: str) -> str:
    prefix = ": ".join(part for part in before if part)
    if not prefix:
        return text
    separator = ":\n" if text.startswith(("```", "1. ")) else ": "
    return f"{prefix}{separator}{text}"
