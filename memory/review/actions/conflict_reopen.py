"""Open a conflict again whose settled text is taken back, and settle it again as it was (4.3, 7.3).

Both sides stand then as if nobody had decided between them, and neither is told without the other.
Conflicts are held before memories, as where they are settled.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from accounts.caller import Caller
from accounts.errors import Conflict as Changed
from memory.intake.actions import apply_decision
from memory.records.actions import conflict_audience, writes
from memory.records.conflict_models import Conflict
from memory.records.models import Memory
from memory.review.conflict_rules import Verdict

REOPENED: Final = "reopened"  # where a verdict keeps how a conflict was settled
SETTLED: Final = ("verdict", "reason", "settled_by", "settled_at", "before")


def hold(*, ids: Iterable[UUID]) -> tuple[Conflict, ...]:
    """Lock the conflicts of which both sides were replaced by one of these texts. In a unit."""
    rows = Conflict.objects.select_for_update(of=("self",)).filter(
        verdict=Verdict.EDIT.value, older__superseded_by__in=set(ids)
    )
    return tuple(rows.order_by("id"))


def open_again(
    *, caller: Caller, held: tuple[Conflict, ...], rows: tuple[Memory, ...]
) -> tuple[Mapping[str, Any], ...]:
    """Open held conflicts of which both sides stand again; return how they were. In a unit."""
    standing = {row.id: row for row in rows}
    opened = []
    for conflict in held:
        older, newer = (standing.get(one) for one in (conflict.older_id, conflict.newer_id))
        if older is None or newer is None:
            continue
        was = {name: apply_decision.plain(getattr(conflict, name)) for name in SETTLED}
        conflict.verdict, conflict.reason, conflict.before = "", "", {}
        conflict.settled_by, conflict.settled_at = None, None
        _save(caller, conflict, (older, newer), "memory.conflict_reopened")
        opened.append({**was, "id": str(conflict.id), "version": conflict.version})
    return tuple(opened)


def of_text(*, opened: Iterable[Mapping[str, Any]], successor: UUID) -> list[Mapping[str, Any]]:
    """Return those of the opened ones that were settled by this text."""
    return [one for one in opened if one["before"].get("successor") == str(successor)]


def hold_opened(*, befores: Iterable[Mapping[str, Any]]) -> Mapping[UUID, Conflict]:
    """Lock the conflicts that verdicts opened. In a unit. Raises Conflict where one changed."""
    told = {UUID(one["id"]): one["version"] for made in befores for one in made.get(REOPENED, ())}
    rows = Conflict.objects.select_for_update(of=("self",)).filter(pk__in=told)
    held = {row.id: row for row in rows.order_by("id")}
    if {id: row.version for id, row in held.items()} == told:
        return held
    raise Changed(
        detail="A conflict that opened again has changed since; nothing was undone.",
        hint="Look at it, and settle it by hand.",
    )


def settle_again(
    *,
    caller: Caller,
    before: Mapping[str, Any],
    held: Mapping[UUID, Conflict],
    rows: Mapping[UUID, Memory],
) -> None:
    """Settle held conflicts as they were before a verdict opened them. In a unit."""
    for kept in before.get(REOPENED, ()):
        conflict = held[UUID(kept["id"])]
        for name in ("verdict", "reason", "before"):
            setattr(conflict, name, kept[name])
        conflict.settled_by = UUID(kept["settled_by"]) if kept["settled_by"] else None
        conflict.settled_at = datetime.fromisoformat(kept["settled_at"])
        sides = (rows[conflict.older_id], rows[conflict.newer_id])
        _save(caller, conflict, sides, "memory.conflict_settled")


def _save(caller: Caller, conflict: Conflict, sides: tuple[Memory, Memory], kind: str) -> None:
    side, conflict.audience = conflict_audience.told(
        older=sides[0], newer=sides[1], otherwise=caller.user_id
    )
    conflict.version += 1
    conflict.save()
    writes.announce(caller=caller, kind=kind, rows=(side,), audience=conflict.audience)
