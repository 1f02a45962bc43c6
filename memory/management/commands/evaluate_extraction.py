"""Measure what is taken from conversations: precision and recall on a labelled set.

`evaluate_extraction` reads by words; `--mode llm` or `hybrid` asks the chat model that the
installation is configured for (CAIRN_OPENAI_BASE_URL, CAIRN_OPENAI_CHAT_MODEL), any endpoint of the
protocol. It stores nothing.
"""

from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError

from memory.evaluation import conversations
from memory.evaluation.actions import Measured, evaluate_extraction
from memory.evaluation.dataset import Split, WrongSet
from memory.evaluation.measures import Interval
from memory.extraction.actions import Mode

SHIPPED: Final = Path(conversations.__file__).parent / "sets/conversations/conversations.jsonl"


class Command(BaseCommand):
    """Extract, judge, print."""

    help = "Measure precision and recall of extraction on labelled conversations."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the set, the mode and the half."""
        parser.add_argument("--set", dest="file", type=Path, default=SHIPPED)
        parser.add_argument("--mode", choices=[*Mode], default=Mode.HEURISTIC.value)
        parser.add_argument("--split", choices=[*Split], help="only this half")
        parser.add_argument("--errors", action="store_true", help="print what was wrong or missed")

    def handle(self, *args: Any, **options: Any) -> None:
        """Measure; refuse a wrong set in a sentence."""
        try:
            given = conversations.parse(text=options["file"].read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, WrongSet) as error:
            raise CommandError(f"{options['file']}: {error}") from error
        mode, half = Mode(options["mode"]), options["split"]
        chosen = tuple(one for one in given if half is None or one.split == half)
        found = tuple(evaluate_extraction(conversation=one, mode=mode) for one in chosen)
        lines = _figures(sum(len(one.turns) for one in chosen), found)
        if options["errors"]:
            lines += (error for one in found for error in _errors(one.outcome))
        self.stdout.write("\n".join(lines))


def _figures(turns: int, found: tuple[Measured, ...]) -> list[str]:
    """Return the lines that say how well conversations of so many turns were read."""
    outcomes = tuple(one.outcome for one in found)
    expected = sum(one.expected for one in outcomes)
    lines = [f"{len(found)} conversations, {turns} turns, {expected} memories worth keeping"]
    shares = conversations.scores(outcomes=outcomes)
    lines += (f"{name:<10} {_figure(share)}" for name, share in shares.items())
    missing = Counter(one.degraded for one in found if one.degraded)
    lines += (f"read by words instead, {why}: {n}" for why, n in sorted(missing.items()))
    lines.append(f"tokens     {sum(one.tokens for one in found)}")
    return lines


def _figure(share: Interval | None) -> str:
    return "-" if share is None else f"{share.mean:.2f} [{share.low:.2f}, {share.high:.2f}]"


def _errors(outcome: conversations.CaseOutcome) -> Iterator[str]:
    yield from (f"wrong  {outcome.id}: {text}" for text in outcome.wrong)
    for missed in outcome.missed:
        yield f"missed {outcome.id} turn {missed.turn}: {', '.join(missed.words)}"
