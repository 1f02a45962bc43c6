"""Judged sets: read from files, converted from public ones, and the two shipped."""

import json
import re
from pathlib import Path

import pytest

from memory.evaluation import conversations, dataset
from memory.evaluation.conversations import Conversation
from memory.evaluation.dataset import Converted, JudgedSet, Split, WrongSet
from memory.extraction.extract import Candidate
from memory.sessions.turns import Speaker
from memory.taxonomy import MemoryType

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


BEIR = {
    "corpus.jsonl": '{"_id": "d1", "title": "Locks", "text": "They are advisory."}\n'
    '{"_id": "d2", "title": "", "text": "Rows are claimed."}\n',
    "queries.jsonl": '{"_id": "1", "text": "which locks"}\n{"_id": "2", "text": "not judged"}\n',
    "qrels/test.tsv": "query-id\tcorpus-id\tscore\n1\td1\t5\n1\td2\t0\n",
}
COSQA = {
    "code_idx_map.txt": json.dumps({"def add(a, b):\n    return a + b": 7, "def sub(): ...": 8}),
    "cosqa-retrieval-test-500.json": json.dumps(
        [{"idx": "cosqa-test-0", "doc": "python sum two numbers", "code": "", "retrieval_idx": 7}]
    ),
}
TURNS = [
    {"speaker": "Ann", "dia_id": "D1:1", "text": "I moved to Oslo."},
    {"speaker": "Ben", "dia_id": "D1:2", "text": "Look!", "blip_caption": "a red house"},
]
LOCOMO = [
    {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ann",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": TURNS,
        },
        "qa": [
            {"question": "Where?", "answer": "Oslo", "evidence": ["D1:1; D9:9"], "category": 4},
            {"question": "Which horse?", "evidence": ["D1:2"], "category": 5},
            {"question": "Why?", "answer": "?", "evidence": [], "category": 3},
        ],
    }
]
LONG = [
    {
        "question_id": id,
        "question_type": "single-session-user",
        "question": "What did I buy?",
        "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_dates": ["2023/05/20 (Sat) 02:21"],
        "haystack_session_ids": ["s1"],
        "haystack_sessions": [
            [
                {"role": "user", "content": "I bought a lamp.", "has_answer": True},
                {"role": "assistant", "content": "Nice."},
            ]
        ],
        "answer_session_ids": ["s1"],
    }
    for id in ("gpt4_a1", "gpt4_a1_abs")
]


def _set(public: str, files: dict[str, str]) -> tuple[JudgedSet, Converted]:
    found = dataset.PUBLIC[public].convert(files)
    return dataset.parse(name=public, memories=found.memories, queries=found.queries), found


def test_beir_titles_are_joined_and_grades_kept_within_ours() -> None:
    found, converted = _set("beir", BEIR)

    assert [memory.content for memory in found.memories] == [
        "Locks\n\nThey are advisory.",
        "Rows are claimed.",
    ]
    assert {query.id: query.relevant for query in found.queries} == {"1": {"d1": 3}}
    assert converted.notes == ("left out: 1 queries without judgment",)


def test_cosqa_queries_point_to_the_number_of_their_function() -> None:
    found, _ = _set("cosqa", COSQA)

    assert [memory.id for memory in found.memories] == ["7", "8"]
    assert found.queries[0].text == "python sum two numbers"
    assert found.queries[0].relevant == {"7": 3}
    assert all(memory.tags == ("code",) for memory in found.memories)


def test_locomo_turns_are_episodes_and_adversarial_questions_have_no_answer() -> None:
    found, converted = _set("locomo", {"locomo10.json": json.dumps(LOCOMO)})

    second = found.memories[1]
    assert (second.id, second.type) == ("conv-1/D1:2", MemoryType.EPISODE)
    assert second.content == "Ben: Look! [shares a red house]"
    assert str(second.event_at) == "2023-05-08 13:56:01+00:00"
    assert (second.session, second.project) == ("conv-1/session_1", "conv-1")
    answered, adversarial = found.queries
    assert (answered.kind, dict(answered.relevant)) == ("single-hop", {"conv-1/D1:1": 3})
    assert (adversarial.kind, adversarial.answerable) == ("adversarial", False)
    assert adversarial.confusable == ("conv-1/D1:2",)
    assert converted.notes == ("left out: 1 questions without evidence",)


def test_longmemeval_questions_have_a_project_each_and_turns_follow_each_other() -> None:
    found, _ = _set("longmemeval", {"longmemeval_s.json": json.dumps(LONG)})

    first, second = found.queries
    assert {memory.project for memory in found.memories} == {"gpt4-a1", "gpt4-a1-abs"}
    assert [str(memory.event_at) for memory in found.memories[:2]] == [
        "2023-05-20 02:21:01+00:00", "2023-05-20 02:21:02+00:00",
    ]  # fmt: skip
    assert (first.project, dict(first.relevant)) == ("gpt4-a1", {"gpt4_a1/1:1": 3})
    assert (second.kind, second.answerable) == ("abstention", False)


TALK = LOCOMO[0]["conversation"]
FAULTS: tuple[tuple[str, str, object, str], ...] = (
    ("beir", "corpus.jsonl", {"text": "x"}, "corpus.jsonl, line 1, field '_id'"),
    ("beir", "queries.jsonl", "\n{", "queries.jsonl, line 2, field '': Invalid JSON"),
    ("beir", "qrels/test.tsv", "q\td\t1\nq\td\n", "test.tsv, line 2, field 'score'"),
    ("cosqa", "code_idx_map.txt", [], "code_idx_map.txt, line 1, field '': "),
    ("locomo", "locomo10.json", [{**LOCOMO[0], "conversation": []}], "1, field '0.conversation'"),
    ("locomo", "locomo10.json", [{**LOCOMO[0], "conversation": {"session_1": TURNS}}],
     "field 'session_1_date_time'"),
    ("locomo", "locomo10.json",
     [{**LOCOMO[0], "conversation": {"session_1_date_time": "8 May", "session_1": []}}],
     "field 'session_1_date_time': '8 May' is no time"),
    ("locomo", "locomo10.json",
     [{**LOCOMO[0], "conversation": {**TALK, "session_1": ["hello"]}}],  # type: ignore[dict-item]
     "line 1, field '0'"),
    ("locomo", "locomo10.json",
     [{**LOCOMO[0], "qa": [{"question": "Why?", "evidence": [], "category": 6}]}],
     "field '0.qa.0.category'"),
    ("longmemeval", "longmemeval_s.json", [{**LONG[0], "haystack_dates": []}],
     "field 'haystack_dates': There is one date"),
)  # fmt: skip


@pytest.mark.parametrize(("public", "file", "content", "message"), FAULTS)
def test_faults_name_their_place(public: str, file: str, content: object, message: str) -> None:
    files = {"beir": BEIR, "cosqa": COSQA}.get(public, {})
    text = content if isinstance(content, str) else json.dumps(content)

    with pytest.raises(WrongSet, match=message):
        dataset.PUBLIC[public].convert({**files, file: text})


FOLDER = Path(dataset.__file__).parent / "sets" / "coding"
COMMON = re.compile(
    "about|after|although|been|before|does|from|have|into|must|never|that|their|then|there|they|"
    "this|though|was|were|what|when|where|which|while|who|will|with|would|your"
)


@pytest.fixture(scope="module")
def coding() -> JudgedSet:
    """The set, as the command reads it."""
    memories, queries = (
        (FOLDER / name).read_text(encoding="utf-8") for name in (dataset.MEMORIES, dataset.QUERIES)
    )
    return dataset.parse(name="coding", memories=memories, queries=queries)


def test_halves_follow_from_ids_and_no_query_has_the_words_of_its_answer(coding: JudgedSet) -> None:
    expected = dataset.split_of(items=((query.id, query.kind) for query in coding.queries))
    contents = {memory.id: memory.content.casefold() for memory in coding.memories}

    assert {query.id: query.split for query in coding.queries} == expected
    for query in coding.queries:
        for id, grade in query.relevant.items():
            assert query.text.casefold() not in contents[id]
            if query.kind == "paraphrase" and grade == dataset.LARGEST_GRADE:
                assert _words(query.text) & _words(contents[id]) == set(), query.id


def test_questions_about_a_time_see_their_answer(coding: JudgedSet) -> None:
    memories = {memory.id: memory for memory in coding.memories}

    for query in coding.queries:
        for id in query.relevant:
            memory = memories[id]
            assert memory.event_at is not None
            assert (memory.valid_until is not None) == (query.as_of is not None)
            if query.as_of and memory.valid_until:
                assert memory.event_at <= query.as_of < memory.valid_until
    ended = [memory for memory in coding.memories if memory.superseded_by]

    assert len(ended) >= 6
    for memory in ended:
        successor = memories[memory.superseded_by or ""]
        assert memory.valid_until == successor.event_at
        assert successor.superseded_by is None


def _words(text: str) -> set[str]:
    words = re.findall(r"[a-z]{4,}", text.casefold())
    return {word for word in words if not COMMON.fullmatch(word)}


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
