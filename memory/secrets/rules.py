"""Our own rules about secrets, beside Kingfisher: a table, a row a form.

Kingfisher knows the keys of services. What is here it lacks: passwords in assignments, prose,
addresses and commands, our own tokens, and a few forms that it reads only in part.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from accounts.tokens import TOKEN_PATTERN
from memory.secrets.findings import Finding, SecretKind
from memory.secrets.secret_values import (
    is_bare_secret,
    is_key,
    is_prose_secret,
    is_quoted_secret,
    is_random,
    is_real,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What to look for; the value is the group `value` of the pattern, or all that it matches.

    Nothing matches a text without one of the hints (small letters), nor without what `needs` finds.
    An unmistakable form is believed also where a text was put together from broken lines.
    """

    kind: SecretKind
    pattern: re.Pattern[str]
    accepts: Callable[[str], bool]
    hints: tuple[str, ...]
    is_unmistakable: bool = False
    needs: re.Pattern[str] | None = None


def _rule(
    kind: SecretKind,
    pattern: str,
    accepts: Callable[[str], bool],
    *hints: str,
    is_unmistakable: bool = False,
    needs: str = "",
) -> Rule:
    return Rule(
        kind=kind,
        pattern=re.compile(pattern),
        accepts=accepts,
        hints=hints,
        is_unmistakable=is_unmistakable,
        needs=re.compile(needs) if needs else None,
    )


def _always(_: str) -> bool:
    return True


RULES: Final = (
    Rule(
        kind=SecretKind.CAIRN_TOKEN,
        pattern=TOKEN_PATTERN,
        accepts=_always,
        hints=("crn_",),
        is_unmistakable=True,
    ),
    _rule(
        SecretKind.PRIVATE_KEY,
        r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:(?:[^-]|-(?!----)){0,8000}-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
        r"|[A-Za-z0-9+/=\s\\:,-]{0,8000})",  # cut off: what may be of the key
        _always,
        "private key",
        is_unmistakable=True,
    ),
    _rule(
        SecretKind.URL_CREDENTIALS,
        r"\b[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s:/@\"'`]{0,100}:(?P<value>[^\s/@\"'`]{3,200})@",
        is_real,
        "://",
    ),
    _rule(  # with an @ or a slash in it; a port, and the first letters of a path, are no password
        SecretKind.URL_CREDENTIALS,
        r"\b[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s:/@\[\"'`]{0,100}:(?!\d{1,5}[/?,;)])"
        r"(?P<value>[^\s/?#\"'`]{3,200}|[^\s@\"'`]{3,200})@(?=[\w.\[-]+(?:[:/?#\s]|$))",
        is_bare_secret,
        "://",
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
        "sig",
        "access_token=",
        "key=",
        "code=",
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
        _always,
        "eyj",
        is_unmistakable=True,
    ),
    _rule(  # of services whose keys Kingfisher finds only beside other words
        SecretKind.VENDOR_KEY,
        r"(?<![\w.])(?=[Aysd])(?:(?:AKIA|ASIA)[0-9A-Z]{16}|ya29\.[\w-]{30,}|sl\.[\w-]{100,}"
        r"|sk\.eyJ[\w-]{40,}\.[\w-]{20,}|sdk-[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"
        r"|discord(?:app)?\.com/api/webhooks/\d{15,}/[\w-]{50,})(?!\w)",
        is_random,
        "akia",
        "asia",
        "ya29.",
        "sl.",
        "sk.eyj",
        "sdk-",
        "discord",
        is_unmistakable=True,
    ),
    _rule(
        SecretKind.CHAT_BOT_TOKEN,
        r"(?<![\w.])(?:\d{8,10}:[A-Za-z0-9_-]{35}"
        r"|[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,40})(?![\w-])",
        is_random,
        ":",
        ".",
        is_unmistakable=True,
        needs=r"[:.](?:(?<=\d{8}:)[A-Za-z0-9_-]{35}|(?<=\.)[\w-]{6}\.[\w-]{27})",
    ),
    _rule(  # {"name": "DB_PASSWORD", "value": …}, and the same in lines of YAML
        SecretKind.ASSIGNED_SECRET,
        r"(?i)\b(?=[nk])(?:name|key)[\"']?\s{0,3}[:=]\s{0,3}[\"']?[\w.-]{0,60}(?:passw(?:or)?d|pwd|secret"
        r"|token|credentials?|(?:api|access|private|signing|master|encryption)[_.-]?key)"
        r"(?:[_-]?\d{1,3})?[\"']?(?:,\s{0,40}|\s{1,40})[\"']?value[\"']?\s{0,3}[:=]\s{0,3}"
        r"[\"']?(?P<value>[^\s\"',;]{6,200})",
        is_bare_secret,
        "value",
    ),
    _rule(
        SecretKind.ASSIGNED_SECRET,
        r"(?i)(?=[-sl])(?:--(?:password|passwd|pass|pwd|token|secret|api-?key|passphrase|auth)[ =]"
        r"|\bsshpass\s+-p\s?|\blogin\s+\S{1,64}\s+password\s+)[\"']?(?P<value>[^\s\"'`]{6,200})",
        is_bare_secret,
        "--pass",
        "--pwd",
        "--token",
        "--secret",
        "--api",
        "--auth",
        "sshpass",
        "login",
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
        needs=r":(?:\d{2,5}|\*):",
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
        *("passw", "passphrase", "secret", "api key", "access key"),
        *("token", "credential", "mot de passe", "mdp"),
    ),
    _rule(
        SecretKind.SECRET_IN_PROSE,
        r"(?i)\bkey(?: \w+){0,3}? (?:is|was|(?:set|changed|reset) to|=|as)(?: now| still)? [\"'`]?"
        r"(?P<value>[^\s\"'`]{16,400})",
        is_key,
        "key ",
    ),
)

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
_QUOTED: Final = re.compile(r"(?P<quote>[\"'`])(?P<value>[^\"'`\n]{6,200})(?P=quote)")
_BARE: Final = re.compile(r"(?P<value>(?:[^\s\"'`,;&]|&(?!\w+=)){6,200})")
_QUOTED_KEY: Final = re.compile(r"(?P<quote>[\"'`])(?P<value>[^\"'`\s]{20,400})(?P=quote)")


def find_by_table(*, text: str, is_joined: bool) -> Iterator[Finding]:
    """Yield what the rules find; in a text put together, only unmistakable forms."""
    lowered = text.lower()
    for rule in RULES:
        if is_joined and not rule.is_unmistakable:
            continue
        if not any(hint in lowered for hint in rule.hints):
            continue
        if rule.needs is not None and rule.needs.search(text) is None:
            continue
        group = "value" if "value" in rule.pattern.groupindex else 0
        for found in rule.pattern.finditer(text):
            if rule.accepts(found.group(group)):
                yield Finding(kind=rule.kind, start=found.start(group), end=found.end(group))
    yield from _find_assigned(text, is_joined)


def _find_assigned(text: str, is_joined: bool) -> Iterator[Finding]:
    """Yield the values of names that tell of a secret: `db_password = …`, `"apiKey": "…"`.

    What ends in “key” alone must look drawn.
    """
    done = dict.fromkeys((_QUOTED, _BARE, _QUOTED_KEY), 0)  # where the last match of each ended
    for sign in _SIGN.finditer(text):
        before = text[max(0, sign.start() - _NAME_LETTERS) : sign.start()].rstrip()
        if before.endswith(("'", '"', "`")):
            before = before[:-1]
        if not before[-3:].lower().endswith(_NAME_ENDS):
            continue
        tried: list[tuple[re.Pattern[str], Callable[[str], bool]]] = []
        if not is_joined and _NAME.search(before):
            tried += ((_QUOTED, is_quoted_secret), (_BARE, is_bare_secret))
        if _KEY.search(before):
            tried.append((_QUOTED_KEY, is_key))
        for pattern, accepts in tried:
            found = pattern.match(text, sign.end()) if sign.start() >= done[pattern] else None
            if found is None:
                continue
            done[pattern] = found.end()
            if accepts(found.group("value")):
                start, end = found.span("value")
                yield Finding(kind=SecretKind.ASSIGNED_SECRET, start=start, end=end)
