"""What of somebody's work others stand for by now: rewritten, kept or confirmed.

A rollback leaves it. Who asks for the rollback, and who is rolled back, stand for nothing here.
"""

from typing import Final

from django.db.models import Exists, F, Func, OuterRef, Q, QuerySet, UUIDField
from django.db.models.functions import Cast

from memory.intake.models import ActionLog
from memory.records.models import Memory
from memory.records.verdict_models import ReviewVerdict
from memory.review.rollback.changes import is_known, is_of_times_alone, others_changes, within
from memory.review.rollback.endorsements import (
    CONFIRMED,
    CONFIRMED_TOGETHER,
    HOLDING,
    SETTLED_BY,
    confirmations,
    settlements,
    verdicts,
)
from memory.review.rollback.permissions import Chosen
from memory.sessions.models import Session
from teams.models import AuditEntry

STORED: Final = ("added", "superseded", "contradicted", "extended")  # outcomes that made a memory


def of(*, what: Chosen) -> Q:
    """Return the condition that a memory was produced so."""
    choice = what.choice
    made = Q(created_at__lte=what.asked_at)
    if what.person is not None:
        made &= Q(author_user=what.person)
    if choice.session is not None:
        made &= Q(session_id=choice.session)
    if choice.token is not None:
        made &= _by_token(what)
    if what.derived is not None:
        made &= Q(id__in=what.derived)
    return made & within(name="created_at", choice=choice)


def stood_for(*, what: Chosen) -> Q:
    """Return the condition that somebody else has rewritten, kept or confirmed a memory since."""
    return Q(Exists(others_changes(what=what))) | kept(what=what)


def goes(*, what: Chosen) -> Q:
    """Return the condition that a memory was produced so, and nobody else stands for it."""
    return of(what=what) & ~stood_for(what=what)


def kept(*, what: Chosen) -> Q:
    """Return the condition that somebody else has decided, or said, that a memory is right.

    Words that an agent has rewritten since were not confirmed; where changes can be rolled back,
    the memory goes back to those that were.
    """
    said = _confirmations(what)
    alone = Cast("object_id", UUIDField())
    each = Func(F("details__confirmed"), function="jsonb_array_elements_text")
    one = said.filter(act=CONFIRMED).values(one=alone)
    together = said.filter(act__in=CONFIRMED_TOGETHER).values(one=Cast(each, UUIDField()))
    confirmed = Q(id__in=one) | Q(id__in=together)
    if not is_known(what=what):
        confirmed &= Q(user_verified=True)
    return Q(Exists(_verdicts(what))) | _settled(what) | confirmed


def _verdicts(what: Chosen) -> QuerySet[ReviewVerdict]:
    rows = verdicts(what=what).filter(memory=OuterRef("pk"))
    return rows.exclude(decided_by=F("memory__author_user"))


def _settled(what: Chosen) -> Q:
    """Return the condition that somebody else has settled a conflict so that a memory holds.

    Who settles by a text of their own stands for it, unless they are rolled back by name.
    """
    held = Q()
    for name, holds in HOLDING.items():
        rows = settlements(what=what).filter(**{name: OuterRef("pk")}, verdict__in=holds)
        if name != SETTLED_BY or not is_of_times_alone(what=what):
            rows = rows.exclude(settled_by=F(f"{name}__author_user"))
        held |= Q(Exists(rows))
    return held


def _confirmations(what: Chosen) -> QuerySet[AuditEntry]:
    """Return what others said in person of memories: neither who asks nor who is rolled back."""
    authors = Memory.objects.filter(
        of(what=what), project=what.project_id, author_user__isnull=False
    )
    rows = confirmations(what=what)
    return rows.exclude(actor_user__in=authors.order_by().values("author_user"))


def _by_token(what: Chosen) -> Q:
    token = what.choice.token
    told = ActionLog.objects.filter(
        project_id=what.project_id, token_id=token, outcome__in=STORED, memory_id__isnull=False
    )
    opened = Session.objects.filter(project=what.project_id, token_id=token)
    of_sessions = Q(session_id__in=opened.order_by().values("id"))
    return of_sessions | Q(id__in=told.order_by().values("memory_id"))
