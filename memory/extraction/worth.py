"""Whether a turn is worth asking a model about: the cheap gate of the mode `hybrid`.

It looks for signs of value and says which; a conversation without any costs no call. It is generous
where the extractor by words is strict, because what it lets through is read once more.
"""

import re
from enum import StrEnum

from memory.entities import rules as entities_rules
from memory.entities.rules import EntityKind
from memory.extraction import chatter, cues
from memory.sessions import turns as spoken
from memory.sessions.turns import Speaker, Turn

LEAST_WORDS = 6  # of a turn that is worth a call; default, not measured
CODE_KINDS = frozenset({EntityKind.CODE, EntityKind.VERSION})  # of what a turn names
_FENCE = re.compile(r"^\s*(?:`{3}|~{3})", re.MULTILINE)


class Sign(StrEnum):
    """What makes a turn worth a look."""

    CODE = "code"
    ERROR = "error"
    DECISION = "decision"
    CHANGE = "change"
    PREFERENCE = "preference"
    CORRECTION = "correction"


_SIGNS: tuple[tuple[Sign, re.Pattern[str]], ...] = (
    (
        Sign.ERROR,
        re.compile(
            r"\b\w*(?:Error|Exception)\b|\b(?:error|bug|fail(?:s|ed|ure|ing)?|crash\w*|broke\w*"
            r"|leak|deadlock|timeout|flaky|root cause|regression|erreur|panne|plant\w*)\b",
            re.I,
        ),
    ),
    (
        Sign.DECISION,
        re.compile(
            r"\b(?:decid\w+|decision|agreed|chose|chosen|settled|go with|instead of|rather than"
            r"|must|shall|required?|policy|décid\w+|choisi\w*|doit|plutôt)\b",
            re.I,
        ),
    ),
    (
        Sign.CHANGE,
        re.compile(
            r"\b(?:no longer|any ?more|moved|migrat\w+|switch\w+|renamed|replaced|deprecat\w+"
            r"|dropped|upgraded|since (?:version|v?\d)|désormais|remplacé\w*)\b",
            re.I,
        ),
    ),
    (
        Sign.PREFERENCE,
        re.compile(
            r"\b(?:prefer\w*|always|never|from now on|hate|dislike|usually|convention|style"
            r"|remember"
            r"|préf\w+|toujours|jamais)\b",
            re.I,
        ),
    ),
)


def signs(*, turn: Turn) -> frozenset[Sign]:
    """Return the signs of value in what a speaker says in their own words."""
    if turn.speaker not in {Speaker.USER, Speaker.ASSISTANT}:
        return frozenset()
    said = spoken.prose(turn=turn)
    if len(said.split()) < LEAST_WORDS or chatter.speaks_to_the_machine(text=said):
        return frozenset()
    found = {sign for sign, pattern in _SIGNS if pattern.search(said)}
    if turn.speaker is Speaker.USER and cues.REJECTION.match(said):
        found.add(Sign.CORRECTION)
    if (
        "`" in said
        or _FENCE.search(turn.text)
        or any(one.kind in CODE_KINDS for one in entities_rules.find_entities(text=said))
    ):
        found.add(Sign.CODE)
    return frozenset(found)


def worth_asking(*, turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    """Return the turns a model is asked about: those with signs, and the one before each."""
    marked = {place for place, turn in enumerate(turns) if signs(turn=turn)}
    wanted = marked | {place - 1 for place in marked if place}
    return tuple(turn for place, turn in enumerate(turns) if place in wanted)
