"""Whether a value is worth hiding: placeholders, code and plain words are not.

What stands behind `password =` is judged by stop-words, by classes of characters and by Shannon's
entropy (1948). The stricter judges are for places where plain words are more usual than secrets.
"""

import math
import re
from collections import Counter
from functools import lru_cache
from typing import Final

MINIMUM_ENTROPY: Final = 2.3  # bits a character of a short assigned value, ours
TOKEN_ENTROPY: Final = 3.0  # bits a character of a long unquoted one, ours
PASSWORD_LENGTH: Final = 6  # characters, shorter values are not judged; ours
KEY_LENGTH: Final = 16  # characters from which something called a key may be one, ours

_STOP_WORDS: Final = (
    "example", "placeholder", "your", "changeme", "change_me", "redacted", "dummy", "xxxx", "****",
    "....", "<", "${", "{{", "$(", "%(", "process.env", "os.environ", "getenv", "insert", "replace",
    "todo", "sample", "fake", "foobar", "lorem", "vault:", "secret:", "env.", "config.",
    "settings.", "secrets.", "…",
)  # fmt: skip
_PLAIN_VALUES: Final = frozenset({
    "password", "passwd", "secret", "token", "string", "text", "required", "optional", "none",
    "null", "true", "false", "default", "undefined", "empty", "number", "integer", "boolean",
    "hidden", "masked", "unset", "value", "variable", "bearer", "basic", "guest", "postgres",
    "user", "username", "pass", "admin", "test", "root",
})  # fmt: skip
_CODE_SHAPE: Final = re.compile(r"[A-Za-z_][\w]*(?:\)*(?:\.|::|->)\w+|\[.*|\(.*)*[;,)]*")
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
_NAME_SHAPE: Final = re.compile(r"[a-z]+(?:_[a-z]+)+")  # a name of code, never a good password
_FIGURES: Final = re.compile(  # days, moments, parts of a whole, versions
    r"\d{4}-\d\d-\d\d(?:[T ][\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?|\d+(?:[/.]\d+)+"
)
_TERM: Final = re.compile(  # RS256-signed, OAuth2-based, OWASP-2023, base64-encoded
    r"[A-Z]{2,}[A-Za-z]*\d{0,4}(?:-[a-z]{2,}|-\d{1,4})*|[A-Za-z]+\d{1,4}[a-z]{0,2}-(?:[a-z]+ed|bound|only)"
)
_CALL: Final = re.compile(r"[A-Za-z_][\w.:]*\([\w.,:|+'\"()-]*")
_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_WORD_LENGTH: Final = 3  # characters of a name's words on average, drawn ones have fewer; ours
_MOST_DIGITS: Final = 3  # in a name of code, ours
_AT_THE_END: Final = ".,;:!?\"'`)]}"


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
    if _REDACTED.fullmatch(lowered) or _VARIABLE.fullmatch(value) or _HASH.fullmatch(value):
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
        and (_classes(value) > 1 or len(value) >= 12)
        and entropy_bits(text=value) >= MINIMUM_ENTROPY
    )


def is_bare_secret(value: str) -> bool:
    """Say whether a value without quotes that is called a secret is one, and no code."""
    if not is_quoted_secret(value) or _classes(value) < 2 or _FIGURES.fullmatch(value):
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


def is_key(value: str) -> bool:
    """Say whether something called a key opens something: long, drawn, of letters and digits."""
    bare = value.rstrip(_AT_THE_END)
    has_digit = any(character.isdigit() for character in bare)
    has_letter = any(character.isalpha() for character in bare)
    if len(bare) < KEY_LENGTH or not (has_digit and has_letter) or is_placeholder(bare):
        return False
    if _CALL.fullmatch(bare) or _is_name(bare):
        return False
    return " " not in bare and entropy_bits(text=bare) >= TOKEN_ENTROPY and not _is_path(bare)


def _is_path(value: str) -> bool:
    parts = re.split(r"[/:._-]", value)
    return len(parts) > 2 and max(len(part) for part in parts) < KEY_LENGTH


def _is_name(value: str) -> bool:
    """Say whether words are put together, as in OAuth2AuthorizationServer, and not drawn."""
    words = _WORDS.findall(value)
    if sum(character.isdigit() for character in value) > _MOST_DIGITS:
        return False
    return value.isalnum() and len(value) >= _WORD_LENGTH * len(words)


def _classes(value: str) -> int:
    return len(frozenset[str]().union(*map(_classes_of, set(value))))


@lru_cache(maxsize=4096)
def _classes_of(character: str) -> frozenset[str]:
    classes = {
        "lower": character.islower(),
        "upper": character.isupper(),
        "digit": character.isdigit(),
        "other": not character.isalnum(),
    }
    return frozenset(name for name, is_one in classes.items() if is_one)
