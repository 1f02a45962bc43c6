"""A Markdown document as passages: what stands where, under which headings, led by which words.

The reading half of the importer; `memory.documents.markdown_notes` decides what is kept of it.
A passage is a paragraph, an item of a list, a row of a table, numbered steps, or code, with what it
needs to be understood: its headings and the sentence ending in a colon that leads to it. A fenced
block is never cut: it stays with the paragraph above it, or is left out when it is longer than a
memory should be. Short items are one passage together, since “Linux” says nothing alone.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode

LONGEST_CODE = 1_200  # characters of a fenced block that is kept
LONGEST_STEPS = 1_800  # characters of numbered steps kept as one recipe
SHORT_ITEM = 40  # characters of a label or a name
NAME_WORDS = 3  # a list of such names is one passage
LONGEST_LISTED = 500  # characters of such a passage with its addresses
LONGEST_FOLDED = 2_000  # characters of it in all; a longer list is kept item by item
RUN_IN_LEVEL = 7  # of a bold opening that serves as a heading
STEPS_SHARE = 0.5  # of numbered items that begin like an instruction
TARGET_GROUP = 220  # characters after which a group ends at the next fresh sentence, ours
LONGEST_GROUP = 700  # characters after which it ends anyway, ours
ABBREVIATION_LENGTH = 12  # characters before an end that are searched for one, ours

_ADDRESS = re.compile(r" \([^\s()/]*+/[^\s()]*\)")
_SPACES = re.compile(r"\s+")
_BREAKS = frozenset({"softbreak", "hardbreak"})
_PARSER = MarkdownIt("commonmark", {"html": True}).enable("table")
_FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n.*?^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_ALERT = re.compile(r"\A\[!(WARNING|CAUTION|IMPORTANT|NOTE|TIP)\]\s*", re.IGNORECASE)
_EXAMPLE = re.compile(
    r"(?:for (?:example|instance)|e\.g|examples?|like (?:this|so))", re.IGNORECASE
)
_PICTURES = frozenset({"mermaid", "svg", "dot", "plantuml"})
_INCLUDED = re.compile(r"\s*-+8<-+\s")  # code that a site takes from another file (MkDocs)
_IMPERATIVE = re.compile(
    r"`[^`]+`\W*\Z|(?:add|apply|build|call|change|check|choose|clone|commit|configure|copy|create|define|delete"
    r"|deploy|download|edit|enable|ensure|export|find|go|import|init\w*|install|look|make|merge|move"
    r"|open|pick|prepare|publish|pull|push|put|read|register|release|remove|rename|restart|run|save"
    r"|select|send|set|sign|start|stop|submit|switch|tag|test|then|update|upload|use|verify|wait"
    r"|write)\b",
    re.IGNORECASE,
)
_RULE = re.compile(
    r"(?:never|always|no|not|do|don.t|avoid|prefer|keep|only|must|every|all|ensure|follow|one|max)\b",
    re.IGNORECASE,
)
_END = re.compile(r"[.!?][\"'\u201d\u2019)\]]*\s+(?=[\"'\u201c\u2018(\[`]?[A-Z0-9`])")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|vs|cf|etc|approx|resp|incl|no|fig|sec|dr|mr|mrs|st)|\b[A-Z])\.$",
    re.IGNORECASE,
)
_CONTINUES = re.compile(
    r"(?:it|its|this|that|these|those|they|their|them|he|she|but|and|or|so|then|otherwise|however"
    r"|also|moreover|furthermore|in addition|for (?:example|instance)"
    r"|therefore|thus|hence|instead|yet|still|both|such|here|there|which|if so|in this case"
    r"|for this|after that|the (?:same|former|latter|first|second|others?|rest))\b",
    re.IGNORECASE,
)


class PassageKind(StrEnum):
    """What a passage is in its document."""

    PARAGRAPH = "paragraph"
    ITEM = "item"
    ROW = "row"
    STEPS = "steps"
    CODE = "code"


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """One heading above a passage: its level 1..6 and its words."""

    level: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """One passage: its words, the code that belongs to it, and what leads to it."""

    kind: PassageKind
    text: str
    headings: tuple[Heading, ...]
    line: int
    lead: tuple[str, ...] = ()
    code: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Item:
    text: str
    line: int
    code: tuple[str, ...]
    nested: tuple[SyntaxTreeNode, ...]


def read(*, text: str) -> tuple[Passage, ...]:
    """Read a document into its passages, in order; `line` counts from 1."""
    body = _FRONT_MATTER.sub(lambda match: "\n" * match.group().count("\n"), text, count=1)
    walk = _Walk()
    walk.blocks(SyntaxTreeNode(_PARSER.parse(body)).children)
    return tuple(walk.passages)


class _Walk:
    """What has been met so far on the way through the document."""

    def __init__(self) -> None:
        self.passages: list[Passage] = []
        self.headings: tuple[Heading, ...] = ()
        self.lead: tuple[str, ...] = ()
        self.open_for_code = False

    def blocks(self, nodes: Sequence[SyntaxTreeNode]) -> None:
        for node in nodes:
            if node.type == "heading":
                level = int(node.tag[1])
                above = tuple(heading for heading in self.headings if heading.level < level)
                self.headings = (*above, Heading(level=level, text=_words(node)))
                self._close()
            elif node.type == "paragraph":
                self._paragraph(node)
            elif node.type in {"fence", "code_block"}:
                self._code(node)
            elif node.type in {"bullet_list", "ordered_list"}:
                self._list(node, self.lead)
                self._close()
            elif node.type == "table":
                self._table(node)
            elif node.type == "blockquote":
                self.blocks(node.children)
                self._close()

    def _paragraph(self, node: SyntaxTreeNode) -> None:
        text = _words(node)
        above = self.passages[-1] if self.open_for_code else None
        is_plain = above is not None and above.kind is PassageKind.PARAGRAPH and not above.code
        if above and is_plain and text[-1:] != ":" and is_continuation(text=text):
            self.passages[-1] = replace(above, text=f"{above.text} {text}")
            return
        self._close()
        alert = _ALERT.match(text)
        if alert is not None:
            text = text[alert.end() :]
        if not text.endswith(":"):
            self._add_under_run_in(text, node)
            self.open_for_code = bool(text)
            return
        *before, last = split_sentences(text=text)
        self._add(PassageKind.PARAGRAPH, " ".join(before), node)
        self.lead = (last.rstrip(":. "),)

    def _add_under_run_in(self, text: str, node: SyntaxTreeNode) -> None:
        run_in = _run_in(_tokens(node))
        if not run_in or not text.startswith(run_in) or len(run_in) > SHORT_ITEM:
            self._add(PassageKind.PARAGRAPH, text, node)
            return
        above = self.headings
        self.headings = (*above, Heading(level=RUN_IN_LEVEL, text=run_in))
        self._add(PassageKind.PARAGRAPH, text[len(run_in) :].lstrip(" :.-\u2013\u2014"), node)
        self.headings = above

    def _code(self, node: SyntaxTreeNode) -> None:
        block = _fenced(node)
        if self.lead and self.passages and _EXAMPLE.fullmatch(self.lead[0]):
            self.lead, self.open_for_code = (), self.passages[-1].headings == self.headings
        if block and self.open_for_code:
            last = self.passages[-1]
            self.passages[-1] = replace(last, code=(*last.code, block))
        elif block and (self.lead or self.headings):
            self._add(PassageKind.CODE, "", node, code=(block,), lead=self.lead)
            self.lead, self.open_for_code = (), True

    def _list(self, node: SyntaxTreeNode, lead: tuple[str, ...]) -> None:
        items = tuple(_item(child) for child in node.children)
        if node.type == "ordered_list" and _are_steps(items):
            steps = tuple("\n".join((item.text, *item.code)) for item in items)
            text = "\n".join(f"{i}. {step}" for i, step in enumerate(steps, 1))
            self._add(PassageKind.STEPS, text, node, lead=lead, steps=steps)
        elif _are_names(items) and len(listed := _listed(items)) <= LONGEST_FOLDED:
            self._add(PassageKind.ITEM, listed, node, lead=lead)
        else:
            for item in items:
                self._list_item(item, node, lead)

    def _list_item(self, item: _Item, node: SyntaxTreeNode, lead: tuple[str, ...]) -> None:
        leads_on = bool(item.nested) and (item.text.endswith(":") or len(item.text) <= SHORT_ITEM)
        if not leads_on:
            self._add(PassageKind.ITEM, item.text, node, lead=lead, code=item.code, line=item.line)
        words = item.text.rstrip(":. ")
        for nested in item.nested:
            self._list(nested, (*lead, words) if words else lead)

    def _table(self, node: SyntaxTreeNode) -> None:
        heads, *bodies = node.children
        names = tuple(_words(cell) for cell in heads.children[0].children)
        for row in (row for body in bodies for row in body.children):
            cells = tuple(_words(cell) for cell in row.children)
            self._add(PassageKind.ROW, _row(names, cells), row, lead=self.lead)
        self._close()

    def _add(
        self,
        kind: PassageKind,
        text: str,
        node: SyntaxTreeNode,
        *,
        lead: tuple[str, ...] = (),
        code: tuple[str, ...] = (),
        steps: tuple[str, ...] = (),
        line: int = 0,
    ) -> None:
        if not text and not code:
            return
        self.passages.append(
            Passage(
                kind=kind,
                text=text,
                headings=self.headings,
                line=line or (node.map[0] + 1 if node.map else 1),
                lead=lead,
                code=code,
                steps=steps,
            )
        )

    def _close(self) -> None:
        self.lead, self.open_for_code = (), False


def _words(node: SyntaxTreeNode) -> str:
    return _plain(_tokens(node))


def _tokens(node: SyntaxTreeNode) -> Sequence[Token]:
    return tuple(
        token
        for child in node.children
        if child.type == "inline" and child.token is not None
        for token in child.token.children or ()
    )


def _fenced(node: SyntaxTreeNode) -> str:
    language = node.info.split(" ")[0].strip("{}.") if node.type == "fence" else ""
    body = node.content.rstrip()
    is_elsewhere = not body.strip() or _INCLUDED.match(body) is not None
    if is_elsewhere or len(body) > LONGEST_CODE or language in _PICTURES:
        return ""
    fence = "````" if "```" in body else "```"
    return f"{fence}{language}\n{body}\n{fence}"


def _item(node: SyntaxTreeNode) -> _Item:
    paragraphs = [child for child in node.children if child.type == "paragraph"]
    blocks = [child for child in node.children if child.type in {"fence", "code_block"}]
    return _Item(
        text=" ".join(filter(None, map(_words, paragraphs))),
        line=node.map[0] + 1 if node.map else 1,
        code=tuple(filter(None, map(_fenced, blocks))),
        nested=tuple(c for c in node.children if c.type in {"bullet_list", "ordered_list"}),
    )


def _are_steps(items: tuple[_Item, ...]) -> bool:
    length = sum(len(item.text) + sum(map(len, item.code)) for item in items)
    if len(items) < 2 or length > LONGEST_STEPS or any(item.nested for item in items):
        return False
    ordered = sum(1 for item in items if item.code or _IMPERATIVE.match(item.text))
    return ordered >= STEPS_SHARE * len(items)


def _are_names(items: tuple[_Item, ...]) -> bool:
    if len(items) < 2 or any(item.code or item.nested for item in items):
        return False
    texts = [_ADDRESS.sub("", item.text) for item in items]
    return not any(
        len(text) > SHORT_ITEM
        or len(text.split()) > NAME_WORDS
        or _RULE.match(text)
        or _IMPERATIVE.match(text)
        for text in texts
    )


def _listed(items: tuple[_Item, ...]) -> str:
    whole = "; ".join(item.text for item in items if item.text)
    return whole if len(whole) <= LONGEST_LISTED else _ADDRESS.sub("", whole)


def _row(names: tuple[str, ...], cells: tuple[str, ...]) -> str:
    first, *rest = cells
    named = [
        f"{name}: {cell}" if name and len(cells) > 2 else cell
        for name, cell in zip(names[1:], rest, strict=False)
        if cell
    ]
    return f"{first}: {'; '.join(named)}" if named else first


def _plain(tokens: Sequence[Token]) -> str:
    """Return the text of inline tokens in one line; empty when it only leads about the page.

    A memory is read outside of its page, so an address stays beside its text, and a link inside the
    page, an image or a piece of HTML says nothing.
    """
    parts: list[str] = []
    targets: list[tuple[str, int]] = []
    only_inside = bool(tokens)
    for token in tokens:
        if token.type == "link_open":
            targets.append((str(token.attrs.get("href", "")), len(parts)))
        elif token.type == "link_close":
            target, start = targets.pop()
            parts.append(_address(target, "".join(parts[start:])))
            only_inside = only_inside and target.startswith("#")
        else:
            text = _text(token)
            parts.append(text)
            only_inside = only_inside and (bool(targets) or not text.strip(" |•·-"))
    return "" if only_inside else _SPACES.sub(" ", "".join(parts)).strip()


def _run_in(tokens: Sequence[Token]) -> str:
    """Return the bold words that open a paragraph and end like a heading; empty when none do."""
    shown = [token for token in tokens if token.type != "text" or token.content]
    if not shown or shown[0].type != "strong_open":
        return ""
    end = [token.type for token in shown].index("strong_close")
    words = _plain(shown[1:end])
    after = "".join(map(_text, shown[end + 1 :])).lstrip()
    is_heading = words.endswith((".", ":")) or after.startswith((":", "\u2013", "\u2014"))
    return words if after and is_heading else ""


def _text(token: Token) -> str:
    if token.type in {"text", "text_special"}:
        return token.content
    if token.type == "code_inline":
        return f"`{token.content}`"
    return " " if token.type in _BREAKS else ""


def _address(target: str, shown: str) -> str:
    is_inside = target.startswith("#") or not target
    return "" if is_inside or not shown.strip() or target in shown else f" ({target})"


def split_sentences(*, text: str) -> tuple[str, ...]:
    """Cut a text of one line into its sentences; code in backticks is never cut."""
    sentences: list[str] = []
    start = looked = ticks = 0
    for match in _END.finditer(text):
        ticks += text.count("`", looked, match.end())
        looked, at = match.end(), match.start()
        tail = text[max(start, at - ABBREVIATION_LENGTH) : at + 1]
        is_abbreviated = match.group().rstrip() == "." and _ABBREVIATION.search(tail) is not None
        if ticks % 2 or is_abbreviated:
            continue
        sentences.append(text[start:looked].strip())
        start, ticks = looked, 0
    rest = text[start:].strip()
    return (*sentences, rest) if rest else tuple(sentences)


def group_sentences(*, text: str) -> tuple[str, ...]:
    """Cut a text into groups of sentences that can be read alone.

    A sentence that begins with “it”, “this” or “but” means nothing without the one before, so a
    group only ends where the next sentence begins anew.
    """
    groups: list[str] = []
    for sentence in split_sentences(text=text):
        length = len(groups[-1]) + len(sentence) if groups else LONGEST_GROUP + 1
        if length <= TARGET_GROUP or (length <= LONGEST_GROUP and is_continuation(text=sentence)):
            groups[-1] = f"{groups[-1]} {sentence}"
        else:
            groups.append(sentence)
    return tuple(groups)


def is_continuation(*, text: str) -> bool:
    """Say whether a text begins with a word that points back to what was said before."""
    return _CONTINUES.match(text) is not None
