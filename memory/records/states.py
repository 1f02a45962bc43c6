"""The states a search looks through: what is live, unless the query box says more.

Pure. A state is a facet of a memory (`states_of` in memory/search/sql/functions.sql) where it is
anything but just active: what it ended as, and that it is pinned, stale or to be reviewed.
"""

from dataclasses import dataclass
from typing import Final

from accounts.errors import wrong_field
from memory.records import filters as query_box
from memory.records.filters import Filters
from memory.taxonomy import Status

ENDED: Final = (Status.SUPERSEDED.value, Status.ARCHIVED.value)
EITHER_END: Final = "ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class States:
    """States a memory must be in, all of them, and those it must not be in.

    `none_of` None: only what is live, which is active and not stale.
    """

    all_of: tuple[str, ...] = ()
    none_of: tuple[str, ...] | None = None


LIVE: Final = States()


def named(*, names: tuple[str, ...]) -> States:
    """Return the states that names of the query box mean; none of them: what is live."""
    return states_of(filters=query_box.in_states(names=names))


def check_live(*, names: tuple[str, ...]) -> None:
    """Refuse states where only what is live is looked through."""
    if names:
        raise wrong_field(
            pointer="/states",
            detail="A pattern looks through what is live.",
            hint="Leave out the states, or search by words.",
            code="conflict",
        )


def states_of(*, filters: Filters) -> States:
    """Return the states that a list of these filters shows; like search, without stale unasked."""
    flags = {"pinned": filters.pinned, "review": filters.needs_review, "stale": filters.stale}
    on = tuple(name for name, wanted in flags.items() if wanted)
    off = tuple(name for name, wanted in flags.items() if wanted is False)
    if filters.status == (Status.ACTIVE.value,) and not filters.stale and not off:
        return States(all_of=on)
    ends = tuple(end for end in ENDED if end in filters.status)
    if Status.ACTIVE.value not in filters.status:
        on = (*on, ends[0] if len(ends) == 1 else EITHER_END)
    others = tuple(end for end in ENDED if end not in ends)
    return States(all_of=on, none_of=(*off, *others, Status.DELETED.value))
