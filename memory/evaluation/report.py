"""An evaluation as Markdown for people and as plain values for JSON.

Both name the set by its digest, the embedder and what was refused, so that a figure can be made
again. Differences are set in bold where their interval excludes zero.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from memory.evaluation import outcomes
from memory.evaluation.bootstrap import LEVEL, RESAMPLES, Interval
from memory.evaluation.calibration import Checked
from memory.evaluation.dataset import JudgedQuery
from memory.evaluation.outcomes import Asked, Evaluation, Row, System
from memory.evaluation.weights import Choice
from memory.search.query import QueryKind

COUNTED: Final = frozenset({"pack tokens"})  # in units, not shares
SHARED: Final = (  # the tables of a report: heading, measures
    ("Ranking", outcomes.RANK_MEASURES),
    ("Silence", outcomes.SILENCE_MEASURES),
    ("Packs", outcomes.PACK_MEASURES),
)
PERCENTILES: Final = (50, 95)


def markdown(*, evaluation: Evaluation) -> str:
    """Return the report to read."""
    return "\n".join((*_head(evaluation), *_tables(evaluation), *_times(evaluation), ""))


def plain(*, evaluation: Evaluation) -> dict[str, Any]:
    """Return the report as JSON takes it, each query's outcome with it."""
    return {
        "set": evaluation.judged.name,
        "digest": evaluation.judged.digest,
        "split": evaluation.split or outcomes.ALL,
        "embedder": evaluation.embedder,
        "memories": len(evaluation.judged.memories),
        "embedded": evaluation.embedded,
        "refused": {item.memory_id: item.reason for item in evaluation.refused},
        "degraded": list(evaluation.degraded),
        "resamples": RESAMPLES,
        "systems": {item.profile: _plain_system(evaluation, item) for item in evaluation.systems},
        "differences": {
            f"{second.profile} - {first.profile}": _plain_rows(
                outcomes.differences(evaluation=evaluation, first=first, second=second)
            )
            for first, second in _compared(evaluation)
        },
    }


def differences(*, title: str, rows: tuple[Row, ...]) -> str:
    """Return the table of what one report has more than another."""
    names = tuple(name for name, _ in rows[0].measures)
    return "\n".join((*_table(title, {"second - first": rows}, names, "+"), ""))


def calibrations(*, rows: tuple[Checked, ...]) -> str:
    """Return fitted rows as the table of `memory.search.relevance` takes them, and checks."""
    return "\n".join(line for row in rows for line in _calibration(row))


def choices(*, rows: Mapping[QueryKind, tuple[int, Choice]]) -> str:
    """Return fitted weights by kind of query, and whether they are better than the usual ones."""
    return "\n".join(
        f"{kind}, {count} queries: {dict(one.weights)}, nDCG@10 {one.value:.3f} smoothed, usual "
        f"{one.usual:.3f}, gain {_cell('nDCG@10', one.gain, '+')}; "
        f"{'better' if one.is_better else 'keep the usual ones'}"
        for kind, (count, one) in rows.items()
    )


def percentile(*, values: Iterable[float], percent: int) -> float:
    """Return the value that `percent` of the values do not exceed (nearest rank)."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]


def _calibration(row: Checked) -> Iterator[str]:
    fitted = row.calibration
    slopes = ", ".join(f"Sign.{sign.name}: {slope}" for sign, slope in fitted.slopes.items())
    rest = f"{fitted.threshold}, {fitted.rivals.cosine}, {fitted.rivals.matched}"
    yield f'("{fitted.key}", {fitted.intercept}, {{{slopes}}}, {rest}),'
    yield (
        f"  unseen of train: silence recall {row.unseen.recall:.3f}, withheld "
        f"{row.unseen.withheld:.3f}, an answerable query is above one that is not in "
        f"{row.parting:.3f}"
    )
    for split, checked in row.reliability.items():
        effect = row.silence[split]
        yield (
            f"  {split}: Brier {checked.brier:.4f}, of the base rate {checked.base_brier:.4f}; "
            f"silence recall {effect.recall:.3f}, withheld {effect.withheld:.3f}"
        )
        if effect.taken_out is not None:
            yield f"    silence where the answers were taken out {effect.taken_out:.3f}"
        for one in checked.bins:
            yield f"    {one.count:4} pairs: said {one.said:.2f}, so in {one.true:.2f}"


def _head(evaluation: Evaluation) -> Iterator[str]:
    judged = evaluation.judged
    unanswerable = sum(not query.answerable for query in judged.queries)
    yield f"# Evaluation: {judged.name}, {evaluation.split or 'both halves'}"
    yield ""
    yield (
        f"{len(judged.memories)} memories, {evaluation.embedded} of them embedded by "
        f"{evaluation.embedder}; {len(judged.queries)} queries, {unanswerable} of them without "
        f"an answer. Set {judged.digest[:12]}. Brackets: {LEVEL:.0%} bootstrap intervals, "
        f"{RESAMPLES} draws. Rank measures are taken over the queries that have an answer."
    )
    if evaluation.refused:
        first = evaluation.refused[0]
        yield ""
        yield (
            f"Not let in: {len(evaluation.refused)} memories, such as {first.memory_id}: "
            f"{first.reason} They count as not found."
        )
    if evaluation.degraded:
        yield ""
        yield f"Degraded: {', '.join(evaluation.degraded)}."


def _tables(evaluation: Evaluation) -> Iterator[str]:
    tables = {
        system.profile: outcomes.table(evaluation=evaluation, system=system)
        for system in evaluation.systems
    }
    for heading, names in SHARED:
        yield from _table(heading, tables, names, "")
    between = {
        f"{second.profile} - {first.profile}": outcomes.differences(
            evaluation=evaluation, first=first, second=second
        )
        for first, second in _compared(evaluation)
    }
    if between:
        yield from _table("Differences, paired by query", between, outcomes.RANK_MEASURES, "+")


def _table(
    title: str, tables: Mapping[str, tuple[Row, ...]], names: tuple[str, ...], sign: str
) -> Iterator[str]:
    """Yield a table whose lines of one kind stand together, one a profile."""
    yield from ("", f"## {title}", "", f"| kind | queries | profile | {' | '.join(names)} |")
    yield f"|---|---|---|{'---|' * len(names)}"
    for rows in zip(*tables.values(), strict=True):
        for profile, row in zip(tables, rows, strict=True):
            given = dict(row.measures)
            cells = " | ".join(_cell(name, given[name], sign) for name in names)
            if any(given[name] is not None for name in names):
                yield f"| {row.kind} | {row.queries} | {profile} | {cells} |"


def _cell(name: str, value: Interval | None, sign: str) -> str:
    if value is None:
        return "-"
    form = ".0f" if name in COUNTED else f"{sign}.3f"
    text = f"{value.mean:{form}} [{value.low:{form}}, {value.high:{form}}]"
    return f"**{text}**" if sign and value.excludes_zero else text


def _times(evaluation: Evaluation) -> Iterator[str]:
    """Yield milliseconds a search; of its stages the median, the first ones first."""
    stages = _stages(evaluation)
    yield from ("", "## Milliseconds a search", "")
    yield f"| profile | p50 | p95 |{''.join(f' {name} p50 |' for name in stages)}"
    yield f"|---|---|---|{'---|' * len(stages)}"
    for system in evaluation.systems:
        p50, p95 = _milliseconds(system)
        cells = "".join(f" {_stage(system, name, 50):.2f} |" for name in stages)
        yield f"| {system.profile} | {p50:.1f} | {p95:.1f} |{cells}"


def _stages(evaluation: Evaluation) -> tuple[str, ...]:
    asked = (one for system in evaluation.systems for one in system.asked)
    return tuple(dict.fromkeys(name for one in asked for name in one.stages))


def _stage(system: System, name: str, percent: int) -> float:
    """Return a percentile of a stage; a search without it took no time for it."""
    values = (asked.stages.get(name, 0.0) for asked in system.asked)
    return percentile(values=values, percent=percent)


def _milliseconds(system: System) -> tuple[float, ...]:
    times = tuple(asked.took_ms for asked in system.asked)
    return tuple(percentile(values=times, percent=percent) for percent in PERCENTILES)


def _compared(evaluation: Evaluation) -> tuple[tuple[System, System], ...]:
    first, *others = evaluation.systems
    return tuple((first, other) for other in others)


def _plain_system(evaluation: Evaluation, system: System) -> dict[str, Any]:
    p50, p95 = _milliseconds(system)
    return {
        "kinds": _plain_rows(outcomes.table(evaluation=evaluation, system=system)),
        "took_ms": {"p50": p50, "p95": p95},
        "stages": {
            name: {f"p{percent}": _stage(system, name, percent) for percent in PERCENTILES}
            for name in _stages(evaluation)
        },
        "queries": {
            asked.query_id: {
                "kind": query.kind,
                "measures": _plain_measures(query, asked),
                "ranked": list(asked.ranked),
                "best_relevance": asked.best_relevance,
                "silent": asked.silent,
                "pack": list(asked.pack),
                "pack_tokens": asked.pack_tokens,
                "took_ms": asked.took_ms,
            }
            for query, asked in zip(evaluation.judged.queries, system.asked, strict=True)
        },
    }


def _plain_measures(query: JudgedQuery, asked: Asked) -> dict[str, float]:
    """Return the rank measures of a query; none for one that nothing answers."""
    values = outcomes.measured(query=query, asked=asked, pairs=())
    return {name: values[name].above for name in outcomes.RANK_MEASURES if values[name].below}


def _plain_rows(rows: tuple[Row, ...]) -> dict[str, Any]:
    return {
        row.kind: {name: _plain_interval(value) for name, value in row.measures} for row in rows
    }


def _plain_interval(value: Interval | None) -> dict[str, float] | None:
    if value is None:
        return None
    return {"mean": value.mean, "low": value.low, "high": value.high, "count": value.count}
