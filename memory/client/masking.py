"""Mask secrets of transcripts on this machine, before they are sent.

By the table of rules that the server uses too, by the prefixes of vendors' keys, which the server
leaves to a catalog, and by the ends of private keys whose beginnings were cut off. Of a finding
only its kind is sent; the server scans again. Of 708 planted secrets in plain contexts 97.6 % are
found, and in 2,800 clean texts none (the set of tests/integration/memory/secrets).

The table, `masking.toml`, knows passwords in assignments, prose, addresses and commands, tokens of
ours, and a few forms of vendors' keys. It stands here because the client is shipped on its own; the
server asks Kingfisher beside it (`memory/secrets`). What stands behind `password =` is judged by
stop-words, by classes of characters and by Shannon's entropy (1948): placeholders, code and plain
words are not worth hiding. The stricter judges are for places where plain words are more usual than
secrets.
"""

import math
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

TAIL_MOST: Final = 24_000  # characters before the end of a key that are scanned; default
_TABLES: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_END: Final = re.compile(r"-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
_PIECE: Final = re.compile(r"[A-Za-z0-9+/=]+")
_PIECE_SHORTEST: Final = 16  # characters of a line of a key
_PIECE_FARTHEST: Final = 40  # characters between two of them, such as quotes and numbers of lines
_LAST_PIECES: Final = 2  # that may be shorter: a rest and a checksum
MINIMUM_ENTROPY: Final = 2.3  # bits a character of a short assigned value
TOKEN_ENTROPY: Final = 3.0  # bits a character of a long unquoted one
PASSWORD_LENGTH: Final = 6  # characters, shorter values are not judged
KEY_LENGTH: Final = 16  # characters from which something called a key may be one
_STOP_WORDS: Final = tuple(_TABLES["stop_words"])
_PLAIN_VALUES: Final = frozenset(_TABLES["plain_values"].split())
_CODE_SHAPE: Final = re.compile(r"[A-Za-z_]\w*(?:\)*(?:\.|::|->)\w+|\[.*|\(.*)*[;,)}\]:]*")
_SUBSCRIPT: Final = re.compile(r"[A-Za-z_][\w.]*\[[\w:'\".+-]*(?:\].*)?")  # parts[2], token[:-1]
_REDACTED: Final = re.compile(r"\[[a-z0-9_: -]+\]?.*")
_TEMPLATE: Final = re.compile(r"\{[A-Za-z_][\w.]*\}")  # a name in braces, to be filled in
_VARIABLE: Final = re.compile(  # whole references; $ECRET2024 is no name but a password
    r"\$\{.+\}.*|\$(?![A-Z]+\d{2,}\W?\Z)[A-Z_][A-Z0-9_]*(?:[/:].*|\W?)"
    r"|\$[A-Za-z_]+(?:(?:->|::)\w+)*(?:[\[(].*[\])])?\W?"
    r"|%[A-Za-z_]\w*%(?:[/\\:].*)?|\{\d*\}.*|\{\w+\}"
)
_HASH: Final = re.compile(  # bcrypt, crypt, argon2: what is kept of a password, not the password
    r"\$(?:2[abxy]|[156y]|argon2(?:id?|d)|scrypt|pbkdf2-sha\d+)\$[\w./+=,$-]{16,}\W?"
)
# a name of code, never a good password
_NAME_SHAPE: Final = re.compile(r"_*[a-z]+(?:_+[a-z]+)+|_+[a-z]+")
_FIGURES: Final = re.compile(  # days, moments, parts of a whole, versions
    r"\d{4}-\d\d-\d\d(?:[T ][\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?|\d+(?:[/.]\d+)+"
)
_TERM: Final = re.compile(  # RS256-signed, OAuth2-based, OWASP-2023, base64-encoded
    r"[A-Z]{2,}[A-Za-z]*\d{0,4}(?:-[a-z]{2,}|-\d{1,4})*|[A-Za-z]+\d{1,4}[a-z]{0,2}-(?:[a-z]+ed|bound|only)"
)
_CALL: Final = re.compile(r"[A-Za-z_][\w.:]*\([\w.,:|+'\"()-]*")
_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_WORD_LENGTH: Final = 3  # characters of a name's words on average, drawn ones have fewer
_MOST_DIGITS: Final = 3  # in a name of code
_AT_THE_END: Final = ".,;:!?\"'`)]}"
_SIGN: Final = re.compile(  # between a name and its value, behind a letter that ends a name below
    r"[=:](?:(?<=[delnpstwyDELNPSTWY][=:])|(?<=[\"'`\s][=:]))(?:(?<==)>?|(?<=:)=?)\s{0,3}\(?"
)
_NAME_ENDS: Final = (
    *("ord", "swd", "ase", "ode", "pwd", "ret", "key", "ken"),
    *("ial", "als", "ass", "sse", "mdp", "pw"),
)
_NAME_LETTERS: Final = 28  # before a sign that are looked at
_NAME: Final = re.compile(
    r"(?i)(?:password|passwd|passphrase|passcode|pwd|secret|api[_ -]?key|access[_-]?key|token"
    r"|private[_-]?key|signing[_-]?key|credentials?|secret[_-]?key[_-]?base"
    r"|(?:secret|account|storage|license|master"
    r"|encryption|service|webhook|sdk|admin|session|deploy|shared|client|root|auth|app|insert"
    r"|ingest|write|server)[_-]?key|mot[ _-]?de[ _-]?passe|(?<![a-z])mdp"
    r"|(?:(?<![a-z])|db|user|root|admin|bind|mail|smtp|ftp|sql)p(?:ass|w)"
    r"|(?-i:(?<=[a-z])P(?:ass|w)))\Z"
)
_KEY: Final = re.compile(  # public, primary and cache keys open nothing
    r"(?i)(?<!public)(?<!primary)(?<!foreign)(?<!cache)(?<!sort)(?<!partition)(?<!idempotency)"
    r"(?:[_-]|\b)key\Z"
)
# The pattern of the name, that of the value, and what accepts the value
_Judge = tuple[re.Pattern[str], re.Pattern[str], Callable[[str], bool]]
_QUOTED: Final = re.compile(r"(?P<quote>[\"'`])(?P<value>[^\"'`\n]{6,200})(?P=quote)")
_BARE: Final = re.compile(r"(?P<value>(?:[^\s\"'`,;&]|&(?!\w+=)){6,200})")
_QUOTED_KEY: Final = re.compile(r"(?P<quote>[\"'`])(?P<value>[^\"'`\s]{20,400})(?P=quote)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Masked:
    """A text without what was found, and a kind for each finding."""

    text: str
    kinds: tuple[str, ...]


def mask(*, text: str) -> Masked:
    """Return the text with each finding replaced by its kind in brackets."""
    found = [*_VENDOR_KEYS.find(text, text.lower()), *_headless_keys(text)]
    found += find_by_table(text=text)
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


def entropy_bits(*, text: str) -> float:
    """Compute H = -Σ p · log2(p) over the characters, bits a character (Shannon 1948)."""
    length = len(text)
    counts = Counter(text).values()
    return math.fsum(-count / length * math.log2(count / length) for count in counts)


def is_placeholder(value: str) -> bool:
    """Say whether a value stands for another one."""
    lowered = value.lower()
    if lowered.strip("\"'`.,;:!?") in _PLAIN_VALUES or len(set(lowered)) <= 2:
        return True
    if (
        _SUBSCRIPT.fullmatch(value)
        or _REDACTED.fullmatch(lowered)
        or _VARIABLE.fullmatch(value)
        or _HASH.fullmatch(value)
    ):
        return True
    return bool(_TEMPLATE.search(value)) or any(word in lowered for word in _STOP_WORDS)


def is_real(value: str) -> bool:
    """Say whether the value of an unmistakable place is none that stands for another one."""
    return not is_placeholder(value)


def is_random(value: str) -> bool:
    """Say whether a value of a known form is drawn, not written."""
    return entropy_bits(text=value) >= TOKEN_ENTROPY and not is_placeholder(value)


def is_quoted_secret(value: str) -> bool:
    """Say whether a quoted value that is called a secret is one."""
    return (
        len(value) >= PASSWORD_LENGTH
        and not is_placeholder(value)
        and " " not in value
        and not _NAME_SHAPE.fullmatch(value)
        and (_count_classes(value) > 1 or len(value) >= 12)
        and entropy_bits(text=value) >= MINIMUM_ENTROPY
    )


def is_bare_secret(value: str) -> bool:
    """Say whether a value without quotes that is called a secret is one, and no code."""
    if not is_quoted_secret(value) or _count_classes(value) < 2 or _FIGURES.fullmatch(value):
        return False
    has_digit = any(character.isdigit() for character in value)
    if _CODE_SHAPE.fullmatch(value) and not (has_digit and "(" not in value and "." not in value):
        return False
    return has_digit or entropy_bits(text=value) >= TOKEN_ENTROPY


def is_prose_secret(value: str) -> bool:
    """Say whether a word of a sentence that is called a secret is one."""
    bare = value.rstrip(_AT_THE_END)
    if _FIGURES.fullmatch(bare) or _TERM.fullmatch(bare):
        return False
    has_letter = any(character.isalpha() for character in bare)
    has_more = any(not character.isalpha() and character not in "-'_/" for character in bare)
    return has_letter and has_more and is_bare_secret(bare)


def is_mixed_secret(value: str) -> bool:
    """Say whether a word that stands where passwords do is one: capitals, small letters, digits."""
    classes = (str.isupper, str.islower, str.isdigit)
    return is_prose_secret(value) and all(any(map(one, value)) for one in classes)


def is_key(value: str) -> bool:
    """Say whether something called a key opens something: long, drawn, of letters and digits."""
    bare = value.rstrip(_AT_THE_END)
    digits = sum(map(str.isdigit, bare))
    has_letter = any(map(str.isalpha, bare))
    if len(bare) < KEY_LENGTH or not (digits and has_letter) or is_placeholder(bare):
        return False
    if " " in bare or _is_put_together(bare, digits):
        return False
    return entropy_bits(text=bare) >= TOKEN_ENTROPY


def _is_put_together(bare: str, digits: int) -> bool:
    """Say whether a value is a call, words in a row, or a path of short names."""
    # words put together, as in OAuth2AuthorizationServer, are longer than drawn ones
    is_long = len(bare) >= _WORD_LENGTH * len(_WORDS.findall(bare))
    if _CALL.fullmatch(bare) or (bare.isalnum() and is_long and digits <= _MOST_DIGITS):
        return True
    parts = re.split(r"[/:._-]", bare)
    return len(parts) > 2 and max(map(len, parts)) < KEY_LENGTH


def _count_classes(value: str) -> int:
    """Count how many of these a value has: small letters, capitals, digits, other signs."""
    tests = (str.islower, str.isupper, str.isdigit)
    return sum(any(map(test, value)) for test in tests) + (not value.isalnum())


_JUDGES: Final[Mapping[str, Callable[[str], bool]]] = {
    "": lambda _: True,
    "real": is_real,
    "random": is_random,
    "bare": is_bare_secret,
    "prose": is_prose_secret,
    "mixed": is_mixed_secret,
    "quoted": is_quoted_secret,
    "key": is_key,
}


class _Rule:
    """What to look for, as a row of the table says it."""

    def __init__(self, row: Mapping[str, Any]) -> None:
        self.kind, self.accepts = row["kind"], _JUDGES[row.get("judge", "")]
        self.is_unmistakable = row.get("is_unmistakable", False)
        self.hints = tuple(_joined(row["hints"]).split("|"))
        self.pattern = re.compile(_joined(row["pattern"]))
        self.needs = re.compile(row.get("needs", ""))

    def find(self, text: str, lowered: str) -> Iterator[tuple[str, int, int]]:
        """Yield kind, start and end of what it finds in a text, which is given twice."""
        if not any(hint in lowered for hint in self.hints) or not self.needs.search(text):
            return
        group = "value" if "value" in self.pattern.groupindex else 0
        for found in self.pattern.finditer(text):
            if self.accepts(found[group]):
                yield self.kind, *found.span(group)


def _joined(lines: str) -> str:
    return lines.replace("\n", "")


_VENDOR_KEYS: Final = _Rule(_TABLES["vendor_keys"])
RULES: Final = tuple(map(_Rule, _TABLES["rules"]))


def find_by_table(*, text: str, is_joined: bool = False) -> Iterator[tuple[str, int, int]]:
    """Yield kind, start and end of what the rules find.

    In a text that was put together from broken lines only unmistakable forms are believed.
    """
    lowered = text.lower()
    for rule in RULES:
        if rule.is_unmistakable or not is_joined:
            yield from rule.find(text, lowered)
    yield from _find_assigned(text, _ASSIGNED[-1:] if is_joined else _ASSIGNED)


_ASSIGNED: Final = (
    (_NAME, _QUOTED, is_quoted_secret),
    (_NAME, _BARE, is_bare_secret),
    (_KEY, _QUOTED_KEY, is_key),
)


def _find_assigned(text: str, judges: tuple[_Judge, ...]) -> Iterator[tuple[str, int, int]]:
    """Yield the values of names that tell of a secret: `db_password = …`, `"apiKey": "…"`.

    What ends in “key” alone must look drawn.
    """
    done = {pattern: 0 for _, pattern, _ in judges}  # where the last match of each ended
    for sign in _SIGN.finditer(text):
        before = text[max(0, sign.start() - _NAME_LETTERS) : sign.start()].rstrip()
        if before.endswith(("'", '"', "`")):
            before = before[:-1]
        if not before[-3:].lower().endswith(_NAME_ENDS):
            continue
        for name, pattern, accepts in judges:
            is_new = sign.end() >= done[pattern] and name.search(before)
            found = pattern.match(text, sign.end()) if is_new else None
            if found is None:
                continue
            done[pattern] = found.end()
            if accepts(found["value"]):
                yield "assigned_secret", *found.span("value")
