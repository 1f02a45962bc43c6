"""How well the observer's signals see what labelled sessions show: precision and recall of each.

Run: `.venv/bin/python -m tests.bench.bench_signals`, with `errors` to read what is wrong. Twelve
sessions are written by hand, as real ones go: long ways round, little order. A label says what
their writer meant, not what a signal computes. A sighting is right when a label of its signal names
its key, a part of it, or one of its files; a label without a target takes any. Brackets are 95 %
bootstrap intervals over sessions.
"""

import sys
from collections.abc import Callable

from memory.evaluation import measures
from memory.observer import detect
from memory.observer.detections import Sighting
from memory.observer.detections import SignalKind as K
from memory.sessions.scratchpad import SessionType
from tests.support.stories import Story

Label = tuple[K, str]
Labelled = tuple[Story, tuple[Label, ...]]


def sign_in_hangs() -> Labelled:
    """Tests hang without a variable; two files belong together."""
    told = Story(planned=20).prompt("Sign-in hangs in CI, find out why")
    told.grep("redis", "auth/session.py:4: import redis").read("auth/session.py", "import redis")
    told.run("pytest tests/auth", "5 passed", takes=3)
    told.fails("CI=1 pytest tests/auth", "KeyError: 'REDIS_URL'\n1 failed", takes=400)
    told.read("settings/ci.py").edit("settings/ci.py").edit("auth/session.py")
    told.run("CI=1 pytest tests/auth", "5 passed", takes=3)
    told.say("I was wrong about the pool. It never connects when the variable is missing.")
    return told, (
        (K.ERROR_RETRY, "settings/ci.py"), (K.TIME_ANOMALY, "pytest"),
        (K.CO_ACCESS, "auth/session.py|settings/ci.py"), (K.FILE_ACCESS, "settings/ci.py"),
        (K.FILE_ACCESS, "auth/session.py"), (K.SELF_CORRECTION, "auth/session.py"),
    )  # fmt: skip


def only_questions() -> Labelled:
    """A person asks how things work; nothing is changed."""
    told = Story(type=SessionType.INSIGHTS).prompt("How does billing round amounts?")
    told.glob("billing/**", "billing/round.py", "billing/tax.py").read("billing/round.py")
    told.read("billing/tax.py", "from decimal import Decimal").grep("ROUND_HALF_EVEN")
    told.say("Amounts are rounded half to even, once, at the end.").prompt("And refunds?")
    return told.grep("refund", "billing/refund.py:1: def refund").read("billing/refund.py"), ()


def upgrade_goes_wrong() -> Labelled:
    """An upgrade is tried, fails, is tried otherwise, and is put back."""
    told = Story().prompt("Upgrade the ORM to 3")
    told.read("pyproject.toml").edit("pyproject.toml").fails("pip install -e .", "ERROR: conflict")
    told.edit("pyproject.toml").run("pip install -e .").fails("pytest", "ImportError: Mapper")
    told.read("orm/base.py").edit("orm/base.py").fails("pytest", "ImportError: Mapper")
    told.fetch("https://orm.example.org/migrate").edit("orm/query.py")
    told.fails("pytest", "TypeError: select() got 2").say("This approach won't work with 2.x.")
    return told.run("git restore .").run("pytest", "80 passed"), (
        (K.ERROR_RETRY, "pyproject.toml"), (K.ERROR_RETRY, "orm/base.py"),
        (K.ERROR_RETRY, "orm/query.py"), (K.ERROR_RETRY, ""), (K.BACKTRACK, "pyproject.toml"),
        (K.BACKTRACK, "orm/base.py"), (K.BACKTRACK, "orm/query.py"),
        (K.FILE_ACCESS, "pyproject.toml"), (K.FILE_ACCESS, "orm/base.py"),
        (K.CONFIG_TOUCHED, "pyproject.toml"), (K.CO_ACCESS, "orm/base.py|pyproject.toml"),
        (K.CO_ACCESS, "orm/base.py|orm/query.py"), (K.EXTERNAL_REFERENCE, "orm.example.org"),
    )  # fmt: skip


def copy_changes() -> Labelled:
    """Ten texts are changed one after the other; nothing to learn but where they are."""
    told = Story(planned=30).prompt("Fix the typos in the help pages")
    for place in range(10):
        told.edit(f"help/page{place}.md").run("git diff").run("git commit -am typo").run("git log")
        told.run("git status").run("ls help")
    return told, ()


def two_agents() -> Labelled:
    """Two agents of one session write the same file."""
    told = Story().prompt("Split the work on the exporter")
    told.by("one").read("export/csv.py").edit("export/csv.py").run("ls")
    told.by("two").edit("export/csv.py").edit("export/xlsx.py").run("ls")
    told.by("one").fails("git merge two", "CONFLICT (content): Merge conflict in export/csv.py")
    return told.edit("export/csv.py").run("git merge two"), (
        (K.PARALLEL_CONFLICT, "export/csv.py"), (K.FILE_ACCESS, "export/csv.py"),
        (K.CO_ACCESS, "export/csv.py|export/xlsx.py"), (K.ERROR_RETRY, "export/csv.py"),
    )  # fmt: skip


def lost_in_the_tree() -> Labelled:
    """The place is hard to find."""
    told = Story(planned=5).prompt("Where is the retry delay set? Change it to a minute")
    told.grep("retry_delay").glob("**/*retry*", "lib/retry.py", "old/retry.py").grep("RETRY_DELAY")
    told.read("old/retry.py").grep("retry_delay").read("lib/loop.py").grep("Retry_Delay")
    told.glob("**/*backoff*").read("net/policy.py").edit("net/policy.py").run("git diff")
    return told, (
        (K.REPEATED_GREP, "retry_delay"), (K.READ_ABANDON, "old/retry.py"),
        (K.READ_ABANDON, "lib/loop.py"), (K.FILE_ACCESS, "net/policy.py"), (K.STEP_OVERRUN, ""),
    )  # fmt: skip


def quiet_feature() -> Labelled:
    """A feature goes in without any trouble."""
    told = Story(planned=12).prompt("Add a filter by country")
    told.read("search/filters.py", "from search.base import Base").read("search/base.py")
    told.edit("search/filters.py").edit("search/schema.py").edit("tests/search/test_filters.py")
    told.run("pytest tests/search/test_filters.py", "4 passed").run("pytest", "300 passed")
    return told, (
        (K.FILE_ACCESS, "search/filters.py"), (K.TEST_ORDER, "pytest"),
        (K.CO_ACCESS, "search/filters.py|search/schema.py"),
        (K.CO_ACCESS, "search/filters.py|tests/search/test_filters.py"),
        (K.CO_ACCESS, "search/schema.py|tests/search/test_filters.py"),
    )  # fmt: skip


def reads_the_lock_file() -> Labelled:
    """A lock file fills the context."""
    told = Story().prompt("Which version of the driver do we use?")
    told.grep("driver").read("package.json").run("npm ls driver", tokens=1_400)
    told.read("package-lock.json", tokens=62_000).say("It is 5.3.").run("git status")
    return told, ((K.CONTEXT_SPIKE, "package-lock.json"),)


def three_endpoints() -> Labelled:
    """Three endpoints by the same recipe."""
    told = Story(planned=14).prompt("Add endpoints for tags, topics and teams")
    names = ("tags", "topics", "teams")
    for name in names:
        told.edit(f"api/routes/{name}.py").run("make openapi").run("npm run types")
        told.edit(f"web/client/{name}.ts")
    pairs = ((K.CO_ACCESS, f"api/routes/{name}.py|web/client/{name}.ts") for name in names)
    return told, ((K.TOOL_SEQUENCE, "run make openapi"), *pairs)


def chases_a_type() -> Labelled:
    """A type is followed through four files."""
    told = Story(planned=30).prompt("Why is the id a string here?")
    told.read("web/row.ts", "import { Cell } from './cell'").grep("Cell")
    told.read("web/cell.ts", "import { Key } from '../shared/key'")
    told.read("shared/key.ts", "import { Id } from './id'").read("shared/id.ts", "export type Id")
    told.say("Ids are strings since they come from JSON.")
    return told, ((K.IMPORT_CHASE, "web/row.ts|shared/id.ts"),)


def flaky() -> Labelled:
    """A test fails now and then."""
    told = Story().prompt("The mail test is flaky")
    told.fails("pytest tests/mail", "TimeoutError: 5 s\n1 failed").run("pytest tests/mail")
    told.run("pytest tests/mail").fails("pytest tests/mail", "TimeoutError: 6 s\n1 failed")
    told.read("tests/mail/test_send.py").edit("tests/mail/test_send.py").run("pytest tests/mail")
    told.run("pytest tests/mail").run("pytest tests/mail")
    return told, ((K.ERROR_RETRY, ""), (K.FILE_ACCESS, "tests/mail/test_send.py"))


def nothing_works_here() -> Labelled:
    """The environment lacks what the task needs."""
    told = Story().prompt("Record a screencast of the checkout")
    told.fails("ffmpeg -version", "ffmpeg: command not found").run("which ffmpeg")
    told.fails("apt-get install ffmpeg", "E: Permission denied").run("ls /usr/bin")
    return told.say("ffmpeg is not available in this environment."), ()


SESSIONS: tuple[Callable[[], Labelled], ...] = (
    sign_in_hangs, only_questions, upgrade_goes_wrong, copy_changes, two_agents, lost_in_the_tree,
    quiet_feature, reads_the_lock_file, three_endpoints, chases_a_type, flaky, nothing_works_here,
)  # fmt: skip


def main(*, errors: bool) -> None:
    """Print how well each signal does, and what is wrong."""
    seen = []
    for write in SESSIONS:
        told, labels = write()
        found = detect.find_all(scratchpad=told.done().scratchpad(), rejected={})
        seen.append((write.__name__, labels, found))
    print(f"{'signal':<20} {'sighted':>7} {'precision':>18} {'labelled':>8} {'recall':>18}")
    for kind in K:
        print(_row(kind, [(labels, found) for _, labels, found in seen]))
    for name, labels, found in seen if errors else ():
        for each in found:
            if not any(_names(label, each) for label in labels):
                print(f"{name}: sighted {each.kind.value} {each.key} {each.files}")
        for label in labels:
            if not any(_names(label, each) for each in found):
                print(f"{name}: missed {label[0].value} {label[1]}")


def _row(kind: K, seen: list[tuple[tuple[Label, ...], tuple[Sighting, ...]]]) -> str:
    sighted = [[each for each in found if each.kind is kind] for _, found in seen]
    labelled = [[label for label in labels if label[0] is kind] for labels, _ in seen]
    both = list(zip(labelled, sighted, strict=True))
    right = [sum(any(_names(one, each) for one in labels) for each in at) for labels, at in both]
    met = [sum(any(_names(one, each) for each in at) for one in labels) for labels, at in both]
    precision, recall = (_share(right, sighted), _share(met, labelled))
    counts = sum(map(len, sighted)), sum(map(len, labelled))
    return f"{kind.value:<20} {counts[0]:>7} {precision:>18} {counts[1]:>8} {recall:>18}"


def _share(parts: list[int], wholes: list[list[Sighting]] | list[list[Label]]) -> str:
    found = measures.quotient(numerators=parts, denominators=[len(one) for one in wholes])
    return "-" if found is None else f"{found.mean:.2f} [{found.low:.2f}, {found.high:.2f}]"


def _names(label: Label, sighting: Sighting) -> bool:
    kind, target = label
    is_named = target in sighting.key or target in sighting.files
    return kind is sighting.kind and (is_named or not target)


if __name__ == "__main__":
    main(errors="errors" in sys.argv)
