"""An evaluation as Markdown for people and as plain values for JSON, and two of them compared.

Both forms name the set by its digest, the embedder and what was refused, so that a figure can be
made again. Differences are set in bold where their interval excludes zero.

What one run cannot ask, because an installation has one embedder at a time, two runs can: each
writes its report with `--out`, and `compare` pairs them query by query. Reports of other sets or of
other halves are refused: a difference between them would say nothing.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any, Final

import numpy as np

from memory.evaluation import measures
from memory.evaluation.fitting import Checked, Choice
from memory.evaluation.measures import ALL, RANK_MEASURES, Evaluation, Interval, Row, Values
from memory.search.query import QueryKind

COUNTED: Final = frozenset({"pack tokens"})  # in units, not shares
TABLES: Final = (  # of a report: heading, measures
    ("Ranking", RANK_MEASURES),
    ("Silence", measures.SILENCE_MEASURES),
    ("Packs", measures.PACK_MEASURES),
)
PERCENTILES: Final = (50, 95)
SAME: Final = ("digest", "split")  # must agree in reports that are compared
SILENT: Final = "silent"


class NotComparable(ValueError):
    """Two reports that cannot be paired, and why."""


def markdown(*, evaluation: Evaluation) -> str:
    """Return the report to read."""
    return "\n".join((*_head(evaluation), *_tables(evaluation), *_times(evaluation), ""))


def plain(*, evaluation: Evaluation) -> dict[str, Any]:
    """Return the report as JSON takes it, each query's outcome with it."""
    return {
        "set": evaluation.judged.name,
        "digest": evaluation.judged.digest,
        "split": evaluation.split or ALL,
        "embedder": evaluation.embedder,
        "memories": len(evaluation.judged.memories),
        "embedded": evaluation.embedded,
        "refused": dict(evaluation.refused),
        "degraded": list(evaluation.degraded),
        "resamples": measures.RESAMPLES,
        "systems": {profile: _plain_system(evaluation, profile) for profile in evaluation.systems},
        "differences": {name: _plain_rows(rows) for name, rows in _differences(evaluation).items()},
    }


def compare(
    *, first: Mapping[str, Any], second: Mapping[str, Any], profile: str
) -> tuple[Row, ...]:
    """Return second - first for all queries and each kind: rank measures, and share of silences.

    Takes reports as `plain` gives them. Raises NotComparable.
    """
    for name in SAME:
        if first.get(name) != second.get(name):
            raise NotComparable(f"They differ in {name!r}; ask both the same queries.")
    before, after = (_queries(report, profile) for report in (first, second))
    if before.keys() != after.keys():
        raise NotComparable("They do not hold the same queries.")
    return measures.differences(first=before, second=after, names=(*RANK_MEASURES, SILENT))


def _queries(report: Mapping[str, Any], profile: str) -> measures.Values:
    """Return the kind of each query of a report, and the measures that apply to it."""
    try:
        found = report["systems"][profile]["queries"]
        return {
            id: (row["kind"], {**row["measures"], SILENT: float(row["silent"])})
            for id, row in found.items()
        }
    except (KeyError, TypeError, AttributeError) as error:
        raise NotComparable(
            f"A report holds nothing of the profile {profile!r}; write it with evaluate --out."
        ) from error


def differences(*, title: str, rows: tuple[Row, ...]) -> str:
    """Return the table of what one report has more than another."""
    names = tuple(rows[0].measures)
    return "\n".join((*_table(title, {"second - first": rows}, names, "+"), ""))


def calibrations(*, rows: tuple[Checked, ...]) -> str:
    """Return fitted rows as `tables/calibrations.toml` takes them, and checks."""
    return "\n".join(line for row in rows for line in _calibration(row))


def choices(*, rows: Mapping[QueryKind, tuple[int, Choice]]) -> str:
    """Return fitted weights by kind of query, and whether they are better than the usual ones."""
    return "\n".join(
        f"{kind}, {count} queries: {dict(one.weights)}, nDCG@10 {one.value:.3f} smoothed, usual "
        f"{one.usual:.3f}, gain {_cell('nDCG@10', one.gain, '+')}; "
        f"{'better' if one.is_better else 'keep the usual ones'}"
        for kind, (count, one) in rows.items()
    )


def _calibration(row: Checked) -> Iterator[str]:
    fitted, crossed = row.calibration, row.crossed
    yield f'["{fitted.key}"]'
    yield f"intercept = {fitted.intercept}"
    yield f"threshold = {fitted.threshold}"
    yield f"rivals = {{ cosine = {fitted.rivals.cosine}, matched = {fitted.rivals.matched} }}"
    slopes = ", ".join(f"{sign} = {slope}" for sign, slope in fitted.slopes.items())
    yield f"slopes = {{ {slopes} }}"
    yield (
        f"  unseen of train: silence recall {crossed.silence.recall:.3f}, withheld "
        f"{crossed.silence.withheld:.3f}, an answerable query is above one that is not in "
        f"{crossed.parting:.3f}"
    )
    for split, (checked, effect) in row.halves.items():
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
        f"an answer. Set {judged.digest[:12]}. Brackets: {measures.LEVEL:.0%} bootstrap intervals, "
        f"{measures.RESAMPLES} draws. Rank measures are taken over the queries that have an answer."
    )
    if evaluation.refused:
        first, reason = next(iter(evaluation.refused.items()))
        yield ""
        yield (
            f"Not let in: {len(evaluation.refused)} memories, such as {first}: {reason} They count "
            "as not found."
        )
    if evaluation.degraded:
        yield ""
        yield f"Degraded: {', '.join(evaluation.degraded)}."


def _tables(evaluation: Evaluation) -> Iterator[str]:
    tables = {
        profile: measures.table(values=values) for profile, values in _values(evaluation).items()
    }
    for heading, names in TABLES:
        yield from _table(heading, tables, names, "")
    between = _differences(evaluation)
    if between:
        yield from _table("Differences, paired by query", between, RANK_MEASURES, "+")


def _table(
    title: str, tables: Mapping[str, tuple[Row, ...]], names: tuple[str, ...], sign: str
) -> Iterator[str]:
    """Yield a table in which the lines of one kind are together, one a profile."""
    yield from ("", f"## {title}", "", f"| kind | queries | profile | {' | '.join(names)} |")
    yield f"|---|---|---|{'---|' * len(names)}"
    for rows in zip(*tables.values(), strict=True):
        for profile, row in zip(tables, rows, strict=True):
            cells = " | ".join(_cell(name, row.measures[name], sign) for name in names)
            if any(row.measures[name] is not None for name in names):
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
    for profile in evaluation.systems:
        whole = _milliseconds(evaluation, profile)
        medians = (_milliseconds(evaluation, profile, name)["p50"] for name in stages)
        cells = "".join(f" {median:.2f} |" for median in medians)
        yield f"| {profile} | {whole['p50']:.1f} | {whole['p95']:.1f} |{cells}"


def _stages(evaluation: Evaluation) -> tuple[str, ...]:
    asked = (one for system in evaluation.systems.values() for one in system)
    return tuple(dict.fromkeys(name for one in asked for name in one.stages))


def _milliseconds(evaluation: Evaluation, profile: str, stage: str = "") -> dict[str, float]:
    """Return the percentiles of searches or of a stage; one without it took no time for it."""
    asked = evaluation.systems[profile]
    times = [one.stages.get(stage, 0.0) if stage else one.took_ms for one in asked]
    found = np.percentile(times, PERCENTILES, method="inverted_cdf")
    return {f"p{percent}": float(ms) for percent, ms in zip(PERCENTILES, found, strict=True)}


def _values(evaluation: Evaluation) -> dict[str, Values]:
    return {
        profile: measures.values_of(evaluation=evaluation, profile=profile)
        for profile in evaluation.systems
    }


def _differences(evaluation: Evaluation) -> dict[str, tuple[Row, ...]]:
    """Return what each other system has more than the first."""
    (first, usual), *others = _values(evaluation).items()
    return {
        f"{other} - {first}": measures.differences(first=usual, second=values, names=RANK_MEASURES)
        for other, values in others
    }


def _plain_system(evaluation: Evaluation, profile: str) -> dict[str, Any]:
    values = measures.values_of(evaluation=evaluation, profile=profile)
    stages = {name: _milliseconds(evaluation, profile, name) for name in _stages(evaluation)}
    queries = {}
    for one in evaluation.systems[profile]:
        row = asdict(one)
        del row["stages"]
        kind, found = values[row.pop("query_id")]
        ranks = {name: found[name] for name in RANK_MEASURES if name in found}
        queries[one.query_id] = {"kind": kind, "measures": ranks, **row}
    return {
        "kinds": _plain_rows(measures.table(values=values)),
        "took_ms": _milliseconds(evaluation, profile),
        "stages": stages,
        "queries": queries,
    }


def _plain_rows(rows: tuple[Row, ...]) -> dict[str, Any]:
    return {
        row.kind: {
            name: None if value is None else asdict(value) for name, value in row.measures.items()
        }
        for row in rows
    }
