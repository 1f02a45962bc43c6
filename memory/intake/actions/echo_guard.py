"""Whether an agent restates what it was just given: that confirms nothing.

`remember` asks before it confirms or adds. A person's word always counts. An agent's does not where
the memory was given within a day to any agent of its person, or ever to one of that person's
sessions that still run; what is taken from a conversation does not where it was given to the person
in any way, and it never confirms what is known already.
"""

from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from accounts.caller import Caller, is_person
from accounts.messages import message
from memory.index.actions.embedding import Embedded
from memory.intake import echo_rules
from memory.intake.actions.candidate import CheckedCandidate
from memory.intake.echo_rules import DeliveredText
from memory.intake.sql import neighbors
from memory.records.actions import add_sessions
from memory.records.models import Memory
from memory.taxonomy import MemoryType, Source
from teams import visibility

JUST_HOURS: Final = 24  # within which an agent was “just” given something; default, not measured
LONG_DAYS: Final = 30  # within which a conversation repeats what was given; default, not measured
MOST: Final = 300  # memories that are compared, the last delivered; default, not measured
SAYS_AGAIN: Final = frozenset({  # what agents say, in commits too; imports have another origin
    Source.AGENT_EXPLICIT.value, Source.OBSERVER_INFERRED.value, Source.EXTRACTED.value,
    Source.COMMIT_AUTO.value,
})  # fmt: skip
IN_OTHER_WORDS: Final = frozenset({Source.EXTRACTED.value, Source.COMMIT_AUTO.value})

Delivered = tuple[tuple[DeliveredText, ...], dict[UUID, float]]  # and their cosines, where known


def find_delivered(
    *, caller: Caller, source: str, embedded: Embedded | None, now: datetime
) -> Delivered:
    """Return what counts as delivered to a caller who sends something now. In a unit."""
    if is_person(caller=caller) or source not in SAYS_AGAIN:
        return (), {}
    is_extracted = source == Source.EXTRACTED
    lasting = timedelta(days=LONG_DAYS) if is_extracted else timedelta(hours=JUST_HOURS)
    return neighbors.delivered_to_person(
        person=caller.user_id,
        token=caller.token_id,
        since=now - lasting,
        in_any_way=is_extracted,
        sight=visibility.sight_of(caller=caller),
        model=None if embedded is None else embedded.key,
        vector=None if embedded is None else embedded.vector,
        most=MOST,
    )


def is_restatement(*, row: Memory, delivered_id: UUID) -> bool:
    """Say whether a stored memory only restates one delivered to its agent. In a unit.

    Which token it came with is not known any more, so what any of the person's agents got counts.
    """
    if row.source not in SAYS_AGAIN:
        return False
    if row.source == Source.EXTRACTED:
        return True  # a conversation alone confirms nothing
    since = row.created_at - timedelta(hours=JUST_HOURS)
    return neighbors.was_delivered_to_agents(
        memory_id=delivered_id, person=row.author_user, since=since
    )


def find_echo(
    *, checked: CheckedCandidate, same_id: UUID | None, delivered: Delivered
) -> tuple[UUID, str] | None:
    """Return the memory that a candidate restates and why that counts for nothing, else None.

    `same_id` is the memory that the gates found to say the same. A conversation that meets it again
    adds its session to the provenance, once; the confidence stays as it is. In a unit.
    """
    if checked.classification.type is MemoryType.EPISODE:
        return None
    texts, cosines = delivered
    source, echo = checked.new.source, same_id
    if same_id is None:
        echo = echo_rules.echo_of(
            content=checked.new.content,
            given=texts,
            cosines=cosines,
            limits=echo_rules.OTHER_WORDS if source in IN_OTHER_WORDS else echo_rules.SAME_WORDS,
        )
    elif all(one.memory_id != same_id for one in texts):
        if source != Source.EXTRACTED:
            return None
        _add_session(same_id, checked.new.session_id)
        return same_id, message("It is known already; a conversation alone confirms nothing.")
    if echo is None:
        return None
    return echo, message("It was just told to you; saying it again confirms nothing.")


def _add_session(memory_id: UUID, session_id: UUID | None) -> None:
    mine = Memory.objects.filter(pk=memory_id)
    without = mine.exclude(provenance_sessions__contains=[session_id]).select_for_update()
    known = without.values_list("provenance_sessions", flat=True).first() if session_id else None
    if session_id is not None and known is not None:
        mine.update(provenance_sessions=add_sessions(known=known, sessions=(session_id,)))
