"""Signal 14: a change that needed a change of configuration.

Seen when a file that configures was edited, and within ten calls of that one that does not.
"""

from typing import Final

from memory.observer import detections
from memory.observer.detections import Sighting
from memory.observer.signal_table import SignalKind
from memory.sessions import file_paths
from memory.sessions.scratchpad import Deed, Scratchpad, each_file, in_order
from memory.sessions.tools import Act

CALLS_APART: Final = 10  # at most, either way; ours


def find(*, scratchpad: Scratchpad) -> tuple[Sighting, ...]:
    """Find the files that configure and were changed with code."""
    deeds = tuple(each_file(deeds=in_order(scratchpad=scratchpad)))
    by_config: dict[str, list[Deed]] = {}
    for place, deed in enumerate(deeds):
        if _is_edit(deed) and file_paths.is_config(path=deed.target):
            near = deeds[max(0, place - CALLS_APART) : place + 1 + CALLS_APART]
            code = tuple(each for each in near if _is_edit(each) and not _configures(each))
            if code:
                by_config.setdefault(deed.target, []).extend((deed, *code))
    found = (_sighting(config, both) for config, both in by_config.items())
    return detections.strongest(sightings=found)


def _is_edit(deed: Deed) -> bool:
    is_ours = deed.target != "" and not file_paths.is_outside(path=deed.target)
    return deed.act is Act.EDIT and not deed.is_error and is_ours


def _configures(deed: Deed) -> bool:
    return file_paths.is_config(path=deed.target)


def _sighting(config: str, both: list[Deed]) -> Sighting:
    files = tuple(dict.fromkeys((config, *(deed.target for deed in both))))
    return Sighting(
        kind=SignalKind.CONFIG_TOUCHED,
        key=config,
        files=files[: detections.FILES_MOST],
        evidence=detections.evidence(deeds=both),
        times=len({deed.sequence for deed in both if deed.target == config}),
        details=(("config", config),),
    )
