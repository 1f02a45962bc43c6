"""A sighting: that a signal was seen in a session, by what it is recognized, on what it rests."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, TypeVar

from memory.observer.signal_table import SignalKind
from memory.sessions import file_paths
from memory.sessions.scratchpad import Deed, Scratchpad, each_file
from memory.sessions.tools import Act

EVIDENCE_MOST: Final = 12  # events a sighting names, the last ones; ours
SIGHTINGS_MOST: Final = 20  # of one signal in one session, the strongest; ours
FILES_MOST: Final = 8  # of one sighting, ours
KEY_MOST: Final = 300  # characters, ours
Key = TypeVar("Key")
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One event a sighting rests on, and the place in the code where it names one."""

    sequence: int
    step: int
    file: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """One signal seen; `key` is the same when another session shows the same thing.

    `times` is how often the session showed it, `details` are the named values that a template puts
    into words.
    """

    kind: SignalKind
    key: str
    files: tuple[str, ...]
    evidence: tuple[Evidence, ...]
    times: int = 1
    details: tuple[tuple[str, str], ...] = ()

    @property
    def last_sequence(self) -> int:
        """The last event it rests on."""
        return max((each.sequence for each in self.evidence), default=0)


def detail(*, sighting: Sighting, name: str) -> str:
    """Return a named value of a sighting; empty when it has none of that name."""
    return dict(sighting.details).get(name, "")


def evidence(*, deeds: Iterable[Deed]) -> tuple[Evidence, ...]:
    """Return some deeds as evidence, the last ones in their order."""
    told = {(deed.sequence, deed.target): deed for deed in deeds}
    rests = sorted(told.values(), key=lambda one: one.sequence)
    return tuple(
        Evidence(
            sequence=deed.sequence,
            step=deed.step,
            file=deed.target if deed.act in {Act.READ, Act.EDIT} else "",
            line=deed.line,
        )
        for deed in rests[-EVIDENCE_MOST:]
    )


def strongest(*, sightings: Iterable[Sighting]) -> tuple[Sighting, ...]:
    """Return the sightings shown most often, at most twenty."""
    ordered = sorted(sightings, key=lambda one: (-one.times, one.key))
    return tuple(ordered[:SIGHTINGS_MOST])


def fullest(
    *, groups: Mapping[Key, list[Item]], most: int = SIGHTINGS_MOST
) -> tuple[tuple[Key, list[Item]], ...]:
    """Return the groups with the most entries, at most twenty, before anything is made of them."""
    ordered = sorted(groups.items(), key=lambda group: (-len(group[1]), str(group[0])))
    return tuple(ordered[:most])


def touches(*, scratchpad: Scratchpad) -> tuple[Deed, ...]:
    """Return the reads and edits of files of the repository that did not fail, in order."""
    return tuple(
        deed
        for deed in each_file(deeds=scratchpad.deeds.values())
        if deed.act in {Act.READ, Act.EDIT} and not deed.is_error and _is_ours(deed.target)
    )


def main_module(*, scratchpad: Scratchpad) -> str:
    """Return the module that a session edited most, or else touched most; empty for none."""
    weights: dict[str, tuple[int, int]] = {}
    for path, use in scratchpad.files.items():
        if _is_ours(path):
            module = file_paths.module(path=path)
            edits, reads = weights.get(module, (0, 0))
            weights[module] = (edits + use.edits, reads + use.reads)
    return max(sorted(weights), key=lambda module: weights[module], default="")


def _is_ours(path: str) -> bool:
    return bool(path) and not file_paths.is_outside(path=path)
