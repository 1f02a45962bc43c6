"""Mask secrets on this machine, before anything is sent.

By the table of rules that the server uses too, by the prefixes of vendors' keys, which the server
leaves to a catalog, and by the ends of private keys whose beginnings were cut off. Of a finding
only its kind is sent; the server scans again. Of 708 planted secrets in plain contexts 97.6 % are
found, and in 2,800 clean texts none (the set of tests/integration/memory/secrets).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from .secret_rules import find_by_table, is_placeholder

TAIL_MOST: Final = 24_000  # characters before the end of a key that are scanned; default
_PREFIXES: Final = (
    r"(?:AKIA|ASIA)[0-9A-Z]{16}", r"AIza[\w-]{30,}", r"ya29\.[\w-]{30,}", r"GOCSPX-[\w-]{20,}",
    r"(?:sk|rk)_(?:live|test)_[0-9A-Za-z]{16,}", r"whsec_[\w+/=]{20,}",
    r"sk-(?:ant-|proj-|svcacct-)?[\w-]{20,}", r"gh[pousr]_\w{30,}", r"github_pat_\w{40,}",
    r"glpat-[\w-]{16,}", r"xox[abeprs]-[\w-]{10,}", r"xapp-\d-[\w-]{20,}", r"npm_\w{30,}",
    r"pypi-[\w-]{40,}", r"hf_\w{30,}", r"gsk_\w{30,}", r"SG\.[\w-]{16,}\.[\w-]{16,}",
    r"crn_(?:pat|svc)_[0-9A-Za-z]{20,}", r"do[opr]_v1_[0-9a-f]{40,}", r"shp(?:at|ca|pa|ss)_\w{30,}",
    r"dckr_(?:pat|oat)_[\w-]{20,}", r"AGE-SECRET-KEY-1\w{40,}", r"sntry[su]_[\w=+/-]{30,}",
    r"hv[sbr]\.[\w-]{20,}",
    r"eyJ(?=(?P<head>[\w-]{10,2000}))(?P=head)\.eyJ[\w-]{10,}(?:\.[\w-]*)?",
)  # fmt: skip
_VENDOR_KEY: Final = re.compile(rf"(?<![\w.])(?:{'|'.join(_PREFIXES)})")
_VENDOR_HINTS: Final = (
    "akia", "asia", "aiza", "ya29", "gocspx", "_live_", "_test_", "whsec_", "sk-", "gh", "glpat",
    "xox", "xapp", "npm_", "pypi-", "hf_", "gsk_", "sg.", "crn_", "_v1_", "shp", "dckr_",
    "age-secret", "sntry", "hv", "eyj",
)  # fmt: skip
_END: Final = re.compile(r"-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
_PIECE: Final = re.compile(r"[A-Za-z0-9+/=]+")
_PIECE_SHORTEST: Final = 16  # characters of a line of a key
_PIECE_FARTHEST: Final = 40  # characters between two of them, such as quotes and numbers of lines
_LAST_PIECES: Final = 2  # that may be shorter: a rest and a checksum


@dataclass(frozen=True, slots=True, kw_only=True)
class Masked:
    """A text without what was found, and a kind for each finding."""

    text: str
    kinds: tuple[str, ...]


def mask(*, text: str) -> Masked:
    """Return the text with each finding replaced by its kind in brackets."""
    found = [*_vendor_keys(text), *_headless_keys(text), *find_by_table(text=text)]
    found.sort(key=lambda one: (one[1], -one[2]))
    parts: list[str] = []
    kinds: list[str] = []
    done = 0
    for kind, start, end in found:
        if start >= done:
            parts += (text[done:start], f"[redacted: {kind}]")
            kinds.append(kind)
        done = max(done, end)
    return Masked(text="".join((*parts, text[done:])), kinds=tuple(kinds))


def _vendor_keys(text: str) -> Iterator[tuple[str, int, int]]:
    lowered = text.lower()
    if any(hint in lowered for hint in _VENDOR_HINTS):
        for found in _VENDOR_KEY.finditer(text):
            if not is_placeholder(found[0]):
                yield "vendor_key", *found.span()


def _headless_keys(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the ends of private keys, with the lines of the key before them, read backwards."""
    for found in _END.finditer(text):
        before = text[max(0, found.start() - TAIL_MOST) : found.start()][::-1]
        length = end = 0
        for count, piece in enumerate(_PIECE.finditer(before)):
            if piece.start() - end > _PIECE_FARTHEST:
                break
            end = piece.end()
            if len(piece[0]) >= _PIECE_SHORTEST:
                length = end
            elif count >= _LAST_PIECES and not (piece[0].isdecimal() or piece[0] in "nrt"):
                break
        if length:
            yield "private_key", found.start() - length, found.end()
