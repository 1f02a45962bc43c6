"""Signal 9: the agent says that it was wrong, and what is right; the file it had last says where.

Seen when a sentence of its reasoning corrects an earlier belief (`memory.sessions.self_reports`).
"""

import hashlib
import re
from typing import Final

from memory.observer import detections
from memory.observer.detections import Evidence, Sighting
from memory.observer.signal_table import SignalKind
from memory.sessions.scratchpad import Deed, Scratchpad
from memory.sessions.self_reports import Remark, RemarkKind

_WORDS: Final = re.compile(r"\w+")


def find(*, scratchpad: Scratchpad) -> tuple[Sighting, ...]:
    """Find the corrections of an agent by itself, the same words once."""
    touches = detections.touches(scratchpad=scratchpad)
    by_words: dict[str, Sighting] = {}
    for remark in scratchpad.remarks:
        if remark.kind is RemarkKind.SELF_CORRECTION:
            by_words.setdefault(_key(remark.text), _sighting(remark, touches))
    return detections.strongest(sightings=by_words.values())


def _sighting(remark: Remark, touches: tuple[Deed, ...]) -> Sighting:
    before = [
        deed for deed in touches if deed.sequence < remark.sequence and deed.agent == remark.agent
    ]
    said = Evidence(sequence=remark.sequence, step=remark.step)
    return Sighting(
        kind=SignalKind.SELF_CORRECTION,
        key=_key(remark.text),
        files=(before[-1].target,) if before else (),
        evidence=(*detections.evidence(deeds=before[-1:]), said),
        details=(("text", remark.text),),
    )


def _key(text: str) -> str:
    words = " ".join(_WORDS.findall(text.lower()))
    return hashlib.blake2b(words.encode(), digest_size=8).hexdigest()
