"""Secrets in a text, by rules of our own (spec 7.6).

The formats of the best-known vendors, assignments, prose, headers, URLs, our own tokens, and the
same hidden by line breaks or an encoding. A finding names a kind and a place, never the value. An
assigned value must look like a secret: placeholders, code and plain words are let through, measured
by stop-words, character classes and Shannon's entropy (1948).
"""

import base64
import binascii
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import unquote

from accounts.tokens import TOKEN_PATTERN

MINIMUM_ENTROPY = 2.3  # bits a character of a short assigned value, ours
MINIMUM_TOKEN_ENTROPY = 3.0  # bits a character of a long unquoted one, ours
PASSWORD_LENGTH = 6  # characters, shorter values are not judged; ours


class SecretKind(StrEnum):
    """What a finding looks like; shown to people and agents."""

    CAIRN_TOKEN = "cairn_token"  # noqa: S105  a name, not a password
    PRIVATE_KEY = "private_key"
    URL_CREDENTIALS = "url_credentials"
    AUTHORIZATION_HEADER = "authorization_header"
    JSON_WEB_TOKEN = "json_web_token"  # noqa: S105  a name, not a password
    VENDOR_KEY = "vendor_key"
    CHAT_BOT_TOKEN = "chat_bot_token"  # noqa: S105  a name, not a password
    ASSIGNED_SECRET = "assigned_secret"  # noqa: S105  a name, not a password
    SECRET_IN_PROSE = "secret_in_prose"  # noqa: S105  a name, not a password
    ENCODED_SECRET = "encoded_secret"  # noqa: S105  a name, not a password


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A secret's kind and place (indices into the text); never its value."""

    kind: SecretKind
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    """What to look for; nothing matches an ASCII text without one of the hints (lower case)."""

    kind: SecretKind
    pattern: re.Pattern[str]
    accepts: Callable[[str], bool]
    hints: tuple[str, ...] = ()


_STOP_WORDS = (
    "example", "placeholder", "your", "changeme", "change_me", "redacted", "dummy", "xxxx", "****",
    "....", "<", "${", "{{", "$(", "%(", "process.env", "os.environ", "getenv", "insert", "replace",
    "todo", "sample", "fake", "foobar", "lorem", "vault:", "secret:", "env.", "config.",
    "settings.",
)  # fmt: skip
_PLAIN_VALUES = frozenset({
    "password", "passwd", "secret", "token", "string", "text", "required", "optional", "none",
    "null", "true", "false", "default", "undefined", "empty", "number", "integer", "boolean",
    "hidden", "masked", "unset", "value", "variable", "bearer", "basic",
})  # fmt: skip
_SENSITIVE_NAME = (
    r"(?:password|passwd|passphrase|pwd|secret|api[_-]?key|apikey|access[_-]?key"
    r"|auth[_-]?token|access[_-]?token|refresh[_-]?token|private[_-]?key|signing[_-]?key|token"
    r"|credentials?)"
)
_NAME_HINTS = ("pass", "pwd", "secret", "key", "token", "credential")  # in each sensitive name
_CODE_SHAPE = re.compile(r"[A-Za-z_][\w]*(?:(?:\.|::|->)\w+|\[.*|\(.*)*[;,)]*")
_REDACTED = re.compile(r"\[[a-z_]+\].*")
_ENCODED = re.compile(r"(?<![\w+/=-])(?:[A-Za-z0-9+/_-]{24,4096}={0,2})(?![\w+/=-])")
_PERCENT = re.compile(r"(?<![\w.~:/@=+%-])(?:[\w.~:/@=+-]*%[0-9A-Fa-f]{2}){3,}[\w.~:/@=+-]*")
_BROKEN_LINE = re.compile(
    r"(?<=[A-Za-z0-9+/_.-]{8})[ \t]*(?:\\|[\"'][ \t]*\+?)?\r?\n[ \t>]*[\"']?(?=[A-Za-z0-9+/_.-]{8})"
)


def find_secrets(*, text: str) -> tuple[Finding, ...]:
    """Find what looks like a secret, in order; overlapping findings are joined."""
    findings = [
        *_scan(text),
        *_scan_joined_lines(text),
        *_scan_decoded(text),
    ]
    return _joined(findings)


def redact(*, text: str, findings: tuple[Finding, ...]) -> str:
    """Replace each finding by its kind in brackets, leaving the rest as it is."""
    redacted = text
    for found in reversed(_joined(list(findings))):
        redacted = f"{redacted[: found.start]}[{found.kind}]{redacted[found.end :]}"
    return redacted


def entropy_bits(*, text: str) -> float:
    """Compute H = -Σ p · log2(p) over the characters, bits a character (Shannon 1948)."""
    length = len(text)
    counts = Counter(text).values()
    return math.fsum(-count / length * math.log2(count / length) for count in counts)


def _always(_: str) -> bool:
    return True


def _is_placeholder(value: str) -> bool:
    lowered = value.lower()
    if lowered.strip("\"'`.,;:!?") in _PLAIN_VALUES or len(set(lowered)) <= 2:
        return True
    if _REDACTED.fullmatch(lowered):
        return True
    return any(word in lowered for word in _STOP_WORDS)


def _classes(value: str) -> int:
    kinds = (str.islower, str.isupper, str.isdigit, lambda character: not character.isalnum())
    return sum(any(kind(character) for character in value) for kind in kinds)


def _is_quoted_secret(value: str) -> bool:
    return (
        len(value) >= PASSWORD_LENGTH
        and not _is_placeholder(value)
        and (" " not in value)
        and (_classes(value) > 1 or len(value) >= 12)
        and entropy_bits(text=value) >= MINIMUM_ENTROPY
    )


def _is_bare_secret(value: str) -> bool:
    if not _is_quoted_secret(value) or _classes(value) < 2:
        return False
    has_digit = any(character.isdigit() for character in value)
    if _CODE_SHAPE.fullmatch(value) and not (has_digit and "(" not in value and "." not in value):
        return False
    return has_digit or entropy_bits(text=value) >= MINIMUM_TOKEN_ENTROPY


def _is_prose_secret(value: str) -> bool:
    bare = value.rstrip(".,;:!?\"'`")
    has_letter = any(character.isalpha() for character in bare)
    has_more = any(not character.isalpha() and character not in "-'_/" for character in bare)
    return has_letter and has_more and _is_bare_secret(bare)


def _rule(
    kind: SecretKind,
    pattern: str,
    accepts: Callable[[str], bool] = _always,
    hints: tuple[str, ...] = (),
) -> _Rule:
    return _Rule(kind=kind, pattern=re.compile(pattern), accepts=accepts, hints=hints)


_RULES = (  # the value is the group `value`, or the whole match
    _Rule(kind=SecretKind.CAIRN_TOKEN, pattern=TOKEN_PATTERN, accepts=_always, hints=("crn_",)),
    _rule(
        SecretKind.PRIVATE_KEY,
        r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:[^-]{0,8000}-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----)?",
    ),
    _rule(
        SecretKind.URL_CREDENTIALS,
        r"\b[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s:/@]{0,100}:(?P<value>[^\s/@]{3,200})@",
        lambda value: not _is_placeholder(value),
        hints=("://",),
    ),
    _rule(
        SecretKind.URL_CREDENTIALS,
        r"\s(?:-u|--user)[ =][\"']?[^\s:\"']{1,64}:(?P<value>[^\s\"']{4,200})",
        _is_bare_secret,
        hints=("-u",),
    ),
    _rule(
        SecretKind.AUTHORIZATION_HEADER,
        r"(?i)\b(?:authorization[\"']?\s*[:=]\s*[\"']?(?:bearer|basic|token)"
        r"|x-api-key[\"']?\s*[:=]|bearer)\s+[\"']?(?P<value>[A-Za-z0-9._~+/=-]{16,})",
        _is_bare_secret,
        hints=("authorization", "x-api-key", "bearer"),
    ),
    _rule(
        SecretKind.JSON_WEB_TOKEN,
        r"\beyJ[A-Za-z0-9_-]{10,2000}\.eyJ[A-Za-z0-9_-]{10,4000}\.[A-Za-z0-9_-]{10,1000}",
        hints=("eyj",),
    ),
    _rule(
        SecretKind.VENDOR_KEY,
        r"\b(?:(?:AKIA|ASIA)[0-9A-Z]{16}|AIza[\w-]{35}|(?:sk|pk|rk)_(?:live|test)_[0-9A-Za-z]{16,}"
        r"|sk-(?:ant-|proj-|svcacct-)?[\w-]{20,}|gh[pousr]_[0-9A-Za-z]{36}|github_pat_\w{50,}"
        r"|glpat-[\w-]{20}|xox[abeprs]-[\w-]{10,}|npm_[0-9A-Za-z]{36}|pypi-[\w-]{50,}"
        r"|hf_[0-9A-Za-z]{30,}|SG\.[\w-]{16,}\.[\w-]{16,}|key-[0-9a-f]{32})(?![\w])",
        lambda value: entropy_bits(text=value) >= MINIMUM_TOKEN_ENTROPY,
    ),
    _rule(
        SecretKind.CHAT_BOT_TOKEN,
        r"(?<![\w.])(?:\d{8,10}:[A-Za-z0-9_-]{35}"
        r"|[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,40})(?![\w-])",
        lambda value: entropy_bits(text=value) >= MINIMUM_TOKEN_ENTROPY,
    ),
    _rule(
        SecretKind.ASSIGNED_SECRET,
        rf"(?i){_SENSITIVE_NAME}[\"'`]?\s{{0,3}}(?:=>|:=|=|:)\s{{0,3}}"
        r"(?P<quote>[\"'`])(?P<value>[^\"'`\n]{6,200})(?P=quote)",
        _is_quoted_secret,
        hints=_NAME_HINTS,
    ),
    _rule(
        SecretKind.ASSIGNED_SECRET,
        rf"(?i){_SENSITIVE_NAME}[\"'`]?\s{{0,3}}(?:=>|:=|=|:)\s{{0,3}}"
        r"(?P<value>[^\s\"'`,;]{6,200})",
        _is_bare_secret,
        hints=_NAME_HINTS,
    ),
    _rule(
        SecretKind.SECRET_IN_PROSE,
        r"(?i)\b(?:password|passphrase|passwd|secret|api key|access key|token|credentials?)"
        r"(?: \w+){0,4}? (?:is|was|are|to|=|as)(?: now| still| (?:set|changed|reset) to)? [\"'`]?"
        r"(?P<value>[^\s\"'`]{6,200})",
        _is_prose_secret,
        hints=_NAME_HINTS,
    ),
)
_UNMISTAKABLE = tuple(
    rule
    for rule in _RULES
    if rule.kind
    in (
        SecretKind.CAIRN_TOKEN,
        SecretKind.JSON_WEB_TOKEN,
        SecretKind.VENDOR_KEY,
        SecretKind.CHAT_BOT_TOKEN,
    )
)


def _scan(text: str, rules: tuple[_Rule, ...] = _RULES) -> Iterator[Finding]:
    for rule in _worth_trying(text, rules):
        group = "value" if "value" in rule.pattern.groupindex else 0
        for match in rule.pattern.finditer(text):
            if rule.accepts(match.group(group)):
                yield Finding(kind=rule.kind, start=match.start(group), end=match.end(group))


def _worth_trying(text: str, rules: tuple[_Rule, ...]) -> Iterator[_Rule]:
    """Leave out rules whose hints a text lacks; other letters than ASCII fold in too many ways."""
    if not text.isascii():
        yield from rules
        return
    lowered = text.lower()
    for rule in rules:
        if not rule.hints or any(hint in lowered for hint in rule.hints):
            yield rule


def _scan_joined_lines(text: str) -> Iterator[Finding]:
    """Find what appears only once broken lines are joined, mapped back to the text."""
    breaks = [match.span() for match in _BROKEN_LINE.finditer(text)]
    if not breaks:
        return
    places = _places_without(breaks, len(text))
    joined = "".join(text[place] for place in places)
    for found in _scan(joined, _UNMISTAKABLE):
        start, end = places[found.start], places[found.end - 1] + 1
        if "\n" in text[start:end]:
            yield Finding(kind=found.kind, start=start, end=end)


def _places_without(breaks: list[tuple[int, int]], length: int) -> list[int]:
    places: list[int] = []
    position = 0
    for start, end in breaks:
        places.extend(range(position, start))
        position = end
    places.extend(range(position, length))
    return places


def _scan_decoded(text: str) -> Iterator[Finding]:
    for match in _ENCODED.finditer(text):
        if any(next(_scan(decoded), None) for decoded in _decodings(match.group())):
            yield Finding(kind=SecretKind.ENCODED_SECRET, start=match.start(), end=match.end())
    for match in _PERCENT.finditer(text):
        if next(_scan(unquote(match.group())), None):
            yield Finding(kind=SecretKind.ENCODED_SECRET, start=match.start(), end=match.end())


def _decodings(encoded: str) -> Iterator[str]:
    standard = encoded.replace("-", "+").replace("_", "/").rstrip("=")
    padded = standard + "=" * (-len(standard) % 4)
    for decode in (base64.b64decode, binascii.unhexlify):
        try:
            decoded = decode(padded if decode is base64.b64decode else encoded).decode("ascii")
        except (binascii.Error, ValueError):
            continue
        if decoded.isprintable() or "\n" in decoded:
            yield decoded


def _joined(findings: list[Finding]) -> tuple[Finding, ...]:
    joined: list[Finding] = []
    for found in sorted(findings, key=lambda finding: (finding.start, -finding.end)):
        if joined and found.start < joined[-1].end:
            last = joined[-1]
            end = max(last.end, found.end)
            joined[-1] = Finding(kind=last.kind, start=last.start, end=end)
        else:
            joined.append(found)
    return tuple(joined)
