"""What the scanner finds of secrets of over 100 kinds, and leaves of clean texts (figure G16)."""

import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Final

import pytest

from memory.secrets import scanner
from memory.secrets.scanner import find_secrets, without_secrets
from tests.support import secret_corpus, secret_kinds
from tests.support.goals import Scale
from tests.support.secret_corpus import Planted

LEAST_RECALL: Final = 0.95  # G16, of the half that is held out
MOST_FALSE: Final = 0.01  # G16, of clean texts
LEAST_KINDS: Final = 80
LEAST_CONTEXTS: Final = 5
LEAST_CLEAN: Final = 2_000
SEED: Final = 20261122


@pytest.fixture(scope="module")
def corpus() -> tuple[Planted, ...]:
    """Every kind in every context and encoding."""
    scanner.prepare()
    return tuple(secret_corpus.planted(seed=SEED))


@pytest.mark.goal(name="G16")
def test_planted_secrets_are_found_in_every_context(
    corpus: tuple[Planted, ...], figure: Callable[[str], None]
) -> None:
    contexts = {kind: {one.context for one in corpus if one.kind == kind} for kind in _kinds()}

    recalls = {
        held: _recall([one for one in corpus if one.is_held_out is held]) for held in (False, True)
    }

    assert len(contexts) >= LEAST_KINDS
    assert min(len(found) for found in contexts.values()) >= LEAST_CONTEXTS
    assert min(recalls.values()) >= LEAST_RECALL
    figure(
        f"recall {recalls[False]:.2%} of the half looked at, {recalls[True]:.2%} of the half held "
        f"out; {len(corpus):,} texts, {len(contexts)} kinds"
    )


def test_a_redacted_text_holds_nothing_of_a_planted_secret(corpus: tuple[Planted, ...]) -> None:
    for one in corpus:
        if find_secrets(text=one.text):
            redacted = without_secrets(text=one.text)
            assert one.heart not in redacted, one
            assert find_secrets(text=redacted) == (), one


@pytest.mark.goal(name="G16")
def test_clean_texts_are_let_through(figure: Callable[[str], None]) -> None:
    texts = tuple(secret_corpus.clean(seed=SEED))

    wrong = [text for text in texts if find_secrets(text=text)]

    assert len(texts) >= LEAST_CLEAN
    assert len(wrong) / len(texts) <= MOST_FALSE, wrong[:5]
    figure(f"{len(wrong)} of {len(texts):,} clean texts refused ({len(wrong) / len(texts):.2%})")


def test_places_are_counted_in_characters() -> None:
    kind = next(kind for kind in secret_kinds.KINDS if kind.name == "gitlab_deploy")
    values = [kind.value(draw=random.Random(number)) for number in range(200)]
    text = "".join(f"日é {value}\n" for value in values)

    found = find_secrets(text=text)

    assert [text[one.start : one.end] for one in found] == values


@pytest.mark.goal(name="G16")
def test_looking_at_a_memory_takes_its_time(scale: Scale, figure: Callable[[str], None]) -> None:
    scanner.prepare()
    ours = "\n".join(secret_corpus.clean(seed=SEED))
    rounds = scale.of(short=60, long=2_000)

    spent = {
        size: sorted(_milliseconds(ours[at * size : (at + 1) * size]) for at in range(rounds))
        for size in (1_000, 4_000)
    }

    assert all(len(times) == rounds and times[0] > 0 for times in spent.values())
    for size, times in spent.items():
        p95 = times[int(len(times) * 0.95)]
        figure(f"{size:,} characters: p50 {statistics.median(times):.2f} ms, p95 {p95:.2f} ms")


@pytest.mark.goal(name="G16")
def test_a_start_does_not_read_the_catalog(figure: Callable[[str], None]) -> None:
    program = (
        "import sys, time; began = time.thread_time(); import memory.secrets.scanner; "
        "print(time.thread_time() - began, 'kingfisher_sdk' in sys.modules)"
    )

    said = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    ).stdout.split()

    assert said[1] == "False"
    figure(f"importing the scanner takes {float(said[0]) * 1_000:.0f} ms of a start")


def _kinds() -> tuple[str, ...]:
    return tuple(kind.name for kind in secret_kinds.KINDS)


def _recall(planted: list[Planted]) -> float:
    return sum(bool(find_secrets(text=one.text)) for one in planted) / len(planted)


def _milliseconds(text: str) -> float:
    began = time.thread_time()  # others share the machine
    find_secrets(text=text)
    return (time.thread_time() - began) * 1_000


@pytest.mark.parametrize("edge", [scanner.STEP, scanner.STEP + scanner.OVERLAP])
@pytest.mark.parametrize("before", [-40, -39, -20, -1, 0, 1])
def test_a_key_is_found_whole_where_windows_begin_and_end(edge: int, before: int) -> None:
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    prose = "the queue drains in order, " * (2 * edge // 27)
    start = edge + before

    found = find_secrets(text=f"{prose[: start - 1]} {key} {prose}")

    assert [(one.start, one.end) for one in found] == [(start, start + len(key))]
