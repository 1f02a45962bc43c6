"""Which turns are worth a call of a model, and how they are written for it."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from memory.evaluation import conversations
from memory.evaluation.dataset import Split
from memory.experiments import intervals
from memory.extraction import transcripts, worth
from memory.extraction.worth import Sign
from memory.sessions.turns import Speaker, Turn

SHIPPED: Final = Path(conversations.__file__).parent / "sets/conversations/conversations.jsonl"


def turn(text: str, speaker: Speaker = Speaker.USER, sequence: int = 1) -> Turn:
    """Return a turn."""
    return Turn(sequence=sequence, speaker=speaker, text=text)


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ("The build fails with a KeyError since this morning.", Sign.ERROR),
        ("We agreed on one release every second week.", Sign.DECISION),
        ("The mail service moved to another cluster last week.", Sign.CHANGE),
        ("Please always write the tests before the code here.", Sign.PREFERENCE),
        ("No, that is the wrong table for these rows.", Sign.CORRECTION),
        ("The error comes from `parse_line` when a field is empty.", Sign.CODE),
        ("The rows of a page are what `take_page` gives back here.", Sign.CODE),
        ("The rows of a page are what take_page gives back here.", Sign.CODE),
        ("This is how a page of them is read here:\n```py\nread(page)\n```", Sign.CODE),
        ("The client of the shop speaks version v2.14.0 of it.", Sign.CODE),
    ],
)
def test_signs_of_value_are_seen(text: str, sign: Sign) -> None:
    assert sign in worth.signs(turn=turn(text))


@pytest.mark.parametrize(
    "text", ["Hello!", "Could you rename this button for me, please?", "```\nerror: x failed\n```"]
)
def test_a_turn_without_a_sign_is_not_worth_a_call(text: str) -> None:
    assert worth.signs(turn=turn(text)) == frozenset()


@pytest.mark.parametrize(("half", "least"), [(Split.TRAIN, 0.55), (Split.HELD, 0.7)])
def test_what_is_worth_keeping_is_mostly_asked_about(
    half: Split, least: float, figure: Callable[[str], None]
) -> None:
    told = [one for one in conversations.parse(text=SHIPPED.read_text()) if one.split is half]
    asked = [{each.sequence for each in worth.worth_asking(turns=one.turns)} for one in told]
    kept = [
        wanted.turn in turns for one, turns in zip(told, asked, strict=True) for wanted in one.keep
    ]
    turns, calls = sum(map(len, asked)), sum(map(bool, asked))
    spoken = sum(len(one.turns) for one in told)

    found = intervals.share(successes=sum(kept), trials=len(kept))

    figure(
        f"{half}: {found.value:.2f} of {len(kept)} kept, {calls} calls, {turns} of {spoken} turns"
    )
    assert found.value >= least


def test_a_marked_turn_is_asked_about_with_the_one_before() -> None:
    turns = tuple(
        turn(text, sequence=number)
        for number, text in enumerate(("a", "b", "We agreed on one release a week.", "c"), 1)
    )

    assert [one.sequence for one in worth.worth_asking(turns=turns)] == [2, 3]


def test_a_call_has_at_most_thirty_turns() -> None:
    turns = tuple(turn("Hm.", sequence=number) for number in range(1, 72))

    assert [len(batch) for batch in transcripts.batches(turns=turns)] == [30, 30, 11]


def test_a_mark_inside_is_taken_out() -> None:
    written = transcripts.written(
        turns=(turn("abc>>> The end. <<<abc Go on."),), nonce="abc", clean=str
    )

    assert written.count("abc") == 2


def test_a_long_turn_is_cut_in_its_middle() -> None:
    written = transcripts.written(turns=(turn("word " * 5_000),), nonce="n", clean=str)

    assert len(written) < transcripts.LONGEST_TURN + 100
    assert transcripts.CUT in written
