"""From the bytes of a file to its text, whatever wrote it; binary files are told apart.

First step of an import. A byte-order mark decides; then UTF-8; then the old Western code
page, in which every byte but five is a letter. A file with NUL or with many control characters is
not text, and nothing of it is read.
"""

import codecs
import re
from dataclasses import dataclass

SAMPLE_BYTES = 8_192
CONTROL_SHARE = 0.02  # of the sample; ANSI colors in a pasted log stay below it

_MARKS = (  # longest first: the mark of UTF-32 begins with that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CONTROLS = re.compile(rb"[\x01-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """A text and the encoding it was read with."""

    text: str
    encoding: str


def decode(*, data: bytes) -> Decoded | None:
    """Read the text of a file; None when the bytes are not text."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _with_mark(data, encoding)
    if not _looks_like_text(data[:SAMPLE_BYTES]):
        return None
    try:
        return Decoded(text=data.decode(), encoding="utf-8")
    except UnicodeDecodeError:
        return Decoded(text=data.decode("cp1252", errors="replace"), encoding="cp1252")


def _with_mark(data: bytes, encoding: str) -> Decoded | None:
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return None
    return None if _UNSTORABLE.search(text) else Decoded(text=text, encoding=encoding)


def _looks_like_text(sample: bytes) -> bool:
    if b"\x00" in sample:
        return False
    return len(_CONTROLS.findall(sample)) <= CONTROL_SHARE * len(sample)
