"""Briefs: how many tokens they take, how many memories, and how many of those fit the task.

Run: `BENCH_EMBEDDER=local/all-minilm-l6-v2 .venv/bin/python -m tests.bench.bench_briefs`; a minute.
Each query of the shipped set of coding questions is the first prompt of a session of its own, by
the action that hooks call. What a query's grades name fits it; a brief about what nothing answers
is wrong as a whole. With `print` behind it the texts are shown.
"""

import statistics
import sys
from datetime import datetime
from typing import NamedTuple

from django.core.management import call_command
from django.utils import timezone

from accounts.caller import Caller
from memory.evaluation import dataset
from memory.evaluation.sandbox import trial
from memory.injection.actions.deliver import Delivery
from memory.injection.actions.external_binding import Whereabouts
from memory.injection.actions.hooks import follow_agent
from memory.injection.harnesses import ADAPTERS, Harness, read_payload
from tests.bench import measures
from tests.support import memories
from tests.support.checked import SET

SHOWN = "print"


def main(*, with_texts: bool) -> None:
    """Brief a session of each query, and print the figures."""
    call_command("migrate", verbosity=0)
    now = timezone.now()
    texts = (
        (SET / name).read_text(encoding="utf-8") for name in (dataset.MEMORIES, dataset.QUERIES)
    )
    judged = dataset.parse(name="coding", memories=next(texts), queries=next(texts))
    at = {one.id: one.project for one in judged.memories}
    at_first = judged.memories[0].project
    rows: list[Row] = []
    with trial(judged=judged, now=now, tell=lambda _: None) as place:
        program = memories.as_agent(place.caller)
        for query in judged.queries:
            near = (at[one] for one in query.relevant)
            told = _brief(program, query, query.project or next(near, at_first), now)
            ids = frozenset(place.names[one.memory.id] for one in told.memories)
            half = str(query.split)
            rows.append(
                Row(
                    half,
                    told.tokens,
                    len(ids),
                    len(ids & query.relevant.keys()),
                    bool(query.relevant),
                )
            )
            if with_texts and told.text:
                print(f"\n### {query.text}\n{told.text}")
    for half in ("train", "held"):
        print(f"\n{half}")
        _print(tuple(row for row in rows if row.half == half))


class Row(NamedTuple):
    """One brief: its tokens, its memories and how many of them fit, and whether any could."""

    half: str
    tokens: int
    given: int
    fitting: int
    is_answerable: bool


def _print(rows: tuple[Row, ...]) -> None:
    sizes = [row.tokens for row in rows if row.tokens]
    given = sum(row.given for row in rows)
    can = [row for row in rows if row.is_answerable]
    cannot = [row for row in rows if not row.is_answerable]
    told = sum(row.fitting > 0 for row in can) / len(can)
    disturbed = sum(row.given > 0 for row in cannot) / len(cannot)
    lines = {
        f"{len(sizes)} of {len(rows)} briefed": f"mean {statistics.mean(sizes):.0f} tokens",
        "tokens": f"median {statistics.median(sizes):.0f}, most {max(sizes)}",
        f"{given} memories": f"{sum(row.fitting for row in rows) / given:.2f} of them fit",
        f"{len(can)} answerable": f"{told:.2f} told what fits",
        f"{len(cannot)} without an answer": f"{disturbed:.2f} briefed",
    }
    for name, text in lines.items():
        measures.line(name, text)


def _brief(program: Caller, query: dataset.JudgedQuery, project: str, now: datetime) -> Delivery:
    payload = {
        "session_id": query.id,
        "cwd": f"/home/ana/{project}",
        "hook_event_name": "UserPromptSubmit",
        "prompt": query.text,
    }
    event = read_payload(adapter=ADAPTERS[Harness.CLAUDE_CODE], payload=payload)
    return follow_agent(caller=program, event=event, whereabouts=Whereabouts(), now=now)


if __name__ == "__main__":
    main(with_texts=SHOWN in sys.argv[1:])
