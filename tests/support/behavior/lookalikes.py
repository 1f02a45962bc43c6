"""Episodes that look like a signal and are none: nothing is labelled but what they do besides."""

from collections.abc import Callable

from memory.observer.detections import SignalKind
from tests.support.behavior.telling import Teller


def reads_in_parts(t: Teller) -> None:
    """A long file is read in two parts, one after the other."""
    path = t.file()
    t.read(path).read(path)


def changes_two_for_different_reasons(t: Teller) -> None:
    """One thing is finished and committed, another begun elsewhere."""
    t.edit(t.file()).run("git commit -am done").edit(t.file())


def writes_a_test_that_fails_first(t: Teller) -> None:
    """A command fails and nobody tries it again."""
    t.fails(f"make check{t.chance.randrange(99)}", "error: not today").read(t.file())


def is_refused_by_a_person(t: Teller) -> None:
    """A person says no, and later yes."""
    t.fails("rm -r build", "The user doesn't want to proceed with this tool use").run("rm -r build")


def renames_forth_and_on(t: Teller) -> None:
    """A line is changed twice, to something new each time."""
    path = t.file()
    t.edit(path, "a = 1", "a = 2").read(t.file()).edit(path, "a = 2", "a = 3")
    t.means(SignalKind.FILE_ACCESS, path)


def switches_branches(t: Teller) -> None:
    """A branch is changed after an edit was committed."""
    t.edit(t.file()).run("git commit -am x").run(
        t.pick(("git checkout main",), ("git switch dev",))
    )


def reads_for_background(t: Teller) -> None:
    """A file is read for background, and its neighbor changed."""
    area = t.area()
    background, worked = t.file(area), t.file(area)
    t.read(background).grep("def run").edit(worked)


def searches_twice(t: Teller) -> None:
    """The same search twice, and one like it."""
    pattern = f"def {t.chance.choice(('load', 'save', 'send'))}{t.chance.randrange(99)}"
    t.grep(pattern).grep(pattern).grep(f"{pattern}_all")


def goes_round_red_and_green(t: Teller) -> None:
    """Edit and test, edit and test: no recipe, just work."""
    path = t.file()
    for _ in range(3):
        t.edit(path).run("git diff")
    t.means(SignalKind.FILE_ACCESS, path)


def waits_a_little(t: Teller) -> None:
    """A command takes half a minute, as it always does."""
    t.run("make docs", takes=30).read(t.file())


def thinks_aloud(t: Teller) -> None:
    """The agent thinks: wait, actually, let me."""
    t.read(t.file()).say(
        t.pick(
            (
                "Wait, let me look at the tests first.",
                "Actually, I should read the docs.",
                "The reviewer was wrong about the version.",
            ),
            (
                "Hmm, wait. Now the routes.",
                "Let me correct the spelling of this sentence.",
                "Actually, one more thing to check is the cache.",
            ),
        )
    )


def reads_a_page_for_nothing(t: Teller) -> None:
    """A page is read, and then only other files are read for a long time."""
    t.fetch(f"https://blog{t.chance.randrange(99)}.example.com/post")
    for _ in range(11):
        t.read(t.file())


def finds_and_uses(t: Teller) -> None:
    """A glob finds files and one of them is used."""
    right = t.file()
    t.glob(f"**/*{t.chance.randrange(999)}*", t.file(), right).read(right)


def reads_a_folder(t: Teller) -> None:
    """Three files of a folder that do not import each other."""
    area = t.area()
    for _ in range(3):
        t.read(t.file(area), "import os\nimport sys\n")


def looks_at_configuration(t: Teller) -> None:
    """A configuration is read, not changed."""
    path = t.file()
    t.read(t.pick(("setup.cfg", "Makefile"), ("go.mod", "Cargo.toml"))).edit(path)


def misses_the_text_to_replace(t: Teller) -> None:
    """An edit fails because its text is not there; that is nobody else's doing."""
    path = t.file()
    t.edit(path, text="String to replace not found in file", is_error=True).read(path).edit(path)
    t.means(SignalKind.ERROR_RETRY, "")
    t.means(SignalKind.FILE_ACCESS, path)


def reads_something_longer(t: Teller) -> None:
    """A file costs twice as much as the others, which is nothing."""
    t.read(t.file(), tokens=2_500)


LOOKALIKES: tuple[Callable[[Teller], None], ...] = (
    reads_in_parts, changes_two_for_different_reasons, writes_a_test_that_fails_first,
    is_refused_by_a_person, renames_forth_and_on, switches_branches, reads_for_background,
    searches_twice, goes_round_red_and_green, waits_a_little, thinks_aloud,
    reads_a_page_for_nothing, finds_and_uses, reads_a_folder, looks_at_configuration,
    misses_the_text_to_replace, reads_something_longer,
)  # fmt: skip
