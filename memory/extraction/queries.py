"""What models cost, for those who answer for it: by day, project and model, against caps.

Owners and admins see it. Sums tell nothing of what was said, so they are complete: what a personal
session has cost is part of its project's.
"""

import json
from calendar import monthrange
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Final
from uuid import UUID

from django.conf import settings

from accounts import tenancy
from accounts.caller import Caller, check_manages
from memory import sql_queries
from memory.records.queries.views import countable
from memory.sessions import counter_rows
from memory.taxonomy import Source
from teams import queries as places
from teams.models import Project

MOST: Final = 20_000  # sums of a month that are read; default, not measured
ELSEWHERE: Final = ""  # the slug of no project
EARLIEST: Final = date(2020, 1, 1)  # before the product


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What a month, day, project or model took: calls, those that failed, tokens, and money."""

    name: str = ""
    calls: int = 0
    fallbacks: int = 0
    tokens: int = 0
    cost: Decimal = Decimal(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """A month so far."""

    month: date
    total: Part
    cap: int | None  # tokens it may take, None: as many as it wants
    days: tuple[Part, ...]
    projects: tuple[Part, ...]
    models: tuple[Part, ...]
    accepted: int  # memories from its conversations, as far as one may see them

    @property
    def cost_per_accepted(self) -> Decimal | None:
        """Return what a memory cost that was accepted; None without one."""
        return self.total.cost / self.accepted if self.accepted else None


def usage(*, caller: Caller, project: str | None, day: date) -> Usage:
    """Return what the month of a day has cost, of a project or of the organization.

    Raises RoleNotSufficient for those who manage nothing, NotFound for a project they do not see.
    """
    check_manages(caller=caller)
    first = day.replace(day=1)
    last = day.replace(day=monthrange(day.year, day.month)[1])
    with tenancy.unit():
        row = None if project is None else places.find_project(caller=caller, ref=project)
        read = sql_queries.rows(
            "model_use_days",
            file=counter_rows.FILE,
            since=first,
            until=last,
            everywhere=row is None,
            project=None if row is None else row.id,
            most=MOST,
        )
        slugs = dict(
            Project.objects.filter(pk__in={one[1] for one in read}).values_list("id", "slug")
        )
        by_project = _parts(  # a project that is gone has its id for a name
            (ELSEWHERE if one[1] is None else slugs.get(one[1], str(one[1])), one[3])
            for one in read
        )
        start = datetime.combine(first, datetime.min.time(), tzinfo=UTC)
        end = datetime.combine(last, datetime.min.time(), tzinfo=UTC) + timedelta(days=1)
        accepted = countable(caller=caller).filter(
            source=Source.EXTRACTED.value,
            needs_review=False,
            status="active",
            created_at__gte=start,
            created_at__lt=end,
        )
        if row is None:
            total = month(day=day, everywhere=True)
            cap = settings.CAIRN_MODEL_TOKENS_PER_MONTH or None
        else:
            total = month(day=day, project_id=row.id)
            cap = places.extraction_of(row=row).tokens_per_month
            accepted = accepted.filter(project=row)
        return Usage(
            month=first,
            total=total,
            cap=cap,
            days=_parts((one[0].isoformat(), one[3]) for one in read),
            projects=tuple(sorted(by_project, key=lambda part: (-part.tokens, part.name))),
            models=_parts((one[2], one[3]) for one in read),
            accepted=accepted.count(),
        )


def month(*, day: date, project_id: UUID | None = None, everywhere: bool = False) -> Part:
    """Return the use of a project, of none, or `everywhere`, in the month of a day. In a unit."""
    rows = sql_queries.rows(
        "model_use",
        file=counter_rows.FILE,
        since=day.replace(day=1),
        until=day.replace(day=monthrange(day.year, day.month)[1]),
        everywhere=everywhere,
        project=project_id,
    )
    *whole, cost = rows[0]
    calls, fallbacks, tokens_in, tokens_out = (int(number) for number in whole)
    return Part(calls=calls, fallbacks=fallbacks, tokens=tokens_in + tokens_out, cost=Decimal(cost))


def _parts(read: Iterable[tuple[str, str]]) -> tuple[Part, ...]:
    """Sum by name, in the order in which names come."""
    found: dict[str, Part] = {}
    for name, text in read:
        counts = json.loads(text)
        before = found.get(name, Part())
        tokens = int(counts.get("input_tokens", 0)) + int(counts.get("output_tokens", 0))
        found[name] = Part(
            name=name,
            calls=before.calls + int(counts.get("calls", 0)),
            fallbacks=before.fallbacks + int(counts.get("fallbacks", 0)),
            tokens=before.tokens + tokens,
            cost=before.cost + Decimal(str(counts.get("cost", 0))),
        )
    return tuple(found.values())
