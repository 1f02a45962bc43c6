"""Errors of commands, and what made them go through."""

import pytest

from memory.observer.detections import Sighting
from memory.observer.error_fixes import find_error_fixes
from tests.support.stories import Story

UPSTREAM = "Exit code 128\nfatal: The current branch feat-7 has no upstream branch."
IGNORED = (
    "The following paths are ignored by one of your .gitignore files:\n"
    "dist/app.css\nhint: Use -f if you really want to add them."
)


def found(story: Story) -> tuple[Sighting, ...]:
    """Return the errors of a story."""
    return tuple(find_error_fixes(scratchpad=story.scratchpad()))


@pytest.mark.parametrize(
    ("story", "what", "how"),
    [
        (
            Story().fails("git push 2>&1", UPSTREAM).run("git push -u origin feat-7"),
            "git push", "`git push -u origin <branch>` worked",
        ),
        (
            Story().fails("git add a.py dist/app.css", IGNORED).run("git add a.py")
            .run("git add -f dist/app.css"),
            "git add", "`git add -f dist/app.css` worked",
        ),
        (
            Story().fails("turbo lint", "zsh: command not found: turbo").run("npx turbo lint"),
            "turbo lint", "`npx turbo lint` worked",
        ),
        (
            Story().fails("pytest t/a.py", "ModuleNotFoundError: No module named 'lxml'")
            .run("pip install lxml").run("pytest t/a.py"),
            "pytest", "solved by `pip install lxml`",
        ),
        (
            Story().fails("make lint", "src/a.go:12:1: File is not formatted (gofmt)")
            .run("gofmt -w src/a.go").run("make lint"),
            "make lint", "solved by `gofmt -w <path>`",
        ),
        (
            Story().fails("mix test", "** (RuntimeError) no :secret_key configuration found")
            .edit("config/test.exs", "a: 1", "a: 1\nsecret_key: x,").run("mix test"),
            "mix test", "solved by adding `secret_key: x` to config/test.exs",
        ),
        (
            Story().fails("mix test", "error: undefined function get/2").edit("t.exs", "x",
            "x\nimport ConnTest").fails("mix test", "KeyError: 'b'"),
            "mix test", "solved by adding `import ConnTest` to t.exs",
        ),
        (
            Story().fails("mix test", "error: undefined function get/2 (expected ConnTest to define"
            " such a function, or it to be imported)").run("mix deps.get").run("mix test"),
            "mix test", "solved by `mix deps.get`",
        ),
        (
            Story().fails(f"git add {'a' * 500} && git commit -m x", "pre-commit: not formatted")
            .run("git commit -m x"),
            "git commit", "a hook checks it first",
        ),
        (Story().fails("make all", "error: x").fails("make all", "error: x"), "make all", ""),
        (Story().fails("make all", "error: x").edit("a.c").run("make all"), "make all", ""),
        (
            Story().fails("git -C /a push", UPSTREAM).run("git -C /a push -u o feat-7"),
            "git push", "`git push -u o <branch>` worked",
        ),
        (Story().fails("git push", "error: timed out").run("git push"), "git push", ""),
        (
            Story().fails("make all", "error: disk x").run("npm ci").run("make all"),
            "make all", "",
        ),
    ],
)  # fmt: skip
def test_an_error_is_seen_with_what_made_it_go_through(story: Story, what: str, how: str) -> None:
    (one,) = found(story)

    assert (one.details["what"], one.details["how"]) == (what, how)


def test_another_command_of_a_chain_that_was_lacking_and_a_flaky_test_are_no_fix() -> None:
    chain = Story().fails("go run ./a && python3.12 b.py", "zsh: command not found: python3.12")
    flaky = Story().fails("vitest run", "Errors 6 errors").run("npx vitest run")

    assert found(chain.run("pip install b").run("go run ./a")) == ()
    assert [one.details["how"] for one in found(flaky)] == [""]


def test_an_error_is_the_same_whatever_the_branch_the_place_and_the_time() -> None:
    others = (
        UPSTREAM.replace("feat-7", "main2"),
        UPSTREAM.replace("feat-7", "jane/9f8e7d6c"),
    )

    stories = [
        Story().fails("git push", text).run("git push -u o x") for text in (UPSTREAM, *others)
    ]
    same = {one.key for story in stories for one in found(story)}

    assert len(same) == 1


def test_only_a_name_of_a_branch_is_left_out_of_a_message() -> None:
    said = "GraphQL: the head branch is not up to date, it is behind"

    (one,) = found(Story().fails("gh pr merge 7", said).run("gh pr merge 7"))

    assert one.details["message"] == said


def test_what_a_hook_blocks_is_one_thing_with_the_commands_that_show_it() -> None:
    story = Story().fails("git add a && git commit -m x", "pre-commit failed: [FORMAT] no format")
    story.run("mix format").run("git status").fails("git commit -m x", "pre-commit failed: [CREDO]")
    story.run("mix credo --strict").edit("a.ex").run("git commit -m x")

    (one,) = found(story)

    assert (one.key, one.times) == ("hook of git commit", 2)
    assert one.details["message"] == "pre-commit failed: [FORMAT] no format / [CREDO]"
    assert one.details["how"] == "a hook checks that first; run `mix format`, `mix credo` before"


def test_the_same_error_again_is_one_sighting_with_its_evidence_and_own_files_alone() -> None:
    story = Story().fails("make a", "KeyError: 'X'").fails("make a", "KeyError: 'Y'")
    story.edit("Makefile", "x", "x\nexport X=1").edit("../other/Makefile", "x", "x\ny").run(
        "make a"
    )

    (one,) = found(story)

    assert (one.times, one.files) == (2, ("Makefile",))
    assert [each.sequence for each in one.evidence][:2] == [1, 4]
