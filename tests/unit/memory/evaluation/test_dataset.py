"""Judged sets from their files: what is right is read, what is wrong is named by its place."""

import json

import pytest

from memory.evaluation import dataset
from memory.evaluation.dataset import JudgedSet, Split, WrongSet

MEMORY = {"id": "m1", "content": "The gateway answers 429.", "type": "fact"}
OTHER = {"id": "m2", "content": "The gateway answers 503.", "type": "fact"}
QUERY = {"id": "q1", "text": "what does the gateway say", "kind": "question", "relevant": {"m1": 3}}


def _parse(memories: list[object], queries: list[object]) -> JudgedSet:
    texts = ["".join(f"{json.dumps(row)}\n" for row in rows) for rows in (memories, queries)]
    return dataset.parse(name="own", memories=texts[0], queries=texts[1])


def test_what_is_left_out_has_a_value_and_pairs_are_named_once() -> None:
    first, second = {**MEMORY, "contradicts": ["m2"]}, {**OTHER, "contradicts": ["m1"]}

    found = _parse([first, second], [QUERY])

    assert (found.memories[0].project, found.memories[0].files) == (dataset.PROJECT, ())
    assert (found.queries[0].as_of, found.queries[0].split) == (None, Split.HELD)
    assert found.pairs == (("m1", "m2"),)
    assert _parse([first, second], [QUERY]).digest == found.digest
    assert _parse([MEMORY, OTHER], [QUERY]).digest != found.digest


def test_ids_that_say_the_same_are_merged_and_halves_differ_by_one_at_most() -> None:
    items = [(f"q{number}", "odd" if number % 3 else "even") for number in range(31)]
    judged = _parse([MEMORY, OTHER], [{**QUERY, "relevant": {"m1": 1, "m2": 3}}])

    merged = dataset.merge_same(judged=judged, same={"m1": "m1", "m2": "m1"})
    found = dataset.split_of(items=items)

    assert merged.queries[0].relevant == {"m1": 3}  # the higher grade
    for kind in ("odd", "even"):
        halves = [found[id] for id, given in items if given == kind]
        assert abs(halves.count(Split.TRAIN) - halves.count(Split.HELD)) <= 1


WRONG_MEMORIES = (
    ({"content": ""}, "line 1, field 'content'"),
    ({"type": "opinion"}, "line 1, field 'type': Input should be"),
    ({"event_at": "2026-01-01"}, "line 1, field 'event_at'"),
    ({"superseded_by": "m9"}, "field 'superseded_by': No memory has the id 'm9'"),
    ({"superseded_by": "m2"}, "field 'valid_until': Say until when"),
    ({"contradicts": ["m1"]}, "does not stand against itself"),
    ({"colour": "red"}, "field 'colour': Unexpected"),
    ({"id": "m2"}, "memories.jsonl, line 2, field 'id': 'm2' stands on an earlier line"),
)
WRONG_QUERIES = (
    ({"text": " "}, "queries.jsonl, line 1, field 'text'"),
    ({"relevant": {"m1": 4}}, "field 'relevant.m1'"),
    ({"relevant": {"m1": True}}, "field 'relevant.m1'"),
    ({"relevant": {"m9": 1}}, "field 'relevant': No memory has the id 'm9'"),
    ({"confusable": ["m1"]}, "field 'confusable': 'm1' is said to answer"),
    ({"confusable": ["m9"]}, "field 'confusable': No memory"),
    ({"split": "half"}, "field 'split': Input should be 'train' or 'held'"),
)


def test_what_is_wrong_is_refused_by_its_place() -> None:
    for change, message in WRONG_MEMORIES:
        with pytest.raises(WrongSet, match=message):
            _parse([{**MEMORY, **change}, OTHER], [QUERY])
    for change, message in WRONG_QUERIES:
        with pytest.raises(WrongSet, match=message):
            _parse([MEMORY], [{**QUERY, **change}])
    query = json.dumps({**QUERY, "relevant": {}})
    for memories, message in (
        ("", "line 1, field 'id': The file has no lines"),
        ("\n{", "line 2, field '': Invalid JSON"),
    ):
        with pytest.raises(WrongSet, match=message):
            dataset.parse(name="own", memories=memories, queries=query)
