"""What becomes of a statement that comes after one like it: is any lost, are changes found.

Run: `BENCH_EMBEDDER=local/all-minilm-l6-v2 .venv/bin/python -m tests.bench.bench_changes PAIRS.tsv`
with `errors` behind it to see what is wrong. PAIRS has the columns `kind`, `old` and `new`; kinds
are `same`, `paraphrase`, `value`, `negation`, `update` and `lookalike`. Texts of others are not
kept here: make pairs from public documentation, labelled by somebody who has not seen the rules.

Each pair is added to a project of its own, by one person. A new text is lost where it is stored
nowhere although it says something else, or in other words (all kinds but `same`). A change is found
where the two are in conflict or one replaces the other: wanted for `value`, `negation`, `update`.
Brackets are 95 % bootstrap intervals (Efron 1979).
"""

import csv
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from django.core.management import call_command
from django.utils import timezone

from accounts.caller import Caller
from memory.evaluation.measures import quotient
from memory.intake.actions.remember import remember
from memory.intake.validation import NewMemory
from teams.actions import create_project
from tests.bench import serving
from tests.support import people

SAME = "same"
CHANGED = frozenset({"value", "negation", "update"})
FOUND = frozenset({"contradicts", "supersedes"})  # operations; of all others both texts stand
LOST = frozenset({"confirmed", "known", "refused"})  # outcomes


def main(*, pairs: Path, with_errors: bool) -> None:
    """Add all pairs and print the figures, by kind and in all."""
    call_command("migrate", verbosity=0)
    organization, caller = serving.place(slug="changes")
    with people.entered(organization=organization), pairs.open(encoding="utf-8") as file:
        rows = tuple(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
        ends = tuple(_end_of(caller, number, row) for number, row in enumerate(rows))
    told = tuple(zip((row["kind"] for row in rows), ends, strict=True))
    for (kind, end), count in sorted(Counter(told).items()):
        print(f"{kind:12}{end:14}{count:5}")
    if with_errors:
        for row, end in zip(rows, ends, strict=True):
            if _is_wrong(row["kind"], end):
                print(f"\n{row['kind']}: {end}\n  {row['old']}\n  {row['new']}")
    print("lost:", _share(end in LOST for kind, end in told if kind != SAME))
    print("changes found, recall:", _share(end in FOUND for kind, end in told if kind in CHANGED))
    print("  precision:", _share(kind in CHANGED for kind, end in told if end in FOUND))
    print("false conflicts:", _share(end in FOUND for kind, end in told if kind not in CHANGED))


def _end_of(caller: Caller, number: int, row: dict[str, str]) -> str:
    """Add both texts to a project; return the operation, or the outcome where there is none."""
    slug, now = f"pair-{number}", timezone.now()
    create_project(caller=caller, slug=slug, name=slug, now=now)
    for content in (row["old"], row["new"]):
        new = NewMemory(content=content, source="user_taught", project=slug)
        outcome = remember(caller=caller, new=new, now=now)
    return outcome.operation or outcome.outcome


def _is_wrong(kind: str, end: str) -> bool:
    if kind == SAME:
        return end not in LOST
    return end in LOST or (end in FOUND) != (kind in CHANGED)


def _share(hits: Iterable[bool]) -> str:
    """Return a share with its interval and over how many it was taken."""
    given = [float(one) for one in hits]
    found = quotient(numerators=given, denominators=[1.0] * len(given))
    if found is None:
        return "none"
    return f"{found.mean:.2f} [{found.low:.2f}, {found.high:.2f}] of {found.count}"


if __name__ == "__main__":
    main(pairs=Path(sys.argv[1]), with_errors="errors" in sys.argv)
