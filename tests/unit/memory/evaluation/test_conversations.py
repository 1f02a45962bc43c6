"""What counts as right on labelled conversations."""

import json

import pytest

from memory.evaluation import conversations
from memory.evaluation.conversations import Conversation
from memory.evaluation.dataset import WrongSet
from memory.extraction.extract import Candidate
from memory.sessions.turns import Speaker
from memory.taxonomy import MemoryType

LINE = {
    "id": "a",
    "turns": [["user", "We decided to use Valkey."], ["assistant", "OK."]],
    "keep": [{"turn": 1, "type": "decision", "words": ["valkey"]}],
}


def labelled(**given: object) -> Conversation:
    """Return one conversation."""
    (one,) = conversations.parse(text=json.dumps({**LINE, **given}))
    return one


def candidate(turn: int, content: str, type: MemoryType = MemoryType.DECISION) -> Candidate:
    """Return a candidate of a turn."""
    return Candidate(content=content, type=type, turn=turn, line=1, speaker=Speaker.USER)


def test_a_candidate_of_the_right_turn_with_all_words_is_right_once() -> None:
    again = candidate(1, "Valkey again.")
    said = (candidate(1, "Valkey it is.", MemoryType.FACT), again, candidate(2, "Valkey is used."))

    found = conversations.judge(conversation=labelled(), candidates=said)
    missed = conversations.judge(
        conversation=labelled(), candidates=(candidate(1, "Redis is used."),)
    )

    assert (found.found, found.right, found.right_type, found.missed) == (3, 1, 0, ())
    assert found.wrong == ("Valkey again.", "Valkey is used.")
    assert (missed.right, missed.wrong, len(missed.missed)) == (0, ("Redis is used.",), 1)
    assert conversations.judge(conversation=labelled(), candidates=(again,)).right_type == 1


def test_shares_are_over_all_conversations_and_without_candidates_there_is_no_precision() -> None:
    one = conversations.judge(conversation=labelled(), candidates=(candidate(1, "Valkey."),))
    two = conversations.judge(conversation=labelled(id="b"), candidates=(candidate(1, "Redis."),))
    none = conversations.judge(conversation=labelled(), candidates=())

    found = conversations.scores(outcomes=(one, two))

    assert [value and value.mean for value in (found["precision"], found["recall"])] == [0.5, 0.5]
    assert conversations.scores(outcomes=(none,))["precision"] is None


def test_a_broken_line_is_named() -> None:
    for line in ("{", "[]", json.dumps({**LINE, "turns": [["x", "y"]]}), json.dumps({"id": "a"})):
        with pytest.raises(WrongSet, match="line 2"):
            conversations.parse(text=f"{json.dumps(LINE)}\n{line}")
