"""Approaches that failed, by what was tried: as the agent says it, never by what verified it.

A sentence alone is cheap, so it counts only with behavior: something was changed or run within the
ten calls before, by the same agent. And it counts only where it names the approach itself: before
“this approach won't work”, behind “gave up on”, as the subject of “does not work”, or in the
sentence before one that turns to another way. A turn to another way that names nothing is talk.
Neither is it one where the approach is a command that later went through.
"""

import re
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from memory.observer import detections
from memory.records import statement_clauses
from memory.sessions.scratchpad import Deed, Scratchpad, each_file, in_order
from memory.sessions.tools import Act
from memory.sessions.turns import Remark, RemarkKind
from memory.text import text as texts
from memory.text.passages import split_sentences

CALLS_APART: Final = 10  # looked at before; default, not measured
MOST: Final = 10  # of a session, the last ones; default, not measured
STEMS_LEAST: Final = 2  # of what an approach is about, so that it says which one it is; default
TASK_MOST: Final = 200  # characters
TRIES: Final = frozenset({Act.EDIT, Act.RUN, Act.TEST})

_WORDS: Final = r"[^:;!?\n]"
_FAILS: Final = (
    r"(?:wo|do|does|did|ca|could)(?:n't| not) work|will not work|cannot work|never worked"
    r"|is(?:n't| not) (?:available|supported)|(?:is )?unavailable"
)
_ENDS: Final = r"(?=[,.;:\u2014\u2013]|\Z| because| since| and )"
_NAMED: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\A(?P<what>{_WORDS}{{8,160}}?)\s*(?:[:;\u2014\u2013]|, but|\s-)\s*"
        r"(?:this|that|the) (?:approach|path|way|route|idea)\b",
        rf"\b(?:g[ai]ve|giving|given) up on (?P<what>{_WORDS}{{4,160}}?){_ENDS}",
        rf"\babandon(?:ed|ing)? (?P<what>{_WORDS}{{4,160}}?){_ENDS}",
        rf"\A(?P<what>{_WORDS}{{8,160}}?) (?:{_FAILS})\b",
    )
)
_LACKING: Final = re.compile(
    r"(?:\A|: )(?P<what>[^:;!?\n]{2,80}?) is(?:n't| not) available in this\b", re.IGNORECASE
)
_LEADS: Final = re.compile(
    r"\A(?:(?:so|ok(?:ay)?|unfortunately|hmm|well|right|no|but|and|actually|tried"
    r"|turns out(?: that)?|it (?:seems|looks like)(?: that)?|I (?:see|think)(?: that)?)[,:]?\s+)+",
    re.IGNORECASE,
)
_POINTS_BACK: Final = re.compile(
    r"\A(?:this|that|it|these|those|which|what|they|he|she|there"
    r"|the (?:same|approach|fix|change|issue|problem|user|error|first|second|other))\b"
    r"|\b(?:user|you) (?:says?|reports?)\b",
    re.IGNORECASE,
)
_REASON: Final = re.compile(  # to the end of its sentence
    r"\b(?:because|since|as) (?P<why>(?:[^.\n]|\.(?=\w)){8,300})", re.IGNORECASE
)
_REFUSED: Final = re.compile(
    r"\bwork(?::|,)? (?:because |since )?(?P<why>(?:[^.\n]|\.(?=\w)){8,300})", re.IGNORECASE
)
_INSTEAD: Final = re.compile(
    r"\b(?:different|another) (?:approach|way|strategy|route)\s*[:\u2014\u2013-]+\s*"
    r"(?P<first>[^.\n]{8,200})"
    r"|\b(?:let me|I'll|I will|we'll|let's) (?P<second>[^.\n]{4,200}?) instead\b",
    re.IGNORECASE,
)
_COMMAND: Final = re.compile(r"`([^`\n]{2,400})`")


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadEnd:
    """One approach that failed: what was tried, why it failed, what came instead, for what task.

    `files` are those that were changed for it; of what is not known the text is empty.
    """

    approach: str
    why_it_failed: str
    alternative: str
    task: str
    files: tuple[str, ...]
    evidence: tuple[detections.SignalEvidence, ...]


def find_dead_ends(*, scratchpad: Scratchpad) -> tuple[DeadEnd, ...]:
    """Find the approaches that were given up, the same one once."""
    deeds = in_order(scratchpad=scratchpad)
    found: dict[str, DeadEnd] = {}
    reasons: dict[str, tuple[int, str]] = {}  # by agent: why what it names afterwards did not work
    for remark in scratchpad.remarks:
        if remark.kind is not RemarkKind.DEAD_END:
            continue
        end = _find_end(remark, deeds, scratchpad.task)
        if end is None:
            reason = _REFUSED.search(texts.straighten_apostrophes(text=remark.text))
            if reason:
                reasons[remark.agent] = remark.sequence, reason["why"].strip()
        else:
            *_, last_try, _ = end.evidence
            said_at, before = reasons.pop(remark.agent, (0, ""))
            near = before if said_at > last_try.sequence else ""  # else of something tried earlier
            why = max(near, end.why_it_failed, key=len)
            found[end.approach.lower()] = replace(end, why_it_failed=why)
    return tuple(found.values())[-MOST:]


def _find_end(remark: Remark, deeds: tuple[Deed, ...], task: str) -> DeadEnd | None:
    """Return what an agent gave up by a remark; None where it tried nothing or names nothing."""
    own = tuple(deed for deed in deeds if deed.agent == remark.agent)
    tried = _tried_before(remark, own)
    text, earlier = (texts.straighten_apostrophes(text=one) for one in (remark.text, remark.before))
    approach = _approach(text) or _approach(earlier)
    if not tried or not approach or _went_through(approach, own):
        return None
    reason = _REASON.search(text) or _REASON.search(earlier)
    said = detections.SignalEvidence(sequence=remark.sequence, step=remark.step)
    return DeadEnd(
        approach=approach,
        why_it_failed=(reason["why"] if reason else remark.text).strip(),
        alternative=" ".join(filter(None, chain.from_iterable(_INSTEAD.findall(text)[:1]))),
        task="".join(split_sentences(text=task.partition("\n")[0])[:1])[:TASK_MOST],
        files=_changed_files(tried),
        evidence=(*detections.evidence(deeds=tried), said),
    )


def _tried_before(remark: Remark, own: tuple[Deed, ...]) -> list[Deed]:
    """Return what an agent changed or ran among its last calls before a remark."""
    before = [deed for deed in own if deed.sequence < remark.sequence]
    return [deed for deed in before[-CALLS_APART:] if deed.act in TRIES]


def _changed_files(tried: list[Deed]) -> tuple[str, ...]:
    """Return the files of the repository that some calls changed."""
    changed = each_file(deeds=(deed for deed in tried if deed.is_edit))
    files = (deed.target for deed in changed if detections.is_own(path=deed.target))
    return tuple(dict.fromkeys(files))[: detections.FILES_MOST]


def _approach(sentence: str) -> str:
    """Return what a sentence says did not work; empty where it does not name it.

    What is lacking in a place may be one word.
    """
    for pattern in (_LACKING, *_NAMED):
        found = pattern.search(sentence)
        what = _LEADS.sub("", found["what"]).strip(" \t*_-\u2014\u2013,") if found else ""
        is_whole = what and _POINTS_BACK.search(what) is None
        least = 1 if pattern is _LACKING else STEMS_LEAST
        if is_whole and len(statement_clauses.stems(text=what)) >= least:
            return what
    return ""


def _went_through(approach: str, deeds: tuple[Deed, ...]) -> bool:
    """Say whether an approach names a command whose last run went well."""
    named = {" ".join(one.split()) for one in _COMMAND.findall(approach)}
    last = {" ".join(deed.target.split()): deed for deed in deeds if deed.act in TRIES}
    return any(one in last and not last[one].is_error for one in named)
