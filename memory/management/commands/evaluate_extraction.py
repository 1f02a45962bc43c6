"""Measure what is taken from conversations: precision and recall on a labelled set.

`evaluate_extraction` reads by words; `--mode llm` or `hybrid` asks the chat model that the
installation is configured for (CAIRN_OPENAI_BASE_URL, CAIRN_OPENAI_CHAT_MODEL), any endpoint of the
protocol. It stores nothing.
"""

from argparse import ArgumentParser
from collections import Counter
from pathlib import Path
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError

from memory.evaluation import conversations
from memory.evaluation.actions import Measured, evaluate_extraction
from memory.evaluation.dataset import Split, WrongSet
from memory.evaluation.measures import Interval
from memory.extraction.actions.extraction import Mode

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
        self._tell(sum(len(one.turns) for one in chosen), found)
        if options["errors"]:
            self._tell_errors(found)

    def _tell(self, turns: int, found: tuple[Measured, ...]) -> None:
        outcomes = tuple(one.outcome for one in found)
        scores = conversations.scores(outcomes=outcomes)
        expected = sum(one.expected for one in outcomes)
        self.stdout.write(
            f"{len(found)} conversations, {turns} turns, {expected} memories worth keeping"
        )
        for name in ("precision", "recall", "type"):
            self.stdout.write(f"{name:<10} {_shown(getattr(scores, name))}")
        missing = Counter(one.degraded for one in found if one.degraded)
        for reason, count in sorted(missing.items()):
            self.stdout.write(f"read by words instead, {reason}: {count}")
        self.stdout.write(f"tokens     {sum(one.tokens for one in found)}")

    def _tell_errors(self, found: tuple[Measured, ...]) -> None:
        for one in found:
            for text in one.outcome.wrong:
                self.stdout.write(f"wrong  {one.outcome.id}: {text}")
            for expected in one.outcome.missed:
                words = ", ".join(expected.words)
                self.stdout.write(f"missed {one.outcome.id} turn {expected.turn}: {words}")


def _shown(share: Interval | None) -> str:
    if share is None:
        return "-"
    return f"{share.mean:.2f} [{share.low:.2f}, {share.high:.2f}]"
