"""Twelve sessions written by hand, as real ones go: long ways round, little order."""

from collections.abc import Callable

from memory.observer.detections import SignalKind
from memory.sessions.scratchpad import SessionType
from tests.support.behavior.telling import Labelled
from tests.support.stories import Story

Meant = tuple[tuple[SignalKind, str], ...]
K = SignalKind


def _session(name: str, story: Story, meant: Meant, is_held: bool) -> Labelled:
    return Labelled(name=name, story=story.done(), labels=frozenset(meant), is_held=is_held)


def sign_in_hangs(is_held: bool) -> Labelled:
    """Tests hang without a variable; two files belong together."""
    told = Story(planned=20).prompt("Sign-in hangs in CI, find out why")
    told.grep("redis", "auth/session.py:4: import redis").read("auth/session.py", "import redis")
    told.run("pytest tests/auth", "5 passed", takes=3)
    told.fails("CI=1 pytest tests/auth", "KeyError: 'REDIS_URL'\n1 failed", takes=400)
    told.read("settings/ci.py").edit("settings/ci.py").edit("auth/session.py")
    told.run("CI=1 pytest tests/auth", "5 passed", takes=3)
    told.say("I was wrong about the pool. It never connects when the variable is missing.")
    meant = (
        (K.ERROR_RETRY, "settings/ci.py"),
        (K.TIME_ANOMALY, "pytest"),
        (K.CO_ACCESS, "auth/session.py|settings/ci.py"),
        (K.FILE_ACCESS, "settings/ci.py"),
        (K.FILE_ACCESS, "auth/session.py"),
        (K.SELF_CORRECTION, "auth/session.py"),
    )
    return _session("sign-in hangs", told, meant, is_held)


def only_questions(is_held: bool) -> Labelled:
    """A person asks how things work; nothing is changed."""
    told = Story(type=SessionType.INSIGHTS).prompt("How does billing round amounts?")
    told.glob("billing/**", "billing/round.py", "billing/tax.py").read("billing/round.py")
    told.read("billing/tax.py", "from decimal import Decimal").grep("ROUND_HALF_EVEN")
    told.say("Amounts are rounded half to even, once, at the end.").prompt("And refunds?")
    told.grep("refund", "billing/refund.py:1: def refund").read("billing/refund.py")
    return _session("only questions", told, (), is_held)


def upgrade_goes_wrong(is_held: bool) -> Labelled:
    """An upgrade is tried, fails, is tried otherwise, and is put back."""
    told = Story().prompt("Upgrade the ORM to 3")
    told.read("pyproject.toml").edit("pyproject.toml").fails("pip install -e .", "ERROR: conflict")
    told.edit("pyproject.toml").run("pip install -e .").fails("pytest", "ImportError: Mapper")
    told.read("orm/base.py").edit("orm/base.py").fails("pytest", "ImportError: Mapper")
    told.fetch("https://orm.example.org/migrate").edit("orm/query.py")
    told.fails("pytest", "TypeError: select() got 2").say("This approach won't work with 2.x.")
    told.run("git restore .").run("pytest", "80 passed")
    meant = (
        (K.ERROR_RETRY, "pyproject.toml"),
        (K.ERROR_RETRY, "orm/base.py"),
        (K.ERROR_RETRY, "orm/query.py"),
        (K.ERROR_RETRY, ""),
        (K.BACKTRACK, "pyproject.toml"),
        (K.BACKTRACK, "orm/base.py"),
        (K.BACKTRACK, "orm/query.py"),
        (K.FILE_ACCESS, "pyproject.toml"),
        (K.FILE_ACCESS, "orm/base.py"),
        (K.CONFIG_TOUCHED, "pyproject.toml"),
        (K.CO_ACCESS, "orm/base.py|pyproject.toml"),
        (K.CO_ACCESS, "orm/base.py|orm/query.py"),
        (K.EXTERNAL_REFERENCE, "orm.example.org"),
    )
    return _session("upgrade goes wrong", told, meant, is_held)


def copy_changes(is_held: bool) -> Labelled:
    """Ten texts are changed one after the other; nothing to learn but where they are."""
    told = Story(planned=30).prompt("Fix the typos in the help pages")
    for place in range(10):
        told.edit(f"help/page{place}.md").run("git diff").run("git commit -am typo").run("git log")
        told.run("git status").run("ls help")
    return _session("copy changes", told, (), is_held)


def two_agents(is_held: bool) -> Labelled:
    """Two agents of one session write the same file."""
    told = Story().prompt("Split the work on the exporter")
    told.by("one").read("export/csv.py").edit("export/csv.py").run("ls")
    told.by("two").edit("export/csv.py").edit("export/xlsx.py").run("ls")
    told.by("one").fails("git merge two", "CONFLICT (content): Merge conflict in export/csv.py")
    told.edit("export/csv.py").run("git merge two")
    meant = (
        (K.PARALLEL_CONFLICT, "export/csv.py"),
        (K.FILE_ACCESS, "export/csv.py"),
        (K.CO_ACCESS, "export/csv.py|export/xlsx.py"),
        (K.ERROR_RETRY, "export/csv.py"),
    )
    return _session("two agents", told, meant, is_held)


def lost_in_the_tree(is_held: bool) -> Labelled:
    """The place is hard to find."""
    told = Story(planned=5).prompt("Where is the retry delay set? Change it to a minute")
    told.grep("retry_delay").glob("**/*retry*", "lib/retry.py", "old/retry.py").grep("RETRY_DELAY")
    told.read("old/retry.py").grep("retry_delay").read("lib/loop.py").grep("Retry_Delay")
    told.glob("**/*backoff*").read("net/policy.py").edit("net/policy.py").run("git diff")
    meant = (
        (K.REPEATED_GREP, "retry_delay"),
        (K.READ_ABANDON, "old/retry.py"),
        (K.READ_ABANDON, "lib/loop.py"),
        (K.FILE_ACCESS, "net/policy.py"),
        (K.STEP_OVERRUN, ""),
    )
    return _session("lost in the tree", told, meant, is_held)


def quiet_feature(is_held: bool) -> Labelled:
    """A feature goes in without any trouble."""
    told = Story(planned=12).prompt("Add a filter by country")
    told.read("search/filters.py", "from search.base import Base").read("search/base.py")
    told.edit("search/filters.py").edit("search/schema.py").edit("tests/search/test_filters.py")
    told.run("pytest tests/search/test_filters.py", "4 passed").run("pytest", "300 passed")
    meant = (
        (K.FILE_ACCESS, "search/filters.py"),
        (K.CO_ACCESS, "search/filters.py|search/schema.py"),
        (K.CO_ACCESS, "search/filters.py|tests/search/test_filters.py"),
        (K.CO_ACCESS, "search/schema.py|tests/search/test_filters.py"),
        (K.TEST_ORDER, "pytest"),
    )
    return _session("quiet feature", told, meant, is_held)


def reads_the_lock_file(is_held: bool) -> Labelled:
    """A lock file fills the context."""
    told = Story().prompt("Which version of the driver do we use?")
    told.grep("driver").read("package.json").run("npm ls driver", tokens=1_400)
    told.read("package-lock.json", tokens=62_000).say("It is 5.3.").run("git status")
    meant = ((K.CONTEXT_SPIKE, "package-lock.json"),)
    return _session("reads the lock file", told, meant, is_held)


def three_endpoints(is_held: bool) -> Labelled:
    """Three endpoints by the same recipe."""
    told = Story(planned=14).prompt("Add endpoints for tags, topics and teams")
    for name in ("tags", "topics", "teams"):
        told.edit(f"api/routes/{name}.py").run("make openapi").run("npm run types")
        told.edit(f"web/client/{name}.ts")
    meant = (
        (K.TOOL_SEQUENCE, "run make openapi"),
        (K.CO_ACCESS, "api/routes/tags.py|web/client/tags.ts"),
        (K.CO_ACCESS, "api/routes/topics.py|web/client/topics.ts"),
        (K.CO_ACCESS, "api/routes/teams.py|web/client/teams.ts"),
    )
    return _session("three endpoints", told, meant, is_held)


def chases_a_type(is_held: bool) -> Labelled:
    """A type is followed through four files."""
    told = Story(planned=30).prompt("Why is the id a string here?")
    told.read("web/row.ts", "import { Cell } from './cell'").grep("Cell")
    told.read("web/cell.ts", "import { Key } from '../shared/key'")
    told.read("shared/key.ts", "import { Id } from './id'").read("shared/id.ts", "export type Id")
    told.say("Ids are strings since they come from JSON.")
    meant = ((K.IMPORT_CHASE, "web/row.ts|shared/id.ts"),)
    return _session("chases a type", told, meant, is_held)


def flaky(is_held: bool) -> Labelled:
    """A test fails now and then."""
    told = Story().prompt("The mail test is flaky")
    told.fails("pytest tests/mail", "TimeoutError: 5 s\n1 failed").run("pytest tests/mail")
    told.run("pytest tests/mail").fails("pytest tests/mail", "TimeoutError: 6 s\n1 failed")
    told.read("tests/mail/test_send.py").edit("tests/mail/test_send.py").run("pytest tests/mail")
    told.run("pytest tests/mail").run("pytest tests/mail")
    meant = ((K.ERROR_RETRY, ""), (K.FILE_ACCESS, "tests/mail/test_send.py"))
    return _session("flaky", told, meant, is_held)


def nothing_works_here(is_held: bool) -> Labelled:
    """The environment lacks what the task needs."""
    told = Story().prompt("Record a screencast of the checkout")
    told.fails("ffmpeg -version", "ffmpeg: command not found").run("which ffmpeg")
    told.fails("apt-get install ffmpeg", "E: Permission denied").run("ls /usr/bin")
    told.say("ffmpeg is not available in this environment.")
    return _session("nothing works here", told, (), is_held)


BY_HAND: tuple[Callable[[bool], Labelled], ...] = (
    sign_in_hangs, only_questions, upgrade_goes_wrong, copy_changes, two_agents, lost_in_the_tree,
    quiet_feature, reads_the_lock_file, three_endpoints, chases_a_type, flaky, nothing_works_here,
)  # fmt: skip
