"""The observer: events folded a second, and what the end of a session costs, on one core.

Run: `.venv/bin/python -m tests.bench.bench_folding 2000 20000`. A session of so many tool calls is
made, with results of a few kilobytes. Figures are processor time.
"""

import random
import sys
from functools import partial

from memory.observer import detect
from memory.sessions import reducers, scratchpad
from tests.bench import measures
from tests.support.stories import Story, read_events

SIZES = (2_000, 20_000)
CODE = (
    "import os\nfrom auth.tokens import mint\n\n\ndef run(name):\n    return mint(name)\n" * 20,
)


def main(*, sizes: tuple[int, ...]) -> None:
    """Read, fold, write, read back and finish sessions of some sizes."""
    for size in sizes:
        rows = made(calls=size)
        events, read_in = measures.spent(partial(read_events, rows))
        rebuild = partial(reducers.rebuild, setting=Story().setting, events=events)
        state, folded_in = measures.spent(rebuild)
        data, written_in = measures.spent(partial(scratchpad.dump, scratchpad=state))
        _, loaded_in = measures.spent(partial(scratchpad.load, data=data))
        find = partial(detect.find_all, scratchpad=state, rejected={})
        found, found_in = measures.spent(find)
        count = len(events)
        measures.line(f"{count:,} events", f"{len(found)} signals, {len(data) / 1e6:.1f} MB")
        measures.line("read", f"{count / read_in:10,.0f} a second")
        measures.line("fold", f"{count / folded_in:10,.0f} a second")
        measures.line("read and fold", f"{count / (read_in + folded_in):10,.0f} a second")
        measures.line("checkpoint", f"{written_in * 1e3:.0f} ms, back {loaded_in * 1e3:.0f} ms")
        measures.line("all signals", f"{found_in * 1e3:.0f} ms")


def made(*, calls: int, codes: tuple[str, ...] = CODE, seed: int = 3) -> tuple[object, ...]:
    """Return the rows of a session that reads pieces of code, one or other of these."""
    chance, told = random.Random(seed), Story(planned=calls // 2)
    for place in range(calls):
        path = f"src/m{chance.randrange(30)}/f{chance.randrange(40)}.py"
        kind = chance.random()
        if kind < 0.5:
            told.read(path, chance.choice(codes))
        elif kind < 0.7:
            told.edit(path, f"a{place}", f"b{place}")
        elif kind < 0.8:
            told.grep(f"def f{chance.randrange(50)}", f"src/a.py:{place}: def f()")
        elif kind < 0.9:
            told.run("pytest -q tests", f"{chance.randrange(3)} failed\nKeyError: '{place}'")
        else:
            told.say("Now I look at the next file. It should hold the settings. Let me see.")
    return tuple(told.done().rows)


if __name__ == "__main__":
    main(sizes=tuple(map(int, sys.argv[1:])) or SIZES)
