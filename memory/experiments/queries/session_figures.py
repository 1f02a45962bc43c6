"""What sessions of a list did and were given, in numbers.

Numbers of the work are those of the session; of what was given only memories count that the caller
may see, so nobody learns from a sum that there is one more.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final
from uuid import UUID

from django.db.models import Case, Count, Q, QuerySet, Sum, When
from django.db.models.fields.json import KeyTextTransform

from accounts import tenancy
from accounts.caller import Caller
from memory.experiments.delivery_outcomes import Came
from memory.records.queries.views import countable
from memory.sessions.models import GivenOut, Session
from memory.sessions.queries import sessions
from teams.permissions import Act, require


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """One session; steps, calls and tokens are None while nobody has decided what it showed.

    `used` and `wrong` are of the memories `given`, each counted once; `given_tokens` is what they
    took, and, to who opened the session, what was said beside them.
    """

    steps: int | None = None
    calls: int | None = None
    tokens: int | None = None
    outcome: str = ""
    given: int = 0
    given_tokens: int = 0
    used: int = 0
    wrong: int = 0


NOTHING: Final = Figures()


def figures(*, caller: Caller, session_ids: tuple[UUID, ...]) -> Mapping[UUID, Figures]:
    """Return the figures of sessions that the caller may see; others are left out."""
    require(caller=caller, act=Act.READ)
    with tenancy.unit():
        rows = sessions.visible(caller=caller).filter(pk__in=session_ids)
        worked = {one["id"]: _worked(one) for one in _numbers(caller, rows)}
        for one in _given(caller, tuple(worked)):
            worked[one["session_id"]] = replace(
                worked[one["session_id"]],
                given=one["given"],
                given_tokens=worked[one["session_id"]].given_tokens + (one["cost"] or 0),
                used=one["used"],
                wrong=one["wrong"],
            )
    return worked


def _numbers(caller: Caller, rows: QuerySet[Session]) -> Iterable[Mapping[str, Any]]:
    """Read the numbers out of what is kept, and nothing of the rest of it."""
    return rows.order_by("id").values(
        "id",
        beside=Case(When(sessions.own(caller=caller), then="heading_tokens"), default=0),
        steps=KeyTextTransform("steps", "observed"),
        calls=KeyTextTransform("tools", "observed"),
        outcome=KeyTextTransform("outcome", "observed"),
        tokens=KeyTextTransform("tokens", "figures"),
    )


def _worked(one: Mapping[str, Any]) -> Figures:
    return Figures(
        steps=_whole(one["steps"]),
        calls=_whole(one["calls"]),
        tokens=_whole(one["tokens"]),
        outcome=one["outcome"] or "",
        given_tokens=one["beside"],
    )


def _whole(text: str | None) -> int | None:
    return None if text is None else int(text)


def _given(caller: Caller, ids: tuple[UUID, ...]) -> Iterable[Mapping[str, Any]]:
    seen = countable(caller=caller).values("id")
    rows = GivenOut.objects.filter(session_id__in=ids, memory_id__in=seen)
    return (
        rows.order_by()
        .values("session_id")
        .annotate(
            given=Count("memory_id", distinct=True),
            cost=Sum("tokens"),
            used=Count("memory_id", filter=Q(outcome=Came.USED.value), distinct=True),
            wrong=Count("memory_id", filter=Q(outcome=Came.WRONG.value), distinct=True),
        )
    )
