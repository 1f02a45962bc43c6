"""Types of memories that a methodology adds: what one is, and the mark of its memories.

Such a memory is stored under one of our types, its base, by which it fades, counts and is searched;
and it carries a tag that names its own type. A tag goes wherever a memory goes: into its versions,
its successor, an export and back. So what a memory was called outlives the methodology that said
it. Whoever shows memories shows the name instead of the mark.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from accounts.errors import wrong_field
from accounts.messages import message
from memory.taxonomy import MemoryType
from memory.text.text import check_text

MOST: Final = 12  # of a methodology, ours
LONGEST: Final = 40  # characters of a name
LONGEST_SAYS: Final = 200  # characters
FORM: Final = r"[a-z0-9][a-z0-9_-]{0,39}"
NAME: Final = re.compile(rf"{FORM}\Z")
MARK: Final = "own_type:"  # what begins the tag that keeps a name
OURS: Final = frozenset(item.value for item in MemoryType)
BASES: Final = tuple(item for item in MemoryType if item is not MemoryType.EPISODE)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnType:
    """A type of a methodology's own: its name, which of ours it is, and what it is about."""

    name: str
    base: MemoryType
    says: str


def is_own(*, name: str) -> bool:
    """Say whether a text could be the name of a type that is none of ours."""
    return name not in OURS and bool(NAME.match(name))


def mark(*, name: str) -> str:
    """Return the tag that marks memories of a type."""
    return f"{MARK}{name}"


def named(*, tags: Iterable[str]) -> str:
    """Return the name of the type that tags mark, the first one; empty for none."""
    return next((tag.removeprefix(MARK) for tag in tags if _is_mark(tag)), "")


def plain(*, tags: Iterable[str]) -> tuple[str, ...]:
    """Return tags without marks, as everybody is shown them."""
    return tuple(tag for tag in tags if not _is_mark(tag))


def marked(*, tags: Iterable[str], name: str) -> tuple[str, ...]:
    """Return tags with the mark of one type, or of none, whatever they marked before."""
    rest = plain(tags=tags)
    return (*rest, mark(name=name)) if name else rest


def once(*, tags: Iterable[str], most: int | None = None) -> tuple[str, ...]:
    """Return tags with the first of their marks alone, and at most so many of the others."""
    given = tuple(tags)
    return marked(tags=plain(tags=given)[:most], name=named(tags=given))


def checked(*, types: Iterable[OwnType]) -> tuple[OwnType, ...]:
    """Return the types that somebody defines for one methodology. Raises InvalidInput."""
    given = tuple(types)
    if len(given) > MOST:
        raise wrong_field(
            pointer="/types",
            detail=message("A methodology has at most {most} types of its own.", most=MOST),
            hint="Join some of them.",
            code="too_many",
        )
    for place, one in enumerate(given):
        _check(one, at=f"/types/{place}", others={other.name for other in given[:place]})
    return given


def _is_mark(tag: str) -> bool:
    return tag.startswith(MARK) and is_own(name=tag.removeprefix(MARK))


def _check(own: OwnType, *, at: str, others: set[str]) -> None:
    is_taken = own.name in OURS or own.name in others
    if is_taken or not NAME.match(own.name):
        raise wrong_field(
            pointer=f"{at}/name",
            detail=(
                "A type of memory has that name already."
                if is_taken
                else "This cannot be the name of a type."
            ),
            hint="Use 1 to 40 small letters, digits, hyphens and underscores, none of our names.",
            code="taken" if is_taken else "name",
        )
    if own.base not in BASES:
        raise wrong_field(
            pointer=f"{at}/base",
            detail="No type of a methodology is a turn of a conversation.",
            hint=message("Use one of: {names}.", names=tuple(BASES)),
            code="base",
        )
    if not own.says.strip() or len(own.says) > LONGEST_SAYS or check_text(text=own.says):
        raise wrong_field(
            pointer=f"{at}/says",
            detail=message("Say in 1 to {most} characters what it is.", most=LONGEST_SAYS),
            hint="One sentence, for people and for agents that choose a type.",
            code="length",
        )
