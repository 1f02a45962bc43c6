"""All signals of a session: the worthiest first, slow calls only beside another signal."""

from memory.observer import detect, detections, session_facts
from memory.observer.detect import Verdicts
from memory.observer.detections import EVIDENCE_MOST, SIGHTINGS_MOST, SignalKind
from tests.support.stories import Story

QUIET = Story().run("a").run("b").run("c").run("d")


def kinds(story: Story, **said: Verdicts) -> list[SignalKind]:
    """Return the kinds of signal in a story."""
    verdicts = {SignalKind(kind): verdict for kind, verdict in said.items()}
    found = detect.find_all(scratchpad=story.scratchpad(), verdicts=verdicts)
    return [sighting.kind for sighting in found]


def test_every_signal_has_its_finder() -> None:
    assert set(detect.FINDERS) == set(SignalKind)


def test_the_worthiest_come_first() -> None:
    story = Story().edit("a.py").edit("b.py").edit("a.py").grep("x").grep("x").grep("x")

    found = kinds(story)

    values = [detections.value(kind=kind) for kind in found]
    assert found[0] is SignalKind.CO_ACCESS
    assert values == sorted(values, reverse=True)


def test_what_was_found_already_gives_the_same_as_looking_again() -> None:
    story = Story().edit("a.py").edit("b.py").fails("make all", "error: x").run("make all")
    pad = story.scratchpad()

    known = session_facts.find_counted(scratchpad=pad)

    assert known[SignalKind.CO_ACCESS]
    assert detect.find_all(scratchpad=pad, verdicts={}, known=known) == detect.find_all(
        scratchpad=pad, verdicts={}
    )


def test_a_slow_call_alone_means_nothing() -> None:
    slow = Story().run("a").run("b").run("c").run("d").run("make all", takes=300)
    failing = Story().run("a").run("b").run("c").run("d")
    failing.fails("make all", "error: x", takes=300).run("make all")

    assert SignalKind.TIME_ANOMALY not in kinds(slow)
    assert SignalKind.TIME_ANOMALY in kinds(failing)


def test_a_signal_that_people_reject_is_not_looked_for() -> None:
    failing = Story().run("a").run("b").run("c").run("d")
    failing.fails("make all", "error: x", takes=300).run("make all")

    assert SignalKind.TIME_ANOMALY not in kinds(
        failing, time_anomaly=Verdicts(judged=20, rejected=20)
    )


def test_a_session_without_events_shows_nothing() -> None:
    assert kinds(Story()) == []


def test_sightings_and_their_evidence_are_bounded() -> None:
    story = Story()
    for _ in range(3):
        for place in range(60):
            story.edit(f"src/{place}.py")

    found = detect.find_all(scratchpad=story.scratchpad(), verdicts={})

    assert len(found) <= SIGHTINGS_MOST * len(SignalKind)
    assert all(len(sighting.evidence) <= EVIDENCE_MOST for sighting in found)
