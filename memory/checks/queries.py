"""Files that sessions touch together with those of the work."""

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.db.models import IntegerField, Q, Sum
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from memory.sessions import counters
from memory.sessions.counters import EdgeRow, FileRow, Kind
from memory.sessions.models import Statistic
from memory.sessions.sql.counters import read
from teams import visibility
from teams.visibility import Sight

STRONG: Final = 0.8  # of the sessions with either file that had both; default
SESSIONS_LEAST: Final = 5  # default, not measured
PAIRS_MOST: Final = 2_000  # of one read, those met most often; default
PAIRS_SHOWN_MOST: Final = 5  # default


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePair:
    """A file that work touches and one that it does not: how often both were touched together.

    `share`: of the sessions that touched either, 0..1.
    """

    file: str
    other: str
    sessions: int
    share: float


def untouched_pairs(
    *, project_id: UUID, files: tuple[str, ...], sight: Sight
) -> tuple[FilePair, ...]:
    """Return files that nearly every session touches together with some of these. In a unit."""
    if not files:
        return ()
    among = frozenset(files)
    seen = visibility.as_q(sight=sight)
    met = Statistic.objects.filter(seen, kind=Kind.EDGE.value, project_id=project_id).filter(
        Q(counts__notes__first__in=files) | Q(counts__notes__second__in=files)
    )
    pairs = met.order_by().values(  # added up over those who counted them
        first=KeyTextTransform("first", "counts__notes"),
        second=KeyTextTransform("second", "counts__notes"),
    )
    counted = Sum(Cast(KeyTextTransform("sessions", "counts"), IntegerField()))
    often = pairs.annotate(sessions=counted).filter(sessions__gte=SESSIONS_LEAST)
    ordered = often.order_by("-sessions", "first", "second")[:PAIRS_MOST]
    edges = [EdgeRow(**one) for one in ordered if not among >= {one["first"], one["second"]}]
    paths = {path for edge in edges for path in (edge.first, edge.second)}
    keys = tuple(counters.key_of(text=path) for path in sorted(paths))
    sums = read(kind=Kind.FILE.value, visible=seen, project_id=project_id, keys=keys)
    rows: dict[str, FileRow] = {}
    for row in counters.rows_of(type=FileRow, sums=sums):
        rows[row.path] = counters.added_row(row=rows.get(row.path, FileRow(path="")), add=row)
    none = FileRow(path="")
    found = []
    for edge in edges:
        first, second = rows.get(edge.first, none), rows.get(edge.second, none)
        share = round(counters.weight(edge=edge, first=first, second=second), 4)
        own, other = edge.first, edge.second
        if own not in among:
            own, other = other, own
        if share >= STRONG:
            found.append(FilePair(file=own, other=other, sessions=edge.sessions, share=share))
    found.sort(key=lambda pair: (-pair.share, -pair.sessions, pair.other))
    return tuple(found[:PAIRS_SHOWN_MOST])
