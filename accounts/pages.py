"""A page of a list: some of its items, and where the next page begins."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Item = TypeVar("Item")
Place = TypeVar("Place")


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[Item, Place]):
    """Some of a list, and where the next page begins (None: this is the last)."""

    items: tuple[Item, ...]
    next_place: Place | None


def page_of(
    *, found: Sequence[Item], limit: int, place: Callable[[Item], Place]
) -> Page[Item, Place]:
    """Return the first `limit` of what was found; the next page begins after the last of them.

    A query asks for one row more than the page holds, so that it knows whether more follow.
    """
    items = tuple(found[:limit])
    return Page(items=items, next_place=place(items[-1]) if len(found) > len(items) > 0 else None)
