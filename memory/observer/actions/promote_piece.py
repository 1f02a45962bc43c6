"""Promote from a long build while it runs: after each subtask that was validated.

The job that looks at a session does this behind its look. A build of more than five subtasks whose
last report of QA says that it passed offers what it has shown so far; each report is looked at
once. It is told by templates: the one call of a model is for the end. The sums over sessions, and
what the session is said to have shown, wait for its end, where the same thing is never offered
again.
"""

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from accounts import tenancy
from memory.customization.queries import trust_levels
from memory.injection.actions import delivery_log
from memory.injection.session_start_rules import unprompted
from memory.observer import gates, parallel_agents, promotion, session_report
from memory.observer.actions import counter_writes, prior_sessions, promoting
from memory.observer.actions.promoting import Offer, Proposing, Sent
from memory.observer.gates import Progress
from memory.sessions.actions import scratchpads
from memory.sessions.actions.on_behalf import opener_of
from memory.sessions.models import Session
from memory.sessions.scratchpad import Scratchpad


def promote_piece(*, session_id: UUID, now: datetime) -> Mapping[str, Any]:
    """Promote what a running build has shown, if a subtask was validated since; return the counts.

    Raises PermanentFailure when who opened it is gone, may not write or does not see its project,
    and Conflict when somebody stores the same at the same moment.
    """
    with tenancy.unit():
        row = Session.objects.select_related("project").filter(pk=session_id).first()
        if row is None or not _is_running(row):
            return {}
        opened = scratchpads.read(row=row)
    scratchpad = scratchpads.settled(opened=opened)
    report = gates.validated(scratchpad=scratchpad)
    if report <= _looked_at(row):
        return {}
    who, offered, dropped = _offered(row, scratchpad, now)
    with tenancy.unit(), transaction.atomic():
        held = Session.objects.select_for_update().filter(pk=session_id, state="open").first()
        if held is None or report <= _looked_at(held):
            return {}
        kept = promoting.chosen(
            caller=who.caller, row=held, scratchpad=scratchpad, offered=offered, dropped=dropped
        )
        sent = promoting.send(caller=who.caller, offered=kept, now=now, dropped=dropped)
        held.observed = {
            **(held.observed or {}),
            "piece": report,
            "promoted": [*(held.observed or {}).get("promoted", []), *_told(sent)],
        }
        held.save(update_fields=["observed"])
    counts = promoting.counts(sent=sent)
    return {
        "pieces": 1,
        **{f"observed_{name}": count for name, count in counts.items()},
    }


def _is_running(row: Session) -> bool:
    """Say whether a session is a long build that still runs."""
    is_open = row.state == "open" and row.memory_eligible
    return is_open and gates.is_piecewise(setting=scratchpads.setting_of(row=row))


def _looked_at(row: Session) -> int:
    """Return the last report after which was promoted."""
    return int((row.observed or {}).get("piece", 0))


def _offered(
    row: Session, scratchpad: Scratchpad, now: datetime
) -> tuple[Proposing, tuple[Offer, ...], Counter[str]]:
    with tenancy.unit():
        caller = opener_of(row=row, now=now)
        level = trust_levels.level_of(caller=caller, project_id=row.project_id)
        said = prior_sessions.verdicts(row=row)
        named = delivery_log.suggested_files(session=row)
    habits = unprompted(scratchpad=scratchpad, suggested=named)
    seen = parallel_agents.witnessed(scratchpad=habits, verdicts=said)
    with tenancy.unit():
        own = counter_writes.added_by(row=row)
        before = prior_sessions.seen_before(row=row, seen=seen, own=own)
        results = scratchpads.of_the_product(row=row)
    proposed = promotion.propose(
        scratchpads=(scratchpad,),
        seen=seen,
        seen_before=before,
        progress=Progress(subtasks=scratchpad.setting.planned_steps, subtask_validated=True),
        results=results,
    )
    who, dropped = Proposing(caller=caller, level=level), Counter[str]()
    offered = promoting.offers(who=who, row=row, proposed=proposed, dropped=dropped)
    return who, offered, dropped


def _told(sent: tuple[Sent, ...]) -> list[dict[str, Any]]:
    return [
        dict(
            session_report.of_promoted(
                candidate=one.offer.candidate,
                memory_id=str(one.outcome.memory.id),
                outcome=one.outcome.outcome,
            )
        )
        for one in sent
        if one.outcome is not None and one.outcome.memory is not None
    ]
