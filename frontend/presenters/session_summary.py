"""What a session came to as its page shows it: memories to decide about."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from accounts.caller import Caller
from frontend.labels import session_labels
from frontend.labels.memory_labels import Name
from frontend.presenters import review_inbox
from memory.experiments.queries.session_figures import ReentryView
from memory.review.queries import session_summary
from memory.review.queries.session_summary import SessionCandidate, SessionSummary
from memory.sessions.queries import sessions
from teams.trust import Asking


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A memory of a session: the signal it comes from, the turn or the events it rests on."""

    came: SessionCandidate
    signal: Name
    turn: int | None
    events: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A signal that the session showed; `why` says why nothing became of it, empty if it did."""

    name: Name
    says: str
    times: int
    why: Name


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """All of it: what waits first, then what was decided; what the agent showed and came to."""

    waiting: tuple[Item, ...]
    decided: tuple[Item, ...]
    keepable: int
    seen: tuple[Seen, ...]
    shown: Mapping[str, Any]
    outcome: Name
    may_decide: bool
    is_all_at_once: bool
    asked: Name
    again: tuple[ReentryView, ...] = ()


def of(*, caller: Caller, session_id: UUID, now: datetime) -> Card:
    """Return what a session came to. Raises NotFound also for one the caller may not see."""
    found = session_summary.get_summary(caller=caller, session_id=session_id, now=now)
    return card(caller=caller, summary=found)


def card(*, caller: Caller, summary: SessionSummary) -> Card:
    """Return a summary as its page shows it."""
    items = tuple(_item(came) for came in summary.candidates)
    shown = summary.shown
    return Card(
        waiting=tuple(one for one in items if one.came.waits),
        decided=tuple(one for one in items if not one.came.waits),
        keepable=sum(one.came.waits and one.came.may_keep for one in items),
        seen=tuple(_seen(one) for one in shown["seen"]),
        shown=shown,
        outcome=session_labels.OUTCOMES.get(str(shown["outcome"]), ""),
        may_decide=review_inbox.may_decide(caller=caller),
        is_all_at_once=summary.asking is Asking.ALL_AT_ONCE,
        asked=session_labels.ASKED[summary.asking.value],
        again=summary.again,
    )


def _item(came: SessionCandidate) -> Item:
    return Item(
        came=came,
        signal=session_labels.SIGNALS.get(came.why, came.why),
        turn=sessions.turn_of(source_uri=came.memory.source_uri),
        events=tuple(int(one["sequence"]) for one in came.evidence),
    )


def _seen(one: Mapping[str, Any]) -> Seen:
    return Seen(
        name=session_labels.SIGNALS.get(str(one["kind"]), str(one["kind"])),
        says=str(one["says"]),
        times=int(one["times"]),
        why=session_labels.WHY_NOTHING.get(str(one["why"]), ""),
    )
