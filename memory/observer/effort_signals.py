"""Signals in what work took, and where the agent says that it was wrong."""

import hashlib
import re
from collections.abc import Iterator
from statistics import median
from typing import Final

from memory.observer import detections
from memory.observer.detections import Sighting, SignalEvidence, SignalKind, group, made
from memory.sessions import file_paths, tools
from memory.sessions.scratchpad import Deed, Scratchpad
from memory.sessions.tools import Act
from memory.sessions.turns import RemarkKind

# Defaults, not measured.
SECONDS_LEAST: Final = 60.0  # of a slow call
SLOW_MEDIANS: Final = 4
TIMED_LEAST: Final = 5  # calls
OVERRUN_LEAST: Final = 1.5  # times the steps planned
MORE_LEAST: Final = 5  # steps beyond the plan
TOKENS_LEAST: Final = 4_000  # of a costly step
COSTLY_MEDIANS: Final = 3
COSTED_LEAST: Final = 5  # steps

_COMMANDS: Final = frozenset({Act.RUN, Act.TEST})
_FILES: Final = frozenset({Act.READ, Act.EDIT})
_WORDS: Final = re.compile(r"\w+")


def find_time_anomaly(*, scratchpad: Scratchpad) -> Iterator[Sighting]:
    """Signal 8: a call that took far longer than the others; it counts only beside another signal.

    Seen when a call took at least a minute and four times the median of at least five timed calls.
    """
    timed = [(deed, deed.seconds) for deed in scratchpad.deeds.values() if deed.seconds is not None]
    if len(timed) < TIMED_LEAST:
        return
    usual = median(seconds for _, seconds in timed)
    least = max(SECONDS_LEAST, SLOW_MEDIANS * usual)
    for deed, seconds in timed:
        if seconds >= least:
            yield made(
                SignalKind.TIME_ANOMALY,
                f"{deed.act.value} {_what(deed)}",
                (deed,),
                files=(deed.target,) if deed.act in _FILES else (),
                seconds=f"{seconds:.0f}",
                usual=f"{usual:.0f}",
            )


def _what(deed: Deed) -> str:
    """Return what a call was spent on: a program, or its target."""
    return tools.program(command=deed.target) if deed.act in _COMMANDS else deed.target


def _what_inside(deed: Deed) -> str:
    """Return what a call was spent on, empty for a file outside of the repository."""
    is_outside = deed.act not in _COMMANDS and file_paths.is_outside(path=deed.target)
    return "" if is_outside else _what(deed)


def find_step_overrun(*, scratchpad: Scratchpad) -> Iterator[Sighting]:
    """Signal 15: the work took far more steps than planned, at most one sighting.

    Seen when somebody planned, and it took at least half as many again, and at least five more.
    """
    planned = scratchpad.setting.planned_steps
    actual = scratchpad.steps_taken
    if planned < 1 or actual < OVERRUN_LEAST * planned or actual - planned < MORE_LEAST:
        return
    module = detections.main_module(scratchpad=scratchpad)
    details = {"planned": str(planned), "actual": str(actual), "ratio": f"{actual / planned:.2f}"}
    yield Sighting(
        kind=SignalKind.STEP_OVERRUN,
        key=module,
        files=(),
        evidence=(SignalEvidence(sequence=scratchpad.through, step=scratchpad.current_step),),
        details={"module": module, **details},
    )


def find_context_spike(*, scratchpad: Scratchpad) -> Iterator[Sighting]:
    """Signal 17: a step that cost far more context than the others, a sighting a file or program.

    Seen when it cost at least 4,000 tokens and three times the median of at least five steps; what
    it read or ran is what costs.
    """
    tokens = [cost for cost in scratchpad.steps.values() if cost]
    if len(tokens) < COSTED_LEAST:
        return
    least = max(TOKENS_LEAST, COSTLY_MEDIANS * median(tokens))
    costly = (one for one in scratchpad.deeds.values() if scratchpad.cost_of(deed=one) >= least)
    by_what = group((_what_inside(deed), (deed,)) for deed in costly)
    by_what.pop("", None)
    for what, deeds in by_what.items():
        files = (what,) if deeds[0].act in _FILES else ()
        yield made(
            SignalKind.CONTEXT_SPIKE,
            what,
            deeds,
            files=files,
            times=len(deeds),
            what=what,
            tokens=str(max(scratchpad.cost_of(deed=deed) for deed in deeds)),
            module=file_paths.module(path="".join(files)),
        )


def find_self_correction(*, scratchpad: Scratchpad) -> Iterator[Sighting]:
    """Signal 9: the agent says that it was wrong, and what is right, the same words once.

    Seen when a sentence of its reasoning corrects an earlier belief; the file it had last says
    where.
    """
    touches = detections.touches(scratchpad=scratchpad)
    corrections = [one for one in scratchpad.remarks if one.kind is RemarkKind.SELF_CORRECTION]
    firsts = {" ".join(_WORDS.findall(one.text.lower())): one for one in reversed(corrections)}
    for words, remark in firsts.items():
        own = [deed for deed in touches if deed.agent == remark.agent]
        before = [deed for deed in own if deed.sequence < remark.sequence][-1:]
        told = SignalEvidence(sequence=remark.sequence, step=remark.step)
        yield Sighting(
            kind=SignalKind.SELF_CORRECTION,
            key=hashlib.blake2b(words.encode(), digest_size=8).hexdigest(),
            files=tuple(deed.target for deed in before),
            evidence=(*detections.evidence(deeds=before), told),
            details={"text": remark.text},
        )
