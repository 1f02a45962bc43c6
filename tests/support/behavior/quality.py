"""How well signals see what a labelled set shows: precision and recall, with intervals.

A sighting is right when a label of its signal names its key, a part of it, or one of its files;
a label without a target takes any. Intervals are drawn over sessions, as
`memory.evaluation.measures` does.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from memory.evaluation import measures
from memory.evaluation.measures import Interval
from memory.observer import detect
from memory.observer.detections import Sighting, SignalKind
from tests.support.behavior.telling import Labelled

Label = tuple[SignalKind, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """What one session's labels and one signal's sightings have in common."""

    right: int
    sighted: int
    met: int
    labelled: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """One signal over a set; None where nothing was sighted or labelled."""

    kind: SignalKind
    precision: Interval | None
    recall: Interval | None
    sighted: int
    labelled: int


def measure(*, sessions: Iterable[Labelled]) -> tuple[Quality, ...]:
    """Measure every signal over some sessions."""
    seen = tuple((one, _found(one)) for one in sessions)
    return tuple(_quality(kind, seen) for kind in SignalKind)


def wrong(*, session: Labelled) -> tuple[tuple[Sighting, ...], tuple[Label, ...]]:
    """Return the sightings without a label and the labels without a sighting."""
    found = _found(session)
    extra = tuple(each for each in found if not any(_names(one, each) for one in session.labels))
    missed = tuple(one for one in session.labels if not any(_names(one, each) for each in found))
    return extra, missed


def _found(session: Labelled) -> tuple[Sighting, ...]:
    return detect.find_all(scratchpad=session.story.scratchpad(), rejected={})


def _quality(kind: SignalKind, seen: tuple[tuple[Labelled, tuple[Sighting, ...]], ...]) -> Quality:
    counts = [_counts(kind, session, found) for session, found in seen]
    return Quality(
        kind=kind,
        precision=measures.quotient(
            numerators=[one.right for one in counts], denominators=[one.sighted for one in counts]
        ),
        recall=measures.quotient(
            numerators=[one.met for one in counts], denominators=[one.labelled for one in counts]
        ),
        sighted=sum(one.sighted for one in counts),
        labelled=sum(one.labelled for one in counts),
    )


def _counts(kind: SignalKind, session: Labelled, found: tuple[Sighting, ...]) -> Counts:
    sighted = [each for each in found if each.kind is kind]
    labels = [one for one in session.labels if one[0] is kind]
    return Counts(
        right=sum(any(_names(one, each) for one in labels) for each in sighted),
        sighted=len(sighted),
        met=sum(any(_names(one, each) for each in sighted) for one in labels),
        labelled=len(labels),
    )


def _names(label: Label, sighting: Sighting) -> bool:
    kind, target = label
    is_named = target in sighting.key or target in sighting.files
    return kind is sighting.kind and (is_named or not target)
