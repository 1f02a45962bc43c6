"""Our own rules about secrets, beside the catalog of services: a table, a row a form (spec 7.6).

The value is the group `value` of a pattern, or all that it matches; a judge of `secret_values` says
whether it is one. A rule is tried only on a text with the cheapest signs of what it looks for: its
hints, a long word, what must stand in any match. Nearly every text of a session has none of them,
so this takes a sixth of the time of trying all, and leaves no match out.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final

from accounts.tokens import TOKEN_PATTERN
from memory.intake.secret_values import (
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What to look for; nothing matches an ASCII text without one of the hints (lower case).

    An unmistakable form is believed also where a text was put together from broken lines. What
    stands before a match must end as `after` says: to look for the short sign between a name and
    its value, and then at the name, takes a fifth of the time of looking for names. A match that
    `is_one_word` has WORD_LEAST characters or more and no blank; what `needs` finds is in every
    text with a match.
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
_LONGEST_NAME: Final = 24  # characters
_NAMED: Final = (  # {"name": "DB_PASSWORD", "value": …}, and the same in lines of YAML
    r"(?i)\b(?=[nk])(?:name|key)[\"']?\s{0,3}[:=]\s{0,3}[\"']?[\w.-]{0,60}(?:passw(?:or)?d|pwd|secret|token"
    r"|credentials?|(?:api|access|private|signing|master|encryption)[_.-]?key)(?:[_-]?\d{1,3})?[\"']?"
    r"(?:,\s{0,40}|\s{1,40})[\"']?value[\"']?\s{0,3}[:=]\s{0,3}"
)
_CALLED: Final = re.compile(r"[vV](?i:alue)[\"']?\s{0,3}[:=]")  # of what _NAMED finds
_GIVEN: Final = re.compile(_BECOMES)
_PREFIXES: Final = (  # forms that vendors publish
    r"(?:AKIA|ASIA)[0-9A-Z]{16}", r"AIza[\w-]{35}", r"ya29\.[\w-]{30,}", r"GOCSPX-[\w-]{28}",
    r"(?:sk|rk)_(?:live|test)_[0-9A-Za-z]{16,}", r"whsec_[0-9A-Za-z+/=]{24,}",
    r"sk-(?:ant-|proj-|svcacct-)?[\w-]{20,}", r"gh[pousr]_[0-9A-Za-z]{36}", r"github_pat_\w{50,}",
    r"gl(?:pat|ptt|dt|rt|agent|soat|ffct|imt|ft|cbt)-[\w-]{20,}", r"xox[abeprs]-[\w-]{10,}",
    r"xapp-\d-[\w-]{20,}", r"npm_[0-9A-Za-z]{36}", r"pypi-[\w-]{50,}", r"rubygems_[0-9a-f]{48}",
    r"hf_[0-9A-Za-z]{30,}", r"gsk_[0-9A-Za-z]{40,}", r"r8_[0-9A-Za-z]{30,}",
    r"pplx-[0-9A-Za-z]{40,}",
    r"xai-[0-9A-Za-z]{60,}", r"SG\.[\w-]{16,}\.[\w-]{16,}", r"key-[0-9a-f]{32}",
    r"xkeysib-[0-9a-f]{64}-\w{16}", r"[0-9a-f]{32}-us\d{1,2}", r"SK[0-9a-f]{32}",
    r"do[opr]_v1_[0-9a-f]{64}", r"HRKU-[\w-]{30,}", r"hv[sbr]\.[\w-]{24,}",
    r"\w{14}\.atlasv1\.[\w-]{60,}", r"NR(?:AK|AL|II)-[\w-]{27,}", r"gl(?:sa|c)_[\w-]{32,}",
    r"sntry[su]_[\w=+/-]{40,}", r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}", r"EAAA[\w-]{56,}",
    r"sq0(?:atp|csp|idp)-[\w-]{22,}", r"\w{3}8Q~[\w.~-]{31,}", r"dapi[0-9a-f]{32}",
    r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}", r"lin_api_\w{40}", r"ntn_\w{40,}", r"fig[dur]_[\w-]{40,}",
    r"pat\w{14}\.[0-9a-f]{64}", r"AT(?:ATT3|CTT3|BB)[\w=-]{20,}",
    r"dp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{40,}", r"pscale_(?:tkn|pw|oauth)_[\w-]{32,}",
    r"sbp_[0-9a-f]{40}", r"nfp_\w{36,}",
    r"pul-[0-9a-f]{40}", r"sl\.[\w-]{100,}", r"sk\.eyJ[\w-]{40,}\.[\w-]{20,}",
    r"AKCp[0-9A-Za-z]{60,}",
    r"pn[ub]_[0-9A-Za-z]{36}", r"rdme_\w{70}", r"tfp_[\w-]{50,}", r"dt0[a-z]\d{2}\.\w{24}\.\w{64}",
    r"FLWSECK(?:_TEST)?-[\w-]{20,}", r"dckr_(?:pat|oat)_[\w-]{27,}",
    r"AGE-SECRET-KEY-1[0-9A-Z]{58}",
    r"sdk-[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", r"fm[12]_[\w+/=-]{40,}",
    r"hooks\.slack\.com/(?:services|workflows|triggers)/[\w/]{30,}",
    r"discord(?:app)?\.com/api/webhooks/\d{15,}/[\w-]{50,}",
    r"(?:sk|pat|tok|token|key|secret|api)_(?:[a-z]{2,10}_){0,2}(?=[A-Za-z]*\d)[0-9A-Za-z]{32,}",
)  # fmt: skip


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
        rf"(?<![\w.])(?=\w)(?:{'|'.join(_PREFIXES)})(?![\w])",
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
    ),
    _rule(
        SecretKind.ASSIGNED_SECRET,
        rf"{_BECOMES}(?P<quote>[\"'`])(?P<value>[^\"'`\n]{{6,200}})(?P=quote)",
        is_quoted_secret,
        *_NAME_HINTS,
        after=_NAME,
        needs=_GIVEN,
    ),
    _rule(
        SecretKind.ASSIGNED_SECRET,
        rf"{_BECOMES}(?P<value>(?:[^\s\"'`,;&]|&(?!\w+=)){{6,200}})",
        is_bare_secret,
        *_NAME_HINTS,
        after=_NAME,
        needs=_GIVEN,
    ),
    _rule(
        SecretKind.ASSIGNED_SECRET,
        rf"{_NAMED}(?P<quote>[\"'])(?P<value>[^\"'\n]{{6,200}})(?P=quote)",
        is_quoted_secret,
        "value",
        needs=_CALLED,
    ),
    _rule(
        SecretKind.ASSIGNED_SECRET,
        rf"{_NAMED}(?P<value>[^\s\"',;]{{6,200}})",
        is_bare_secret,
        "value",
        needs=_CALLED,
    ),
    _rule(  # what ends in “key” alone must look drawn
        SecretKind.ASSIGNED_SECRET,
        rf"{_BECOMES}(?P<quote>[\"'`])(?P<value>[^\"'`\s]{{20,400}})(?P=quote)",
        is_key,
        "key",
        is_unmistakable=True,
        after=_KEY,
        needs=_GIVEN,
    ),
    _rule(
        SecretKind.ASSIGNED_SECRET,
        r"(?i)(?=[-sl])(?:--(?:password|passwd|pass|pwd|token|secret|api-?key|passphrase|auth)[ =]"
        r"|\bsshpass\s+-p\s?|\blogin\s+\S{1,64}\s+password\s+)[\"']?(?P<value>[^\s\"'`]{6,200})",
        is_bare_secret,
        "--",
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
        is_one_word=True,
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
    ),
)


_HINTS: Final = frozenset(hint for rule in RULES for hint in rule.hints)


def scan(*, text: str, is_put_together: bool = False) -> Iterator[Match]:
    """Try every rule on a text; on one put together, those for unmistakable forms."""
    for rule in _worth_trying(text):
        if is_put_together and not rule.is_unmistakable:
            continue
        group = "value" if "value" in rule.pattern.groupindex else 0
        for found in rule.pattern.finditer(text):
            if follows(rule=rule, text=text, at=found.start()) and rule.accepts(found.group(group)):
                yield Match(kind=rule.kind, start=found.start(group), end=found.end(group))


def follows(*, rule: Rule, text: str, at: int) -> bool:
    """Say whether a match of a rule stands behind the name that it asks for."""
    return rule.after is None or bool(rule.after.search(text, max(0, at - _LONGEST_NAME), at))


def _worth_trying(text: str) -> Iterator[Rule]:
    """Leave out rules that cannot match a text, by the cheapest signs of it."""
    words = " ".join([word for word in text.split() if len(word) >= WORD_LEAST])
    needed: dict[re.Pattern[str], bool] = {}
    for rule in _hinted(text):
        if rule.is_one_word and not rule.pattern.search(words):
            continue
        if rule.needs is not None and rule.needs not in needed:
            needed[rule.needs] = rule.needs.search(text) is not None
        if rule.needs is None or needed[rule.needs]:
            yield rule


def _hinted(text: str) -> tuple[Rule, ...]:
    """Return the rules whose hints a text has; other letters than ASCII fold in too many ways."""
    if not text.isascii():
        return RULES
    lowered = text.lower()
    return _of_hints(frozenset(hint for hint in _HINTS if hint in lowered))


@lru_cache(maxsize=4096)
def _of_hints(present: frozenset[str]) -> tuple[Rule, ...]:
    """Return the rules without hints, and those with one of these."""
    return tuple(rule for rule in RULES if not rule.hints or not present.isdisjoint(rule.hints))
