"""Our own rules about secrets, beside the catalog of services: a table, a row a form.

The value is the group `value` of a pattern, or all that it matches; a judge of `secret_values` says
whether it is one. How they are tried on a text is in `secret_scan`.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from accounts.tokens import TOKEN_PATTERN
from memory.secrets.secret_prefixes import PREFIXES
from memory.secrets.secret_values import (
    is_bare_secret,
    is_key,
    is_prose_secret,
    is_quoted_secret,
    is_random,
    is_real,
)


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
class Match:
    """Where a rule found something: indices into the text it was given."""

    kind: SecretKind
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rule:
    """What to look for; nothing matches a text without one of the hints (small letters).

    An unmistakable form is believed also where a text was put together from broken lines. What
    stands before a match must end as `after` says, and the match begins with _BECOMES: the short
    sign between a name and its value is looked for first, once for all such rules. A match that
    `is_one_word` has WORD_LEAST characters or more and no blank; what `needs` finds is in every
    text with a match, or in the word.
    """

    kind: SecretKind
    pattern: re.Pattern[str]
    accepts: Callable[[str], bool]
    hints: tuple[str, ...] = ()
    is_unmistakable: bool = False
    after: re.Pattern[str] | None = None
    is_one_word: bool = False
    needs: re.Pattern[str] | None = None


WORD_LEAST: Final = 14  # characters of the shortest match of a rule for one word, and fewer of most
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
_NAME_HINTS: Final = ("pass", "pw", "mdp", "secret", "key", "token", "credential")
_PROSE_HINTS: Final = (
    *("password", "passphrase", "passwd", "secret", "api key", "access key"),
    *("token", "credential", "mot de passe", "mdp"),
)
_BECOMES: Final = (  # behind the end of a name, whose whole is looked at afterwards; the sign first
    r"(?i)[\"'`\s=:](?:(?<=[=:])|(?=\s{0,3}[=:]))"
    r"(?:(?<=(?:ord|swd|ase|ode|pwd|ret|key|ken|ial|als|ass|sse|mdp)[\s\S])|(?<=pw[\s\S]))"
    r"(?:(?<=[\"'`])\s{0,3}(?:=>|:=|=|:)|(?<=\s)\s{0,2}(?:=>|:=|=|:)|(?<==)>?|(?<=:)=?)\s{0,3}\(?"
)
LONGEST_NAME: Final = 24  # characters
_NAMED: Final = (  # {"name": "DB_PASSWORD", "value": …}, and the same in lines of YAML
    r"(?i)\b(?=[nk])(?:name|key)[\"']?\s{0,3}[:=]\s{0,3}[\"']?[\w.-]{0,60}(?:passw(?:or)?d|pwd|secret|token"
    r"|credentials?|(?:api|access|private|signing|master|encryption)[_.-]?key)(?:[_-]?\d{1,3})?[\"']?"
    r"(?:,\s{0,40}|\s{1,40})[\"']?value[\"']?\s{0,3}[:=]\s{0,3}"
)
_CALLED: Final = re.compile(r"[vV](?i:alue)[\"']?\s{0,3}[:=]")  # of what _NAMED finds
_LOGIN: Final = re.compile(r"://[^\s:/@\"'`]{0,100}:[^\s\"'`]{3,200}@")  # of an address
_OPTION: Final = re.compile(r"--[pPtTsSaA\u017f]|[sS\u017f]{2}(?i:hpass)|[lL](?i:ogin\s)")
_INSIDE_BOT: Final = re.compile(r"[:.](?:(?<=\d{8}:)[A-Za-z0-9_-]{35}|(?<=\.)[\w-]{6}\.[\w-]{27})")
_PORT: Final = re.compile(r":(?:\d{2,5}|\*):")
_KEYED: Final = re.compile(r"[kK\u212a](?i:ey )")  # in each text in which prose tells a key


def _rule(
    kind: SecretKind,
    pattern: str,
    accepts: Callable[[str], bool],
    *hints: str,
    is_unmistakable: bool = False,
    after: re.Pattern[str] | None = None,
    is_one_word: bool = False,
    needs: re.Pattern[str] | None = None,
) -> Rule:
    return Rule(
        kind=kind,
        pattern=re.compile(pattern),
        accepts=accepts,
        hints=hints,
        is_unmistakable=is_unmistakable,
        after=after,
        is_one_word=is_one_word,
        needs=needs,
    )


RULES: Final = (
    Rule(
        kind=SecretKind.CAIRN_TOKEN,
        pattern=TOKEN_PATTERN,
        accepts=lambda _: True,
        hints=("crn_",),
        is_unmistakable=True,
        is_one_word=True,
    ),
    _rule(
        SecretKind.PRIVATE_KEY,
        r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:(?:[^-]|-(?!----)){0,8000}-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
        r"|[A-Za-z0-9+/=\s\\:,-]{0,8000})",  # cut off: what may be of the key
        lambda _: True,
        "private key",
        is_unmistakable=True,
    ),
    _rule(
        SecretKind.URL_CREDENTIALS,
        r"\b[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s:/@\"'`]{0,100}:(?P<value>[^\s/@\"'`]{3,200})@",
        is_real,
        "://",
        needs=_LOGIN,
    ),
    _rule(  # with an @ or a slash in it; a port, and the first letters of a path, are no password
        SecretKind.URL_CREDENTIALS,
        r"\b[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s:/@\[\"'`]{0,100}:(?!\d{1,5}[/?,;)])"
        r"(?P<value>[^\s/?#\"'`]{3,200}|[^\s@\"'`]{3,200})@(?=[\w.\[-]+(?:[:/?#\s]|$))",
        is_bare_secret,
        "://",
        needs=_LOGIN,
    ),
    _rule(
        SecretKind.URL_CREDENTIALS,
        r"\s(?:-u|--user)[ =][\"']?[^\s:\"']{1,64}:(?P<value>[^\s\"']{4,200})",
        is_bare_secret,
        "-u",
    ),
    _rule(  # a signature in an address lets in whoever has it
        SecretKind.URL_CREDENTIALS,
        r"[?&](?:sig|signature|X-Amz-Signature|X-Goog-Signature|access_token|key|code)="
        r"(?P<value>[\w%+/=.~-]{30,400})",
        is_key,
        "=",
        is_one_word=True,
    ),
    _rule(
        SecretKind.AUTHORIZATION_HEADER,
        r"(?i)\b(?=[axb])(?:authorization[\"']?\s*[:=]\s*[\"']?(?:bearer|basic|token)"
        r"|x-[a-z-]{0,30}(?:key|token)[\"']?\s*[:=]|bearer)\s+[\"']?"
        r"(?P<value>[A-Za-z0-9._~+/=-]{16,})",
        is_bare_secret,
        "authorization",
        "x-",
        "bearer",
    ),
    _rule(
        SecretKind.JSON_WEB_TOKEN,
        r"\beyJ[A-Za-z0-9_-]{10,2000}\.eyJ[A-Za-z0-9_-]{10,4000}\.[A-Za-z0-9_-]{10,1000}",
        lambda _: True,
        "eyj",
        is_unmistakable=True,
    ),
    _rule(
        SecretKind.VENDOR_KEY,
        rf"(?<![\w.])(?=\w)(?:{'|'.join(PREFIXES)})(?![\w])",
        is_random,
        is_unmistakable=True,
        is_one_word=True,
    ),
    _rule(
        SecretKind.CHAT_BOT_TOKEN,
        r"(?<![\w.])(?:\d{8,10}:[A-Za-z0-9_-]{35}"
        r"|[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,40})(?![\w-])",
        is_random,
        is_unmistakable=True,
        is_one_word=True,
        needs=_INSIDE_BOT,
    ),
    _rule(
        SecretKind.ASSIGNED_SECRET,
        rf"{_BECOMES}(?P<quote>[\"'`])(?P<value>[^\"'`\n]{{6,200}})(?P=quote)",
        is_quoted_secret,
        *_NAME_HINTS,
        after=_NAME,
    ),
    _rule(
        SecretKind.ASSIGNED_SECRET,
        rf"{_BECOMES}(?P<value>(?:[^\s\"'`,;&]|&(?!\w+=)){{6,200}})",
        is_bare_secret,
        *_NAME_HINTS,
        after=_NAME,
    ),
    _rule(
        SecretKind.ASSIGNED_SECRET,
        rf"{_NAMED}(?P<quote>[\"'])(?P<value>[^\"'\n]{{6,200}})(?P=quote)",
        is_quoted_secret,
        *_NAME_HINTS,
        needs=_CALLED,
    ),
    _rule(
        SecretKind.ASSIGNED_SECRET,
        rf"{_NAMED}(?P<value>[^\s\"',;]{{6,200}})",
        is_bare_secret,
        *_NAME_HINTS,
        needs=_CALLED,
    ),
    _rule(  # what ends in “key” alone must look drawn
        SecretKind.ASSIGNED_SECRET,
        rf"{_BECOMES}(?P<quote>[\"'`])(?P<value>[^\"'`\s]{{20,400}})(?P=quote)",
        is_key,
        "key",
        is_unmistakable=True,
        after=_KEY,
    ),
    _rule(
        SecretKind.ASSIGNED_SECRET,
        r"(?i)(?=[-sl])(?:--(?:password|passwd|pass|pwd|token|secret|api-?key|passphrase|auth)[ =]"
        r"|\bsshpass\s+-p\s?|\blogin\s+\S{1,64}\s+password\s+)[\"']?(?P<value>[^\s\"'`]{6,200})",
        is_bare_secret,
        "--",
        "sshpass",
        "login",
        needs=_OPTION,
    ),
    _rule(
        SecretKind.ASSIGNED_SECRET,
        r"\b(?:mysql|mysqldump|mysqladmin|mariadb)\b[^\n|;]{0,120}\s-p(?P<value>[^\s\"'`]{6,200})",
        is_bare_secret,
        "mysql",
        "mariadb",
    ),
    _rule(  # .pgpass: host:port:database:user:password
        SecretKind.ASSIGNED_SECRET,
        r"(?m)(?<!\S)[\w.*-]{1,100}:(?:\d{2,5}|\*):[\w*-]{1,60}:[\w*-]{1,60}:(?P<value>\S{6,100})",
        is_bare_secret,
        ":",
        is_one_word=True,
        needs=_PORT,
    ),
    _rule(  # the file in which Docker keeps logins
        SecretKind.ASSIGNED_SECRET,
        r"\"auth\"\s{0,3}:\s{0,3}\"(?P<value>[A-Za-z0-9+/]{16,400}={0,2})\"",
        is_random,
        '"auth"',
    ),
    _rule(
        SecretKind.SECRET_IN_PROSE,
        r"(?i)\b(?=[psatcm])(?:password|passphrase|passwd|secret|api key|access key|token"
        r"|credentials?|mot de passe|mdp)(?: \w+){0,4}? (?:is|was|are|to|=|as|:|est|était|sera)"
        r"(?: now| still| (?:set|changed|reset) to)? [\"'`]?"
        r"(?P<value>[^\s\"'`]{6,200})",
        is_prose_secret,
        *_PROSE_HINTS,
    ),
    _rule(
        SecretKind.SECRET_IN_PROSE,
        r"(?i)\bkey(?: \w+){0,3}? (?:is|was|(?:set|changed|reset) to|=|as)(?: now| still)? [\"'`]?"
        r"(?P<value>[^\s\"'`]{16,400})",
        is_key,
        "key",
        needs=_KEYED,
    ),
)
