"""One memory in full: belief over time, provenance, relations, history."""

from datetime import datetime
from typing import Any

from accounts.caller import Caller, TokenScope, may
from accounts.queries import people
from frontend.presenters import html
from memory.customization.queries import trust_floor
from memory.erasure.actions.erase_memory import may_erase
from memory.experiments import queries as experiments
from memory.injection.eligibility import floor_of
from memory.injection.queries import injection_bar
from memory.records.queries import memories
from memory.records.queries.views import MemoryView, lowest_confidence
from memory.review.queries import inbox
from memory.taxonomy import MemoryType


def inspect(*, memory: MemoryView, caller: Caller, now: datetime) -> dict[str, Any]:
    """Gather what the inspector shows. Raises NotFound when the memory is gone meanwhile.

    A version comes with the text before it, None for the first, and who wrote it; `sides`
    contradict the memory. `proof` says how it was learned, None where that was in no session, or in
    one that is gone or that the caller may not see; `is_of_session` tells those apart. `reentered`
    is None but for a dead end. `bar` says why the reader's agents are not given it unasked.
    """
    history = memories.history(caller=caller, memory_id=memory.id)
    users = (memory.author_user, *(version.changed_by for version in history))
    names = people(caller=caller, ids=users)
    earlier = (*(version.content for version in history[1:]), None)
    return {
        "memory": memory,
        "bar": injection_bar(caller=caller, memory=memory),
        "curve": html.decay_curve(
            confidence=memory.effective_confidence,
            half_life_days=memory.decay_half_life_days,
            pinned=memory.pinned,
            lowest=lowest_confidence(view=memory),
            floor=floor_of(
                view=memory, least=trust_floor(caller=caller, project_id=memory.project_id)
            ),
            now=now,
        ),
        "versions": [
            (version, before, version.changed_agent or names.get(version.changed_by, ""))
            for version, before in zip(history, earlier, strict=True)
        ],
        "links": memories.links(caller=caller, memory_id=memory.id),
        "sides": memories.sides(caller=caller, memory=memory),
        "author": memory.author_agent or names.get(memory.author_user, ""),
        "active": memory.status == "active",
        "may_change": may(caller=caller, scope=TokenScope.WRITE),
        "may_erase": may_erase(caller=caller, author_user=memory.author_user),
        "is_of_session": inbox.is_of_session(memory=memory),
        "proof": inbox.find_origin(caller=caller, memory=memory),
        "reentered": experiments.reentries_of_memory(caller=caller, memory_id=memory.id)
        if memory.type == MemoryType.DEAD_END
        else None,
    }
