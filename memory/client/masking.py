"""Mask secrets of transcripts on this machine, before they are sent.

By the table of rules that the server uses too, by the prefixes of vendors' keys, which the server
leaves to a catalog, and by the ends of private keys whose beginnings were cut off. Of a finding
only its kind is sent; the server scans again. Of 708 planted secrets in plain contexts 97.6 % are
found, and in 2,800 clean texts none (the set of tests/integration/memory/secrets).

The table knows passwords in assignments, prose, addresses and commands, tokens of ours, and a few
forms of vendors' keys. It stands here because the client is shipped on its own; the server asks
Kingfisher beside it (`memory/secrets`). What stands behind `password =` is judged by stop-words, by
classes of characters and by Shannon's entropy (1948): placeholders, code and plain words are not
worth hiding. The stricter judges are for places where plain words are more usual than secrets.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

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
_END: Final = re.compile(r"-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
_PIECE: Final = re.compile(r"[A-Za-z0-9+/=]+")
_PIECE_SHORTEST: Final = 16  # characters of a line of a key
_PIECE_FARTHEST: Final = 40  # characters between two of them, such as quotes and numbers of lines
_LAST_PIECES: Final = 2  # that may be shorter: a rest and a checksum
MINIMUM_ENTROPY: Final = 2.3  # bits a character of a short assigned value
TOKEN_ENTROPY: Final = 3.0  # bits a character of a long unquoted one
PASSWORD_LENGTH: Final = 6  # characters, shorter values are not judged
KEY_LENGTH: Final = 16  # characters from which something called a key may be one
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
    r"|private[_-]?key|signing[_-]?key|credentials?|(?:secret|account|storage|license|master"
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


class _Rule:
    """What to look for; the value is the group `value` of the pattern, or all that it matches.

    Nothing matches a text without one of the hints (small letters), nor without what `needs` finds.
    An unmistakable form is believed also where a text was put together from broken lines.
    """

    def __init__(
        self,
        kind: str,
        hints: str,
        pattern: str,
        accepts: Callable[[str], bool] = lambda _: True,
        *,
        is_unmistakable: bool = False,
        needs: str = "",
    ) -> None:
        self.kind, self.accepts, self.is_unmistakable = kind, accepts, is_unmistakable
        self.hints = tuple(hints.split("|"))
        self.pattern, self.needs = re.compile(pattern), re.compile(needs)

    def find(self, text: str, lowered: str) -> Iterator[tuple[str, int, int]]:
        """Yield kind, start and end of what it finds in a text, which is given twice."""
        if not any(hint in lowered for hint in self.hints) or not self.needs.search(text):
            return
        group = "value" if "value" in self.pattern.groupindex else 0
        for found in self.pattern.finditer(text):
            if self.accepts(found[group]):
                yield self.kind, *found.span(group)


_VENDOR_KEYS: Final = _Rule(
    "vendor_key",
    "akia|asia|aiza|ya29|gocspx|_live_|_test_|whsec_|sk-|gh|glpat|xox|xapp|npm_|pypi-|hf_|gsk_|sg."
    "|crn_|_v1_|shp|dckr_|age-secret|sntry|hv|eyj",
    rf"(?<![\w.])(?:{'|'.join(_PREFIXES)})",
    is_real,
)
RULES: Final = (
    _Rule(
        "cairn_token",
        "crn_",
        r"(?<![0-9A-Za-z])crn_(?:pat|svc)_[0-9A-Za-z]{38}(?![0-9A-Za-z])",
        is_unmistakable=True,
    ),
    _Rule(
        "private_key",
        "private key",
        r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:(?:[^-]|-(?!----)){0,8000}-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
        r"|[A-Za-z0-9+/=\s\\:,-]{0,8000})",  # cut off: what may be of the key
        is_unmistakable=True,
    ),
    _Rule(
        "url_credentials",
        "://",
        r"\b[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s:/@\"'`]{0,100}:(?P<value>[^\s/@\"'`]{3,200})@",
        is_real,
    ),
    _Rule(  # with an @ or a slash in it; a port, and the first letters of a path, are no password
        "url_credentials",
        "://",
        r"\b[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s:/@\[\"'`]{0,100}:(?!\d{1,5}[/?,;)])"
        r"(?P<value>[^\s/?#\"'`]{3,200}|[^\s@\"'`]{3,200})@(?=[\w.\[-]+(?:[:/?#\s]|$))",
        is_bare_secret,
    ),
    _Rule(
        "url_credentials",
        "-u",
        r"\s(?:-u|--user)[ =][\"']?[^\s:\"']{1,64}:(?P<value>[^\s\"']{4,200})",
        is_bare_secret,
    ),
    _Rule(  # a signature in an address lets in whoever has it
        "url_credentials",
        "sig|access_token=|key=|code=",
        r"[?&](?:sig|signature|X-Amz-Signature|X-Goog-Signature|access_token|key|code)="
        r"(?P<value>[\w%+/=.~-]{30,400})",
        is_key,
    ),
    _Rule(
        "authorization_header",
        "authorization|x-|bearer",
        r"(?i)\b(?=[axb])(?:authorization[\"']?\s*[:=]\s*[\"']?(?:bearer|basic|token)"
        r"|x-[a-z-]{0,30}(?:key|token)[\"']?\s*[:=]|bearer)\s+[\"']?"
        r"(?P<value>[A-Za-z0-9._~+/=-]{16,})",
        is_bare_secret,
    ),
    _Rule(
        "json_web_token",
        "eyj",
        r"\beyJ[A-Za-z0-9_-]{10,2000}\.eyJ[A-Za-z0-9_-]{10,4000}\.[A-Za-z0-9_-]{10,1000}",
        is_unmistakable=True,
    ),
    _Rule(  # of services whose keys Kingfisher finds only beside other words
        "vendor_key",
        "akia|asia|ya29.|sl.|sk.eyj|sdk-|discord",
        r"(?<![\w.])(?=[Aysd])(?:(?:AKIA|ASIA)[0-9A-Z]{16}|ya29\.[\w-]{30,}|sl\.[\w-]{100,}"
        r"|sk\.eyJ[\w-]{40,}\.[\w-]{20,}|sdk-[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"
        r"|discord(?:app)?\.com/api/webhooks/\d{15,}/[\w-]{50,})(?!\w)",
        is_random,
        is_unmistakable=True,
    ),
    _Rule(
        "chat_bot_token",
        ":|.",
        r"(?<![\w.])(?:\d{8,10}:[A-Za-z0-9_-]{35}"
        r"|[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,40})(?![\w-])",
        is_random,
        is_unmistakable=True,
        needs=r"[:.](?:(?<=\d{8}:)[A-Za-z0-9_-]{35}|(?<=\.)[\w-]{6}\.[\w-]{27})",
    ),
    _Rule(  # {"name": "DB_PASSWORD", "value": …}, and the same in lines of YAML
        "assigned_secret",
        "value",
        r"(?i)\b(?=[nk])(?:name|key)[\"']?\s{0,3}[:=]\s{0,3}[\"']?[\w.-]{0,60}(?:passw(?:or)?d|pwd|secret"
        r"|token|credentials?|(?:api|access|private|signing|master|encryption)[_.-]?key)"
        r"(?:[_-]?\d{1,3})?[\"']?(?:,\s{0,40}|\s{1,40})[\"']?value[\"']?\s{0,3}[:=]\s{0,3}"
        r"[\"']?(?P<value>[^\s\"',;]{6,200})",
        is_bare_secret,
    ),
    _Rule(
        "assigned_secret",
        "--pass|--pwd|--token|--secret|--api|--auth|sshpass|login",
        r"(?i)(?=[-sl])(?:--(?:password|passwd|pass|pwd|token|secret|api-?key|passphrase|auth)[ =]"
        r"|\bsshpass\s+-p\s?|\blogin\s+\S{1,64}\s+password\s+)[\"']?(?P<value>[^\s\"'`]{6,200})",
        is_bare_secret,
    ),
    _Rule(
        "assigned_secret",
        "mysql|mariadb",
        r"\b(?:mysql|mysqldump|mysqladmin|mariadb)\b[^\n|;]{0,120}\s-p(?P<value>[^\s\"'`]{6,200})",
        is_bare_secret,
    ),
    _Rule(  # .pgpass: host:port:database:user:password
        "assigned_secret",
        ":",
        r"(?m)(?<!\S)[\w.*-]{1,100}:(?:\d{2,5}|\*):[\w*-]{1,60}:[\w*-]{1,60}:(?P<value>\S{6,100})",
        is_bare_secret,
        needs=r":(?:\d{2,5}|\*):",
    ),
    _Rule(  # the file in which Docker keeps logins
        "assigned_secret",
        '"auth"',
        r"\"auth\"\s{0,3}:\s{0,3}\"(?P<value>[A-Za-z0-9+/]{16,400}={0,2})\"",
        is_random,
    ),
    _Rule(
        "secret_in_prose",
        "passw|passphrase|secret|api key|access key|token|credential|mot de passe|mdp",
        r"(?i)\b(?=[psatcm])(?:password|passphrase|passwd|secret|api key|access key|token"
        r"|credentials?|mot de passe|mdp)(?: \w+){0,4}? (?:is|was|are|to|=|as|:|est|était|sera)"
        r"(?: now| still| (?:set|changed|reset) to)? [\"'`]?"
        r"(?P<value>[^\s\"'`]{6,200})",
        is_prose_secret,
    ),
    _Rule(
        "secret_in_prose",
        "key ",
        r"(?i)\bkey(?: \w+){0,3}? (?:is|was|(?:set|changed|reset) to|=|as)(?: now| still)? [\"'`]?"
        r"(?P<value>[^\s\"'`]{16,400})",
        is_key,
    ),
)


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
