"""What two agents of a session saw has two witnesses; what one saw twice has one."""

from memory.observer import parallel_agents
from memory.observer.signal_table import SignalKind
from memory.sessions import event_parsing, fold
from memory.sessions.scratchpad import Setting
from memory.statistics.quorum import Witnessed
from tests.support.stories import Story

OVERRUN = SignalKind.STEP_OVERRUN


def witnessed(*names: str) -> dict[SignalKind, Witnessed]:
    """Let each of these agents look for the same thing again and again."""
    rows = [
        {"kind": "tool_call", "name": "Grep", "args": {"pattern": "apply_discount"}, "agent": name}
        for name in names
        for _ in range(4)
    ]
    events = event_parsing.read_all(
        rows=tuple({**row, "sequence": n, "step": n} for n, row in enumerate(rows, 1))
    ).events
    pad = fold.rebuild(setting=Setting(), events=events)
    return {
        one.sighting.kind: one for one in parallel_agents.witnessed(scratchpad=pad, verdicts={})
    }


def test_one_agent_is_one_witness() -> None:
    assert witnessed("")[SignalKind.REPEATED_GREP].agents == ("",)


def test_two_agents_are_two_witnesses() -> None:
    assert witnessed("left", "right")[SignalKind.REPEATED_GREP].agents == ("left", "right")


def shown(story: Story) -> dict[tuple[SignalKind, str], Witnessed]:
    """Return what the agents of a story showed."""
    found = parallel_agents.witnessed(scratchpad=story.scratchpad(), verdicts={})
    return {(one.sighting.kind, one.sighting.key): one for one in found}


def test_that_a_session_took_longer_than_planned_has_one_witness() -> None:
    story = Story(planned=4)
    for _ in range(10):
        story.by("").edit("auth/store/a.py").by("a").edit("auth/store/b.py")

    overrun = [one for one in shown(story.done()).values() if one.sighting.kind is OVERRUN]

    assert [(one.sighting.key, one.agents) for one in overrun] == [("auth/store", ("",))]


def test_a_costly_step_has_one_witness() -> None:
    story = Story()
    for agent in ("", "a"):
        story.by(agent).read("x").read("x").read("x").read("big", tokens=90_000)

    assert shown(story)[SignalKind.CONTEXT_SPIKE, "big"].agents == ("",)


def test_each_agent_has_the_files_it_touched_itself() -> None:
    story = Story().by("a").edit("mail/out/a.py").run("pytest a").run("pytest b")
    story.by("b").edit("auth/store/b.py").edit("auth/store/c.py").edit("auth/store/b.py")

    orders = [one for one in shown(story).values() if one.sighting.kind is SignalKind.TEST_ORDER]

    assert "mail/out: pytest a > pytest b" in [one.sighting.key for one in orders]


def test_a_file_that_two_agents_read_and_left_has_two_witnesses() -> None:
    story = Story()
    for agent in ("a", "b"):
        story.by(agent).read("old/x.py").grep("retry").edit(f"net/{agent}.py")

    alone = SignalKind.READ_ABANDON, "old/x.py"

    assert shown(story)[alone].agents == ("a", "b")


def test_two_agents_that_edit_a_file_side_by_side_collide() -> None:
    story = Story().by("a").read("x").by("b").read("x").by("a").edit("y").by("b").edit("y")

    assert shown(story.by("a").run("ls"))[SignalKind.PARALLEL_CONFLICT, "y"].agents == ("a", "b")
