"""From answers to tables: means by kind, pairs by query, and what is said of a set."""

import json
from dataclasses import replace
from typing import Any

import pytest

from memory.evaluation import dataset, measures, report
from memory.evaluation.measures import Asked, Evaluation
from memory.evaluation.report import NotComparable

MEMORIES = [
    {"id": "old", "content": "Five tries.", "type": "fact", "contradicts": ["new"]},
    {"id": "new", "content": "Twelve tries.", "type": "fact"},
    {"id": "far", "content": "The ring is visible.", "type": "fact"},
]
QUERIES = [
    {"id": "q1", "text": "how many tries", "kind": "question", "relevant": {"new": 3, "old": 1}},
    {"id": "q2", "text": "what color", "kind": "nothing", "relevant": {}, "confusable": ["far"]},
]


def _asked(query_id: str, *ranked: str, pack: tuple[str, ...] = (), took_ms: float = 2.0) -> Asked:
    return Asked(
        query_id=query_id,
        ranked=ranked,
        best_relevance=0.4,
        silent=not pack,
        pack=pack,
        pack_tokens=10 * len(pack),
        took_ms=took_ms,
    )


SYSTEMS = {
    "plain": (_asked("q1", "new", "old", "far", pack=("new", "old")), _asked("q2", "far")),
    "rrf": (_asked("q1", "far", "new", pack=("far",)), _asked("q2", "far", pack=("far",))),
}


@pytest.fixture
def evaluation() -> Evaluation:
    """Two profiles: the second ranks worse and is never silent."""
    texts = ["\n".join(json.dumps(row) for row in rows) for rows in (MEMORIES, QUERIES)]
    return Evaluation(
        judged=dataset.parse(name="own", memories=texts[0], queries=texts[1]),
        split=None,
        embedder="hashing/words-384",
        embedded=3,
        refused={},
        degraded=(),
        systems=SYSTEMS,
    )


def _means(evaluation: Evaluation, profile: str, kind: str = "all") -> dict[str, float | None]:
    values = measures.values_of(evaluation=evaluation, profile=profile)
    rows = {row.kind: row for row in measures.table(values=values)}
    return {name: value and value.mean for name, value in rows[kind].measures.items()}


def test_rank_measures_look_at_answerable_queries_silence_at_all_and_packs_at_what_is_in_them(
    evaluation: Evaluation,
) -> None:
    plain, rrf = _means(evaluation, "plain"), _means(evaluation, "rrf")

    assert (plain["recall@10"], rrf["recall@10"], rrf["MRR"]) == (1.0, 0.5, 0.5)
    assert _means(evaluation, "plain", "nothing")["MRR"] is None
    assert (plain["silence precision"], plain["silence recall"], plain["withheld"]) == (1, 1, 0)
    assert (rrf["silence precision"], rrf["silence recall"], rrf["withheld"]) == (None, 0, 0)
    assert (plain["contradictions in pack"], plain["confusable in pack"]) == (1, 0)
    assert (rrf["contradictions in pack"], rrf["confusable in pack"]) == (0, 1)
    assert plain["pack tokens"] == 20


def test_the_tables_name_set_embedder_profiles_and_what_was_refused_or_degraded(
    evaluation: Evaluation,
) -> None:
    refused = {"m9": "It is too short."}

    text = report.markdown(
        evaluation=replace(evaluation, refused=refused, degraded=("no_vectors",))
    )

    assert "# Evaluation: own, both halves" in text
    assert "3 memories, 3 of them embedded by hashing/words-384; 2 queries, 1 of them" in text
    assert "| question | 1 | plain | 1.000 [1.000, 1.000] |" in text
    assert "| all | 2 | rrf - plain | **-0.500 [-0.500, -0.500]** |" in text
    assert "Not let in: 1 memories, such as m9: It is too short." in text
    assert "Degraded: no_vectors." in text


def test_the_values_for_json_are_plain_and_whole(evaluation: Evaluation) -> None:
    found = json.loads(json.dumps(report.plain(evaluation=evaluation)))

    assert found["systems"]["plain"]["queries"]["q1"]["ranked"] == ["new", "old", "far"]
    assert found["systems"]["plain"]["took_ms"] == {"p50": 2.0, "p95": 2.0}
    assert found["differences"]["rrf - plain"]["question"]["MRR"]["mean"] == -0.5


def _report(**recalls: float) -> dict[str, Any]:
    queries = {
        id: {
            "kind": "typo",
            "silent": not recall,
            "measures": dict.fromkeys(("recall@10", "nDCG@10", "MRR", "precision@10"), recall),
        }
        for id, recall in recalls.items()
    }
    queries["none"] = {"kind": "nothing", "silent": True, "measures": {}}
    return {"digest": "d", "split": "held", "systems": {"plain": {"queries": queries}}}


def test_the_second_is_measured_against_the_first_and_what_nothing_answers_by_silence() -> None:
    first, second = _report(q1=0.0, q2=0.5), _report(q1=1.0, q2=0.5)

    all_, nothing, typo = report.compare(first=first, second=second, profile="plain")

    recall, silent = typo.measures["recall@10"], all_.measures["silent"]
    assert recall is not None
    assert silent is not None
    assert (recall.mean, recall.count) == (0.5, 2)
    assert silent.mean == pytest.approx(-1 / 3)
    assert (nothing.kind, nothing.measures["recall@10"]) == ("nothing", None)
    assert nothing.measures["silent"] is not None


def test_reports_that_do_not_belong_together_are_refused() -> None:
    changes: tuple[tuple[dict[str, Any], str], ...] = (
        ({"digest": "e"}, "differ in 'digest'"),
        ({"split": "train"}, "differ in 'split'"),
        ({"systems": {"rrf": {}}}, "nothing of the profile 'plain'"),
        ({"systems": []}, "nothing of the profile 'plain'"),
        ({"systems": {"plain": {"queries": {}}}}, "same queries"),
    )
    whole = _report(q1=1.0)
    for change, message in changes:
        with pytest.raises(NotComparable, match=message):
            report.compare(first=whole, second={**whole, **change}, profile="plain")
