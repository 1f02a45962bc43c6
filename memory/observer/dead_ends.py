"""Approaches that failed, as an agent says so, with what it had tried and what it did then (4.2).

A sentence alone is cheap, so it counts only with behavior: something was tried before it, an edit,
a command or a test, within the ten calls before.
"""

from dataclasses import dataclass
from typing import Final

from memory.observer import detections
from memory.observer.detections import Evidence
from memory.sessions.scratchpad import Deed, Scratchpad, each_file, in_order
from memory.sessions.self_reports import Remark, RemarkKind
from memory.sessions.tools import Act

CALLS_APART: Final = 10  # looked at before and after; default, not measured
MOST: Final = 10  # of a session, the last ones; default, not measured
_TRIES: Final = frozenset({Act.EDIT, Act.RUN, Act.TEST})


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadEnd:
    """One approach that failed: what was tried, why it failed, what came instead, for what task."""

    approach: str
    why_it_failed: str
    alternative: str
    task: str
    files: tuple[str, ...]
    evidence: tuple[Evidence, ...]


def find(*, scratchpad: Scratchpad) -> tuple[DeadEnd, ...]:
    """Find the approaches that were given up, the same words once, and one in each text.

    Who gives up in one sentence says in the next what comes instead: the first tells why.
    """
    deeds = in_order(scratchpad=scratchpad)
    ends = [one for one in scratchpad.remarks if one.kind is RemarkKind.DEAD_END]
    firsts = {remark.sequence: remark for remark in reversed(ends)}
    remarks = {remark.text: remark for remark in reversed(firsts.values())}
    found = (_dead_end(remark, deeds, scratchpad.task) for remark in remarks.values())
    return tuple(each for each in found if each is not None)[-MOST:]


def _dead_end(remark: Remark, deeds: tuple[Deed, ...], task: str) -> DeadEnd | None:
    deeds = tuple(deed for deed in deeds if deed.agent == remark.agent)
    before = [deed for deed in deeds if deed.sequence < remark.sequence][-CALLS_APART:]
    after = [deed for deed in deeds if deed.sequence > remark.sequence][:CALLS_APART]
    tried = [deed for deed in before if deed.act in _TRIES]
    if not tried:
        return None
    failed = next((deed for deed in reversed(tried) if deed.is_error), tried[-1])
    instead = next((deed for deed in after if deed.act in _TRIES and not deed.is_error), None)
    said = Evidence(sequence=remark.sequence, step=remark.step)
    changed = each_file(deeds=(deed for deed in tried if deed.act is Act.EDIT))
    files = tuple(dict.fromkeys(deed.target for deed in changed))
    return DeadEnd(
        approach=_in_words(failed),
        why_it_failed=" ".join(part for part in (remark.text, failed.message) if part),
        alternative=_in_words(instead) if instead is not None else "",
        task=task.partition("\n")[0][:200],
        files=files[: detections.FILES_MOST],
        evidence=(*detections.evidence(deeds=tried), said),
    )


def _in_words(deed: Deed) -> str:
    return f"changing {deed.target}" if deed.act is Act.EDIT else f"running `{deed.target}`"
