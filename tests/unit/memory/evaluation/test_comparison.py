"""Two reports of one set: paired by query, and refused where they do not belong together."""

from typing import Any

import pytest

from memory.evaluation import comparison
from memory.evaluation.comparison import NotComparable


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


def test_the_second_is_measured_against_the_first() -> None:
    rows = comparison.compared(
        first=_report(q1=0.0, q2=0.5), second=_report(q1=1.0, q2=0.5), profile="plain"
    )

    all_, _, typo = rows
    recall = dict(typo.measures)["recall@10"]
    silent = dict(all_.measures)["silent"]
    assert recall is not None
    assert silent is not None
    assert (recall.mean, recall.count) == (0.5, 2)
    assert silent.mean == pytest.approx(-1 / 3)


def test_queries_that_nothing_answers_count_for_silence_alone() -> None:
    rows = comparison.compared(first=_report(q1=1.0), second=_report(q1=1.0), profile="plain")

    measures = dict(rows[1].measures)
    assert rows[1].kind == "nothing"
    assert measures["recall@10"] is None
    assert measures["silent"] is not None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"digest": "e"}, "differ in 'digest'"),
        ({"split": "train"}, "differ in 'split'"),
        ({"systems": {"rrf": {}}}, "nothing of the profile 'plain'"),
        ({"systems": []}, "nothing of the profile 'plain'"),
        ({"systems": {"plain": {"queries": {}}}}, "same queries"),
    ],
)
def test_reports_that_do_not_belong_together_are_refused(
    change: dict[str, Any], message: str
) -> None:
    with pytest.raises(NotComparable, match=message):
        comparison.compared(
            first=_report(q1=1.0), second={**_report(q1=1.0), **change}, profile="plain"
        )
