"""The ways a text can be read: as it is, decoded, and with broken lines joined.

A reading keeps of which pieces of its parent's text it is made, so what is found in it can be
placed, and taken out, in the first text. Two readings may read alike and yet come from other parts
of it, so none is left out for that.
"""

import binascii
import html
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

DEEPEST: Final = 2  # encodings one inside of another, as gitleaks
ENCODED_LEAST: Final = 16  # characters of what is tried as an encoding; default, not measured

_ESCAPE: Final = re.compile(  # one of few signs begins it: they are found at once
    r"[\\%&\u00ad\u200b-\u200d\u2060\ufeff\uff01-\uff5e]"
    r"(?:(?<=\\)(?:u(?P<u>[0-9A-Fa-f]{4})|x(?P<x>[0-9A-Fa-f]{2})|(?P<c>[\"'`/\\nrt]))"
    r"|(?<=%)(?P<p>[0-9A-Fa-f]{2})"
    r"|(?<=&)(?:(?P<e>[A-Za-z]{2,8});|#(?P<d>\d{2,6});|#[xX](?P<h>[0-9A-Fa-f]{2,5});)"
    r"|(?<=(?P<n>[\u00ad\u200b-\u200d\u2060\ufeff]))[\u00ad\u200b-\u200d\u2060\ufeff]*"
    r"|(?<=(?P<w>[\uff01-\uff5e])))"
)
_CONTROLS: Final = {"n": "\n", "r": "\r", "t": "\t"}
_ENCODED: Final = re.compile(  # with a digit or a capital, which names of code often lack
    rf"(?<![\w+/-])(?=[a-z+/_-]*+[A-Z0-9])[A-Za-z0-9+/_-]{{{ENCODED_LEAST},}}={{0,2}}(?![\w+/=-])"
)
_LINE_BREAK: Final = re.compile(  # in a word: with a backslash, quotes, a plus, or quoted again
    r"[ \t\\\"'\r\n](?<=[A-Za-z0-9+/_.=-]{8}[ \t\\\"'\r\n])"
    r"(?:(?<=[ \t])[ \t]*+(?:\\|[\"'][ \t]*+[+.\\]?)?[ \t]*+\r?\n|(?<=\\)[ \t]*+\r?\n"
    r"|(?<=[\"'])[ \t]*+[+.\\]?[ \t]*+\r?\n|(?<=\r)\n|(?<=\n))[ \t>|#*]*+[\"']?"
    r"(?=[A-Za-z0-9+/_.=-]{8})"
)
_MARK: Final = re.compile(r"\*\*|__|~~")  # of emphasis; who reads a turn leaves them out
_DASHED: Final = str.maketrans("-_", "+/")
_LAYOUT: Final = str.maketrans("", "", "\r\n\t")  # not printable, and yet in every text


class _Piece(NamedTuple):
    """A part of a reading from `start` on, and the span of the parent's text it was made from.

    Of a copied piece each character stands for one, of any other all stand for the whole span.
    """

    start: int
    source_start: int
    source_end: int
    is_copied: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TextReading:
    """A text read in one way, made of pieces of its parent's; the first text has no parent."""

    text: str
    parent: "TextReading | None" = None
    pieces: tuple[_Piece, ...] = ()
    is_joined: bool = False
    is_decoded: bool = False

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return where a part of this reading stands in the first text."""
        if self.parent is None:
            return start, end
        return self.parent.span(self._source(start)[0], self._source(end - 1)[1])

    def _source(self, at: int) -> tuple[int, int]:
        piece = self.pieces[bisect_right(self.pieces, at, key=lambda one: one.start) - 1]
        if not piece.is_copied:
            return piece.source_start, piece.source_end
        place = piece.source_start + at - piece.start
        return place, place + 1


def readings(*, text: str, is_spoken: bool = False) -> Iterator[TextReading]:
    """Yield a text and every other reading of it; of what is spoken also without emphasis."""
    plain = TextReading(text=text)
    bases = [plain]
    if is_spoken and (unmarked := _rewritten(plain, _MARK, lambda _: "")) is not None:
        bases.append(unmarked)
    for base in bases:
        for reading in _decodings(base):
            yield reading
            joined = _rewritten(reading, _LINE_BREAK, lambda _: "", is_joined=True)
            if joined is not None:
                yield from _decodings(joined, deepest=1)


def _decodings(reading: TextReading, deepest: int = DEEPEST) -> Iterator[TextReading]:
    """Yield a reading, with its escapes resolved, with its encodings taken off, and both again."""
    yield reading
    if not deepest:
        return
    for pattern, meaning in ((_ESCAPE, _unescaped), (_ENCODED, _decoded)):
        plainer = _rewritten(reading, pattern, meaning, is_decoded=True)
        if plainer is not None:
            yield from _decodings(plainer, deepest - 1)


def _rewritten(
    reading: TextReading,
    pattern: re.Pattern[str],
    written: Callable[[re.Match[str]], str | None],
    *,
    is_joined: bool = False,
    is_decoded: bool = False,
) -> TextReading | None:
    """Return the lines in which a pattern finds something, with that written another way.

    None where there are none. What `written` returns None for stays as it is.
    """
    text = reading.text
    parts: list[str] = []
    pieces: list[_Piece] = []
    length = done = 0

    def add(part: str, start: int, end: int, is_copied: bool) -> None:
        nonlocal length
        if part:
            parts.append(part)
            pieces.append(_Piece(length, start, end, is_copied))
            length += len(part)

    for found in pattern.finditer(text):
        new = written(found)
        if new is None:
            continue
        start, end = found.span()
        line = text.rfind("\n", 0, start) + 1
        if line > done:
            if done:
                rest = text.index("\n", done) + 1
                add(text[done:rest], done, rest, True)
            done = line
        add(text[done:start], done, start, True)
        add(new, start, end, False)
        done = end
    if not done:
        return None
    rest = text.find("\n", done)
    add(text[done:] if rest < 0 else text[done:rest], done, len(text) if rest < 0 else rest, True)
    return TextReading(
        text="".join(parts),
        parent=reading,
        pieces=tuple(pieces),
        is_joined=reading.is_joined or is_joined,
        is_decoded=reading.is_decoded or is_decoded,
    )


def _unescaped(found: re.Match[str]) -> str:
    """Return what an escape stands for: a character, or none for one that nobody sees."""
    kind = found.lastgroup or ""
    written = found[kind]
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


def _decoded(found: re.Match[str]) -> str | None:
    """Return what a word says in base64 or hexadecimal; None where it is neither."""
    word = found.group()
    standard = word.translate(_DASHED).rstrip("=")
    padded = standard + "=" * (-len(standard) % 4)
    for decode, written in ((binascii.unhexlify, word), (binascii.a2b_base64, padded)):
        try:
            decoded = decode(written).decode("utf-8")
        except (binascii.Error, ValueError):
            continue  # it is not written that way
        if decoded and decoded.translate(_LAYOUT).isprintable():
            return decoded
    return None
