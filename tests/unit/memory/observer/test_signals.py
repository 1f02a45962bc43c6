"""The seventeen signals: each is seen where its behavior is, and not where it only looks so."""

import pytest

from memory.observer.signals import collaboration, edits, effort, failures, navigation
from tests.support.stories import Find, Story, keys, without_clocks


def in_one_breath(*took: int | None) -> Story:
    """Tell calls with their results, as programs that say how long each took, or not."""
    story = Story()
    for number, seconds in enumerate(took):
        told = {} if seconds is None else {"duration_ms": seconds * 1_000}
        story.event("tool_call", name="Bash", args={"command": f"make t{number}"})
        story.event("tool_result", name="Bash", at=story.at, **told)
    return story


WRONG = "I was wrong about the cache. The store is actually Postgres."


def worked(*, planned: int, steps: int) -> Story:
    """Return a session of so many steps in one module."""
    story = Story(planned=planned)
    for _ in range(steps):
        story.edit("auth/store/a.py")
    return story.done()


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


MERGE = "Auto-merging a.py\nCONFLICT (content): Merge conflict in a.py\nAutomatic merge failed"


@pytest.mark.parametrize(
    ("find", "story", "seen"),
    [
        (edits.find_file_access, Story().read("a.py").read("b.py").read("a.py"), ["a.py"]),
        (edits.find_file_access, Story().read("a.py").edit("a.py"), ["a.py"]),
        (
            edits.find_file_access,
            Story().edit("a.py").run("cat a.py").edit("b.py").read("b.py"),
            ["a.py", "b.py"],
        ),
        (edits.find_co_access, Story().edit("a.py").edit("b.py"), ["a.py|b.py"]),
        (
            edits.find_co_access,
            Story().edit("b.py").read("a.py").edit("b.py").read("a.py"),
            ["a.py|b.py"],
        ),
        (
            edits.find_co_access,
            Story().edit("a.py").run("ls").edit("b.py").read("c.py"),
            ["a.py|b.py"],
        ),
        (edits.find_backtrack, Story().edit("a.py", "x", "y").edit("a.py", "y", "x"), ["a.py"]),
        (edits.find_backtrack, Story().edit("a.py").run("git checkout -- a.py"), ["a.py"]),
        (
            edits.find_backtrack,
            Story().edit("a.py").edit("b.py").run("git restore ."),
            ["a.py", "b.py"],
        ),
        (
            edits.find_backtrack,
            Story().edit("a.py").run("cd /work/shop && git reset --hard"),
            ["a.py"],
        ),
        (edits.find_backtrack, Story().edit("a.py").run("git stash"), ["a.py"]),
        (
            navigation.find_read_abandon,
            Story().read("old/a.py").grep("mint").read("b/c.py").edit("b/c.py"),
            ["old/a.py"],
        ),
        (
            navigation.find_read_abandon,
            Story().read("x/a.py").glob("**/*.py", "b.py").edit("b/c.py"),
            ["x/a.py"],
        ),
        (navigation.find_repeated_grep, Story().grep("mint").grep("mint").grep("mint"), ["mint"]),
        (
            navigation.find_repeated_grep,
            Story().grep("Mint").read("a.py").grep("mint").edit("a.py").grep("MINT"),
            ["mint"],
        ),
        (
            navigation.find_repeated_grep,
            Story().run("rg mint").grep("mint").run("grep -rn mint src"),
            ["mint"],
        ),
        (
            effort.find_tool_sequence,
            Story()
            .edit("m/a.py")
            .run("npm run build")
            .run("git commit -m a")
            .edit("m/b.py")
            .run("npm run build")
            .run("git commit -m b"),
            ["edit m/*.py > run npm run > run git commit"],
        ),
        (
            effort.find_tool_sequence,
            Story()
            .edit("m/a.sql")
            .run("psql -f a")
            .run("make docs")
            .read("x.py")
            .edit("m/b.sql")
            .edit("m/c.sql")
            .run("psql -f b")
            .run("make docs"),
            ["edit m/*.sql > run psql > run make docs"],
        ),
        (
            effort.find_time_anomaly,
            Story().read("a").read("b").read("c").read("d").run("make all", takes=90),
            ["run make all"],
        ),
        (
            effort.find_time_anomaly,
            Story().read("a").read("b").read("c").read("d").read("e", takes=300),
            ["read e"],
        ),
        (
            navigation.find_external_reference,
            Story().fetch("https://docs.example.org/a").edit("a.py"),
            ["docs.example.org"],
        ),
        (
            navigation.find_external_reference,
            Story().run("curl -s https://api.example.com/v1").read("b.py").edit("a.py"),
            ["api.example.com"],
        ),
        (
            navigation.find_glob_ignored,
            Story().glob("**/auth*.py", "old/auth.py", "x/auth2.py").read("core/login.py"),
            ["**/auth*.py"],
        ),
        (
            navigation.find_glob_ignored,
            Story().glob("*.sql", "a.sql").grep("x").edit("schema/b.txt"),
            ["*.sql"],
        ),
        (
            navigation.find_glob_ignored,
            Story().glob("*.py", "/work/shop/a.py").read("b.py").glob("*.md", "c.md").read("c.md"),
            ["*.py"],
        ),
        (
            navigation.find_import_chase,
            Story().read("a.py", "from x import b").read("x/b.py", "import c").read("c.py"),
            ["a.py|c.py"],
        ),
        (
            navigation.find_import_chase,
            Story()
            .read("a.js", "const b = require('./b')")
            .grep("x")
            .read("b.js", "  1\timport z from './z/index'")
            .read("z/index.js"),
            ["a.js|z/index.js"],
        ),
        (
            failures.find_test_order,
            Story()
            .edit("auth/s/a.py")
            .fails("pytest tests/a.py", "1 failed")
            .run("pytest tests/a.py")
            .run("pytest"),
            ["auth/s: pytest tests/a.py > pytest"],
        ),
        (
            failures.find_test_order,
            Story().run("npm test").run("npm test -- auth"),
            [": npm test > npm test -- auth"],
        ),
        (
            failures.find_test_order,
            Story().run("go test ./a", "ok").run("go test ./b", "ok").run("go test ./...", "ok"),
            [": go test ./a > go test ./b > go test ./..."],
        ),
        (
            edits.find_config_touched,
            Story().edit("src/a.py").edit("pyproject.toml"),
            ["pyproject.toml"],
        ),
        (
            edits.find_config_touched,
            Story().edit("config/queues.yaml").read("x").edit("src/a.py"),
            ["config/queues.yaml"],
        ),
        (
            collaboration.find_parallel_conflict,
            Story().edit("a.py", text="File has been modified since read", is_error=True),
            ["a.py"],
        ),
        (collaboration.find_parallel_conflict, Story().fails("git merge main", MERGE), ["a.py"]),
        (collaboration.find_parallel_conflict, both_at_work(), ["a.py"]),
        (collaboration.find_parallel_conflict, without_clocks(both_at_work()), ["a.py"]),
        (
            collaboration.find_parallel_conflict,
            Story().fails("git pull", "error: changes would be overwritten by merge"),
            ["repository"],
        ),
        (
            effort.find_context_spike,
            Story().read("a").read("b").read("c").read("d").read("lock/big.json", tokens=30_000),
            ["lock/big.json"],
        ),
        (
            effort.find_context_spike,
            Story().read("a").run("npm ls", tokens=9_000).read("b").read("c").read("d"),
            ["npm ls"],
        ),
        (
            effort.find_context_spike,
            Story()
            .read("a")
            .read("b")
            .read("big", tokens=30_000)
            .read("d")
            .read("e")
            .by("sub")
            .counting(3)
            .read("small", tokens=10),
            ["big"],
        ),
    ],
)
def test_a_signal_is_seen(find: Find, story: Story, seen: list[str]) -> None:
    assert keys(find, story) == seen


@pytest.mark.parametrize(
    ("find", "story"),
    [
        (edits.find_file_access, Story().read("a.py").read("b.py")),
        (edits.find_file_access, Story()),
        (
            edits.find_file_access,
            Story()
            .call("Read", {"file_path": "/etc/hosts"})
            .call("Read", {"file_path": "/etc/hosts"}),
        ),
        (edits.find_file_access, Story().read("a.py", is_error=True).read("a.py")),
        (edits.find_file_access, Story().grep("a.py").grep("a.py")),
        (edits.find_co_access, Story().read("a.py").read("b.py").read("a.py").read("b.py")),
        (edits.find_co_access, Story().read("a.py").edit("b.py")),
        (
            edits.find_co_access,
            Story().edit("a.py").run("x").run("x").run("x").run("x").run("x").edit("b.py"),
        ),
        (edits.find_co_access, Story().edit("a.py").edit("a.py")),
        (edits.find_co_access, Story().edit("a.py").edit("b.py", is_error=True)),
        (
            edits.find_co_access,
            Story().counting(50).edit("a.py").by("sub").counting(3).edit("b.py"),
        ),
        (edits.find_backtrack, Story().edit("a.py", "x", "y").edit("a.py", "y", "z")),
        (edits.find_backtrack, Story().edit("a.py").run("git checkout main")),
        (
            edits.find_backtrack,
            Story().edit("a.py").run("git commit -am done").run("git restore ."),
        ),
        (edits.find_backtrack, Story().edit("a.py").run("git stash pop")),
        (edits.find_backtrack, Story().edit("a.py", "x", "y").edit("b.py", "y", "x")),
        (
            edits.find_backtrack,
            Story().edit("a.py", "x", "y", is_error=True).edit("a.py", "y", "x"),
        ),
        (navigation.find_read_abandon, Story().read("x/a.py").grep("mint").read("b/c.py")),
        (navigation.find_read_abandon, Story().read("x/a.py").grep("mint").edit("x/b.py")),
        (
            navigation.find_read_abandon,
            Story().read("x/a.py").grep("mint").edit("b/c.py").read("x/a.py"),
        ),
        (navigation.find_read_abandon, Story().read("x/a.py").read("b/c.py").edit("b/c.py")),
        (navigation.find_read_abandon, Story().edit("b/c.py").read("x/a.py").grep("mint")),
        (navigation.find_repeated_grep, Story().grep("mint").grep("mint")),
        (navigation.find_repeated_grep, Story().grep("mint").grep("mint").grep("minted")),
        (navigation.find_repeated_grep, Story().glob("*.py").glob("*.py").glob("*.py")),
        (navigation.find_repeated_grep, Story()),
        (
            effort.find_tool_sequence,
            Story()
            .edit("m/a.py")
            .run("pytest")
            .edit("m/a.py")
            .run("pytest")
            .edit("m/a.py")
            .run("pytest"),
        ),
        (
            effort.find_tool_sequence,
            Story().edit("m/a.py").run("npm run build").run("git commit -m a"),
        ),
        (
            effort.find_tool_sequence,
            Story()
            .edit("m/a.py")
            .edit("m/b.css")
            .edit("m/c.html")
            .edit("m/a.py")
            .edit("m/b.css")
            .edit("m/c.html"),
        ),
        (effort.find_time_anomaly, Story().read("a").read("b").run("make all", takes=90)),
        (
            effort.find_time_anomaly,
            Story()
            .run("a", takes=80)
            .run("b", takes=80)
            .run("c", takes=80)
            .run("d", takes=80)
            .run("e", takes=90),
        ),
        (effort.find_time_anomaly, Story()),
        (
            navigation.find_external_reference,
            Story().fetch("https://docs.example.org/a").read("a.py"),
        ),
        (
            navigation.find_external_reference,
            Story().edit("a.py").fetch("https://docs.example.org/a"),
        ),
        (
            navigation.find_external_reference,
            Story().call("WebSearch", {"query": "django sessions"}).edit("a.py"),
        ),
        (navigation.find_glob_ignored, Story().glob("*.py").read("b.py")),
        (navigation.find_glob_ignored, Story().glob("*.py", "a.py").read("a.py")),
        (
            navigation.find_glob_ignored,
            Story().glob("*.py", "/work/shop/src/a.py").read("b.py").read("src/a.py"),
        ),
        (navigation.find_glob_ignored, Story().glob("*.py", "a.py").read("src/a.py")),
        (navigation.find_import_chase, Story().read("a.py", "from x import b").read("b.py")),
        (
            navigation.find_import_chase,
            Story().read("a.py", "import b").edit("a.py").read("b.py", "import c").read("c.py"),
        ),
        (
            navigation.find_import_chase,
            Story().read("a.py", "import b").read("z.py", "import c").read("c.py"),
        ),
        (failures.find_test_order, Story().run("pytest").run("pytest")),
        (failures.find_test_order, Story().run("pytest a").fails("pytest b", "1 failed")),
        (failures.find_test_order, Story().run("pytest a").run("pytest b", "2 failed, 3 passed")),
        (edits.find_config_touched, Story().read("pyproject.toml").edit("a.py")),
        (edits.find_config_touched, Story().edit("pyproject.toml")),
        (edits.find_config_touched, Story().edit("a.py").edit("b.py")),
        (edits.find_config_touched, Story().edit("package.json").edit("tsconfig.json")),
        (edits.find_config_touched, Story().edit("package.json", is_error=True).edit("a.ts")),
        (
            collaboration.find_parallel_conflict,
            Story().edit("a.py", text="String to replace not found", is_error=True),
        ),
        (
            collaboration.find_parallel_conflict,
            Story().by("one").edit("a.py").by("two").edit("b.py"),
        ),
        (collaboration.find_parallel_conflict, Story().by("one").edit("a.py").edit("a.py")),
        (collaboration.find_parallel_conflict, sent()),
        (collaboration.find_parallel_conflict, without_clocks(sent())),
        (collaboration.find_parallel_conflict, both_at_work(pause=3_600)),
        (collaboration.find_parallel_conflict, told_afterwards()),
        (effort.find_context_spike, Story().read("a").read("big", tokens=30_000)),
        (
            effort.find_context_spike,
            Story()
            .read("a", tokens=5_000)
            .read("b", tokens=5_000)
            .read("c", tokens=5_000)
            .read("d", tokens=5_000)
            .read("e", tokens=9_000),
        ),
        (effort.find_context_spike, Story()),
    ],
)
def test_a_signal_is_not_seen(find: Find, story: Story) -> None:
    assert keys(find, story) == []


def test_files_that_one_call_changes_go_together() -> None:
    story = Story().call("apply_patch", {"path": "a.py"}, files=[])
    story.rows[0]["files"] = ["a.py", "b.py"]

    assert keys(edits.find_co_access, story) == ["a.py|b.py"]


def test_the_first_touched_names_the_direction() -> None:
    found = edits.find_co_access(scratchpad=Story().edit("z.py").edit("a.py").scratchpad())

    assert found[0].files == ("z.py", "a.py")
    assert found[0].details["apart_ms"] != "0"


@pytest.mark.parametrize(
    ("story", "resolved", "how"),
    [
        (
            Story().fails("pytest a", "KeyError: 'X'").edit("a.py").run("pytest a"),
            "yes",
            "after a change of a.py",
        ),
        (
            Story().fails("npm install", "npm ERR! 404 not found").run("npm install --legacy"),
            "yes",
            "as `npm install --legacy`",
        ),
        (Story().fails("git push", "error: timed out").run("git push"), "yes", "when tried again"),
        (Story().fails("make all", "error: x").fails("make all", "error: x"), "no", ""),
        (Story().edit("a.py", is_error=True).edit("a.py"), "yes", "when tried again"),
    ],
)
def test_error_retry_is_seen_with_what_resolved_it(story: Story, resolved: str, how: str) -> None:
    found = failures.find_error_retry(scratchpad=story.scratchpad())

    assert len(found) == 1
    assert found[0].details["resolved"] == resolved
    assert found[0].details["how"] == how


@pytest.mark.parametrize(
    "story",
    [
        Story().fails("pytest a", "KeyError: 'X'"),
        Story().fails("pytest a", "KeyError: 'X'").run("npm install"),
        Story().run("pytest a").run("pytest a"),
        Story().edit("a.py", is_error=True).edit("b.py"),
        Story().call("Bash", {"command": "rm x"}, text="The user doesn't want to proceed",
                     is_error=True).run("rm x"),
    ],
)  # fmt: skip
def test_error_retry_is_not_seen(story: Story) -> None:
    assert failures.find_error_retry(scratchpad=story.scratchpad()) == ()


def test_the_same_error_again_is_one_sighting_with_its_evidence() -> None:
    story = Story().fails("pytest a", "KeyError: 'X'").fails("pytest a", "KeyError: 'Y'")

    found = failures.find_error_retry(scratchpad=story.run("pytest a").scratchpad())

    assert found[0].times == 2
    assert [each.sequence for each in found[0].evidence] == [1, 4, 7]


def test_a_program_that_says_how_long_its_calls_took_is_believed() -> None:
    story = in_one_breath(1, 1, 1, 1, 300)

    assert keys(effort.find_time_anomaly, story) == ["run make"]


def test_calls_of_which_nobody_knows_how_long_they_took_are_not_counted() -> None:
    deeds = in_one_breath(None, None).scratchpad().deeds.values()

    assert [deed.seconds for deed in deeds] == [None, None]


@pytest.mark.parametrize(
    ("story", "files"),
    [
        (Story().read("a.py").say(WRONG), ("a.py",)),
        (Story().say("Correction: the flag is read at start."), ()),
        (Story().read("a.py").edit("b.py").say("Let me reconsider: it is lazy."), ("b.py",)),
        (Story().read("a.py").say(WRONG).read("c.py").say(WRONG), ("a.py",)),
        (Story().read("a.py").by("sub").read("c.py").by("").say(WRONG), ("a.py",)),
        (Story().read("a.py").by("sub").say(WRONG), ()),
    ],
)
def test_self_correction_is_seen_once_with_its_file(story: Story, files: tuple[str, ...]) -> None:
    found = failures.find_self_correction(scratchpad=story.scratchpad())

    assert [sighting.files for sighting in found] == [files]


@pytest.mark.parametrize(
    "story",
    [
        Story().say("Let me look at the tests."),
        Story().prompt("do it").prompt("No, you were wrong about the cache"),
        Story().read("a.py", WRONG),
        Story().say("This approach won't work."),
    ],
)
def test_self_correction_is_not_seen(story: Story) -> None:
    assert failures.find_self_correction(scratchpad=story.scratchpad()) == ()


@pytest.mark.parametrize(
    ("planned", "steps", "ratio"), [(10, 15, "1.50"), (4, 12, "3.00"), (1, 6, "6.00")]
)
def test_step_overrun_is_seen_with_its_ratio(planned: int, steps: int, ratio: str) -> None:
    found = effort.find_step_overrun(scratchpad=worked(planned=planned, steps=steps).scratchpad())

    assert [sighting.key for sighting in found] == ["auth/store"]
    assert dict(found[0].details)["ratio"] == ratio


@pytest.mark.parametrize(("planned", "steps"), [(0, 40), (10, 14), (4, 8), (20, 20)])
def test_step_overrun_is_not_seen(planned: int, steps: int) -> None:
    story = worked(planned=planned, steps=steps)

    assert effort.find_step_overrun(scratchpad=story.scratchpad()) == ()


def test_a_step_that_nobody_can_have_reached_is_no_overrun() -> None:
    story = Story(planned=5).edit("a.py").counting(10**9).edit("a.py")

    assert effort.find_step_overrun(scratchpad=story.scratchpad()) == ()


def test_agents_with_scratchpads_of_their_own_collide_in_what_both_edited() -> None:
    one = Story().edit("a.py").edit("b.py").scratchpad()
    two = Story().edit("a.py").read("b.py").scratchpad()

    found = collaboration.between(scratchpads=(one, two))

    assert [sighting.key for sighting in found] == ["a.py"]
    assert len(found[0].evidence) == 2
