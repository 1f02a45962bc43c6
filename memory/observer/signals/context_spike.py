"""Signal 17: a step that cost far more context than the others.

Seen when it cost at least 4,000 tokens and three times the median of at least five steps; what it
read or ran is what costs.
"""

from statistics import median
from typing import Final

from memory.observer import detections
from memory.observer.detections import Sighting
from memory.observer.signal_table import SignalKind
from memory.sessions import file_paths, tools
from memory.sessions.scratchpad import Deed, Scratchpad, step_key
from memory.sessions.tools import Act

TOKENS_LEAST: Final = 4_000  # ours
TIMES_MEDIAN: Final = 3  # ours
STEPS_LEAST: Final = 5  # ours


def find(*, scratchpad: Scratchpad) -> tuple[Sighting, ...]:
    """Find what made steps costly, one sighting a file or program."""
    tokens = {key: cost.tokens for key, cost in scratchpad.steps.items() if cost.tokens}
    if len(tokens) < STEPS_LEAST:
        return ()
    least = max(TOKENS_LEAST, TIMES_MEDIAN * median(tokens.values()))
    by_what: dict[str, list[Deed]] = {}
    for deed in scratchpad.deeds.values():
        if tokens.get(_step(deed), 0) >= least:
            by_what.setdefault(_what(deed), []).append(deed)
    found = (_sighting(what, deeds, tokens) for what, deeds in by_what.items() if what)
    return detections.strongest(sightings=found)


def _step(deed: Deed) -> str:
    return step_key(agent=deed.agent, step=deed.step)


def _what(deed: Deed) -> str:
    """Return what a step was spent on; empty for what names nothing."""
    if deed.act in {Act.RUN, Act.TEST}:
        return tools.program(command=deed.target)
    return "" if file_paths.is_outside(path=deed.target) else deed.target


def _sighting(what: str, deeds: list[Deed], tokens: dict[str, int]) -> Sighting:
    is_file = deeds[0].act in {Act.READ, Act.EDIT}
    return Sighting(
        kind=SignalKind.CONTEXT_SPIKE,
        key=what[: detections.KEY_MOST],
        files=(what,) if is_file else (),
        evidence=detections.evidence(deeds=deeds),
        times=len(deeds),
        details=(
            ("what", what),
            ("tokens", str(max(tokens[_step(deed)] for deed in deeds))),
            ("module", file_paths.module(path=what) if is_file else ""),
        ),
    )
