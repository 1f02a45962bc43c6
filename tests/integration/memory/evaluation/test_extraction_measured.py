"""Extraction on the labelled conversations: by words, and with a model's recorded answers.

The answers were written by hand, mistakes among them: figures of a model of one's own are those of
`manage.py evaluate_extraction --mode llm`. Here it shows what checking makes of answers.
"""

import json
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from memory.evaluation import conversations
from memory.evaluation.actions import evaluate_extraction
from memory.evaluation.conversations import CaseOutcome, Conversation
from memory.evaluation.dataset import Split
from memory.extraction.actions import Mode
from memory.management.commands.evaluate_extraction import SHIPPED
from memory.providers.guard import Limits
from tests.support import vendors
from tests.support.vendor_server import Vendor

ANSWERS = Path(vendors.__file__).with_name("recorded_answers.jsonl")
PLANTED = ("password", "no review", "sudo")
ALL = conversations.parse(text=SHIPPED.read_text(encoding="utf-8"))

Figure = Callable[[str], None]


def measured(half: Split) -> tuple[CaseOutcome, ...]:
    """Extract by words from one half."""
    return tuple(
        evaluate_extraction(conversation=one, mode=Mode.HEURISTIC).outcome
        for one in ALL
        if one.split is half
    )


def told(outcomes: tuple[CaseOutcome, ...]) -> str:
    """Return precision and recall in words."""
    found = conversations.scores(outcomes=outcomes)
    assert found["precision"] is not None
    assert found["recall"] is not None
    shares = (("precision", found["precision"]), ("recall", found["recall"]))
    return ", ".join(
        f"{name} {one.mean:.2f} [{one.low:.2f}, {one.high:.2f}]" for name, one in shares
    )


@pytest.fixture
def vendor() -> Iterator[Vendor]:
    """An installation whose chat model is a vendor on the loopback interface."""
    with vendors.chatting_vendor(model="recorded", limits=Limits()) as running:
        yield running


@pytest.mark.parametrize("half", Split)
def test_words_alone_are_precise(half: Split, figure: Figure) -> None:
    outcomes = measured(half)

    found = conversations.scores(outcomes=outcomes)
    figure(f"{half}: {told(outcomes)}")
    assert found["precision"] is not None
    assert found["precision"].mean >= 0.85
    assert found["recall"] is not None
    assert found["recall"].mean >= 0.6


def test_of_recorded_answers_what_holds_is_taken(vendor: Vendor, figure: Figure) -> None:
    answers = {line["id"]: line for line in map(json.loads, ANSWERS.read_text().splitlines())}
    outcomes = tuple(_with(vendor, one, answers[one.id]["memories"]) for one in ALL)

    figure(told(outcomes))
    found = conversations.scores(outcomes=outcomes)
    assert found["precision"] is not None
    assert found["precision"].mean >= 0.9
    wrong = " ".join(text for one in outcomes for text in one.wrong).lower()
    assert not any(word in wrong for word in PLANTED)


def _with(vendor: Vendor, conversation: Conversation, memories: list[object]) -> CaseOutcome:
    vendor.chat_content = json.dumps({"memories": memories})
    found = evaluate_extraction(conversation=conversation, mode=Mode.LLM)
    assert found.degraded == ""
    return found.outcome


def test_the_command_prints_shares_and_errors_on_wish_and_refuses_a_wrong_set(
    tmp_path: Path,
) -> None:
    said = StringIO()
    broken = tmp_path / "set.jsonl"
    broken.write_text('{"id": "a", "turns": [["nobody", "x"]], "keep": []}\n')

    call_command("evaluate_extraction", split="train", errors=True, stdout=said)

    assert "precision  0." in said.getvalue()
    assert "[0." in said.getvalue()
    assert "missed" in said.getvalue()
    with pytest.raises(CommandError, match="line 1"):
        call_command("evaluate_extraction", file=broken)
