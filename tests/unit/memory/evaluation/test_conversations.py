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


def test_a_candidate_of_the_right_turn_with_all_words_is_right() -> None:
    found = conversations.judge(
        conversation=labelled(), candidates=(candidate(1, "Valkey is used."),)
    )

    assert (found.right, found.right_type, found.missed, found.wrong) == (1, 1, (), ())


def test_another_turn_or_other_words_are_wrong() -> None:
    for wrong in (candidate(2, "Valkey is used."), candidate(1, "Redis is used.")):
        found = conversations.judge(conversation=labelled(), candidates=(wrong,))
        assert (found.right, found.wrong, len(found.missed)) == (0, (wrong.content,), 1)


def test_each_expected_memory_is_met_once() -> None:
    said = (candidate(1, "Valkey it is.", MemoryType.FACT), candidate(1, "Valkey again."))

    found = conversations.judge(conversation=labelled(), candidates=said)

    assert (found.found, found.right, found.right_type) == (2, 1, 0)


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
