"""Files that nobody vouches for are parsed in a process that may be lost, and never stop us."""

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from subprocess import PIPE

import pytest
from django.core.cache import cache

from accounts import live, tenancy
from accounts.errors import RateLimited
from accounts.live import Backoff
from graph.code.parse import Problem, parse
from graph.code.values import Parsed, Refused
from graph.index import parse_worker, parser_process
from graph.index.parser_process import LEASE_SECONDS, Parser, ParseSlots

ROOT = Path(__file__).resolve().parents[3]
GOOD = b"import json\n\n\nclass A(B):\n    def f(self):\n        return json.dumps(1)\n"
SLOW = b"func(\n" * 200_000  # what is never closed keeps the parser of Go for many seconds
LARGE = b"x = [\n" + b"[1, (2, {3: 4})],\n" * 100_000 + b"]\n"
OWNER = """
from graph.index import parse_worker, parser_process
parser_process.PARSER.parse(path="a.py", content=b"")
print(parser_process.PARSER._process.pid, flush=True)
input()
"""
DEEP = b"if x:\n" + b"".join(b" " * depth + b"if x:\n" for depth in range(1, 900))
of_an_organization = pytest.mark.usefixtures("in_organization", "clean_cache", "awake")


def process_of(parser: Parser) -> int | None:
    """Return the number of a parser's process, while it has one."""
    return parser._process.pid if parser._process else None


@pytest.fixture
def parser() -> Iterator[Parser]:
    """Give a parser with a process of its own."""
    own = Parser(seconds=20.0)
    yield own
    own.close()


@pytest.mark.parametrize("seconds", [0.2, 200.0], ids=["the clock", "the processor"])
def test_a_file_that_takes_too_long_is_refused_and_the_next_is_read(
    parser: Parser, seconds: float
) -> None:
    parser.seconds = seconds
    refused = parser.parse(path="a.go", content=SLOW)
    parser.seconds = 20.0

    told = parser.parse(path="a.py", content=GOOD)

    assert refused == Refused(path="a.go", reason=parser_process.TOO_LONG)
    assert told == parse(path="a.py", source=GOOD)


def test_a_file_that_takes_too_much_memory_is_refused_and_the_next_is_read() -> None:
    parser = Parser(seconds=60.0, memory_bytes=200_000_000)

    refused = parser.parse(path="a.py", content=LARGE)
    told = parser.parse(path="a.py", content=GOOD)
    parser.close()

    assert refused == Refused(path="a.py", reason=parser_process.TOO_MUCH)
    assert told == parse(path="a.py", source=GOOD)


def test_a_process_is_begun_for_a_file_and_anew_when_it_was_lost_and_knows_no_secret(
    parser: Parser, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(parse_worker, "LARGEST_MESSAGE", 100)
        refused = parser.parse(path="a.py", content=bytes(101))
    none = process_of(parser)
    parser.parse(path="a.py", content=GOOD)
    lost = process_of(parser)
    assert lost is not None
    os.kill(lost, signal.SIGKILL)

    told = parser.parse(path="a.py", content=GOOD)

    assert (refused, none) == (Refused(path="a.py", reason=parser_process.TOO_LARGE), None)
    assert isinstance(told, Parsed)
    assert process_of(parser) not in {None, lost}
    environment = Path(f"/proc/{process_of(parser)}/environ").read_bytes()
    assert environment == b"PYTHONDONTWRITEBYTECODE=1\0"


@pytest.mark.parametrize(
    ("path", "content", "problem"),
    [
        ("a.rs", bytes(range(256)) * 4_000, Problem.NOT_TEXT),
        ("a.py", b"\xff\xfe\xfd = 1\n", Problem.NOT_UTF8),
        ("a.js", b"a+" * 500_000, Problem.MINIFIED),
        ("a.py", DEEP, Problem.SYNTAX),
        ("a.tsx", b"<a>\n" * 5_000, Problem.SYNTAX),
    ],
)
def test_hostile_files_are_answered(
    parser: Parser, path: str, content: bytes, problem: Problem
) -> None:
    told = parser.parse(path=path, content=content)

    assert isinstance(told, Parsed)
    assert problem in told.problems


def test_threads_share_one_process(parser: Parser) -> None:
    files = [(f"{n}.py", b"def f%d(): pass\n" % n) for n in range(40)]

    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(lambda one: parser.parse(path=one[0], content=one[1]), files))

    assert [one.symbols[0].name for one in told if isinstance(one, Parsed)] == [
        f"f{n}" for n in range(40)
    ]


def test_whose_turn_does_not_come_in_time_is_told(parser: Parser) -> None:
    with parser._lock, pytest.raises(parser_process.Busy):
        parser.parse(path="a.py", content=GOOD, until=time.monotonic() + 0.01)
    with pytest.raises(parser_process.Busy):
        parser.parse(path="a.py", content=GOOD, until=time.monotonic())

    told = parser.parse(path="a.py", content=GOOD, until=time.monotonic() + 20)

    assert told == parse(path="a.py", source=GOOD)


def test_the_process_goes_with_its_owner() -> None:
    words = [sys.executable, "-c", OWNER]
    with subprocess.Popen(words, stdout=PIPE, stdin=PIPE, cwd=ROOT) as owner:
        assert owner.stdout is not None
        line = os.pidfd_open(int(owner.stdout.readline()))
        owner.kill()

    ended, _, _ = select.select([line], [], [], 60)
    os.close(line)

    assert ended == [line]


def test_a_process_that_was_forked_off_starts_its_own() -> None:
    assert isinstance(parser_process.PARSER.parse(path="a.py", content=GOOD), Parsed)
    before = process_of(parser_process.PARSER)

    child = os.fork()
    if child == 0:
        told = parser_process.PARSER.parse(path="a.py", content=GOOD)
        is_own = process_of(parser_process.PARSER) not in {None, before}
        parser_process.PARSER.close()
        os._exit(0 if isinstance(told, Parsed) and is_own else 1)

    assert os.waitpid(child, 0)[1] == 0
    assert process_of(parser_process.PARSER) == before


@pytest.fixture
def awake(monkeypatch: pytest.MonkeyPatch) -> Backoff:
    """Nobody rests from Redis."""
    rest = Backoff()
    monkeypatch.setattr(live, "redis", rest)
    return rest


@of_an_organization
def test_the_places_are_those_of_all_processes_and_each_frees_its_own() -> None:
    one, two, three = ParseSlots(), ParseSlots(), ParseSlots()  # of a process each

    with one.hold(), two.hold(), pytest.raises(RateLimited, match="2 calls"), three.hold():
        raise AssertionError("there was a third place")

    first, second = (tenancy.key("reading", number) for number in "01")
    with three.hold(), one.hold():
        assert cache.get(second) is not None
        client = cache._cache.get_client()  # type: ignore[attr-defined]
        left = client.ttl(cache.make_and_validate_key(first))  # when its process dies
        cache.set(first, "somebody else", LEASE_SECONDS)

    assert 0 < left <= LEASE_SECONDS
    assert (cache.get(first), cache.get(second)) == ("somebody else", None)


@of_an_organization
def test_where_redis_is_away_each_process_counts_for_itself(awake: Backoff) -> None:
    awake.start()
    own = ParseSlots()

    with ExitStack() as held:
        for turns in (own, own, ParseSlots()):
            held.enter_context(turns.hold())
        with pytest.raises(RateLimited), own.hold():
            raise AssertionError("there was a third place in one process")

    assert cache.get(tenancy.key("reading", "0")) is None
