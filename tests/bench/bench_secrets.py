"""What looking for secrets costs where texts are made to cost much: seconds a megabyte, and growth.

Run: `.venv/bin/python -m tests.bench.bench_secrets 100000`. Each line is one kind of text, at that
many characters and at twice as many; a growth of 2 is linear. Processor time of this process, our
own rules and the catalog; beside it what the agent's machine does. `all` prints every line, else
the costliest.
"""

import sys
from collections.abc import Callable, Iterator
from functools import partial

from memory.client import masking
from memory.secrets import scanner
from tests.bench import measures
from tests.bench.odd_texts import texts

TOLD = 12  # lines


def main(*, length: int, most: int | None) -> None:
    """Print the figures, the costliest first."""
    scanner.prepare()
    here: dict[str, Callable[[str], object]] = {
        "server": lambda text: scanner.find_secrets(text=text, is_spoken=True),
        "agent's machine": lambda text: masking.mask(text=text),
    }
    for place, look in here.items():
        figures = sorted(_figures(look, length), reverse=True)
        print(f"{place}: {len(figures)} kinds of text")
        for seconds, growth, name in figures[:most]:
            measures.line(name, f"{seconds:5.2f} s/MB  growth {growth:4.1f}")


def _figures(look: Callable[[str], object], length: int) -> Iterator[tuple[float, float, str]]:
    """Yield for each kind of text seconds a megabyte, how much twice the text took, its name."""
    short, long = texts(length=length), texts(length=2 * length)
    for name in short:
        _, once = measures.spent(partial(look, short[name]))
        _, twice = measures.spent(partial(look, long[name]))
        yield twice / len(long[name]) * 1_000_000, twice / once, name


if __name__ == "__main__":
    arguments = sys.argv[1:]
    main(
        length=int(next((one for one in arguments if one.isdecimal()), "100000")),
        most=None if "all" in arguments else TOLD,
    )
