"""How well the observer's signals see what labelled sessions show: precision and recall of each.

Run: `.venv/bin/python -m tests.bench.bench_signals` for the half that is held out, `train` for the
other, `train errors` to read what is wrong there. Brackets are 95 % bootstrap intervals over
sessions.
"""

import sys

from memory.evaluation.measures import Interval
from tests.support.behavior import quality, sessions


def main(*, half: str, errors: bool) -> None:
    """Print the table of a half, and what is wrong in it."""
    chosen = tuple(one for one in sessions.sessions() if one.is_held is (half == "held"))
    print(f"{len(chosen)} sessions, {sum(len(one.labels) for one in chosen)} labels, half {half}\n")
    print(f"{'signal':<20} {'sighted':>7} {'precision':>18} {'labelled':>8} {'recall':>18}")
    for row in quality.measure(sessions=chosen):
        print(
            f"{row.kind.value:<20} {row.sighted:>7} {_shown(row.precision):>18}"
            f" {row.labelled:>8} {_shown(row.recall):>18}"
        )
    for session in chosen if errors else ():
        extra, missed = quality.wrong(session=session)
        for sighting in extra:
            print(f"{session.name}: sighted {sighting.kind.value} {sighting.key} {sighting.files}")
        for kind, target in missed:
            print(f"{session.name}: missed {kind.value} {target}")


def _shown(interval: Interval | None) -> str:
    if interval is None:
        return "-"
    return f"{interval.mean:.2f} [{interval.low:.2f}, {interval.high:.2f}]"


if __name__ == "__main__":
    main(half="train" if "train" in sys.argv else "held", errors="errors" in sys.argv)
