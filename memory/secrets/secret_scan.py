"""Our own rules tried on a text: each only where the cheapest signs of its form are.

Nearly every text of a session has no hint of a rule, no long word that one matches, no sign between
a name and its value, so this takes a twelfth of the time of trying all, and leaves no match out.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import Final

from memory.secrets.secret_readings import Readings
from memory.secrets.secret_rules import LONGEST_NAME, RULES, Match, Rule

_ENDS: Final = r"(?:ord|swd|ase|ode|pwd|ret|key|ken|ial|als|ass|sse|mdp)"  # of names
_LAST: Final = "[delnpstwy]"  # letters of those, and of “pw”
_BLANKS: Final = (r"[\"'`\s]", *(r"[\"'`\s]" + r"\s" * blanks for blanks in (1, 2, 3)))
_FARTHEST: Final = 4  # characters between the end of a name and the sign


def _behind(between: str) -> str:
    """Return what finds whether a name may end so far before the sign."""
    ends = rf"(?<={_ENDS}{between}[=:])|(?<=pw{between}[=:])"
    return rf"(?<={_LAST}{between}[=:])(?:{ends})"


_SIGN: Final = (  # of _BECOMES, behind all with which it can begin; what is seldom there is first
    rf"[=:](?:{_behind('')}|(?<=[\"'`\s][=:])(?:{_behind(_BLANKS[0])}"
    rf"|(?<=\s[=:])(?:{'|'.join(map(_behind, _BLANKS[1:]))})))"
)
_SMALL_SIGN: Final = re.compile(_SIGN)  # for small letters, which is quicker than any
_ANY_SIGN: Final = re.compile(f"(?i){_SIGN}")


def readings() -> Readings:
    """Return what the scans of the readings of one text have in common."""
    return Readings(hints=_hints())


def scan(
    *, text: str, is_put_together: bool = False, known: Readings | None = None
) -> tuple[Match, ...]:
    """Try every rule on a text; on one put together, those for unmistakable forms.

    `known` is what was learned of other readings of the text; it learns of this one.
    """
    known = readings() if known is None else known
    rules = _worth_trying(text, is_put_together, known)
    is_signed = any(rule.after for rule in rules)
    signs = tuple(_signs(text, known)) if is_signed else ()
    return tuple(match for rule in rules for match in _matches(rule, text, signs))


def follows(*, rule: Rule, text: str, at: int) -> bool:
    """Say whether a match of a rule stands behind the name that it asks for."""
    return rule.after is None or bool(rule.after.search(text, max(0, at - LONGEST_NAME), at))


def _matches(rule: Rule, text: str, signs: tuple[int, ...]) -> Iterator[Match]:
    group = "value" if "value" in rule.pattern.groupindex else 0
    for found in _found(rule, text, signs):
        if follows(rule=rule, text=text, at=found.start()) and rule.accepts(found.group(group)):
            yield Match(kind=rule.kind, start=found.start(group), end=found.end(group))


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


def _signs(text: str, known: Readings) -> Iterator[int]:
    """Yield each place behind the end of a name at which _BECOMES may match."""
    found = _ANY_SIGN.finditer(text) if known.is_odd else _SMALL_SIGN.finditer(text.lower())
    for sign in found:
        start = max(0, sign.start() - _FARTHEST)
        before = text[start : sign.start()].rstrip()
        yield start + len(before) - before.endswith(('"', "'", "`"))


def _worth_trying(text: str, is_put_together: bool, known: Readings) -> tuple[Rule, ...]:
    """Leave out rules that cannot match a text, by the cheapest signs of it."""
    known.read(text=text)
    hinted = _hinted(known.is_odd, frozenset(known.hints))
    _try_words(hinted, known)
    needed: dict[re.Pattern[str], bool] = {}
    return tuple(
        rule
        for rule in hinted
        if (rule.is_unmistakable or not is_put_together)
        and (rule in known.matching if rule.is_one_word else _is_needed(rule, text, needed))
    )


def _try_words(hinted: tuple[Rule, ...], known: Readings) -> None:
    """Note which rules for one word match one of those that are new."""
    words = " ".join(known.take_untried())
    if not words:
        return
    for rule in hinted:
        if not rule.is_one_word or rule in known.matching:
            continue
        if (rule.needs is None or rule.needs.search(words)) and rule.pattern.search(words):
            known.matching.add(rule)


def _is_needed(rule: Rule, text: str, needed: dict[re.Pattern[str], bool]) -> bool:
    """Say whether what a rule needs is there; each such thing is looked for once."""
    if rule.needs is None:
        return True
    if rule.needs not in needed:
        needed[rule.needs] = rule.needs.search(text) is not None
    return needed[rule.needs]


@cache
def _hints() -> Mapping[str, tuple[str, ...]]:
    """Return the hints that hold no other one, and by them those that hold them."""
    hints = {hint for rule in RULES for hint in rule.hints}
    shortest = (one for one in hints if not any(other in one for other in hints - {one}))
    return {one: tuple(hint for hint in hints - {one} if one in hint) for one in shortest}


@lru_cache(maxsize=4096)
def _hinted(is_odd: bool, present: frozenset[str]) -> tuple[Rule, ...]:
    """Return the rules without hints, and those with one of these; of odd letters, all."""
    return tuple(
        rule for rule in RULES if is_odd or not rule.hints or not present.isdisjoint(rule.hints)
    )
