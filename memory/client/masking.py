"""Mask secrets on this machine, before anything is sent.

A short table of rules: assigned passwords, credentials in headers and addresses, prefixes of
vendors' keys, whole private keys. They mask too much rather than too little; the server scans again
with its full catalog. Of a finding only its kind is sent.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

SHORTEST: Final = 6  # characters of a password; default
TAIL_MOST: Final = 24_000  # characters before the end of a key that are scanned; default
_PLAIN: Final = re.compile(  # references, placeholders and types are no secrets
    r"(?i)[$<{%*.\[(].*|(?:os\.environ|process\.env|getenv|env|config|settings|self|options|args)\b.*"
    r"|(?:none|null|true|false|undefined|string|str|bytes|number|required|optional|redacted|secret"
    r"|password|token|changeme|example)\W*|x{4,}|.*\(.*"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Masked:
    """A text without what was found, and a kind for each finding."""

    text: str
    kinds: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    kind: str
    pattern: re.Pattern[str]
    hints: tuple[str, ...]  # one of them, in small letters, is in every text that matches
    accepts: Callable[[str], bool] = lambda _: True
    after: re.Pattern[str] | None = None  # what must stand before a match
    value: re.Pattern[str] | None = None  # what is read behind it then


def _is_real(value: str) -> bool:
    return len(value) >= SHORTEST and _PLAIN.fullmatch(value) is None


_NAME: Final = (
    r"(?:pass(?:word|wd|phrase|code)?|pwd|secret|token|credentials?|mot[ _-]?de[ _-]?passe"
    r"|(?:api|access|private|signing|account|storage|master|encryption|client|shared|auth)"
    r"[ _-]?key)"
)
_BEFORE: Final = re.compile(rf"(?i){_NAME}(?:_?\d{{1,3}})?[\"'\\]*\s{{0,3}}\Z")
_SCHEME: Final = re.compile(r"[A-Za-z][\w+.-]{1,20}\Z")
_NAME_MOST: Final = 40  # characters before a sign
_PREFIXES: Final = (
    r"(?:AKIA|ASIA)[0-9A-Z]{16}", r"AIza[\w-]{30,}", r"ya29\.[\w-]{30,}", r"GOCSPX-[\w-]{20,}",
    r"(?:sk|rk|pk)_(?:live|test)_[0-9A-Za-z]{16,}", r"whsec_[\w+/=]{20,}",
    r"sk-(?:ant-|proj-|svcacct-)?[\w-]{20,}", r"gh[pousr]_\w{30,}", r"github_pat_\w{40,}",
    r"glpat-[\w-]{16,}", r"xox[abeprs]-[\w-]{10,}", r"xapp-\d-[\w-]{20,}", r"npm_\w{30,}",
    r"pypi-[\w-]{40,}", r"hf_\w{30,}", r"gsk_\w{30,}", r"SG\.[\w-]{16,}\.[\w-]{16,}",
    r"crn_(?:pat|svc)_[0-9A-Za-z]{20,}", r"do[opr]_v1_[0-9a-f]{40,}", r"shp(?:at|ca|pa|ss)_\w{30,}",
    r"dckr_(?:pat|oat)_[\w-]{20,}", r"AGE-SECRET-KEY-1\w{40,}", r"sntry[su]_[\w=+/-]{30,}",
    r"hv[sbr]\.[\w-]{20,}",
    r"eyJ(?=(?P<head>[\w-]{10,2000}))(?P=head)\.eyJ[\w-]{10,}(?:\.[\w-]*)?",
)  # fmt: skip
_RULES: Final = (
    _Rule(
        kind="private_key",
        pattern=re.compile(
            r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
            r"(?:[^-]|-(?!----)){0,20000}(?:-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----)?"
        ),
        hints=("private key",),
    ),
    _Rule(
        kind="url_credentials",
        pattern=re.compile(  # a value that was read is not read again in shorter pieces
            r"://(?=(?P<host>[^\s:/@\"'`]{0,100}))(?P=host):"
            r"(?=(?P<value>[^\s@\"'`]{1,1000}))(?P=value)@"
        ),
        hints=("@",),
        accepts=lambda value: not value.startswith(("$", "<", "{")),
        after=_SCHEME,
    ),
    _Rule(
        kind="authorization_header",
        pattern=re.compile(
            r"(?i)(?:authorization[\"'\\]*\s*[:=]\s*[\"'\\]*(?:bearer|basic|token)\s+|\bbearer\s+"
            r"|\bx-[a-z-]{0,30}(?:key|token)[\"'\\]*\s*[:=]\s*[\"'\\]*)(?P<value>[\w.~+/=-]{12,})"
        ),
        hints=("authorization", "bearer", "x-"),
    ),
    _Rule(
        kind="vendor_key",
        pattern=re.compile(rf"(?<![\w.])(?:{'|'.join(_PREFIXES)})"),
        hints=(
            "akia", "asia", "aiza", "ya29", "gocspx", "_live_", "_test_", "whsec_", "sk-", "gh",
            "glpat", "xox", "xapp", "npm_", "pypi-", "hf_", "gsk_", "sg.", "crn_", "_v1_", "shp",
            "dckr_", "age-secret", "sntry", "hv", "eyj",
        ),
    ),
    _Rule(
        kind="assigned_secret",
        pattern=re.compile(
            r"(?:=>|:=|=|:)\s{0,3}\\?(?P<quote>[\"'`])"
            r"(?=(?P<value>(?:(?!(?P=quote))[^\n\\]){6,400}))"
        ),
        hints=("pass", "pwd", "secret", "token", "credential", "key"),
        accepts=_is_real,
        after=_BEFORE,
    ),
    _Rule(
        kind="assigned_secret",
        pattern=re.compile(r"(?:=>|:=|=|:)\s{0,3}"),
        value=re.compile(r"[^\s\"'`,;&]{6,400}"),
        hints=("pass", "pwd", "secret", "token", "credential", "key"),
        accepts=_is_real,
        after=_BEFORE,
    ),
    _Rule(
        kind="assigned_secret",
        pattern=re.compile(
            r"(?i)--(?:password|passwd|pass|pwd|token|secret|api-?key|passphrase)[ =][\"']?"
            r"(?P<value>[^\s\"'`]{6,200})"
        ),
        hints=("--",),
        accepts=_is_real,
    ),
)  # fmt: skip


_END: Final = re.compile(r"-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
_PIECE: Final = re.compile(r"[A-Za-z0-9+/=]+")
_PIECE_SHORTEST: Final = 16  # characters of a line of a key
_PIECE_FARTHEST: Final = 40  # characters between two of them, such as quotes and numbers of lines
_LAST_PIECES: Final = 2  # that may be shorter: a rest and a checksum


def mask(*, text: str) -> Masked:
    """Return the text with each finding replaced by its kind in brackets."""
    kinds: list[str] = []
    lowered = text.lower()
    for rule in _RULES:
        if any(hint in lowered for hint in rule.hints):
            text = _without(text, _spans(text, rule), rule.kind, kinds)
    if "private key" in lowered:
        text = _without(text, _headless(text), "private_key", kinds)
    return Masked(text=text, kinds=tuple(kinds))


def _headless(text: str) -> Iterator[tuple[int, int]]:
    """Yield the ends of private keys whose beginnings are not there."""
    for found in _END.finditer(text):
        at = found.start()
        length = _length_of_key(text[max(0, at - TAIL_MOST) : at][::-1])
        if length:
            yield at - length, found.end()


def _length_of_key(reversed_text: str) -> int:
    """Return how many characters a text begins with are lines of a key, read backwards."""
    length = end = 0
    for count, piece in enumerate(_PIECE.finditer(reversed_text)):
        if piece.start() - end > _PIECE_FARTHEST:
            break
        end = piece.end()
        if len(piece[0]) >= _PIECE_SHORTEST:
            length = end
        elif count >= _LAST_PIECES and not (piece[0].isdecimal() or piece[0] in "nrt"):
            break
    return length


def _without(text: str, spans: Iterator[tuple[int, int]], kind: str, kinds: list[str]) -> str:
    parts: list[str] = []
    done = 0
    for start, end in spans:
        if start < done:
            continue
        parts += (text[done:start], f"[redacted: {kind}]")
        kinds.append(kind)
        done = end
    return "".join((*parts, text[done:])) if parts else text


def _spans(text: str, rule: _Rule) -> Iterator[tuple[int, int]]:
    """Yield where values stand; one that begins in another is not read."""
    done = 0
    for found in rule.pattern.finditer(text):
        at = found.start()
        if found.end() < done or not _follows(rule, text, at):
            continue
        start, end = _value(rule, text, found)
        value = text[start:end]
        if value and not value.startswith("[redacted") and rule.accepts(value):
            yield start, end
            done = end


def _follows(rule: _Rule, text: str, at: int) -> bool:
    return rule.after is None or bool(rule.after.search(text, max(0, at - _NAME_MOST), at))


def _value(rule: _Rule, text: str, found: re.Match[str]) -> tuple[int, int]:
    """Return the span of what may be a secret, an empty one for none."""
    if rule.value is None:
        return found.span("value" if "value" in rule.pattern.groupindex else 0)
    read = rule.value.match(text, found.end()) or rule.value.match(text, found.start() + 1)
    return read.span() if read else (0, 0)
