"""What a session is told at its beginning whatever its task.

What is pinned or firm and applies everywhere, the latest reflection, and how work on its modules is
done. It stands behind what a search for the task finds, so it takes what tokens are left.
"""

from datetime import datetime
from typing import Final

from accounts.caller import Caller
from memory.injection.actions.deliver import Found
from memory.records.queries.views import views_of
from memory.search.actions import filter_values as narrowings
from memory.search.actions.filter_values import Narrowing
from memory.search.sql import lookups
from memory.sessions.models import Session
from memory.taxonomy import MemoryType
from teams import visibility

STANDING_MOST: Final = 10  # memories, ours
OF_MODULES_MOST: Final = 10  # memories, ours
OF_MODULES: Final = (MemoryType.WORKFLOW_RECIPE, MemoryType.MODULE_INSIGHT)
NEAR: Final = 0.3  # how relevant that is to a task nobody compared it with, ours


def standing(*, caller: Caller, row: Session, modules: tuple[str, ...], now: datetime) -> Found:
    """Find what stands in a session's place, and for its modules. In a unit."""
    sight = visibility.sight_of(caller=caller)
    project = None if row.project is None else str(row.project.id)
    types = tuple(type.value for type in OF_MODULES)
    everywhere = narrowings.question(caller=caller, narrowing=Narrowing(project=project))
    of_types = narrowings.question(caller=caller, narrowing=Narrowing(project=project, types=types))
    firm = lookups.standing(question=everywhere, limit=STANDING_MOST, sight=sight)
    done = lookups.of_modules(
        modules=modules, question=of_types, limit=OF_MODULES_MOST, sight=sight
    )
    views = views_of(memory_ids=tuple(dict.fromkeys((*firm, *done))), sight=sight, now=now)
    return Found(views=views, relevance=dict.fromkeys(views, NEAR), files={})
