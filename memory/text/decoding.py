"""From bytes to text: which encoding a file has, and whether it is text at all.

UTF-8 is taken as it is; UTF-16 and UTF-32 with a mark, and UTF-16 without one where every other
byte is nothing. What is none of these and has no control characters is taken for Windows-1252, the
superset of Latin-1 that editors write, and that is told. The rest is binary and refused.
"""

import codecs
import re
from dataclasses import dataclass
from typing import Final

from accounts.messages import Message, message

MARKS: Final = (  # longest first: UTF-32's begins like UTF-16's
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
LOOKED_AT: Final = 4_096  # bytes from which an encoding without a mark is told
NULS_OF_UTF16: Final = 0.3  # share of the bytes on one side, ours: text that is mostly Latin
_CONTROLS: Final = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """The text of a file, or why it has none; `notice` says when it was no UTF-8."""

    text: str
    fault: Message | str = ""
    notice: Message | str = ""


BINARY: Final = Decoded(text="", fault=message("The file is binary; only text is imported."))


def decode(*, data: bytes) -> Decoded:
    """Decode a file."""
    for mark, encoding in MARKS:
        if data.startswith(mark):
            return _by(data, encoding)
    unmarked = _unmarked_utf16(data)
    if unmarked:
        return _by(data, unmarked)
    try:
        return _checked(data.decode("utf-8"), "utf-8")
    except UnicodeDecodeError as error:
        if _CONTROLS.search(data[:LOOKED_AT].decode("latin-1")):
            return BINARY
        text = data.decode("cp1252", errors="replace")
        notice = message(
            "Byte {place} is not UTF-8; the file was read as Windows-1252.", place=error.start
        )
        return _checked(text, "windows-1252", notice=notice)


def _by(data: bytes, encoding: str) -> Decoded:
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        detail = message(
            "The file is no valid {encoding}: byte {place}.",
            encoding=encoding.removesuffix("-sig").upper(),
            place=error.start,
        )
        return Decoded(text="", fault=detail)
    return _checked(text, encoding.removesuffix("-sig"))


def _checked(text: str, encoding: str, *, notice: Message | str = "") -> Decoded:
    if _CONTROLS.search(text):
        return BINARY
    said = notice
    if not said and encoding != "utf-8":
        said = message("The file was read as {encoding}.", encoding=encoding.upper())
    return Decoded(text=text.replace("\r\n", "\n").replace("\r", "\n"), notice=said)


def _unmarked_utf16(data: bytes) -> str:
    head = data[:LOOKED_AT]
    if len(data) % 2 or len(head) < 2:
        return ""
    half = len(head) / 2
    even, odd = head[::2].count(0) / half, head[1::2].count(0) / half
    if odd > NULS_OF_UTF16 and not even:
        return "utf-16-le"
    return "utf-16-be" if even > NULS_OF_UTF16 and not odd else ""
