"""The other ways a text can be read: escapes resolved, lines joined, encodings taken off (7.6).

A form keeps of which pieces of its parent's text it is made, so what is found in it can be told,
and taken out, where it stands in the first text. Forms are made of forms, twice deep: a percent
sign may hide base64 that hides a key.
"""

import binascii
import html
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Final

from memory.secrets.secret_readings import Readings

DEEPEST: Final = 2  # encodings one inside of another, as gitleaks

_ESCAPE: Final = re.compile(  # one of few signs begins it: they are found at once
    r"[\\%&\u00ad\u200b-\u200d\u2060\ufeff\uff01-\uff5e]"
    r"(?:(?<=\\)(?:u(?P<u>[0-9A-Fa-f]{4})|x(?P<x>[0-9A-Fa-f]{2})|(?P<c>[\"'`/\\nrt]))"
    r"|(?<=%)(?P<p>[0-9A-Fa-f]{2})"
    r"|(?<=&)(?:(?P<e>[A-Za-z]{2,8});|#(?P<d>\d{2,6});|#[xX](?P<h>[0-9A-Fa-f]{2,5});)"
    r"|(?<=(?P<n>[\u00ad\u200b-\u200d\u2060\ufeff]))[\u00ad\u200b-\u200d\u2060\ufeff]*"
    r"|(?<=(?P<w>[\uff01-\uff5e])))"
)
_CONTROLS: Final = {"n": "\n", "r": "\r", "t": "\t"}
_SIGNS_OF_ESCAPES: Final = ("\\", "%", "&")
BROKEN_LINE: Final = re.compile(  # likewise; what follows depends on the sign
    r"[ \t\\\"'\r\n](?<=[A-Za-z0-9+/_.=-]{8}[ \t\\\"'\r\n])"
    r"(?:(?<=[ \t])[ \t]*+(?:\\|[\"'][ \t]*+[+.\\]?)?[ \t]*+\r?\n|(?<=\\)[ \t]*+\r?\n"
    r"|(?<=[\"'])[ \t]*+[+.\\]?[ \t]*+\r?\n|(?<=\r)\n|(?<=\n))[ \t>|#*]*+[\"']?"
    r"(?=[A-Za-z0-9+/_.=-]{8})"
)
_LINE_END: Final = re.compile(  # of what may be a broken line, which few ends of lines are
    r"\n(?:(?<=[A-Za-z0-9+/_.=-]{8}\n)|(?<=[ \t\\\"'\r+.]\n))"
    r"[ \t>|#*]*+[\"']?(?=[A-Za-z0-9+/_.=-]{8})"
)
_BESIDE: Final = 8  # characters of a broken word on each side
_AT_LINE_END: Final = " \t\\\"'\r+."  # what may stand before it in a broken line
ENCODED_LEAST: Final = 16  # characters of what is tried as an encoding, ours
_ENCODED: Final = re.compile(
    rf"(?<![\w+/-])[A-Za-z0-9+/_-]{{{ENCODED_LEAST},}}={{0,2}}(?![\w+/=-])"
)
_MARKS: Final = ("**", "__", "~~")  # of emphasis; who reads a turn leaves them out
_MARK: Final = re.compile("|".join(map(re.escape, _MARKS)))
_APART: Final = "\n\n"  # between decodings: lines that are broken are joined, these are not
_DASHED: Final = str.maketrans("-_", "+/")
_LAID_OUT: Final = str.maketrans("", "", "\r\n\t")  # not printable, and yet in every text
Meant = Callable[[re.Match[str]], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A part of a form from `start` on, and the span of the parent's text it was made from.

    Of a copied piece each character stands for one, of any other all stand for the whole span.
    """

    start: int
    source: tuple[int, int]
    is_copied: bool


class Pieces:
    """The pieces of a form; put down when something is found in it, which is seldom."""

    def __init__(self, *, made: Callable[[], tuple[Piece, ...]]) -> None:
        """Remember how they are made."""
        self._made = made

    @cached_property
    def _all(self) -> tuple[Piece, ...]:
        return self._made()

    def source(self, at: int) -> tuple[int, int]:
        """Return the span of the parent's text that a character of the form was made from."""
        piece = self._all[bisect_right(self._all, at, key=lambda one: one.start) - 1]
        if not piece.is_copied:
            return piece.source
        place = piece.source[0] + at - piece.start
        return place, place + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """A text read another way, made of pieces of its parent's; the first text has no parent."""

    text: str
    parent: "Form | None" = None
    pieces: "Pieces | None" = None
    is_joined: bool = False
    is_decoded: bool = False

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return where a part of this form stands in the first text."""
        if self.parent is None or self.pieces is None:
            return start, end
        return self.parent.span(self.pieces.source(start)[0], self.pieces.source(end - 1)[1])


def forms(*, text: str, known: Readings | None = None) -> Iterator[Form]:
    """Yield every other reading of a text; two that read alike may stand in other parts of it.

    `known` is what was learned of other readings of it; it learns of these.
    """
    yield from _deeper(Form(text=text), DEEPEST, Readings() if known is None else known)


def unmarked(*, text: str) -> Form | None:
    """Return a text without its marks of emphasis, None where it has none."""
    marks = [mark for mark in _MARKS if mark in text]
    if not marks:
        return None
    form = Form(text=text)
    if len(marks) > 1:
        return _rewritten(form, _MARK, _nothing)
    return _made(form, text.replace(marks[0], ""), lambda: _MARK.finditer(text), _nothing)


def _deeper(form: Form, depth: int, known: Readings) -> Iterator[Form]:
    """Yield the readings of a form."""
    if depth == 0:
        return
    for inner in _once(form, known):
        yield inner
        yield from _deeper(inner, depth - 1, known)


def _once(form: Form, known: Readings) -> Iterator[Form]:
    if _is_escaped(form.text):
        yield _unescaped(form)
    if not form.is_joined and (breaks := tuple(_broken_lines(form.text))):
        yield _joined(form, breaks)
    known.read(text=form.text)
    _look_into_words(known)
    if known.hiding:
        yield from _decoded(form, known.hiding)


def _is_escaped(text: str) -> bool:
    """Say whether an escape is there; in most texts not even one of the signs is."""
    has_signs = not text.isascii() or any(sign in text for sign in _SIGNS_OF_ESCAPES)
    return has_signs and _ESCAPE.search(text) is not None


def _broken_lines(text: str) -> Iterator[re.Match[str]]:
    """Yield what BROKEN_LINE finds, by the ends of lines: there are far fewer than blanks."""
    for end in _LINE_END.finditer(text):
        begins = text.rfind("\n", 0, end.start()) + 1
        start = begins + len(text[begins : end.start()].rstrip(_AT_LINE_END))
        if found := BROKEN_LINE.search(text, start, end.end() + _BESIDE):
            yield found


def _unescaped(form: Form) -> Form:
    return replace(_rewritten(form, _ESCAPE, _meant), is_decoded=True)


def _meant(found: re.Match[str]) -> str:
    """Return what an escape stands for: a character, or none for one that nobody sees."""
    kind = found.lastgroup or ""
    return _meaning(kind, found[kind])


@lru_cache(maxsize=4096)
def _meaning(kind: str, written: str) -> str:
    if kind == "n":
        return ""
    if kind == "w":
        return unicodedata.normalize("NFKC", written)
    if kind == "e":
        return html.unescape(f"&{written};").replace("\xa0", " ")
    if kind == "c":
        return _CONTROLS.get(written, written)
    code = int(written, 10 if kind == "d" else 16)
    return chr(code) if code < 0x110000 else ""


def _joined(form: Form, breaks: tuple[re.Match[str], ...]) -> Form:
    ends = (0, *(found.end() for found in breaks))
    starts = (*(found.start() for found in breaks), len(form.text))
    kept = (form.text[end:start] for end, start in zip(ends, starts, strict=True))
    joined = _made(form, "".join(kept), lambda: iter(breaks), _nothing)
    return replace(joined, is_joined=True)


def _nothing(_: re.Match[str]) -> str:
    return ""


def _rewritten(form: Form, pattern: re.Pattern[str], meant: Meant) -> Form:
    """Return a form with what a pattern finds written another way, and the rest copied."""
    text = pattern.sub(meant, form.text)
    return _made(form, text, lambda: pattern.finditer(form.text), meant)


def _made(
    form: Form, text: str, found: Callable[[], Iterator[re.Match[str]]], meant: Meant
) -> Form:
    return Form(
        text=text,
        parent=form,
        pieces=Pieces(made=lambda: tuple(_traced(form.text, found(), meant))),
        is_joined=form.is_joined,
        is_decoded=form.is_decoded,
    )


def _traced(text: str, matches: Iterator[re.Match[str]], meant: Meant) -> Iterator[Piece]:
    """Yield the pieces of a text that was rewritten."""
    length = position = 0
    for found in matches:
        start, end = found.span()
        if start > position:
            yield Piece(start=length, source=(position, start), is_copied=True)
            length += start - position
        written = meant(found)
        if written:
            yield Piece(start=length, source=(start, end), is_copied=False)
            length += len(written)
        position = end
    if position < len(text):
        yield Piece(start=length, source=(position, len(text)), is_copied=True)


def _decoded(form: Form, hiding: set[str]) -> Iterator[Form]:
    """Yield one form of all that is encoded, so that many small parts are looked at once."""
    texts: list[str] = []
    pieces: list[Piece] = []
    length = 0
    for encoded, source in _encoded(form.text, hiding):
        for text in _decodings(encoded):
            texts.append(text)
            pieces.append(Piece(start=length, source=source, is_copied=False))
            length += len(text) + len(_APART)
    if texts:
        made = Pieces(made=lambda: tuple(pieces))
        yield Form(text=_APART.join(texts), parent=form, pieces=made, is_decoded=True)


def _look_into_words(known: Readings) -> None:
    """Note which of the words that are new hide something."""
    words = known.take_undecoded()
    if _hides(" ".join(words)):
        known.hiding |= {word for word in words if _hides(word)}


def _hides(text: str) -> bool:
    return any(True for encoded in _ENCODED.findall(text) for _ in _decodings(encoded))


def _encoded(text: str, hiding: set[str]) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield what may be encoded and where; short words, which are most of a text, are left out."""
    at = 0
    for word in text.split():
        if len(word) < ENCODED_LEAST:
            continue
        at = text.index(word, at)
        if word in hiding:
            for found in _ENCODED.finditer(word):
                yield found.group(), (at + found.start(), at + found.end())
        at += len(word)


def _decodings(encoded: str) -> Iterator[str]:
    standard = encoded.translate(_DASHED).rstrip("=")
    padded = standard + "=" * (-len(standard) % 4)
    for decode, written in ((binascii.a2b_base64, padded), (binascii.unhexlify, encoded)):
        try:
            decoded = decode(written).decode("utf-8")
        except (binascii.Error, ValueError):
            continue  # it is not written that way
        if decoded and decoded.translate(_LAID_OUT).isprintable():
            yield decoded
