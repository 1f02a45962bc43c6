"""A sentence of a conversation as it can be stored: read alone, in the third person.

What leads into it in a talk is left out (“No, …”, “Remember that …”), and who says “I prefer”
becomes “the user”, since a memory is read by others.
"""

import re
from datetime import datetime, timedelta

from memory.entities import rules as entities_rules
from memory.entities.rules import EntityKind
from memory.extraction import cues

_OPENING = re.compile(
    r"^(?:(?:(?:i )?found (?:it|the (?:cause|problem|issue|bug|reason))|no(?:pe)?|yes|yeah|yep"
    r"|ok(?:ay)?|right|actually|wrong|stop|correction|well|so|also|and"
    r"|but|btw|by the way|hm+|ah+|oh|not quite|that.s (?:not (?:it|right|true|correct)|wrong"
    r"|incorrect)"
    r"|you.re (?:wrong|right|mistaken)|i meant|remember|important|one more thing|heads[- ]up|note"
    r"|tip"
    r"|please|non|oui|en fait|au fait|attention|pour info|bon|alors|et)\s*(?:[,.:;!\u2014\u2013]"
    r"|-(?= ))"
    r"\s*|(?:and|but|also|actually|please|well) )+",
    re.IGNORECASE,
)
_FIRST_PERSON = (
    (
        re.compile(
            r"^i(?:'d| would)? (?:really |strongly |much )?(prefer|like|hate|dislike)\b", re.I
        ),
        1,
    ),
    (re.compile(r"^i (always|never|usually) (want|use|write)\b", re.I), 2),
    (re.compile(r"^i (work)\b", re.I), 1),
)
_FIX_OF_WHAT = re.compile(  # says how something was mended, and not what
    r"^(?:(?:i|we)(?:.ve| have| had)? (?:(?:finally|then|just|only) )?)?"
    r"(?P<done>fixed|solved|resolved|cured|worked around)"
    r"(?: (?:it|this|that|the (?:problem|issue|bug|error|failure|crash)))? by\b"
    r"|^(?:(?:j.ai|nous avons|on a) )?"
    r"(?:corrigé|résolu|réglé)(?: (?:le problème|l.erreur|le bug))? (?:en|par)\b",
    re.IGNORECASE,
)
_PROBLEM = re.compile(
    r"\b(?:fail|broke|crash|error|exception|time[sd]? ?out|flak|slow|hang|hung|leak|deadlock|lock"
    r"|cannot|can.t|doesn.t|didn.t|does not|did not|bug|problem|issue|wrong|corrupt|los[et]|missing"
    r"|refused|échou|plant|erreur|panne|problème|lent|bloqu)|\w(?:Error|Exception)\b"
    r"|(?-i:\bE[A-Z]{4,}\b)",
    re.IGNORECASE,
)
_DAY = re.compile(r"(?<!\d)(\d{4})-(\d\d)-(\d\d)(?!\d)")
_AGO = ((re.compile(r"\byesterday\b|\bhier\b", re.I), 1), (re.compile(r"\blast week\b", re.I), 7))


def without_opening(*, text: str) -> str:
    """Return a text without the words that only lead into it."""
    return _OPENING.sub("", text.strip())


def bare(*, text: str) -> str:
    """Return a sentence without what leads into it in a talk, as it is stored."""
    said = _OPENING.sub("", text.strip())
    said = cues.ASKED_TO_KEEP.sub("", said).strip()
    said = _OPENING.sub("", said)
    said = _third_person(said)
    if not said:
        return ""
    return said[0].upper() + said[1:] if said[0].islower() and not _is_name(said) else said


def lacks_subject(*, text: str) -> bool:
    """Say whether a text tells how something was mended without saying what."""
    return _FIX_OF_WHAT.match(text) is not None


def after_problem(*, problem: str, fix: str) -> str:
    """Return what was mended, and how, without who did it; empty where the first is no problem."""
    if _PROBLEM.search(problem) is None:
        return ""
    found = _FIX_OF_WHAT.match(fix)
    done = found.group("done") if found else None
    if found is None or done is None:
        return f"{problem} {fix}"
    return f"{problem} It was {done.lower()} by{fix[found.end() :]}"


def files_in(*, text: str) -> tuple[str, ...]:
    """Return the paths that a text names."""
    spans = entities_rules.find_entities(text=text)
    return tuple(dict.fromkeys(one.text for one in spans if one.kind is EntityKind.PATH))


def event_of(*, text: str, said_at: datetime | None) -> datetime | None:
    """Return when what a text tells happened: a date in it, or a day before it was said."""
    if said_at is None:
        return None
    if day := _DAY.search(text):
        try:
            return said_at.replace(
                year=int(day.group(1)), month=int(day.group(2)), day=int(day.group(3))
            )
        except ValueError:
            return None
    days = next((count for pattern, count in _AGO if pattern.search(text)), None)
    return None if days is None else said_at - timedelta(days=days)


def _third_person(text: str) -> str:
    for pattern, verb in _FIRST_PERSON:
        found = pattern.match(text)
        if found is None:
            continue
        words = [found.group(number) for number in range(1, verb + 1)]
        words[-1] = f"{words[-1]}s"
        return f"The user {' '.join(words)}{text[found.end() :]}"
    return text


def _is_name(text: str) -> bool:
    """Say whether a text begins with a name of code, which keeps its spelling."""
    first = text.split(maxsplit=1)[0]
    return any(sign in first for sign in "_./`@") or not first.strip(",.;:").islower()
