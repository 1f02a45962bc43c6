"""The group of a session, what is withheld from it, and what it came to in the end.

The group is assigned when the session could first be given something, and stored with it, so it
stays whatever becomes of the shares or of the experiment. A session that came to this while no
experiment ran takes part in none, because it may have been given memories already.

The figures of an ended session, and what came of each memory that it was given, are taken from the
whole scratchpad, at every end anew, so a session that goes on is measured as a whole. Nobody is
asked, no model reads; what no event shows stays unknown. What came after a delivery is what was
stored after it, by the ids of rows, and neither by a clock nor by a number of a client. An entry of
the delivery log without such an id is not judged.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db.models.fields.json import KeyTextTransform
from django.utils.crypto import salted_hmac

from accounts import metrics
from memory.experiments import figures, points
from memory.experiments.figures import DeliveryOutcome, Figure
from memory.experiments.points import Group, Point
from memory.experiments.queries import REENTERED_KEY
from memory.records.models import Memory, ReviewVerdict
from memory.records.queries.views import MemoryView
from memory.sessions.actions import scratchpads
from memory.sessions.models import GivenOut, Session, Turn
from memory.sessions.scratchpad import Scratchpad
from memory.sessions.turns import Speaker
from memory.taxonomy import Governance, Scope, Status, Verdict
from teams.queries import experiments_in

SALT: Final = "cairn.experiments"
APART: Final = "none"  # of a session that takes no part
SIGN: Final = "[^"  # with which each citation begins


def group_in_effect(*, session: Session) -> Group | None:
    """Return the group that holds for a session now, assigned where it has none. In a unit.

    None where it takes no part, or where no experiment runs: one that is switched off withholds
    nothing from anybody any more.
    """
    found = experiments_in(project=session.project)
    if not session.experiment_group:
        group = APART
        if found.enabled:
            group = points.group(
                key=_key(),
                session=str(session.pk),
                project=str(session.project_id),
                control=found.control_percent,
                passive=found.passive_percent,
            ).value
        row = Session.objects.filter(pk=session.pk)
        row.filter(experiment_group="").update(experiment_group=group)
        session.experiment_group = row.values_list("experiment_group", flat=True).get()
    is_apart = session.experiment_group == APART or not found.enabled
    return None if is_apart else Group(session.experiment_group)


def withhold(
    *, session: Session, point: Point, views: Iterable[MemoryView], now: datetime
) -> frozenset[UUID]:
    """Return what is withheld from a locked session of what it would be given; log it.

    Only what would have been delivered is withheld, so that both sides needed it as much. What is
    withheld once is not delivered to that session later. What somebody pinned, and constitutional
    memories, are delivered to everybody. In a unit.
    """
    if group_in_effect(session=session) is None:
        return frozenset()
    key, percent = _key(), experiments_in(project=session.project).withheld_percent
    chosen = frozenset(
        view.id
        for view in views
        if not (view.pinned or view.governance <= Governance.CONSTITUTIONAL)
        and points.is_withheld(
            key=key, memory=str(view.id), session=str(session.pk), percent=percent
        )
    )
    GivenOut.all_rows.bulk_create(
        GivenOut(memory_id=one, at=now, session_id=session.id, point=point.value, withheld=True)
        for one in sorted(chosen)
    )
    return chosen


def withheld_from(*, session: Session) -> frozenset[UUID]:
    """Return what was withheld from a session before. In a unit."""
    rows = GivenOut.all_rows.filter(session_id=session.id, withheld=True)
    return frozenset(rows.values_list("memory_id", flat=True))


def _key() -> bytes:
    """Return a key of this installation alone, so that nobody outside foresees a group."""
    return salted_hmac(SALT, "groups", algorithm="sha256").digest()


def measure(*, row: Session, scratchpad: Scratchpad) -> None:
    """Put a locked session's figures into its row, which the caller saves, and settle its log.

    One that goes on after its first events were forgotten stays as it was measured with them. In a
    unit.
    """
    if row.figures is not None and scratchpads.is_cut(row=row):
        return
    row.figures = {
        **figures.session_figures(scratchpad=scratchpad),
        Figure.DEAD_ENDS.value: int(_entered_dead_end(row)),
    }
    placed = GivenOut.objects.filter(session_id=row.id, after_row__isnull=False)
    log = tuple(placed.order_by("at", "id"))
    if log:
        fresh = [one for one in log if not one.outcome]  # a session may be measured again
        _settle_log(row, scratchpad, log)
        GivenOut.objects.bulk_update(log, ["outcome"])
        for one in fresh:
            metrics.INJECTION_OUTCOMES.labels(one.point, one.outcome).inc()


def _entered_dead_end(row: Session) -> bool:
    """Say whether the session entered a dead end that all who see the session may see.

    One that its opener knows and not everybody is not counted of a session that others see as well.
    """
    entered = (row.observed or {}).get(REENTERED_KEY, ())
    known = Memory.objects.filter(pk__in=[one["memory_id"] for one in entered])
    if row.scope != Scope.PERSONAL:
        known = known.filter(scope__in=(Scope.PROJECT.value, Scope.ORGANIZATION.value))
    return bool(entered) and known.exists()


def _settle_log(row: Session, scratchpad: Scratchpad, log: tuple[GivenOut, ...]) -> None:
    """Set what came of each delivery of a session; of a memory that is gone nothing is known."""
    ids = [one.memory_id for one in log]
    fields = ("related_files", "status", "valid_until")
    memories = Memory.objects.only(*fields).in_bulk(ids)
    verdicts = ReviewVerdict.objects.filter(
        memory_id__in=ids, verdict=Verdict.REJECT.value, undone_at=None
    )
    rejected = dict(verdicts.order_by("decided_at").values_list("memory_id", "decided_at"))
    first = min(one.after_row or 0 for one in log)
    later = Turn.done.filter(session=row, pk__gt=first).order_by()
    rows = dict(later.values_list("sequence", "pk"))
    texts = _citing_texts(row)
    until = row.ended_at or row.active_at
    for one in log:
        memory, after = memories.get(one.memory_id), one.after_row or 0
        if memory is None:
            one.outcome = DeliveryOutcome.UNKNOWN.value
            continue
        is_replaced = memory.status == Status.SUPERSEDED.value
        wrong_at = memory.valid_until if is_replaced else rejected.get(memory.id)
        outcome = figures.delivery_outcome(
            files=frozenset(memory.related_files),
            later=figures.deeds_after(scratchpad=scratchpad, row=after, rows=rows),
            is_cited=figures.is_cited(memory_id=memory.id, texts=texts, after=after),
            is_wrong=wrong_at is not None and one.at <= wrong_at <= until,
            is_whole=not scratchpad.dropped,
        )
        one.outcome = outcome.value


def _citing_texts(row: Session) -> tuple[tuple[int, str], ...]:
    """Return what the agent said with the sign of a citation, each with the id of its row."""
    spoken = Turn.objects.filter(session=row, role=Speaker.ASSISTANT.value, text__contains=SIGN)
    reasoning = Turn.done.filter(session=row, body__kind="reasoning").annotate(
        thought=KeyTextTransform("text", "body")
    )
    signed = reasoning.filter(thought__contains=SIGN)
    return (
        *spoken.order_by("pk").values_list("pk", "text"),
        *signed.order_by("pk").values_list("pk", "thought"),
    )
