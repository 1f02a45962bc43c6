"""Episodes that show something: each tells what an agent does and labels what that means."""

from collections.abc import Callable

from memory.observer.detections import SignalKind
from tests.support.behavior.telling import Teller

ERRORS = ("KeyError: 'REDIS_URL'", "TypeError: undefined is not a function",
          "ImportError: cannot import name 'mint'", "AssertionError: 3 != 4")  # fmt: skip
HELD_ERRORS = ("panic: runtime error: index out of range", "ERR! code ERESOLVE could not resolve",
               "OperationalError: no such column: price", "ValueError: bad zone")  # fmt: skip
CORRECTIONS = (
    "I was wrong about the cache. It is actually filled at start.",
    "Correction: the hook runs before the migration.",
    "I initially thought the token expires, but it is renewed on each call.",
    "Actually, the limit is per tenant instead of per user.",
    "Let me reconsider. The worker holds the lock.",
)
HELD_CORRECTIONS = (
    "Wait, that's not right: the queue is drained twice.",
    "My earlier assumption was wrong. The view is cached by the proxy.",
    "I previously assumed that ids are unique, however they repeat across shards.",
    "Hmm, I misread this. The flag is inverted.",
    "I made a mistake: the schema comes from the other module.",
    "Actually the setting doesn't reach the worker.",
)


def works_on_one_file(t: Teller) -> None:
    """A file is read, changed, checked elsewhere and changed again."""
    path, other = t.file(), t.file()
    t.read(path).edit(path).read(other).run("git diff").edit(path)
    t.means(SignalKind.FILE_ACCESS, path)


def looks_it_up_again(t: Teller) -> None:
    """A file is opened again, much later, because it defines what is needed."""
    path = t.file()
    t.read(path)
    t.pause()
    t.read(path)
    t.means(SignalKind.FILE_ACCESS, path)


def changes_two_together(t: Teller) -> None:
    """A change of one file needs a change of the other."""
    area = t.area()
    one, other = t.file(area), t.file(area)
    t.read(one).edit(one).edit(other).run("git diff")
    t.means(SignalKind.CO_ACCESS, _pair(one, other))
    t.means(SignalKind.FILE_ACCESS, one)


def goes_back_and_forth(t: Teller) -> None:
    """One file is changed while the other is read, twice."""
    one, other = t.file(), t.file()
    t.read(other).edit(one).read(other).edit(one)
    t.means(SignalKind.CO_ACCESS, _pair(one, other))
    t.means(SignalKind.FILE_ACCESS, one)
    t.means(SignalKind.FILE_ACCESS, other)


def fixes_an_error(t: Teller) -> None:
    """A command fails, a file is changed, it goes through."""
    path = t.file()
    command = t.pick(("make lint", "npm run build", "cargo build"), ("tsc -p .", "go build ./..."))
    t.fails(command, t.pick(ERRORS, HELD_ERRORS)).read(path).edit(path).run(command)
    t.means(SignalKind.ERROR_RETRY, path)
    t.means(SignalKind.FILE_ACCESS, path)


def tries_again_otherwise(t: Teller) -> None:
    """A command fails and goes through with another option."""
    t.fails("npm install", t.pick(ERRORS, HELD_ERRORS)).run("npm install --legacy-peer-deps")
    t.means(SignalKind.ERROR_RETRY, "")


def takes_back(t: Teller) -> None:
    """A change is reversed by hand, after a look at what it broke."""
    path = t.file()
    t.edit(path, "a = 1", "a = 2").run("git diff").read(t.file()).edit(path, "a = 2", "a = 1")
    t.means(SignalKind.BACKTRACK, path)
    t.means(SignalKind.FILE_ACCESS, path)


def puts_back(t: Teller) -> None:
    """A change is put back by git."""
    path = t.file()
    t.edit(path)
    how = t.pick((f"git checkout -- {path}",), (f"git restore {path}", f"git checkout HEAD {path}"))
    t.run(how)
    t.means(SignalKind.BACKTRACK, path)


def reads_the_wrong_file(t: Teller) -> None:
    """A file looks right by its name, is not, and the search goes on."""
    wrong, right = t.file(), t.file()
    t.read(wrong).grep(f"def {t.chance.choice('abcdef')}{t.chance.randrange(99)}").edit(right)
    t.means(SignalKind.READ_ABANDON, wrong)


def searches_again_and_again(t: Teller) -> None:
    """The same thing is searched three times in the session."""
    pattern = f"class {t.chance.choice(('Mint', 'Drain', 'Fold', 'Lease'))}{t.chance.randrange(99)}"
    t.grep(pattern).read(t.file()).grep(pattern.lower()).run("git status").grep(pattern)
    t.means(SignalKind.REPEATED_GREP, pattern.lower())


def does_it_by_recipe(t: Teller) -> None:
    """The same three steps for each of two things."""
    area, tool = t.area(), t.pick(("alembic upgrade", "protoc all"), ("sqlc generate", "buf lint"))
    one, other = t.file(area), t.file(area)
    for path in (one, other):
        t.edit(path).run(tool).run("docker compose up")
    t.means(SignalKind.TOOL_SEQUENCE, f"run {tool}")
    t.means(SignalKind.CO_ACCESS, _pair(one, other))


def waits_for_a_slow_command(t: Teller) -> None:
    """A command takes minutes, and fails the first time."""
    command = t.pick(("bazel build", "webpack build"), ("docker build", "terraform plan"))
    t.fails(command, t.pick(ERRORS, HELD_ERRORS), takes=240).run(command)
    t.means(SignalKind.TIME_ANOMALY, command)
    t.means(SignalKind.ERROR_RETRY, "")


def corrects_itself(t: Teller) -> None:
    """The agent says that it was wrong."""
    path = t.file()
    t.read(path).say(t.pick(CORRECTIONS, HELD_CORRECTIONS))
    t.means(SignalKind.SELF_CORRECTION, path)


def works_from_a_page(t: Teller) -> None:
    """A page of the web is read and used."""
    host, path = f"docs{t.chance.randrange(99)}.example.org", t.file()
    url = f"https://{host}/guide"
    if t.chance.random() < 0.5:
        t.run(f"curl -sL {url}", "a page")
    else:
        t.fetch(url)
    t.read(path).edit(path)
    t.means(SignalKind.EXTERNAL_REFERENCE, host)
    t.means(SignalKind.FILE_ACCESS, path)


def finds_what_it_does_not_want(t: Teller) -> None:
    """A glob finds files, and the right one is named otherwise."""
    pattern, right = f"**/*{t.chance.choice(('login', 'price', 'mail'))}*", t.file()
    t.glob(pattern, t.file(), t.file()).grep("handler").read(right)
    t.means(SignalKind.GLOB_IGNORED, pattern)


def follows_imports(t: Teller) -> None:
    """From a file to what it imports, and on."""
    area = t.area()
    files = tuple(t.file(area) for _ in range(3))
    for path, following in zip(files, (*files[1:], ""), strict=True):
        t.read(path, _imports(t.end, following))
    t.means(SignalKind.IMPORT_CHASE, f"{files[0]}|{files[-1]}")


def tests_narrow_then_wide(t: Teller) -> None:
    """One test until it passes, then all."""
    path = t.file()
    narrow, wide = t.pick(
        ("pytest tests/a.py|pytest", "npm test -- auth|npm test"),
        ("go test ./auth|go test ./...", "cargo test mint|cargo test"),
    ).split("|")
    t.fails(narrow, "1 failed").edit(path).run(narrow, "5 passed").run(wide, "90 passed")
    t.means(SignalKind.TEST_ORDER, wide)
    t.means(SignalKind.ERROR_RETRY, path)


def changes_configuration(t: Teller) -> None:
    """A change of code needs a change of configuration."""
    config = t.pick(("pyproject.toml", "package.json", "config/queues.yaml"),
                    ("tsconfig.json", ".github/workflows/ci.yml", "Dockerfile"))  # fmt: skip
    path = t.file()
    t.edit(path).edit(config).run("git diff")
    t.means(SignalKind.CONFIG_TOUCHED, config)
    t.means(SignalKind.CO_ACCESS, _pair(path, config))


def collides(t: Teller) -> None:
    """Somebody else changed the file in the meantime."""
    path = t.file()
    said = t.pick(("File has been modified since read",), ("File changed on disk, read it again",))
    t.read(path).edit(path, text=said, is_error=True).read(path).edit(path)
    t.means(SignalKind.PARALLEL_CONFLICT, path)
    t.means(SignalKind.FILE_ACCESS, path)
    t.means(SignalKind.ERROR_RETRY, "")


def reads_something_huge(t: Teller) -> None:
    """One file costs more context than all the others."""
    path = t.file()
    t.read(path, tokens=t.chance.randrange(15_000, 40_000))
    t.means(SignalKind.CONTEXT_SPIKE, path)


def _pair(one: str, other: str) -> str:
    return f"{min(one, other)}|{max(one, other)}"


def _imports(end: str, path: str) -> str:
    """Return a file's text that imports another."""
    if not path:
        return "nothing = 1\n"
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    if end == "py":
        return f"import os\nfrom {folder.replace('/', '.')} import {stem}\n"
    if end == "ts":
        return f"import {{ x }} from './{stem}'\nexport const y = x\n"
    return f'package a\n\nimport (\n\t"shop/{folder}/{stem}"\n)\n'


SHOWN: tuple[Callable[[Teller], None], ...] = (
    works_on_one_file, looks_it_up_again, changes_two_together, goes_back_and_forth,
    fixes_an_error, tries_again_otherwise, takes_back, puts_back, reads_the_wrong_file,
    searches_again_and_again, does_it_by_recipe, waits_for_a_slow_command, corrects_itself,
    works_from_a_page, finds_what_it_does_not_want, follows_imports, tests_narrow_then_wide,
    changes_configuration, collides, reads_something_huge,
)  # fmt: skip
