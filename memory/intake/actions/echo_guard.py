"""Whether an agent restates what it was just given: that confirms nothing.

The one door asks before it confirms or adds. A person's word always counts. An agent's does not
where the memory was given out within a day to any agent of its person, or ever to one of that
person's sessions that still run; what is taken from a conversation does not where it was given to
the person in any way, and it never confirms what is known already.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from accounts.caller import Caller, is_person
from accounts.messages import message
from memory.index.actions.embedding import Embedded
from memory.index.models import AccessLog
from memory.injection.sql import deliveries
from memory.intake import echo_rules
from memory.intake.actions.candidate import CheckedCandidate
from memory.intake.echo_rules import DeliveredText
from memory.records.actions import add_sessions
from memory.records.models import Memory
from memory.sessions.models import GivenOut
from memory.taxonomy import MemoryType, Source
from teams import visibility

JUST_HOURS: Final = 24  # within which an agent was “just” told, ours
LONG_DAYS: Final = 30  # within which a conversation repeats what was told, ours
MOST: Final = 300  # memories that are compared, the newest given out; ours
SAYS_AGAIN: Final = frozenset({  # what agents say, in commits too; imports have another origin
    Source.AGENT_EXPLICIT.value, Source.OBSERVER_INFERRED.value, Source.EXTRACTED.value,
    Source.COMMIT_AUTO.value,
})  # fmt: skip
IN_OTHER_WORDS: Final = frozenset({Source.EXTRACTED.value, Source.COMMIT_AUTO.value})


@dataclass(frozen=True, slots=True, kw_only=True)
class Echo:
    """The memory that a candidate restates, and why that counts for nothing."""

    memory_id: UUID
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivered:
    """What was given out to who speaks now, and its cosines with what is said, where known."""

    given: tuple[DeliveredText, ...] = ()
    cosines: Mapping[UUID, float] = field(default_factory=dict)


def find_delivered(
    *, caller: Caller, source: str, embedded: Embedded | None, now: datetime
) -> Delivered:
    """Return what counts as delivered to a caller who sends something now. In a unit."""
    if is_person(caller=caller) or source not in SAYS_AGAIN:
        return Delivered()
    is_extracted = source == Source.EXTRACTED
    lasting = timedelta(days=LONG_DAYS) if is_extracted else timedelta(hours=JUST_HOURS)
    rows = deliveries.delivered_to_person(
        person=caller.user_id,
        token=caller.token_id,
        since=now - lasting,
        in_any_way=is_extracted,
        sight=visibility.sight_of(caller=caller),
        model=None if embedded is None else embedded.key,
        vector=None if embedded is None else embedded.vector,
        most=MOST,
    )
    return Delivered(
        given=tuple(
            echo_rules.DeliveredText(memory_id=row.memory_id, content=row.content) for row in rows
        ),
        cosines={row.memory_id: row.cosine for row in rows if row.cosine is not None},
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
    given = GivenOut.objects.filter(memory_id=delivered_id, at__gt=since)
    logged = AccessLog.objects.filter(memories__contains=[delivered_id], at__gt=since)
    agents = {"person": row.author_user, "token__isnull": False}
    return any(rows.filter(**agents).exists() for rows in (given, logged))


def find_echo(
    *, drafted: CheckedCandidate, same_id: UUID | None, delivered: Delivered
) -> Echo | None:
    """Return what a candidate restates, None where it counts. In a unit.

    `same_id` is the memory that the gates found to say the same.
    """
    if drafted.classification.type is MemoryType.EPISODE:
        return None
    source, echo = drafted.new.source, same_id
    if same_id is not None and all(one.memory_id != same_id for one in delivered.given):
        return _met_again(drafted, same_id) if source == Source.EXTRACTED else None
    if same_id is None:
        echo = echo_rules.echo_of(
            content=drafted.new.content,
            given=delivered.given,
            cosines=delivered.cosines,
            limits=echo_rules.OTHER_WORDS if source in IN_OTHER_WORDS else echo_rules.SAME_WORDS,
        )
    if echo is None:
        return None
    return Echo(
        memory_id=echo,
        reason=message("It was just told to you; saying it again confirms nothing."),
    )


def _met_again(drafted: CheckedCandidate, memory_id: UUID) -> Echo:
    """Note the session in the memory's provenance, once; its confidence stays as it is."""
    session_id = drafted.new.session_id
    if session_id is not None:
        mine = Memory.objects.filter(pk=memory_id)
        without = mine.exclude(provenance_sessions__contains=[session_id]).select_for_update()
        known = without.values_list("provenance_sessions", flat=True).first()
        if known is not None:
            sessions = add_sessions(known=known, sessions=(session_id,))
            mine.update(provenance_sessions=sessions)
    return Echo(
        memory_id=memory_id,
        reason=message("It is known already; a conversation alone confirms nothing."),
    )
