"""What a session or an add may still ask of models: the least of all bounds."""

from datetime import datetime
from uuid import UUID

from django.conf import settings

from accounts import tenancy
from memory.extraction.actions.extraction import Allowance, Mode, Spent
from memory.extraction.actions.usage import book_use
from memory.extraction.queries import usage
from memory.records.models import Memory
from memory.sessions.models import Session
from memory.taxonomy import Scope
from teams import queries as places
from teams.queries import Extraction


def of_session(*, row: Session, now: datetime) -> Allowance:
    """Return what a session may spend: the least of its project's and the organization's."""
    wish = Extraction() if row.project is None else places.extraction_of(row=row.project)
    calls = wish.calls_per_session - int(row.result.get("calls", 0))
    return Allowance(
        mode=Mode(wish.mode),
        calls=max(0, calls) if wish.calls_per_turn else 0,
        tokens=_tokens(wish, row.project_id, now),
        may_leave=row.models_agreed or row.audience != row.opened_by,
        per_turn=wish.calls_per_turn,
    )


def of_add(*, row: Memory, spent: int, now: datetime) -> Allowance:
    """Return what judging a memory of a project may spend; today's adds have cost calls already."""
    wish = Extraction() if row.project is None else places.extraction_of(row=row.project)
    return Allowance(
        mode=Mode(wish.mode),
        calls=max(0, wish.adds_per_day - spent),
        tokens=_tokens(wish, row.project_id, now),
        may_leave=row.scope != Scope.PERSONAL,
    )


def _tokens(wish: Extraction, project_id: UUID | None, now: datetime) -> int | None:
    """Return the tokens that are left of the month, None where nothing bounds them. In a unit."""
    bounds = (
        (wish.tokens_per_month, usage.month_of_project(project_id=project_id, day=now.date())),
        (settings.CAIRN_MODEL_TOKENS_PER_MONTH, usage.month(day=now.date())),
    )
    left = [max(0, bound - used.tokens) for bound, used in bounds if bound]
    return min(left) if left else None


def book(*, session_id: UUID, spent: Spent, now: datetime, counted_as: str = "") -> None:
    """Book what was spent for a session, in its sums and on itself. Opens a unit.

    `counted_as` names calls that are counted for themselves besides.
    """
    if not spent.calls:
        return
    with tenancy.unit():
        row = Session.objects.select_for_update().filter(pk=session_id).first()
        if row is None:
            return
        book_use(spent=spent, project_id=row.project_id, now=now)
        added = {"calls": spent.calls, "tokens": spent.tokens}
        added |= {counted_as: spent.calls} if counted_as else {}
        sums = {name: int(row.result.get(name, 0)) + count for name, count in added.items()}
        row.result = {**row.result, **sums}
        row.save(update_fields=["result"])
