"""Two reports of one set, query by query: other models, versions or machines side by side.

What one run cannot ask, because an installation has one embedder at a time, two runs can: each
writes its report with `--out`, and this pairs them. Reports of other sets or of other halves are
refused: a difference between them would say nothing.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from memory.evaluation import bootstrap
from memory.evaluation.outcomes import ALL, RANK_MEASURES, Row

SAME: Final = ("digest", "split")  # must agree
SILENT: Final = "silent"
MEASURES: Final = (*RANK_MEASURES, SILENT)


class NotComparable(ValueError):
    """Two reports that cannot be paired, and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Query:
    """One query of a report: its kind and the measures that apply to it."""

    kind: str
    values: Mapping[str, float]


def compared(
    *, first: Mapping[str, Any], second: Mapping[str, Any], profile: str
) -> tuple[Row, ...]:
    """Return second - first for all queries and each kind: rank measures, and share of silences.

    Takes reports as `report.plain` gives them. Raises NotComparable.
    """
    for name in SAME:
        if first.get(name) != second.get(name):
            raise NotComparable(f"They differ in {name!r}; ask both the same queries.")
    before, after = (_queries(report, profile) for report in (first, second))
    if before.keys() != after.keys():
        raise NotComparable("They do not hold the same queries.")
    kinds = (ALL, *sorted({query.kind for query in before.values()}))
    return tuple(_row(kind, before, after) for kind in kinds)


def _queries(report: Mapping[str, Any], profile: str) -> dict[str, _Query]:
    try:
        found = report["systems"][profile]["queries"]
        return {id: _Query(kind=row["kind"], values=_values(row)) for id, row in found.items()}
    except (KeyError, TypeError, AttributeError) as error:
        raise NotComparable(
            f"A report holds nothing of the profile {profile!r}; write it with evaluate --out."
        ) from error


def _values(row: Mapping[str, Any]) -> dict[str, float]:
    return {**row["measures"], SILENT: float(row["silent"])}


def _row(kind: str, before: Mapping[str, _Query], after: Mapping[str, _Query]) -> Row:
    ids = tuple(id for id, query in before.items() if kind in {ALL, query.kind})
    measures = tuple((name, _difference(name, ids, before, after)) for name in MEASURES)
    return Row(kind=kind, queries=len(ids), measures=measures)


def _difference(
    name: str, ids: tuple[str, ...], before: Mapping[str, _Query], after: Mapping[str, _Query]
) -> bootstrap.Interval | None:
    pairs = tuple(_pairs(name, ids, before, after))
    return bootstrap.paired(
        first=tuple(first for first, _ in pairs), second=tuple(second for _, second in pairs)
    )


def _pairs(
    name: str, ids: tuple[str, ...], before: Mapping[str, _Query], after: Mapping[str, _Query]
) -> Iterator[tuple[float, float]]:
    for id in ids:
        if name in before[id].values:
            yield before[id].values[name], after[id].values[name]
