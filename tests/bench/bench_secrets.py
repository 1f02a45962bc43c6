"""What looking for secrets costs where texts are made to cost much: seconds a megabyte, and growth.

Run: `.venv/bin/python -m tests.bench.bench_secrets 100000`. Each line is one kind of text, at that
many characters and at twice as many; a growth of 2 is linear. Processor time of this process, our
own rules and the catalog; beside it what the agent's machine does. `all` prints every line, else
the costliest.
"""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

from memory.client import masking
from memory.secrets import scanner
from tests.bench import measures
from tests.bench.odd_texts import texts

TOLD = 12  # lines


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """Seconds a megabyte of one kind of text, and how much twice the text took."""

    name: str
    seconds: float
    growth: float


def main(*, length: int, most: int | None) -> None:
    """Print the figures, the costliest first."""
    scanner.prepare()
    here: dict[str, Callable[[str], object]] = {
        "server": lambda text: scanner.find_secrets(text=text, is_spoken=True),
        "agent's machine": lambda text: masking.mask(text=text),
    }
    for place, look in here.items():
        figures = sorted(_figures(look, length), key=lambda one: -one.seconds)
        print(f"{place}: {len(figures)} kinds of text")
        for one in figures[:most]:
            measures.line(one.name, f"{one.seconds:5.2f} s/MB  growth {one.growth:4.1f}")


def _figures(look: Callable[[str], object], length: int) -> list[Figure]:
    short, long = texts(length=length), texts(length=2 * length)
    return [_figure(look, name, short[name], long[name]) for name in short]


def _figure(look: Callable[[str], object], name: str, short: str, long: str) -> Figure:
    once, twice = _seconds(look, short), _seconds(look, long)
    return Figure(name=name, seconds=twice / len(long) * 1_000_000, growth=twice / once)


def _seconds(look: Callable[[str], object], text: str) -> float:
    started = time.process_time()
    look(text)
    return time.process_time() - started


if __name__ == "__main__":
    arguments = sys.argv[1:]
    main(
        length=int(next((one for one in arguments if one.isdecimal()), "100000")),
        most=None if "all" in arguments else TOLD,
    )
