"""The judged set that is shipped: whole, fair, and halved as its ids say."""

import re
from collections import Counter
from pathlib import Path

import pytest

from memory.evaluation import dataset
from memory.evaluation.dataset import JudgedSet

FOLDER = Path(dataset.__file__).parent / "sets" / "coding"
COMMON = re.compile(
    "about|after|although|been|before|does|from|have|into|must|never|that|their|then|there|they|"
    "this|though|was|were|what|when|where|which|while|who|will|with|would|your"
)
FRENCH_WORDS = re.compile(r"\b(?:le|la|les|des|une|de|du|un|quel|comment|où|qui|que)\b", re.I)


@pytest.fixture(scope="module")
def coding() -> JudgedSet:
    """The set, as the command reads it."""
    texts = {
        name: (FOLDER / name).read_text(encoding="utf-8")
        for name in (dataset.MEMORIES, dataset.QUERIES)
    }
    return dataset.parse(
        name="coding", memories=texts[dataset.MEMORIES], queries=texts[dataset.QUERIES]
    )


def test_it_is_large_enough(coding: JudgedSet) -> None:
    unanswerable = [query for query in coding.queries if not query.answerable]

    assert len(coding.memories) >= 160
    assert len(coding.queries) >= 130
    assert len(unanswerable) >= 35


def test_it_spans_three_code_bases_and_most_types(coding: JudgedSet) -> None:
    projects = Counter(memory.project for memory in coding.memories)
    types = {memory.type for memory in coding.memories}

    assert len(projects) == 3
    assert min(projects.values()) >= 50
    assert len(types) >= 20


def test_every_kind_of_query_is_there(coding: JudgedSet) -> None:
    kinds = Counter(query.kind for query in coding.queries)

    assert set(kinds) == {
        "identifier", "paraphrase", "question", "negation", "time", "multi", "typo", "french",
        "structural", "lookalike", "nothing",
    }  # fmt: skip
    assert kinds["french"] >= 8
    assert min(kinds.values()) >= 8


def test_halves_are_what_the_hash_of_the_id_says(coding: JudgedSet) -> None:
    expected = dataset.split_of(items=((query.id, query.kind) for query in coding.queries))

    assert {query.id: query.split for query in coding.queries} == expected


def test_no_query_stands_word_for_word_in_its_answer(coding: JudgedSet) -> None:
    contents = {memory.id: memory.content.casefold() for memory in coding.memories}

    for query in coding.queries:
        assert all(query.text.casefold() not in contents[id] for id in query.relevant)


def test_no_query_is_asked_twice(coding: JudgedSet) -> None:
    assert len({query.text.casefold() for query in coding.queries}) == len(coding.queries)


def test_paraphrases_share_no_word_with_their_best_answer(coding: JudgedSet) -> None:
    contents = {memory.id: memory.content for memory in coding.memories}

    shared = {
        (query.id, id): _words(query.text) & _words(contents[id])
        for query in coding.queries
        if query.kind == "paraphrase"
        for id, grade in query.relevant.items()
        if grade == dataset.LARGEST_GRADE
    }

    assert {key: words for key, words in shared.items() if words} == {}


def test_every_query_without_an_answer_names_what_looks_like_one(coding: JudgedSet) -> None:
    nothing = [query for query in coding.queries if not query.answerable]

    assert {query.kind for query in nothing} == {"nothing"}
    assert all(query.confusable for query in nothing)


def test_questions_about_a_time_see_their_answer_and_not_its_rival(coding: JudgedSet) -> None:
    memories = {memory.id: memory for memory in coding.memories}

    for query in coding.queries:
        for id in query.relevant:
            memory = memories[id]
            assert memory.event_at is not None
            assert (memory.valid_until is not None) == (query.as_of is not None)
            if query.as_of and memory.valid_until:
                assert memory.event_at <= query.as_of < memory.valid_until


def test_superseded_memories_end_where_their_successors_begin(coding: JudgedSet) -> None:
    memories = {memory.id: memory for memory in coding.memories}
    ended = [memory for memory in coding.memories if memory.superseded_by]

    assert len(ended) >= 6
    for memory in ended:
        successor = memories[memory.superseded_by or ""]
        assert memory.valid_until == successor.event_at
        assert successor.superseded_by is None


def test_contradictions_stand_between_living_memories(coding: JudgedSet) -> None:
    memories = {memory.id: memory for memory in coding.memories}
    against = [memory for memory in coding.memories if memory.contradicts]

    assert len(against) >= 3
    for memory in against:
        assert all(memories[id].valid_until is None for id in memory.contradicts)
        assert memory.valid_until is None


def test_french_queries_are_french(coding: JudgedSet) -> None:
    french = [query.text for query in coding.queries if query.kind == "french"]

    assert all(FRENCH_WORDS.search(text) for text in french)


def _words(text: str) -> set[str]:
    words = re.findall(r"[a-z]{4,}", text.casefold())
    return {word for word in words if not COMMON.fullmatch(word)}
