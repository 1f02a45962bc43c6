"""Signal 10: a page of the web that the work needed.

Seen when a page with an address was fetched and a file was edited within the next ten calls.
"""

from typing import Final

from memory.observer import detections
from memory.observer.detections import Sighting
from memory.observer.signal_table import SignalKind
from memory.sessions import tools
from memory.sessions.scratchpad import Deed, Scratchpad, in_order
from memory.sessions.tools import Act

CALLS_APART: Final = 10  # at most, ours


def find(*, scratchpad: Scratchpad) -> tuple[Sighting, ...]:
    """Find the hosts whose pages came before an edit."""
    deeds = in_order(scratchpad=scratchpad)
    by_host: dict[str, list[Deed]] = {}
    for place, deed in enumerate(deeds):
        if deed.act is not Act.FETCH or deed.is_error or "://" not in deed.target:
            continue
        edit = _next_edit(deeds[place + 1 : place + 1 + CALLS_APART])
        if edit is not None:
            by_host.setdefault(tools.host(url=deed.target), []).extend((deed, edit))
    found = (_sighting(host, both) for host, both in by_host.items())
    return detections.strongest(sightings=found)


def _next_edit(following: tuple[Deed, ...]) -> Deed | None:
    return next((deed for deed in following if deed.act is Act.EDIT and not deed.is_error), None)


def _sighting(host: str, both: list[Deed]) -> Sighting:
    files = tuple(dict.fromkeys(deed.target for deed in both if deed.act is Act.EDIT))
    pages = tuple(dict.fromkeys(deed.target for deed in both if deed.act is Act.FETCH))
    return Sighting(
        kind=SignalKind.EXTERNAL_REFERENCE,
        key=host,
        files=files[: detections.FILES_MOST],
        evidence=detections.evidence(deeds=both),
        times=len(pages),
        details=(("host", host), ("page", pages[-1])),
    )
