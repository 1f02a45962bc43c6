"""Recall of searches over REST, beside meaning alone and words alone, on judged sets.

Run: `BENCH_URL=… BENCH_TOKEN=… .venv/bin/python -m tests.bench.bench_retrieval FOLDER…`, the token
of a person who may make projects. A folder holds `memories.jsonl` and `queries.jsonl`. Nothing but
the public API is used: projects are made, memories sent in bulk, their vectors awaited, and each
question asked as anybody would. Projects get names of their own, so that a run never meets another.

`usual` is what an agent gets, `ranking` the same without silence, `words` the mode keyword without
a reranker. The bare ones are made here of the same texts: cosines of the same model over all of a
project, as pgvector orders them, and BM25 (k1 1.2, b 0.75) of words in small letters.
BENCH_MOST limits the questions of a set.
"""

import json
import math
import os
import re
import statistics
import sys
import uuid
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import httpx
import numpy as np
from django.conf import settings

from memory.evaluation.measures import K, quotient, recall_at
from memory.providers import local
from tests.bench.measures import line

TOGETHER: Final = 200  # memories a call
PATIENCE_S: Final = 30  # that a call waits for their vectors
SENT: Final = ("content", "type", "tags", "event_at", "thread", "session", "position")
WAYS: Final[Mapping[str, Mapping[str, object]]] = {
    "usual": {},
    "ranking": {"threshold": 0},
    "words": {"threshold": 0, "mode": "keyword", "rerank": "none"},
}
WORD: Final = re.compile(r"\w+")
Row = dict[str, Any]


def main(*, folders: tuple[Path, ...]) -> None:
    """Load each set, ask its questions, and print what was found."""
    headers = {"Authorization": f"Bearer {os.environ['BENCH_TOKEN']}"}
    most = int(os.environ.get("BENCH_MOST", sys.maxsize))
    with httpx.Client(base_url=os.environ["BENCH_URL"], headers=headers, timeout=120) as client:
        for folder in folders:
            queries = [one for one in _rows(folder / "queries.jsonl") if one["relevant"]][:most]
            _measure(client, folder.name, _rows(folder / "memories.jsonl"), queries)


def _rows(file: Path) -> list[Row]:
    return [json.loads(line) for line in file.read_text().splitlines() if line]


def _measure(client: httpx.Client, name: str, memories: list[Row], queries: list[Row]) -> None:
    projects = _load(client, memories)
    found: dict[str, list[float]] = defaultdict(list)
    took: list[float] = []
    silent = 0
    for project, slug in projects.items():
        known = [one for one in memories if one["project"] == project]
        asked = [one for one in queries if one["project"] == project]
        for way, order in _bare(known, [one["text"] for one in asked]).items():
            found[way] += _recalls(asked, order)
        for way, more in WAYS.items():
            answers = [_ask(client, one["text"], slug, more) for one in asked]
            ranked = [[hit["memory"]["external_id"] for hit in one["results"]] for one in answers]
            found[way] += _recalls(asked, ranked)
            if way == "usual":
                took += [one["took_ms"] for one in answers]
                silent += sum(one["nothing_relevant"] for one in answers)
    print(f"\n{name}: {len(memories)} memories, {len(queries)} questions, {silent} not answered")
    for way, values in found.items():
        shown = quotient(numerators=values, denominators=[1.0] * len(values))
        if shown is not None:
            line(way, f"recall@{K} {shown.mean:.3f} [{shown.low:.3f}, {shown.high:.3f}]")
    line("a usual search", f"p50 {statistics.median(took):.1f} ms")


def _load(client: httpx.Client, memories: list[Row]) -> dict[str, str]:
    """Send memories and await their vectors; return the slugs of their projects."""
    slugs = {}
    for project in sorted({one["project"] for one in memories}):
        slug = slugs[project] = f"{project}-{uuid.uuid4().hex[:8]}"
        _post(client, "projects", {"slug": slug, "name": slug})
        known = [one for one in memories if one["project"] == project]
        for start in range(0, len(known), TOGETHER):
            part = [_sent(one) for one in known[start : start + TOGETHER]]
            body = {"project": slug, "memories": part}
            answer = _post(client, f"memories/bulk?wait={PATIENCE_S}", body)
            refused = Counter(one["reason"] for one in answer["outcomes"] if not one["memory"])
            if refused:
                line("refused", str(dict(refused)))
    return slugs


def _sent(one: Row) -> Row:
    return {
        "external_id": one["id"],
        **{name: one[name] for name in SENT if one.get(name) is not None},
    }


def _ask(client: httpx.Client, text: str, slug: str, more: Mapping[str, object]) -> Row:
    return _post(client, "search", {"query": text, "project": slug, "limit": K, **more})


def _post(client: httpx.Client, path: str, body: Row) -> Row:
    answer = client.post(f"/api/v1/{path}", json=body)
    assert answer.is_success, answer.text
    found: Row = answer.json()
    return found


def _recalls(asked: list[Row], ranked: Sequence[Sequence[str]]) -> list[float]:
    pairs = zip(asked, ranked, strict=True)
    return [recall_at(ranked=order, grades=one["relevant"], k=K) for one, order in pairs]


def _bare(known: list[Row], texts: list[str]) -> dict[str, list[list[str]]]:
    """Return the best ids for each text, by meaning alone and by words alone."""
    ids = [one["id"] for one in known]
    contents = tuple(one["content"] for one in known)
    embedder = local.LocalEmbedder(
        models_dir=Path(settings.CAIRN_PROVIDERS["models_dir"]), threads=2
    )
    close = embedder.embed(texts=tuple(texts)) @ embedder.embed(texts=contents).T
    words = [Counter(WORD.findall(text.lower())) for text in contents]
    holders = Counter(word for own in words for word in own)
    average = statistics.mean(own.total() for own in words)
    fit = [[_bm25(text, own, holders, len(words), average) for own in words] for text in texts]
    return {
        "meaning alone": [[ids[at] for at in np.argsort(-row)[:K]] for row in close],
        "BM25 alone": [[ids[at] for at in np.argsort(-np.array(row))[:K]] for row in fit],
    }


def _bm25(text: str, own: Counter[str], holders: Counter[str], count: int, average: float) -> float:
    score = 0.0
    for word in set(WORD.findall(text.lower())) & own.keys():
        rarity = math.log(1 + (count - holders[word] + 0.5) / (holders[word] + 0.5))
        saturated = own[word] + 1.2 * (0.25 + 0.75 * own.total() / average)
        score += rarity * own[word] * 2.2 / saturated
    return score


if __name__ == "__main__":
    main(folders=tuple(Path(folder) for folder in sys.argv[1:]))
