"""Public sets become ours: tiny files of their format go in, a set that parses comes out."""

import json

import pytest

from memory.evaluation import dataset
from memory.evaluation.dataset import Converted, JudgedSet, WrongSet
from memory.taxonomy import MemoryType

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
def test_a_fault_of_a_public_file_is_named_by_its_place(
    public: str, file: str, content: object, message: str
) -> None:
    files = {"beir": BEIR, "cosqa": COSQA}.get(public, {})
    text = content if isinstance(content, str) else json.dumps(content)

    with pytest.raises(WrongSet, match=message):
        dataset.PUBLIC[public].convert({**files, file: text})
