"""Signals of a session: where each is seen, which come first, what fires early."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.observer import detect, detections, file_signals
from memory.observer.actions.session_findings import fired
from memory.observer.detect import Seen
from memory.observer.detections import EVIDENCE_MOST, SIGHTINGS_MOST, Sighting, SignalKind
from memory.observer.detections import SignalKind as Kind
from tests.support.stories import Story, keys, without_clocks

WRONG = "I was wrong about the cache. The store is actually Postgres."
MERGE = "Auto-merging a.py\nCONFLICT (content): Merge conflict in a.py\nAutomatic merge failed"


def of_four(story: Story) -> Story:
    """Read four files that are like all others."""
    return story.read("a").read("b").read("c").read("d")


def both_at_work(*, pause: float = 0) -> Story:
    """Let two agents edit a file while both are at work; each counts steps of its own."""
    story = Story().counting(50).by("one").read("b.py").by("two").counting(3).read("b.py")
    story.by("one").counting(51).edit("a.py")
    story.at += pause
    return story.by("two").counting(4).edit("a.py").by("one").counting(52).run("ls")


def sent() -> Story:
    """Let an agent edit a file, send another that edits it, and edit it again afterwards."""
    story = Story().counting(50).edit("a.py").event("tool_call", name="Task", call="t")
    story.by("sub").counting(1).read("a.py").edit("a.py").read("b.py").by("").counting(51)
    return story.event("tool_result", name="Task", call="t").edit("a.py")


def told_afterwards() -> Story:
    """Let an agent edit what another had edited, whose last call is told with how long it took."""
    story = Story().read("b.py").by("sub").edit("a.py").event("tool_call", name="Bash", args={})
    story.event("tool_result", name="Bash", at=story.at, duration_ms=300_000)
    return story.by("").edit("a.py").run("ls")


@pytest.mark.parametrize(
    ("kind", "story", "seen"),
    [
        (Kind.FILE_ACCESS, Story().read("a.py").read("b.py").read("a.py"), ["a.py"]),
        (Kind.FILE_ACCESS, Story().read("a.py").edit("a.py"), ["a.py"]),
        (Kind.CO_ACCESS, Story().edit("a").edit("b"), ["a|b"]),
        (Kind.CO_ACCESS, Story().edit("b").read("a").edit("b").read("a"), ["a|b"]),
        (Kind.BACKTRACK, Story().edit("a.py", "x", "y").edit("a.py", "y", "x"), ["a.py"]),
        (Kind.BACKTRACK, Story().edit("a.py").run("git checkout -- a.py"), ["a.py"]),
        (Kind.BACKTRACK, Story().edit("a").edit("b").run("git restore ."), ["a", "b"]),
        (Kind.BACKTRACK, Story().edit("a").run("cd /work/shop && git reset --hard"), ["a"]),
        (Kind.BACKTRACK, Story().edit("a.py").run("git stash"), ["a.py"]),
        (Kind.REPEATED_GREP, Story().grep("Mint").read("a").grep("mint").grep("MINT"), ["mint"]),
        (Kind.TIME_ANOMALY, of_four(Story()).run("make all", takes=90), ["run make all"]),
        (Kind.TIME_ANOMALY, of_four(Story()).read("e", takes=300), ["read e"]),
        (Kind.EXTERNAL_REFERENCE, Story().fetch("https://x.example/a").edit("a"), ["x.example"]),
        (
            Kind.PARALLEL_CONFLICT,
            Story().edit("a.py", text="File has been modified since read", is_error=True),
            ["a.py"],
        ),
        (Kind.PARALLEL_CONFLICT, Story().fails("git merge main", MERGE), ["a.py"]),
        (Kind.PARALLEL_CONFLICT, both_at_work(), ["a.py"]),
        (Kind.PARALLEL_CONFLICT, without_clocks(both_at_work()), ["a.py"]),
        (
            Kind.PARALLEL_CONFLICT,
            Story().fails("git pull", "error: changes would be overwritten by merge"),
            ["repository"],
        ),
        (Kind.CONTEXT_SPIKE, of_four(Story()).run("npm ls", tokens=9_000), ["npm ls"]),
        (
            Kind.CONTEXT_SPIKE,
            Story().read("a").read("b").read("big", tokens=30_000).read("d").read("e").by("sub")
            .counting(3).read("small", tokens=10),
            ["big"],
        ),
    ],
)  # fmt: skip
def test_a_signal_is_seen(kind: Kind, story: Story, seen: list[str]) -> None:
    assert keys(kind, story) == seen


@pytest.mark.parametrize(
    ("kind", "story"),
    [
        *((kind, Story()) for kind in detect.FINDERS),
        (Kind.FILE_ACCESS, Story().read("a.py").read("b.py")),
        (Kind.FILE_ACCESS, Story().read("../../etc/hosts").grep("x").read("../../etc/hosts")),
        (Kind.FILE_ACCESS, Story().read("a.py", is_error=True).read("a.py")),
        (Kind.CO_ACCESS, Story().read("a.py").read("b.py").read("a.py").read("b.py")),
        (Kind.CO_ACCESS, Story().read("a.py").edit("b.py")),
        (Kind.CO_ACCESS, of_four(Story().edit("a.py").run("x")).edit("b.py")),
        (Kind.CO_ACCESS, Story().edit("a.py").edit("b.py", is_error=True)),
        (Kind.CO_ACCESS, Story().counting(50).edit("a.py").by("sub").counting(3).edit("b.py")),
        (Kind.BACKTRACK, Story().edit("a.py", "x", "y").edit("a.py", "y", "z")),
        (Kind.BACKTRACK, Story().edit("a.py", "x", "y").edit("b.py", "y", "x")),
        (Kind.BACKTRACK, Story().edit("a.py").run("git checkout main")),
        (Kind.BACKTRACK, Story().edit("a.py").run("git commit -am done").run("git restore .")),
        (Kind.BACKTRACK, Story().edit("a.py").run("git stash pop")),
        (Kind.REPEATED_GREP, Story().grep("mint").grep("mint").grep("minted")),
        (Kind.TIME_ANOMALY, Story().read("a").read("b").run("make all", takes=90)),
        (
            Kind.TIME_ANOMALY,
            Story().run("a", takes=80).run("b", takes=80).run("c", takes=80).run("d", takes=80)
            .run("e", takes=90),
        ),
        (Kind.EXTERNAL_REFERENCE, Story().edit("a.py").fetch("https://docs.example.org/a")),
        (Kind.EXTERNAL_REFERENCE, Story().call("WebSearch", {"query": "django"}).edit("a.py")),
        (
            Kind.PARALLEL_CONFLICT,
            Story().edit("a.py", text="String to replace not found", is_error=True),
        ),
        (Kind.PARALLEL_CONFLICT, Story().by("one").edit("a.py").by("two").edit("b.py")),
        (Kind.PARALLEL_CONFLICT, sent()),
        (Kind.PARALLEL_CONFLICT, without_clocks(sent())),
        (Kind.PARALLEL_CONFLICT, both_at_work(pause=3_600)),
        (Kind.PARALLEL_CONFLICT, told_afterwards()),
        (Kind.CONTEXT_SPIKE, Story().read("a").read("big", tokens=30_000)),
        (
            Kind.CONTEXT_SPIKE,
            Story().read("a", tokens=5_000).read("b", tokens=5_000).read("c", tokens=5_000)
            .read("d", tokens=5_000).read("e", tokens=9_000),
        ),
        (Kind.ERROR_RETRY, Story().fails("pytest a", "KeyError: 'X'").run("npm install")),
        (Kind.ERROR_RETRY, Story().run("pytest a").run("pytest a")),
        (Kind.ERROR_RETRY, Story().edit("a.py", is_error=True).edit("a.py")),
        (Kind.ERROR_RETRY, Story().fails("ls build", "ls: build: No such file").run("ls build")),
        (Kind.ERROR_RETRY, Story().fails("pytest a", "FAILED a - assert 1 == 2").run("pytest a")),
        (
            Kind.ERROR_RETRY,
            Story().fails("make x", "The user doesn't want to proceed").run("make x"),
        ),
        (Kind.STEP_OVERRUN, Story(planned=5).edit("a.py").counting(10**9).edit("a.py")),
        (Kind.SELF_CORRECTION, Story().say("This approach won't work.")),
        (Kind.SELF_CORRECTION, Story().prompt("No, you were wrong about the cache")),
        (Kind.SELF_CORRECTION, Story().read("a.py", WRONG)),
    ],
)  # fmt: skip
def test_a_signal_is_not_seen(kind: Kind, story: Story) -> None:
    assert keys(kind, story) == []


def test_files_that_one_call_changes_go_together_and_the_first_names_the_direction() -> None:
    story = Story().call("apply_patch", {"path": "a.py"}, files=[])
    story.rows[0]["files"] = ["a.py", "b.py"]
    apart = Story().edit("z.py").edit("a.py").scratchpad()

    (found,) = detect.find(kind=Kind.CO_ACCESS, scratchpad=apart)

    assert keys(Kind.CO_ACCESS, story) == ["a.py|b.py"]
    assert found.files == ("z.py", "a.py")
    assert found.details["apart_ms"] != "0"


def test_programs_that_say_how_long_calls_took_are_believed_and_else_nothing_is_counted() -> None:
    told, silent = Story(), Story()
    for number, seconds in enumerate((1, 1, 1, 1, 300)):
        for story, took in ((told, {"duration_ms": seconds * 1_000}), (silent, {})):
            story.event("tool_call", name="Bash", args={"command": f"make t{number}"})
            story.event("tool_result", name="Bash", at=story.at, **took)

    assert keys(Kind.TIME_ANOMALY, told) == ["run make"]
    assert {deed.seconds for deed in silent.scratchpad().deeds.values()} == {None}


@pytest.mark.parametrize(
    ("story", "files"),
    [
        (Story().say("Correction: the flag is read at start."), ()),
        (Story().read("a.py").edit("b.py").say("Let me reconsider: it is lazy."), ("b.py",)),
        (Story().read("a.py").say(WRONG).read("c.py").say(WRONG), ("a.py",)),
        (Story().read("a.py").by("sub").read("c.py").by("").say(WRONG), ("a.py",)),
        (Story().read("a.py").by("sub").say(WRONG), ()),
    ],
)
def test_self_correction_is_seen_once_with_its_file(story: Story, files: tuple[str, ...]) -> None:
    found = detect.find(kind=Kind.SELF_CORRECTION, scratchpad=story.scratchpad())

    assert [sighting.files for sighting in found] == [files]


@pytest.mark.parametrize(
    ("planned", "steps", "ratios"),
    [(10, 15, ["1.50"]), (1, 6, ["6.00"]), (0, 40, []), (10, 14, []), (4, 8, [])],
)
def test_step_overrun_is_seen_with_its_ratio(planned: int, steps: int, ratios: list[str]) -> None:
    story = Story(planned=planned)
    for _ in range(steps):
        story.edit("auth/store/a.py")

    found = detect.find(kind=Kind.STEP_OVERRUN, scratchpad=story.done().scratchpad())

    assert [(one.key, one.details["ratio"]) for one in found] == [
        ("auth/store", ratio) for ratio in ratios
    ]


def test_agents_with_scratchpads_of_their_own_collide_in_what_both_edited() -> None:
    one = Story().edit("a.py").edit("b.py").scratchpad()
    two = Story().edit("a.py").read("b.py").scratchpad()

    (found,) = file_signals.between(scratchpads=(one, two))

    assert (found.key, len(found.evidence)) == ("a.py", 2)


SLOW = SignalKind.TIME_ANOMALY


def kinds(story: Story, **rejected: float) -> list[SignalKind]:
    """Return the kinds of signal in a story, where people rejected such shares."""
    shares = {SignalKind(kind): share for kind, share in rejected.items()}
    return [one.kind for one in detect.find_all(scratchpad=story.scratchpad(), rejected=shares)]


def test_every_signal_has_its_finder_and_the_value_that_is_documented() -> None:
    documented = {
        "co_access": 0.91,
        "self_correction": 0.88,
        "backtrack": 0.68,
        "time_anomaly": 0.48,
    }

    assert set(detect.FINDERS) == set(detections.SIGNALS)
    found = {kind: detections.value(kind=SignalKind(kind)) for kind in documented}
    assert found == pytest.approx(documented)
    needed = [detections.sessions_needed(kind=SignalKind.FILE_ACCESS, agents=n) for n in (2, 1)]
    assert needed == [1, 3]  # two witnesses need one session


@given(st.sampled_from(list(detect.FINDERS)), st.floats(0, 0.9))
def test_more_rejections_lower_a_value(kind: SignalKind, share: float) -> None:
    less = detections.value(kind=kind, rejected=share)

    assert detections.value(kind=kind, rejected=share + 0.1) < less


def test_the_worthiest_come_first() -> None:
    story = Story().edit("a.py").edit("b.py").edit("a.py").grep("x").grep("x").grep("x")

    found = kinds(story)

    values = [detections.value(kind=kind) for kind in found]
    assert found[0] is SignalKind.CO_ACCESS
    assert values == sorted(values, reverse=True)


def test_a_slow_call_counts_beside_another_signal_and_where_people_do_not_reject_it() -> None:
    slow, failing = (Story().run("a").run("b").run("c").run("d") for _ in range(2))
    slow.run("make all", takes=300)
    failing.fails("make all", "error: x", takes=300).run("make all")

    assert SLOW not in kinds(slow)
    assert SLOW in kinds(failing)
    assert SLOW not in kinds(failing, time_anomaly=1.0)


def test_sightings_and_their_evidence_are_bounded() -> None:
    story = Story()
    for place in (*range(60),) * 3:
        story.edit(f"src/{place}.py")

    found = detect.find_all(scratchpad=story.scratchpad(), rejected={})

    assert len(found) <= SIGHTINGS_MOST * len(SignalKind)
    assert all(len(sighting.evidence) <= EVIDENCE_MOST for sighting in found)


def seen(story: Story) -> Seen:
    """Return what one agent did and saw."""
    scratchpad = story.scratchpad()
    return scratchpad, detect.find_all(scratchpad=scratchpad, rejected={})


SAID = "Correction: the flag of the cache is read at"
BY_NAME = {
    "one": seen(Story().edit("a").edit("b").say(f"{SAID} start.")),
    "two": seen(Story().edit("b").edit("a").grep("x").grep("x").grep("x")),
    "three": seen(Story().say(f"{SAID} the start.")),
}


@given(st.permutations(("one", "two", "three")))
def test_what_two_saw_is_joined_in_whatever_order(order: list[str]) -> None:
    joined = detect.join(seen={name: BY_NAME[name] for name in order})

    found = {(one.kind, one.key): one for one in joined}
    pair = found[SignalKind.CO_ACCESS, "a|b"]
    assert (pair.agents, pair.times, pair.reason) == (("one", "two"), 2, "")
    corrected = [one for one in joined if one.kind is SignalKind.SELF_CORRECTION]
    assert [one.agents for one in corrected] == [("one", "three")]  # nearly the same words
    collided = [one.key for one in joined if one.kind is SignalKind.PARALLEL_CONFLICT]
    assert collided == ["a", "b"]


def shown(story: Story) -> dict[tuple[SignalKind, str], Sighting]:
    """Return what the agents of a story showed."""
    found = detect.witnessed(scratchpad=story.scratchpad(), rejected={})
    return {(one.kind, one.key): one for one in found}


@pytest.mark.parametrize("names", [("",), ("left", "right")])
def test_each_agent_that_saw_it_is_a_witness(names: tuple[str, ...]) -> None:
    story = Story()
    for name in names:
        story.by(name).grep("discount").grep("discount").grep("discount")

    assert shown(story)[SignalKind.REPEATED_GREP, "discount"].agents == names


def test_what_is_the_session_s_has_one_witness_and_what_two_searched_again_has_two() -> None:
    story = Story(planned=4)
    for _ in range(10):
        story.by("").edit("auth/store/a.py").by("a").edit("auth/store/b.py")
    costly, left = Story(), Story()
    for agent in ("", "a"):
        costly.by(agent).read("x").read("x").read("x").read("big", tokens=90_000)
    for agent in ("a", "b"):
        left.by(agent).grep("retry").grep("retry").grep("retry").edit(f"net/{agent}.py")

    assert shown(story.done())[SignalKind.STEP_OVERRUN, "auth/store"].agents == ("",)
    assert shown(costly)[SignalKind.CONTEXT_SPIKE, "big"].agents == ("",)
    assert shown(left)[SignalKind.REPEATED_GREP, "retry"].agents == ("a", "b")


def test_each_agent_has_the_files_it_touched_and_two_that_edit_one_side_by_side_collide() -> None:
    story = Story().by("a").edit("mail/a.py").by("b").edit("mail/b.py").by("a").edit("mail/c.py")
    both = Story().by("a").read("x").by("b").read("x").by("a").edit("y").by("b").edit("y")

    assert {one for one in shown(story) if one[0] is SignalKind.CO_ACCESS} == {
        (SignalKind.CO_ACCESS, "mail/a.py|mail/c.py")
    }
    assert shown(both.by("a").run("ls"))[SignalKind.PARALLEL_CONFLICT, "y"].agents == ("a", "b")


@pytest.mark.parametrize(
    ("story", "kind", "priority"),
    [
        (Story().say("Correction: it is lazy."), SignalKind.SELF_CORRECTION, 0.9),
        (Story().grep("x").grep("x").grep("X"), SignalKind.REPEATED_GREP, 0.8),
        (Story().fails("a", "KeyError: 1").fails("b", "ValueError: 1"), SignalKind.ERROR_RETRY,
         0.75),
        (Story().read("pyproject.toml").edit("a.py").edit("b.py"), SignalKind.CONFIG_TOUCHED, 0.7),
    ],
)  # fmt: skip
def test_a_condition_fires(story: Story, kind: SignalKind, priority: float) -> None:
    (early,) = fired(scratchpad=story.scratchpad(), already=[])

    assert (early["kind"], early["priority"]) == (kind, priority)


def test_less_does_not_fire() -> None:
    for story in (
        Story().say("Let me look."),
        Story().grep("x").grep("x").grep("y"),
        Story().fails("a", "KeyError: 1").fails("a", "KeyError: 2"),
        Story().edit("pyproject.toml"),
        Story().edit("a.py").edit("b.py"),
    ):
        assert fired(scratchpad=story.scratchpad(), already=[]) == []


def test_what_fired_does_not_fire_again() -> None:
    story = Story().grep("x").grep("x").grep("x")
    first = fired(scratchpad=story.scratchpad(), already=[])

    again = fired(scratchpad=story.grep("x").say("Correction: y").scratchpad(), already=first)

    assert [early["kind"] for early in again] == [SignalKind.SELF_CORRECTION]
