"""Sentences of a paragraph, and groups of them that can stand alone (atomic candidates).

A sentence that begins with “it”, “this” or “but” means nothing without the one before, so a group
only ends where the next sentence begins anew.
"""

import re

TARGET_LENGTH = 220  # characters after which a group ends at the next fresh sentence, ours
LONGEST_LENGTH = 700  # characters after which it ends anyway, ours
ABBREVIATION_LENGTH = 12  # characters before an end that are searched for one, ours

_END = re.compile(r"[.!?][\"'\u201d\u2019)\]]*\s+(?=[\"'\u201c\u2018(\[`]?[A-Z0-9`])")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|vs|cf|etc|approx|resp|incl|no|fig|sec|dr|mr|mrs|st)|\b[A-Z])\.$",
    re.IGNORECASE,
)
_CONTINUES = re.compile(
    r"(?:it|its|this|that|these|those|they|their|them|he|she|but|and|or|so|then|otherwise|however"
    r"|also|moreover|furthermore|in addition|for (?:example|instance)"
    r"|therefore|thus|hence|instead|yet|still|both|such|here|there|which|if so|in this case"
    r"|for this|after that|the (?:same|former|latter|first|second|others?|rest))\b",
    re.IGNORECASE,
)


def split(*, text: str) -> tuple[str, ...]:
    """Cut a text of one line into its sentences; code in backticks is never cut."""
    sentences: list[str] = []
    start = looked = ticks = 0
    for match in _END.finditer(text):
        ticks += text.count("`", looked, match.end())
        looked = match.end()
        if ticks % 2 or _is_abbreviated(text, start, match):
            continue
        sentences.append(text[start:looked].strip())
        start, ticks = looked, 0
    rest = text[start:].strip()
    return (*sentences, rest) if rest else tuple(sentences)


def _is_abbreviated(text: str, start: int, end: re.Match[str]) -> bool:
    """Say whether an abbreviation stands at an end; only the last characters are read."""
    at = end.start()
    tail = text[max(start, at - ABBREVIATION_LENGTH) : at + 1]
    return end.group().rstrip() == "." and _ABBREVIATION.search(tail) is not None


def group(*, text: str) -> tuple[str, ...]:
    """Cut a text into groups of sentences that can be read alone."""
    groups: list[str] = []
    for sentence in split(text=text):
        if groups and _belongs(groups[-1], sentence):
            groups[-1] = f"{groups[-1]} {sentence}"
        else:
            groups.append(sentence)
    return tuple(groups)


def is_continuation(*, text: str) -> bool:
    """Say whether a text begins with a word that points back to what was said before."""
    return _CONTINUES.match(text) is not None


def _belongs(group: str, sentence: str) -> bool:
    together = len(group) + len(sentence)
    if together > LONGEST_LENGTH:
        return False
    return together <= TARGET_LENGTH or is_continuation(text=sentence)
