"""The other ways a text can be read: escapes resolved, lines joined, encodings taken off (7.6).

A form keeps for every character of its own where that stood in the text it was made from, so what
is found in it can be told, and taken out, there. Forms are made of forms, twice deep: a percent
sign may hide base64 that hides a key.
"""

import base64
import binascii
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

DEEPEST: Final = 2  # encodings one inside of another, as gitleaks

_ESCAPE: Final = re.compile(
    r"\\u(?P<u>[0-9A-Fa-f]{4})|\\x(?P<x>[0-9A-Fa-f]{2})|%(?P<p>[0-9A-Fa-f]{2})"
    r"|&#(?P<d>\d{2,6});|&#[xX](?P<h>[0-9A-Fa-f]{2,5});|\\(?P<c>[\"'`/\\nrt])"
    r"|(?P<n>[\u200b-\u200d\u2060\ufeff\u00ad])|(?P<w>[\uff01-\uff5e])"
)
_CONTROLS: Final = {"n": "\n", "r": "\r", "t": "\t"}
_BROKEN_LINE: Final = re.compile(
    r"(?<=[A-Za-z0-9+/_.=-]{8})[ \t]*(?:\\|[\"'][ \t]*[+.\\]?)?[ \t]*\r?\n[ \t>|#*]*[\"']?"
    r"(?=[A-Za-z0-9+/_.=-]{8})"
)
_ENCODED: Final = re.compile(r"(?<![\w+/=-])[A-Za-z0-9+/_-]{16,}={0,2}(?![\w+/=-])")
_DASHED: Final = str.maketrans("-_", "+/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """A text read another way; character n was made of places[n] of the first text."""

    text: str
    places: tuple[tuple[int, int], ...]
    is_joined: bool = False
    is_decoded: bool = False

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return where a part of this form stands in the first text."""
        return self.places[start][0], self.places[end - 1][1]


def forms(*, text: str) -> Iterator[Form]:
    """Yield every other reading of a text."""
    plain = Form(text=text, places=())
    yield from _deeper(plain, DEEPEST)


def _deeper(form: Form, depth: int) -> Iterator[Form]:
    if depth == 0:
        return
    for inner in _once(form):
        yield inner
        yield from _deeper(inner, depth - 1)


def _once(form: Form) -> Iterator[Form]:
    if _ESCAPE.search(form.text):
        yield _unescaped(form)
    if not form.is_joined and _BROKEN_LINE.search(form.text):
        yield _joined(form)
    for found in _ENCODED.finditer(form.text):
        yield from _decoded(form, found)


def _unescaped(form: Form) -> Form:
    characters: list[str] = []
    places: list[tuple[int, int]] = []
    position = 0
    for found in _ESCAPE.finditer(form.text):
        _keep(form, position, found.start(), characters, places)
        for character in _meant(found):
            characters.append(character)
            places.append(_places(form, found.start(), found.end()))
        position = found.end()
    _keep(form, position, len(form.text), characters, places)
    return Form(
        text="".join(characters),
        places=tuple(places),
        is_joined=form.is_joined,
        is_decoded=True,
    )


def _meant(found: re.Match[str]) -> str:
    """Return what an escape stands for: one character, or none for one that nobody sees."""
    kind, written = next((name, text) for name, text in found.groupdict().items() if text)
    if kind == "n":
        return ""
    if kind == "w":
        return unicodedata.normalize("NFKC", written)
    if kind == "c":
        return _CONTROLS.get(written, written)
    code = int(written, 10 if kind == "d" else 16)
    return chr(code) if code < 0x110000 else ""


def _joined(form: Form) -> Form:
    characters: list[str] = []
    places: list[tuple[int, int]] = []
    position = 0
    for found in _BROKEN_LINE.finditer(form.text):
        _keep(form, position, found.start(), characters, places)
        position = found.end()
    _keep(form, position, len(form.text), characters, places)
    return Form(
        text="".join(characters),
        places=tuple(places),
        is_joined=True,
        is_decoded=form.is_decoded,
    )


def _decoded(form: Form, found: re.Match[str]) -> Iterator[Form]:
    place = _places(form, found.start(), found.end())
    for text in _decodings(found.group()):
        yield Form(text=text, places=(place,) * len(text), is_decoded=True)


def _decodings(encoded: str) -> Iterator[str]:
    standard = encoded.translate(_DASHED).rstrip("=")
    padded = standard + "=" * (-len(standard) % 4)
    for decode, written in ((base64.b64decode, padded), (binascii.unhexlify, encoded)):
        try:
            decoded = decode(written).decode("utf-8")
        except (binascii.Error, ValueError):
            continue  # it is not written that way
        if decoded and all(one.isprintable() or one in "\r\n\t" for one in decoded):
            yield decoded


def _places(form: Form, start: int, end: int) -> tuple[int, int]:
    return form.span(start, end) if form.places else (start, end)


def _keep(
    form: Form, start: int, end: int, characters: list[str], places: list[tuple[int, int]]
) -> None:
    characters.extend(form.text[start:end])
    if form.places:
        places.extend(form.places[start:end])
    else:
        places.extend((place, place + 1) for place in range(start, end))
