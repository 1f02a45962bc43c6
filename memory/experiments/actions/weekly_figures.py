"""What sessions still go wrong in, measured week by week.

Three things that memory is there to prevent: that an agent is given two memories that disagree,
that a failure comes again, and that a known dead end is entered again. The last weeks that are over
are measured anew each time, since sessions end late; older ones stay as they were. Each place has
figures of its own, so whoever may see its sessions may see them.
"""

from datetime import UTC, datetime, time, timedelta
from typing import Final

from accounts import tenancy
from memory import sql_queries
from memory.experiments.queries import IN_A_WEEK, WEEKLY
from memory.records.queries.views import DISAGREEING
from memory.sessions import counter_rows
from memory.sessions.counters import Count, Kind
from memory.sessions.models import Statistic, Stream
from memory.taxonomy import Scope

FILE: Final = "experiments/sql/weekly_figures.sql"
WEEKS: Final = 4  # that are measured anew; default
LOOK_BACK: Final = timedelta(weeks=8)  # before the first of them, for earlier failures; default
SHARED: Final = (Scope.PROJECT.value, Scope.ORGANIZATION.value)  # what all who see a session see


def measure_weeks(*, now: datetime) -> int:
    """Measure the last weeks of the entered organization; return how many figures were written."""
    today = now.astimezone(UTC).date()
    until = datetime.combine(today - timedelta(days=today.weekday()), time(), UTC)
    since = until - timedelta(weeks=WEEKS)
    with tenancy.unit():
        rows = sql_queries.rows(
            "weeks",
            file=FILE,
            since=since,
            until=until,
            before=since - LOOK_BACK,
            counted=Stream.COUNTED.value,
            error=Kind.ERROR.value,
            disagreeing=[one.value for one in DISAGREEING],
            shared=list(SHARED),
        )
        Statistic.objects.filter(kind=WEEKLY, day__gte=since.date()).delete()
        counts = [
            Count(
                kind=WEEKLY,
                key="",
                audience=audience,
                project_id=project_id,
                day=day,
                counts=dict(zip(IN_A_WEEK, figures, strict=True)),
            )
            for audience, project_id, day, *figures in rows
        ]
        return counter_rows.add(counts=counts, now=now)
