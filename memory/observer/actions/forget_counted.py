"""Forget what was counted long ago: nobody is shown it any more."""

from datetime import datetime, timedelta

from accounts import tenancy
from memory.experiments.queries.experiments import LARGEST_DAYS
from memory.experiments.sql.experiments import GRAPH_PART
from memory.sessions.models import Statistic


def forget_counted(*, now: datetime) -> int:
    """Delete the sums of searches of days that no report reaches back to; return how many."""
    with tenancy.unit():
        first = now.date() - timedelta(days=LARGEST_DAYS)
        deleted, _ = Statistic.objects.filter(kind=GRAPH_PART, day__lt=first).delete()
        return deleted
