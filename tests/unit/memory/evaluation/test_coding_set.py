"""The judged set that is shipped: whole, fair, and halved as its ids say."""

import re
from pathlib import Path

import pytest

from memory.evaluation import dataset
from memory.evaluation.dataset import JudgedSet

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


def test_questions_about_a_time_see_their_answer_and_superseded_memories_end(
    coding: JudgedSet,
) -> None:
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
