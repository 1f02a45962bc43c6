"""Our own rules about secrets, beside the catalog of services: a table, a row a form (spec 7.6).

The value is the group `value` of a pattern, or all that it matches; a judge of `secret_values` says
whether it is one. A rule is tried only on a text with the cheapest signs of what it looks for: its
hints, a long word, what must stand in any match. Nearly every text of a session has none of them,
so this takes a twelfth of the time of trying all, and leaves no match out.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache
from typing import Final

from accounts.tokens import TOKEN_PATTERN
from memory.intake.secret_prefixes import PREFIXES
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rule:
    """What to look for; nothing matches an ASCII text without one of the hints (lower case).

    An unmistakable form is believed also where a text was put together from broken lines. What
    stands before a match must end as `after` says, and the match begins with _BECOMES: the short
    sign between a name and its value is looked for first, once for all such rules. A match that
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
_ENDS: Final = r"(?:ord|swd|ase|ode|pwd|ret|key|ken|ial|als|ass|sse|mdp)"  # of names
_BETWEEN: Final = ("", *(r"[\"'`\s]" + r"\s" * blanks for blanks in range(4)))  # name and sign
_SIGN: Final = re.compile(  # of _BECOMES, behind all with which it can begin
    "(?i)[=:](?:" + "|".join(rf"(?<={_ENDS}{one}[=:])|(?<=pw{one}[=:])" for one in _BETWEEN) + ")"
)
_FARTHEST: Final = 4  # characters between the end of a name and the sign
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
        needs=_KEYED,
    ),
)


def scan(
    *, text: str, is_put_together: bool = False, plain: set[str] | None = None
) -> Iterator[Match]:
    """Try every rule on a text; on one put together, those for unmistakable forms.

    `plain` are words that no rule for one word finds anything in, known from texts that were
    scanned before; it learns those of this one.
    """
    plain = set() if plain is None else plain
    signs: tuple[int, ...] | None = None
    for rule in _worth_trying(text, is_put_together, plain):
        if rule.after is not None and signs is None:
            signs = tuple(_signs(text))
        group = "value" if "value" in rule.pattern.groupindex else 0
        for found in _found(rule, text, signs or ()):
            if follows(rule=rule, text=text, at=found.start()) and rule.accepts(found.group(group)):
                yield Match(kind=rule.kind, start=found.start(group), end=found.end(group))


def follows(*, rule: Rule, text: str, at: int) -> bool:
    """Say whether a match of a rule stands behind the name that it asks for."""
    return rule.after is None or bool(rule.after.search(text, max(0, at - _LONGEST_NAME), at))


def _found(rule: Rule, text: str, signs: tuple[int, ...]) -> Iterator[re.Match[str]]:
    """Yield what a rule matches, each behind the end of the one before, as `finditer` does."""
    if rule.after is None:
        yield from rule.pattern.finditer(text)
        return
    end = 0
    for at in signs:
        if at >= end and (found := rule.pattern.match(text, at)):
            end = found.end()
            yield found


def _signs(text: str) -> Iterator[int]:
    """Yield each place behind the end of a name at which _BECOMES may match."""
    for sign in _SIGN.finditer(text):
        start = max(0, sign.start() - _FARTHEST)
        before = text[start : sign.start()].rstrip()
        yield start + len(before) - before.endswith(('"', "'", "`"))


def _worth_trying(text: str, is_put_together: bool, plain: set[str]) -> Iterator[Rule]:
    """Leave out rules that cannot match a text, by the cheapest signs of it."""
    hinted = _hinted(text, is_put_together)
    words = {word for word in text.split() if len(word) >= WORD_LEAST} - plain
    joined = " ".join(words)
    is_plain = not is_put_together  # where all that there are for one word are tried
    needed: dict[re.Pattern[str], bool] = {}
    for rule in hinted:
        if rule.is_one_word:
            if not rule.pattern.search(joined):
                continue
            is_plain = False
        if rule.needs is not None and rule.needs not in needed:
            needed[rule.needs] = rule.needs.search(text) is not None
        if rule.needs is None or needed[rule.needs]:
            yield rule
    if is_plain:
        plain |= words


def _hinted(text: str, is_put_together: bool) -> tuple[Rule, ...]:
    """Return the rules whose hints a text has; other letters than ASCII fold in too many ways."""
    if not text.isascii():
        return _tried(is_put_together)
    lowered = text.lower()
    hints = _hints(is_put_together)
    there = [hint for hint in hints if hint in lowered]
    longer = [hint for one in there for hint in hints[one] if hint in lowered]
    return _of_hints(is_put_together, frozenset((*there, *longer)))


@cache
def _tried(is_put_together: bool) -> tuple[Rule, ...]:
    """Return the rules for a text as it is, or for one put together."""
    return tuple(rule for rule in RULES if rule.is_unmistakable or not is_put_together)


@cache
def _hints(is_put_together: bool) -> Mapping[str, tuple[str, ...]]:
    """Return the hints that hold no other one, and by them those that hold them."""
    hints = {hint for rule in _tried(is_put_together) for hint in rule.hints}
    shortest = (one for one in hints if not any(other in one for other in hints - {one}))
    return {one: tuple(hint for hint in hints - {one} if one in hint) for one in shortest}


@lru_cache(maxsize=4096)
def _of_hints(is_put_together: bool, present: frozenset[str]) -> tuple[Rule, ...]:
    """Return the rules without hints, and those with one of these."""
    rules = _tried(is_put_together)
    return tuple(rule for rule in rules if not rule.hints or not present.isdisjoint(rule.hints))
